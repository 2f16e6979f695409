"""Collections and indexes of the MongoDB store, as migration steps.

A released step is never edited; a change is a new step at the end. Every step is idempotent, since
another node may run it at the same time, or a crash may interrupt it. ``meta`` stores the version
of the database and the program version that applied each step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pymongo import ASCENDING, IndexModel

from topiccrawl import __version__
from topiccrawl.errors import StateVersionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from topiccrawl.addons.mongodb.client import Server

    Step = Mapping[str, Sequence[IndexModel]]


def _index(name: str, fields: str = "", **options: object) -> IndexModel:
    """Return an ascending index of space-separated fields, by default of the field ``name``."""
    return IndexModel(
        [(field, ASCENDING) for field in (fields or name).split()], name=name, **options
    )


STEPS: tuple[Step, ...] = (
    {
        "articles": (
            # one document per text, even if two nodes store it at the same time
            _index("digest", unique=True, partialFilterExpression={"digest": {"$gt": ""}}),
            _index("number", unique=True),
            _index("topic_published", "topics published"),
            _index("topic_number", "topics number"),
            _index("site_published", "site published"),
            _index("published"),
            _index("words"),
        ),
        "reprints": (_index("story", "story number"),),
        "tombstones": (_index("at"),),
        "sites": (_index("site"),),
        "topic_changes": (_index("change", "topic frontier number"),),
    },
    {
        "pages": (
            _index("due", "owner due"),
            _index("first_seen", "owner role first_seen"),
            _index("changed_at", "owner role changed_at"),
            _index("gone_at", "owner role gone_at"),
            _index("url"),
        ),
        "versions": (_index("url", "url fetched_at"),),
    },
    {
        "template_seeds": (
            _index("stage", "template stage number"),
            _index("period", "template period number"),
        ),
        "records": (
            _index("seed", "template seed"),
            _index("first_seen", "template first_seen"),
        ),
        "record_versions": (_index("entity", "template entity"),),
    },
)
"""Indexes of each step by collection; the version of the schema is the number of steps."""


async def migrate(server: Server, now: Callable[[], float], steps: Sequence[Step] = STEPS) -> None:
    """Migrate a database to the version of this program.

    Raises:
        StateVersionError: If a newer version wrote it.
        StorageError: If the server failed; run it again to continue.
    """
    with server.translated("open the store"):
        meta = server.collection("meta")
        found = await meta.find_one({"_id": "schema"})
        version = int(found["version"]) if found else 0
        if version > len(steps):
            raise StateVersionError(
                "{shown}: schema version {version} is newer than {steps} of this program; "
                "update topiccrawl, or use another database in MONGODB_URI",
                shown=server.shown,
                version=version,
                steps=len(steps),
            )
        for number in range(version, len(steps)):
            for name, indexes in steps[number].items():
                await server.collection(name).create_indexes(list(indexes))
            applied = {"version": number + 1, "program": __version__, "at": now()}
            await meta.update_one(
                {"_id": "schema"},
                {"$max": {"version": number + 1}, "$addToSet": {"applied": applied}},
                upsert=True,
            )
