"""Deletion and expiry of articles in MongoDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymongo import UpdateOne

from topiccrawl.addons.mongodb.conversion import key, of_site
from topiccrawl.addons.mongodb.stories import Claim, StoryLog
from topiccrawl.storage.rows import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.addons.mongodb.client import Server

SITE = "site:"


async def forget(server: Server, stories: StoryLog, names: Sequence[str], now: float) -> int:
    """See ``Store.forget``: store the names, notify all nodes, then delete the documents."""
    marks = [
        UpdateOne({"_id": clean(name)}, {"$setOnInsert": {"at": now}}, upsert=True)
        for name in names
    ]
    await server.collection("tombstones").bulk_write(marks, ordered=False)
    await stories.refresh()
    while not await stories.append(Claim(), [clean(name) for name in names]):
        await stories.refresh()
    return await remove(server, stories, names)


async def remove(server: Server, stories: StoryLog, names: Sequence[str]) -> int:
    """Delete the documents and keys of the given names; return the number of documents."""
    gone = 0
    articles, reprints = server.articles, server.reprints
    for name in map(clean, names):
        which, copies = _named(name)
        found = await articles.find(which, {"number": 1}).to_list()
        if found:
            await stories.blank([one["number"] for one in found])
            gone += (await articles.delete_many(which)).deleted_count
            await _strip(server, [one["_id"] for one in found])
        gone += (await reprints.delete_many(copies)).deleted_count
    return gone


async def expire(server: Server, topic: str, before: float) -> int:
    """See ``Store.expire``."""
    name, articles = clean(topic), server.articles
    old = {"topics": name, "fetched_at": {"$lt": before}}
    change = {"$pull": {"topics": name}, "$unset": {f"scores.{key(topic)}": ""}}
    gone = int((await articles.update_many(old, change)).modified_count)
    bare: dict[str, Any] = {"topics": [], "fetched_at": {"$lt": before}}
    found = [one["_id"] async for one in articles.find(bare, {"_id": 1})]
    if found:
        await articles.delete_many({"_id": {"$in": found}, **bare})
        await _strip(server, found)
    return gone


async def _strip(server: Server, urls: Sequence[str]) -> None:
    """Delete the reprints and versions of deleted articles."""
    await server.reprints.delete_many({"story": {"$in": urls}})
    await server.collection("versions").delete_many({"url": {"$in": urls}})


def _named(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the queries for the articles and for the reprints of a name."""
    if name.startswith(SITE):
        which = {"site": of_site(name.removeprefix(SITE))}
        return which, which
    fields = ("_id", "final_url", "canonical_url")
    return {"$or": [{field: name} for field in fields]}, {"_id": name}
