"""Indexes of the MongoDB store.

A change is a new version. Creating indexes is idempotent, since another node may do it at the same
time, or a crash may interrupt it. ``meta`` stores the version of the database and the program
version that created it. Document kinds create their own indexes (``documents``).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pymongo import ASCENDING, IndexModel

from topiccrawl import __version__
from topiccrawl.errors import StateVersionError

if TYPE_CHECKING:
    from topiccrawl.addons.mongodb.client import Server

VERSION = 3
"""Version of the schema."""


def _index(name: str, fields: str = "", **options: object) -> IndexModel:
    """Return an ascending index of space-separated fields, by default of the field ``name``."""
    return IndexModel(
        [(field, ASCENDING) for field in (fields or name).split()], name=name, **options
    )


INDEXES = {
    "articles": [
        # one document per text, even if two nodes store it at the same time
        _index("digest", unique=True, partialFilterExpression={"digest": {"$gt": ""}}),
        _index("number", unique=True),
        _index("topic_published", "topics published"),
        _index("topic_number", "topics number"),
        _index("site_published", "site published"),
        _index("published"),
        _index("words"),
    ],
    "reprints": [_index("story", "story number")],
    "tombstones": [_index("at")],
    "versions": [_index("url", "url fetched_at")],
}
"""Indexes by collection."""


async def migrate(server: Server) -> None:
    """Migrate a database to the version of this program.

    Raises:
        StateVersionError: If a newer version wrote it.
        StorageError: If the server failed; run it again to continue.
    """
    with server.translated("open the store"):
        meta = server.collection("meta")
        found = await meta.find_one({"_id": "schema"})
        version = int(found["version"]) if found else 0
        if version > VERSION:
            raise StateVersionError(
                "{shown}: schema version {version} is newer than {steps} of this program; "
                "update topiccrawl, or use another database in MONGODB_URI",
                shown=server.shown,
                version=version,
                steps=VERSION,
            )
        if version == VERSION:
            return
        for name, indexes in INDEXES.items():
            await server.collection(name).create_indexes(indexes)
        applied = {"version": VERSION, "program": __version__, "at": time.time()}
        change = {"$max": {"version": VERSION}, "$addToSet": {"applied": applied}}
        await meta.update_one({"_id": "schema"}, change, upsert=True)
