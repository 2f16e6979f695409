"""Collections and indexes of the MongoDB store, as migration steps.

A released step is never edited: a change is a new step at the end. Every step may be run again, by
another node at the same time or after a crash in its middle. ``meta`` stores the version of a
database and the program version that applied each step.
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

STEPS: tuple[Step, ...] = (
    {
        "articles": (
            # one document per text, also if two nodes store it at the same moment
            IndexModel(
                [("digest", ASCENDING)],
                name="digest",
                unique=True,
                partialFilterExpression={"digest": {"$gt": ""}},
            ),
            IndexModel([("number", ASCENDING)], name="number", unique=True),
            IndexModel([("topics", ASCENDING), ("published", ASCENDING)], name="topic_published"),
            IndexModel([("topics", ASCENDING), ("number", ASCENDING)], name="topic_number"),
            IndexModel([("site", ASCENDING), ("published", ASCENDING)], name="site_published"),
            IndexModel([("published", ASCENDING)], name="published"),
            IndexModel([("words", ASCENDING)], name="words"),
        ),
        "reprints": (IndexModel([("story", ASCENDING), ("number", ASCENDING)], name="story"),),
        "tombstones": (IndexModel([("at", ASCENDING)], name="at"),),
        "sites": (IndexModel([("site", ASCENDING)], name="site"),),
        "topic_changes": (
            IndexModel(
                [("topic", ASCENDING), ("frontier", ASCENDING), ("number", ASCENDING)],
                name="change",
            ),
        ),
    },
    {
        "pages": (
            IndexModel([("owner", ASCENDING), ("due", ASCENDING)], name="due"),
            *(
                IndexModel(
                    [("owner", ASCENDING), ("role", ASCENDING), (field, ASCENDING)], name=field
                )
                for field in ("first_seen", "changed_at", "gone_at")
            ),
            IndexModel([("url", ASCENDING)], name="url"),
        ),
        "versions": (IndexModel([("url", ASCENDING), ("fetched_at", ASCENDING)], name="url"),),
    },
    {
        "template_seeds": (
            IndexModel(
                [("template", ASCENDING), ("stage", ASCENDING), ("number", ASCENDING)],
                name="stage",
            ),
            IndexModel(
                [("template", ASCENDING), ("period", ASCENDING), ("number", ASCENDING)],
                name="period",
            ),
        ),
        "records": (
            IndexModel([("template", ASCENDING), ("seed", ASCENDING)], name="seed"),
            IndexModel([("template", ASCENDING), ("first_seen", ASCENDING)], name="first_seen"),
        ),
        "record_versions": (
            IndexModel([("template", ASCENDING), ("entity", ASCENDING)], name="entity"),
        ),
    },
)
"""Indexes of each step, by collection; the schema's version is the number of steps."""


async def migrate(server: Server, now: Callable[[], float], steps: Sequence[Step] = STEPS) -> None:
    """Bring a database to the version of this program.

    Raises:
        StateVersionError: A newer version wrote it.
        StorageError: The server failed; run it again to continue.
    """
    with server.translated("open the store"):
        meta = server.collection("meta")
        found = await meta.find_one({"_id": "schema"})
        version = int(found["version"]) if found else 0
        if version > len(steps):
            raise StateVersionError(
                "{shown}: schema version {version}, this program knows {steps}; "
                "update topiccrawl, or name another database in MONGODB_URI",
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
