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
    from topiccrawl.model import Article

DUPLICATE_KEY = 11000


async def write(server: Server, plan: Plan, order: int) -> None:
    """Write versions, articles and reprints; update ``plan.saved`` to the final fates.

    Args:
        server: The database.
        plan: Decisions about the articles of a save.
        order: Number of the first reprint; numbers are in order of arrival, even between nodes.
    """
    if plan.replaced:
        kept = [conversion.version_upsert(article, at) for article, at in plan.replaced]
        await server.collection("versions").bulk_write(kept, ordered=True)
    plan.reprints.extend(await _upsert(server, plan))
    writes: list[UpdateOne | DeleteOne] = [DeleteOne({"_id": url}) for url in plan.freed]
    lent: list[UpdateOne] = []
    for number, (article, match) in enumerate(plan.reprints, order):
        writes.append(conversion.reprint_upsert(article, match, number))
        lent.extend(conversion.lend_topics(clean(match.url), article))
    if writes:
        await server.reprints.bulk_write(writes, ordered=True)
    if lent:
        await server.articles.bulk_write(lent, ordered=True)


async def _upsert(server: Server, plan: Plan) -> list[tuple[Article, Match]]:
    """Write the articles; return articles whose text another node stored first, as reprints."""
    writes = [conversion.upsert(article, number) for article, number in plan.upserts]
    if not writes:
        return []
    has_repeats = len({article.url for article, _ in plan.upserts}) < len(writes)
    try:
        await server.articles.bulk_write(writes, ordered=has_repeats)
    except BulkWriteError as error:
        failed = error.details["writeErrors"]
        if has_repeats or any(one["code"] != DUPLICATE_KEY for one in failed):
            raise
        late = [await _late(server, plan, *plan.upserts[one["index"]]) for one in failed]
        return [one for one in late if one is not None]
    return []


async def _late(
    server: Server, plan: Plan, article: Article, number: int
) -> tuple[Article, Match] | None:
    """Return an article as a reprint if its text was stored by another node, or write it."""
    which = {"digest": article.digest, "_id": {"$ne": clean(article.url)}}
    first = await server.articles.find_one(which, {"_id": 1}) if article.digest else None
    if first is None:  # two upserts of one URL collided: retry this one
        await server.articles.bulk_write([conversion.upsert(article, number)])
        return None
    match = Match(first["_id"], 1.0, "same-text")
    place = next(at for at, one in enumerate(plan.saved) if one.url == article.url)
    plan.saved[place] = Saved(article.url, Fate.REPRINT, *match[:3])
    return article, match
