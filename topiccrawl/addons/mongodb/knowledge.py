"""Learnt data in MongoDB: of sites, and of topics during their crawls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from topiccrawl.addons.mongodb.client import blocking
from topiccrawl.addons.mongodb.part import MongoPart
from topiccrawl.storage.changes import TopicChange
from topiccrawl.storage.sites import MARKS, PAGES, covers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.addons.mongodb.client import Document, Server


class MongoSites(MongoPart):
    """``SiteKnowledge`` for several machines: one document per site and key, the value as JSON."""

    async def get(self, site: str) -> dict[str, Any]:
        """See ``SiteKnowledge.get``."""
        with self._server.translated("read"):
            found = await self._server.collection("sites").find({"site": site}).to_list()
        return {one["key"]: json.loads(one["value"]) for one in found}

    async def put(self, site: str, values: Mapping[str, Any]) -> None:
        """See ``SiteKnowledge.put``; one write per key.

        Raises:
            TypeError: A value cannot be written as JSON.
            StorageError: Some of the values may be stored.
        """
        new = {key: json.dumps(value) for key, value in values.items()}
        with self._server.translated("write"):
            for key, value in new.items():
                change = {"site": site, "key": key, "value": value, "changed_at": self._now()}
                await self._server.collection("sites").update_one(
                    {"_id": f"{site} {key}"}, {"$set": change}, upsert=True
                )

    async def sites(self, key: str) -> list[str]:
        """See ``SiteKnowledge.sites``."""
        with self._server.translated("read"):
            cursor = self._server.collection("sites").find({"key": key}, {"site": 1})
            return sorted([one["site"] for one in await cursor.to_list()])


async def forget(server: Server, name: str) -> None:
    """See ``storage.sites.forget``."""
    collection = server.collection("sites")
    found = await collection.find({"site": {"$regex": f"^{MARKS}"}}, {"key": 1}).to_list()
    gone = [one["_id"] for one in found if covers(name, one["key"])]
    await collection.delete_many({"_id": {"$in": gone}})
    await collection.delete_many({"site": {"$regex": f"^{PAGES}"}})


class MongoChanges:
    """``ChangeLog`` for several machines; also blocking.

    Args:
        uri: ``mongodb://...``; its path names the database.
    """

    def __init__(self, uri: str) -> None:
        self._uri = uri

    def add(self, change: TopicChange, state: Mapping[str, Any]) -> None:
        """See ``ChangeLog.add``; the change is written last, so that it never lacks its state.

        Raises:
            StorageError: The change was not stored.
        """
        which = {"_id": _name(change.topic, change.frontier)}
        learnt = {"topic": change.topic, "frontier": change.frontier, "state": _json(state)}
        kept = change._asdict() | {"own": _json(change.own), "terms": _json(change.terms)}
        one = {"_id": f"{_name(change.topic, change.frontier)} {change.number} {change.at!r}"}
        with blocking(self._uri) as database:
            database["topic_learnt"].replace_one(which, learnt, upsert=True)
            database["topic_changes"].replace_one(one, kept, upsert=True)

    def all(self, topic: str = "", frontier: str = "") -> list[TopicChange]:
        """See ``ChangeLog.all``."""
        named = {"topic": topic, "frontier": frontier}
        which = {name: value for name, value in named.items() if value}
        with blocking(self._uri) as database:
            found = database["topic_changes"].find(which, sort=[("at", 1), ("number", 1)])
            return [_change(one) for one in found]

    def last(self, topic: str, frontier: str) -> tuple[TopicChange, dict[str, Any]] | None:
        """See ``ChangeLog.last``."""
        changes = self.all(topic, frontier)
        if not changes:
            return None
        with blocking(self._uri) as database:
            found = database["topic_learnt"].find_one({"_id": _name(topic, frontier)})
        return (changes[-1], json.loads(found["state"])) if found else None

    def forget(self, topic: str, frontier: str) -> None:
        """See ``ChangeLog.forget``."""
        which = {"topic": topic, "frontier": frontier}
        with blocking(self._uri) as database:
            database["topic_changes"].update_many(which, {"$set": {"frontier": f"{frontier}#"}})
            database["topic_learnt"].delete_many(which)


def _name(topic: str, frontier: str) -> str:
    return _json([topic, frontier])


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _change(document: Document) -> TopicChange:
    values = {name: document[name] for name in TopicChange._fields}
    texts = {name: json.loads(values[name]) for name in ("own", "terms")}
    return TopicChange(**(values | texts))
