"""Article store for several machines in MongoDB."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

from pymongo import DeleteOne, UpdateOne
from pymongo.errors import BulkWriteError

from topiccrawl.addons.mongodb import conversion
from topiccrawl.addons.mongodb.client import Server, migrate
from topiccrawl.addons.mongodb.stories import Claim, Decision, StoryLog, name_of
from topiccrawl.dedup import DuplicateDetector, Match
from topiccrawl.dedup.index import CAPACITY
from topiccrawl.dedup.verified import VerifiedShingles
from topiccrawl.storage.contract import Fate, Listed, Reprint, Saved, Story, StoryChain, Version
from topiccrawl.storage.selection import ALL, Selection, names_of
from topiccrawl.text.normal import clean

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from topiccrawl.model import Article

RETRY_WAIT = 0.05
"""Seconds between two reads of an article that another node is writing; the maximum of a random
wait after a rejected claim."""

DUPLICATE_KEY = 11000
"""Code of a write that was rejected because of a unique index."""

CHANGED = frozenset({Fate.NEW, Fate.UPDATED})
"""Fates that a repeated save would report as UNCHANGED."""

REBUILD_BATCH = 500
"""Number of articles whose keys are rebuilt at once."""


class MongoStore:
    """``ArticleStore`` and ``Listing`` in a MongoDB database, shared by any number of machines.

    Unique keys allow one document per URL and per text, so that ``save`` can be repeated after any
    failure. A failed save is completed by the next one, not rolled back.

    Args:
        uri: ``mongodb://...``; its path is the name of the database.
        method: Duplicate detector; ``VerifiedShingles`` if None.
        capacity: Number of articles that a new one is compared with, the newest; each takes about
            200 bytes of RAM.

    Raises:
        SettingError: If the URI cannot be used.
    """

    def __init__(
        self, uri: str, *, method: DuplicateDetector | None = None, capacity: int = CAPACITY
    ) -> None:
        self.server = Server(uri)
        self._method = method or VerifiedShingles()
        self._stories = StoryLog(self.server, self._method, capacity)
        self._save_lock = asyncio.Lock()
        self._forgotten: set[str] = set()
        self._unconfirmed: dict[str, Fate] = {}  # fates of failed saves, by URL

    async def open(self) -> None:
        """See ``Store.open``."""
        self.server.connect()
        try:
            await migrate(self.server)
            with self.server.translated("open the store"):
                await self._stories.open()
                await self._complete()
                marks = self.server.collection("tombstones").find({}, {"_id": 1})
                self._forgotten = {one["_id"] async for one in marks}
        except BaseException:
            await self.server.close()
            raise

    async def close(self) -> None:
        """See ``Store.close``."""
        await self.server.close()

    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        """See ``Store.save``; one save at a time, with bulk writes."""
        async with self._save_lock:
            with self.server.translated("write"):
                plan = await self._claim(articles)
                for saved in plan.saved:
                    if saved.fate in CHANGED:
                        self._unconfirmed.setdefault(saved.url, saved.fate)
                await self._write(plan)
        return list(map(self._confirmed, plan.saved))

    async def get(self, url: str) -> Story | None:
        """See ``Store.get``."""
        with self.server.translated("read"):
            found = await self.server.articles.find_one({"_id": clean(url)}, conversion.FIELDS)
            if found is None:
                reprint = await self.server.reprints.find_one({"_id": clean(url)}, {"story": 1})
                story = reprint and reprint["story"]
                found = await self.server.articles.find_one({"_id": story}, conversion.FIELDS)
            if found is None:
                return None
            return Story(conversion.article_of(found), await self._reprints(found["_id"]))

    async def versions(self, url: str) -> list[Version]:
        """See ``Store.versions``."""
        with self.server.translated("read"):
            versions, order = self.server.collection("versions"), [("fetched_at", 1)]
            found = await versions.find({"url": clean(url)}, sort=order).to_list()
        return [Version(*(one[name] for name in Version._fields)) for one in found]

    async def select(self, selection: Selection = ALL) -> AsyncGenerator[Article, None]:
        """See ``Store.select``."""
        which = conversion.filter_of(selection)
        with self.server.translated("read"):
            cursor = self.server.articles.find(which, conversion.FIELDS, sort=[("number", -1)])
            async with cursor:
                async for document in cursor:
                    if selection.has_parts(document["title"], document["body"]):
                        yield conversion.article_of(document, selection.topic)

    async def forget(self, names: Sequence[str], now: float) -> int:
        """See ``Store.forget``."""
        marks = [
            UpdateOne({"_id": clean(name)}, {"$setOnInsert": {"at": now}}, upsert=True)
            for name in names
        ]
        async with self._save_lock:
            with self.server.translated("forget"):
                # first the names, then the other nodes, then the documents
                await self.server.collection("tombstones").bulk_write(marks, ordered=False)
                await self._stories.refresh()
                while not await self._stories.append(Claim(), [clean(name) for name in names]):
                    await self._stories.refresh()
                return await self._remove(names)

    async def expire(self, topic: str, before: float) -> int:
        """See ``Store.expire``."""
        name, articles = clean(topic), self.server.articles
        old = {"topics": name, "fetched_at": {"$lt": before}}
        change = {"$pull": {"topics": name}, "$unset": {f"scores.{conversion.key(topic)}": ""}}
        bare: dict[str, Any] = {"topics": [], "fetched_at": {"$lt": before}}
        with self.server.translated("forget"):
            gone = int((await articles.update_many(old, change)).modified_count)
            found = [one["_id"] async for one in articles.find(bare, {"_id": 1})]
            if found:
                await articles.delete_many({"_id": {"$in": found}, **bare})
                await self._strip(found)
        return gone

    async def page(self, topic: str, limit: int, offset: int) -> tuple[int, list[Listed]]:
        """See ``Listing.page``."""
        self.server.connect()
        articles, which = self.server.articles, {"topics": clean(topic)}
        with self.server.translated("read"):
            total = await articles.count_documents(which)
            fields = conversion.listed_fields(topic)
            cursor = articles.find(which, fields, sort=[("number", -1)]).skip(offset).limit(limit)
            found = await cursor.to_list() if limit else []  # 0 would mean all
            stories = {"story": {"$in": [one["_id"] for one in found]}}
            reprints = await self._count_reprints(stories, limit + 1)
        return total, [conversion.listed_of(one, topic, reprints) for one in found]

    async def chains(self, topic: str, most: int) -> list[StoryChain]:
        """See ``Listing.chains``; searches only stories with many reprints in all topics."""
        self.server.connect()
        with self.server.translated("read"):
            reprints = await self._count_reprints({}, 4 * most)
            which = {"_id": {"$in": list(reprints)}, "topics": clean(topic)}
            cursor = self.server.articles.find(which, conversion.listed_fields(topic))
            found = [conversion.listed_of(one, topic, reprints) for one in await cursor.to_list()]
            found.sort(key=lambda one: -one.reprints)
            return [StoryChain(one, await self._reprints(one.url)) for one in found[:most]]

    def _confirmed(self, saved: Saved) -> Saved:
        """Return the first fate of an article that failed saves have written before."""
        fate = self._unconfirmed.pop(saved.url, saved.fate)
        known = saved.fate in {Fate.UNCHANGED, Fate.UPDATED}
        return saved._replace(fate=fate) if known else saved

    async def _reprints(self, url: str) -> tuple[Reprint, ...]:
        cursor = self.server.reprints.find({"story": url}, sort=[("number", 1)])
        return tuple(map(conversion.reprint_of, await cursor.to_list()))

    async def _count_reprints(self, which: dict[str, Any], most: int) -> dict[str, int]:
        """Return the numbers of reprints by story, the largest ``most`` numbers."""
        steps: list[dict[str, Any]] = [
            {"$match": which},
            {"$group": {"_id": "$story", "n": {"$sum": 1}}},
            {"$sort": {"n": -1}},
            {"$limit": most},
        ]
        cursor = await self.server.reprints.aggregate(steps)
        return {one["_id"]: one["n"] for one in await cursor.to_list()}

    async def _claim(self, articles: Sequence[Article]) -> Decision:
        """Decide about articles and append the claim to the story log; return the plan."""
        keys = [self._method.keys(article) for article in articles]
        learnt: dict[str, Sequence[int]] = {}
        while True:
            await self._stories.refresh()
            await self._apply_deletions()
            candidates = [self._stories.find(one) for one in keys]
            plan = await self._decision(articles, candidates)
            for article, own, near in zip(articles, keys, candidates, strict=True):
                plan.take(article, own, near)
            plan.claim.marks = self._learn(plan, learnt)
            if not plan.claim.numbers or await self._stories.append(plan.claim):
                return plan
            # a random wait makes another conflict between many nodes less likely
            await asyncio.sleep(RETRY_WAIT * random.SystemRandom().random())

    async def _write(self, plan: Decision) -> None:
        """Write versions, articles and reprints; update ``plan.saved`` to the final fates."""
        if plan.replaced:
            kept = [conversion.version_upsert(article, at) for article, at in plan.replaced]
            await self.server.collection("versions").bulk_write(kept, ordered=True)
        plan.reprints.extend(await self._upsert(plan))
        writes: list[UpdateOne | DeleteOne] = [DeleteOne({"_id": url}) for url in plan.freed]
        lent: list[UpdateOne] = []
        # in order of arrival, even between nodes, since claims ascend
        first = self._stories.next * 1_000
        for number, (article, match) in enumerate(plan.reprints, first):
            writes.append(conversion.reprint_upsert(article, match, number))
            lent.extend(conversion.lend_topics(clean(match.url), article))
        await self._drop_parts(plan)
        if writes:
            await self.server.reprints.bulk_write(writes, ordered=True)
        if lent:
            await self.server.articles.bulk_write(lent, ordered=True)

    async def _drop_parts(self, plan: Decision) -> None:
        """Delete parts of articles that were stored as stories; move their reprints."""
        if plan.parts:
            await self._stories.blank([number for _, number, _ in plan.parts])
        for url, _, story in plan.parts:
            await self.server.reprints.update_many({"story": url}, {"$set": {"story": story}})
            await self.server.articles.delete_one({"_id": url})

    async def _upsert(self, plan: Decision) -> list[tuple[Article, Match]]:
        """Write the articles; return articles whose text another node stored first, as reprints."""
        writes = [conversion.upsert(article, number) for article, number in plan.upserts]
        if not writes:
            return []
        has_repeats = len({article.url for article, _ in plan.upserts}) < len(writes)
        try:
            await self.server.articles.bulk_write(writes, ordered=has_repeats)
        except BulkWriteError as error:
            failed = error.details["writeErrors"]
            if (
                has_repeats
                or error.details["writeConcernErrors"]
                or any(one["code"] != DUPLICATE_KEY for one in failed)
            ):
                raise
            late = [await self._late(plan, *plan.upserts[one["index"]]) for one in failed]
            return [one for one in late if one is not None]
        return []

    async def _late(
        self, plan: Decision, article: Article, number: int
    ) -> tuple[Article, Match] | None:
        """Return an article as a reprint if its text was stored by another node, or write it."""
        which = {"digest": article.digest, "_id": {"$ne": clean(article.url)}}
        first = await self.server.articles.find_one(which, {"_id": 1}) if article.digest else None
        if first is None:  # two upserts of one URL collided: retry this one
            await self.server.articles.bulk_write([conversion.upsert(article, number)])
            return None
        match = Match(first["_id"], 1.0, "same-text")
        place = next(at for at, one in enumerate(plan.saved) if one.url == article.url)
        plan.saved[place] = Saved(article.url, Fate.REPRINT, *match[:3])
        return article, match

    async def _apply_deletions(self) -> None:
        """Delete articles that other nodes deleted, since this node may have just written them."""
        if forgotten := self._stories.forgotten:
            self._stories.forgotten = []
            self._forgotten.update(forgotten)
            await self._remove(forgotten)

    async def _remove(self, names: Sequence[str]) -> int:
        """Delete the documents and keys of the given names; return the number of documents."""
        gone = 0
        articles, reprints = self.server.articles, self.server.reprints
        for name in map(clean, names):
            which, copies = conversion.named(name)
            found = await articles.find(which, {"number": 1}).to_list()
            if found:
                await self._stories.blank([one["number"] for one in found])
                gone += (await articles.delete_many(which)).deleted_count
                await self._strip([one["_id"] for one in found])
            gone += (await reprints.delete_many(copies)).deleted_count
        return gone

    async def _strip(self, urls: Sequence[str]) -> None:
        """Delete the reprints and versions of deleted articles."""
        await self.server.reprints.delete_many({"story": {"$in": urls}})
        await self.server.collection("versions").delete_many({"url": {"$in": urls}})

    def _learn(self, plan: Decision, learnt: dict[str, Sequence[int]]) -> list[int]:
        """Return marks of boilerplate; each new article is learned once, even after a retry."""
        new = {saved.url for saved in plan.saved if saved.fate is Fate.NEW}
        for article, _ in plan.upserts:
            if article.url in new and article.url not in learnt:
                learnt[article.url] = self._method.learn(article)
        return [mark for marks in learnt.values() for mark in marks]

    async def _decision(
        self, articles: Sequence[Article], candidates: Sequence[Sequence[int]]
    ) -> Decision:
        """Read the stored data that the decision about the articles depends on."""
        urls = [clean(article.url) for article in articles]
        stored, reprints, texts = await asyncio.gather(
            self.server.articles.find({"_id": {"$in": urls}}, conversion.FIELDS).to_list(),
            self.server.reprints.find({"_id": {"$in": urls}}, {"_id": 1}).to_list(),
            self._texts(urls, candidates),
        )
        return Decision(
            self._method,
            self._stories.next,
            {one["_id"]: (one["number"], conversion.article_of(one)) for one in stored},
            texts,
            {one["_id"] for one in reprints},
            {clean(one.url) for one in articles if not self._forgotten.isdisjoint(names_of(one))},
        )

    async def _texts(
        self, urls: Sequence[str], candidates: Sequence[Sequence[int]]
    ) -> dict[int, Article]:
        """Return the articles to compare with, by number; wait for articles being written."""
        wanted = {number for numbers in candidates for number in numbers}
        texts: dict[int, Article] = {}
        while wanted:
            which = {"number": {"$in": sorted(wanted)}}
            found = await self.server.articles.find(which, conversion.COMPARED).to_list()
            texts.update((one["number"], conversion.compared_of(one)) for one in found)
            wanted.difference_update(texts)
            pairs = zip(urls, candidates, strict=True)
            if not any(self._stories.awaited(wanted.intersection(n), url) for url, n in pairs):
                break
            await asyncio.sleep(RETRY_WAIT)
        return texts

    async def _complete(self) -> None:
        """Append missing keys to the log, for articles of another method or a restored copy."""
        while documents_ := await self.server.articles.find(
            {"number": {"$gte": self._stories.next}},
            conversion.COMPARED,
            sort=[("number", 1)],
            limit=REBUILD_BATCH,
        ).to_list():
            articles = {one["number"]: conversion.compared_of(one) for one in documents_}
            marks = [mark for article in articles.values() for mark in self._method.learn(article)]
            keys = [self._method.keys(article) for article in articles.values()]
            urls = [name_of(article.url) for article in articles.values()]
            if not await self._stories.append(Claim(list(articles), urls, keys, marks)):
                await self._stories.refresh()
