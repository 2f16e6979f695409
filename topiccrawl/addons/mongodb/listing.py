"""Lists of stored articles in MongoDB, for the dashboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topiccrawl.addons.mongodb import conversion
from topiccrawl.addons.mongodb.client import Server
from topiccrawl.storage.contract import Listed, StoryChain
from topiccrawl.storage.rows import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.storage.contract import Reprint

_FIELDS = dict.fromkeys(("title", "site", "published", "fetched_at"), 1)


class MongoListing:
    """Lists of articles in MongoDB; see ``Listing``.

    Args:
        uri: ``mongodb://...``; its path is the name of the database.
    """

    def __init__(self, uri: str) -> None:
        self._server = Server(uri)

    async def page(self, topic: str, limit: int, offset: int) -> tuple[int, list[Listed]]:
        """See ``Listing.page``."""
        self._server.connect()
        articles, which = self._server.articles, {"topics": clean(topic)}
        with self._server.translated("read"):
            total = await articles.count_documents(which)
            cursor = articles.find(which, self._fields(topic), sort=[("number", -1)])
            found = await cursor.skip(offset).limit(limit).to_list()
            urls = [one["_id"] for one in found]
            reprints = await self._counted({"story": {"$in": urls}})
        return total, [_listed(one, topic, reprints) for one in found]

    async def chains(self, topic: str, most: int) -> list[StoryChain]:
        """See ``Listing.chains``; searches only stories with many reprints in all topics."""
        self._server.connect()
        with self._server.translated("read"):
            reprints = await self._counted({}, 4 * most)
            which = {"_id": {"$in": list(reprints)}, "topics": clean(topic)}
            cursor = self._server.articles.find(which, self._fields(topic))
            found = [_listed(one, topic, reprints) for one in await cursor.to_list()]
            found.sort(key=lambda one: -one.reprints)
            return [
                StoryChain(one, await reprints_of(self._server, one.url)) for one in found[:most]
            ]

    async def close(self) -> None:
        """See ``Listing.close``."""
        await self._server.close()

    async def _counted(self, which: Mapping[str, Any], most: int = 0) -> dict[str, int]:
        steps: list[Mapping[str, Any]] = [
            {"$match": which},
            {"$group": {"_id": "$story", "n": {"$sum": 1}}},
            {"$sort": {"n": -1}},
        ]
        limit = [{"$limit": most}] if most else []
        cursor = await self._server.reprints.aggregate([*steps, *limit])
        return {one["_id"]: one["n"] for one in await cursor.to_list()}

    @staticmethod
    def _fields(topic: str) -> dict[str, int]:
        return {**_FIELDS, f"scores.{conversion.key(topic)}": 1}


async def reprints_of(server: Server, url: str) -> tuple[Reprint, ...]:
    """Return the reprints of a story, in the order they were first recorded."""
    cursor = server.reprints.find({"story": url}, sort=[("number", 1)])
    return tuple(map(conversion.reprint_of, await cursor.to_list()))


def _listed(document: Mapping[str, Any], topic: str, reprints: Mapping[str, int]) -> Listed:
    score = document.get("scores", {}).get(conversion.key(topic), {})
    return Listed(
        document["_id"], document["title"], document["site"], document["published"],
        document["fetched_at"], score.get("score", 0.0),
        tuple((term, share) for term, share in score.get("terms", [])),
        reprints.get(document["_id"], 0),
    )  # fmt: skip
