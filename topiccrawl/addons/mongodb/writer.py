"""Writer of save plans: idempotent bulk upserts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pymongo import DeleteOne, UpdateOne
from pymongo.errors import BulkWriteError

from topiccrawl.addons.mongodb import conversion
from topiccrawl.dedup import Match
from topiccrawl.storage.contract import Fate, Saved
from topiccrawl.storage.rows import clean

if TYPE_CHECKING:
    from topiccrawl.addons.mongodb.client import Server
    from topiccrawl.addons.mongodb.decision import Plan
    from topiccrawl.addons.mongodb.stories import StoryLog
    from topiccrawl.model import Article

DUPLICATE_KEY = 11000


class Writer:
    """Writer of plans to a database.

    Args:
        server: The database.
        stories: Story log, whose claims order reprints.
    """

    def __init__(self, server: Server, stories: StoryLog) -> None:
        self._server = server
        self._stories = stories

    async def write(self, plan: Plan) -> None:
        """Write versions, articles and reprints; update ``plan.saved`` to the final fates."""
        if plan.replaced:
            kept = [conversion.version_upsert(article, at) for article, at in plan.replaced]
            await self._server.collection("versions").bulk_write(kept, ordered=True)
        late = await self._upsert(plan)
        plan.reprints.extend(late)
        writes: list[UpdateOne | DeleteOne] = [DeleteOne({"_id": url}) for url in plan.freed]
        lent: list[UpdateOne] = []
        for place, (article, match) in enumerate(plan.reprints):
            # in order of arrival, even between nodes, since claims ascend
            order = self._stories.next * 1_000 + place
            writes.append(conversion.reprint_upsert(article, match, order))
            lent.extend(conversion.lend_topics(clean(match.url), article))
        if writes:
            await self._server.reprints.bulk_write(writes, ordered=True)
        if lent:
            await self._server.articles.bulk_write(lent, ordered=True)

    async def _upsert(self, plan: Plan) -> list[tuple[Article, Match]]:
        """Write the articles; return articles whose text another node stored first, as reprints."""
        writes = [conversion.upsert(article, number) for article, number in plan.upserts]
        if not writes:
            return []
        has_repeats = len({article.url for article, _ in plan.upserts}) < len(writes)
        try:
            await self._server.articles.bulk_write(writes, ordered=has_repeats)
        except BulkWriteError as error:
            failed = error.details["writeErrors"]
            if has_repeats or any(one["code"] != DUPLICATE_KEY for one in failed):
                raise
            return [
                late
                for one in failed
                if (late := await self._late(plan, plan.upserts[one["index"]])) is not None
            ]
        return []

    async def _late(self, plan: Plan, upsert: tuple[Article, int]) -> tuple[Article, Match] | None:
        """Return an article as a reprint if its text was stored by another node, or write it."""
        article, number = upsert
        which = {"digest": article.digest, "_id": {"$ne": clean(article.url)}}
        first = await self._server.articles.find_one(which, {"_id": 1}) if article.digest else None
        if first is None:  # two upserts of one URL collided: retry this one
            await self._server.articles.bulk_write([conversion.upsert(article, number)])
            return None
        match = Match(first["_id"], 1.0, "same-text")
        place = next(at for at, one in enumerate(plan.saved) if one.url == article.url)
        plan.saved[place] = Saved(article.url, Fate.REPRINT, match.url, 1.0, match.reason)
        return article, match
