"""Stores of one of several nodes: articles, and documents with the marks of all nodes.

Articles are stored in the store of their node. A register in Redis (``addons.redis.stories``)
records the stories of all nodes; an article is claimed there before it is stored. If the node
crashes in between, the page was not acknowledged. It is fetched again and has the claim already.
Documents are in the file of their node, except marks, which all nodes share in Redis.
"""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import random
import socket
import time
from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from topiccrawl.addons.redis.stories import Claim, SharedStory, StoryRegister
from topiccrawl.addons.redis.transport import away
from topiccrawl.dedup.contract import linked
from topiccrawl.dedup.index import CAPACITY
from topiccrawl.dedup.verified import VerifiedShingles
from topiccrawl.messages import message
from topiccrawl.storage.contract import Fate, Saved
from topiccrawl.storage.documents import plain
from topiccrawl.storage.sites import CHANGED, MARKS, SITES
from topiccrawl.storage.sqlite import SqliteStore
from topiccrawl.storage.sqlite_documents import SqliteDocuments

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from redis.asyncio import Redis

    from topiccrawl.dedup import DuplicateDetector, Match
    from topiccrawl.model import Article
    from topiccrawl.storage.documents import Document, DocumentKind, Where

    _Decided = tuple[Article, Match | None]
    """An article, with the story that it follows up, and its story in the store of another node."""

logger = logging.getLogger(__name__)

RETRY_WAIT = 0.05
"""Maximum seconds until a node whose claim was rejected decides again."""

_NAMES = "topiccrawl:marks"
"""Key of the set of names of marks; the marks of each name are in a hash."""
_MARKS_AWAY = message("Redis failed ({error}): marks cannot be read or stored")
_STORIES_AWAY = message(
    "Redis failed ({error}): known stories cannot be looked up; check that it runs and has "
    "enough memory"
)


class NodeStore(SqliteStore):
    """Store of a node that detects reprints of the stories of all nodes.

    Args:
        path: Path of the file, or of its folder (TOPICCRAWL_DATA_DIR).
        client: Returns a client of the Redis server; called when it is needed.
        method: Duplicate detector; ``VerifiedShingles`` if None.
        capacity: Number of articles that a new one is compared with, the newest.
    """

    def __init__(
        self, path: str | Path, client: Callable[[], Redis], *,
        method: DuplicateDetector | None = None, capacity: int = CAPACITY,
    ) -> None:  # fmt: skip
        super().__init__(path, method=method, capacity=capacity)
        self._place = f"{socket.gethostname()}:{self.path.resolve()}"  # unique among all nodes
        self._client = client
        self._method = copy.deepcopy(method) if method is not None else VerifiedShingles()
        self._capacity = capacity
        self._register: StoryRegister | None = None
        self._save_lock = asyncio.Lock()

    @override
    async def close(self) -> None:
        if self._register is not None:
            await self._register.close()
            self._register = None
        await super().close()

    @override
    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        """See ``Store.save``; a story in another node's store is a REPRINT and not stored here."""
        async with self._save_lock:
            with away(_STORIES_AWAY):
                pairs, claimed = await self._claim(articles)
            saved = await self._save_here(pairs)
            refused = {one.url for one in saved if one.fate in {Fate.REPRINT, Fate.FORGOTTEN}}
            if unused := refused.intersection(claimed):
                with away(_STORIES_AWAY):  # the store of this node refused them
                    await self._open_register().withdraw(unused)
        return saved

    @override
    async def forget(self, names: Sequence[str], now: float) -> int:
        """See ``Store.forget``; texts are deleted for all nodes, names are stored in this one."""
        gone = await super().forget(names, now)
        with away(_STORIES_AWAY):
            shared = await self._open_register().forget(frozenset(names))
        return max(gone, shared)

    def _open_register(self) -> StoryRegister:
        if self._register is None:
            logger.info(
                "Articles are stored in %s; since the nodes share no store (MONGODB_URI), the"
                " duplicate index is in Redis, and reprints of stories of other nodes are dropped",
                self._place,
            )
            self._register = StoryRegister(
                self._client(), self._method, self._place, self._capacity
            )
        return self._register

    async def _save_here(self, pairs: Sequence[_Decided]) -> list[Saved]:
        """Save the articles that no other node has; return the fates of all articles."""
        here = iter(await super().save([article for article, match in pairs if match is None]))
        return [
            next(here)
            if match is None
            else Saved(
                article.url, Fate.REPRINT, match.url, match.similarity, match.reason, recorded=False
            )
            for article, match in pairs
        ]

    async def _claim(self, articles: Sequence[Article]) -> tuple[list[_Decided], list[str]]:
        """Decide on articles, and add the new ones to the register; return also their URLs."""
        register = self._open_register()
        learnt: dict[str, Sequence[int]] = {}
        while True:
            await register.refresh()
            keys = await asyncio.to_thread(lambda: [self._method.keys(one) for one in articles])
            near = await register.near(keys)
            known = await register.known([article.url for article in articles])
            pairs, claims = await asyncio.to_thread(
                self._decide, articles, keys, near, known, learnt
            )
            if not claims or await register.claim(claims, chain(*learnt.values())):
                return pairs, [article.url for article, _ in claims]
            await asyncio.sleep(RETRY_WAIT * random.SystemRandom().random())

    def _decide(
        self, articles: Sequence[Article], keys: Sequence[Sequence[int]],
        near: Sequence[Sequence[SharedStory]], known: dict[str, SharedStory],
        learnt: dict[str, Sequence[int]],
    ) -> tuple[list[_Decided], list[Claim]]:  # fmt: skip
        pairs: list[_Decided] = []
        claims: list[Claim] = []
        for article, own, others in zip(articles, keys, near, strict=True):
            shared = {one.article.url: one for one in others if one.article.url != article.url}
            judged = self._method.judge(article, [one.article for one in shared.values()])
            known_as, match = linked(article, judged)
            away = match is not None and shared[match.url].store != self._place
            pairs.append((known_as, match if away else None))
            before = known.get(article.url)
            same = before is not None and before.article.digest == article.digest
            if match is not None or same or not own:
                continue
            claims.append(Claim(article, own))
            if before is None and article.url not in learnt:
                learnt[article.url] = self._method.learn(article)
        return pairs, claims


class NodeDocuments(SqliteDocuments):
    """Documents of one of several nodes.

    Args:
        path: See ``SqliteDocuments``.
        kinds: See ``SqliteDocuments``.
        client: Returns a client of the server.
    """

    def __init__(
        self, path: Path, kinds: Sequence[DocumentKind], client: Callable[[], Redis]
    ) -> None:
        super().__init__(path, kinds)
        self._connect = client
        self._redis: Redis | None = None
        self._moved = False

    @override
    async def close(self) -> None:
        """Close the file and the connection. Idempotent."""
        await super().close()
        if self._redis is not None:
            await self._redis.aclose()
            self._redis = None

    @override
    async def put(self, documents: Mapping[DocumentKind, Sequence[Mapping[str, Any]]]) -> None:
        """Insert or replace documents; marks are stored in Redis."""
        given = documents.get(SITES, ())
        own = {**documents, SITES: [one for one in given if not _is_shared(one["site"])]}
        await super().put({kind: found for kind, found in own.items() if found})
        shared: defaultdict[str, dict[Any, Any]] = defaultdict(dict)
        for one in given:
            if _is_shared(one["site"]):
                shared[plain(one["site"])][plain(one["key"])] = _packed(one)
        if shared:
            with away(_MARKS_AWAY):
                async with (await self._client()).pipeline(transaction=True) as pipe:
                    for site, values in shared.items():
                        pipe.hset(_hash(site), mapping=values)
                    pipe.sadd(_NAMES, *shared)
                    await pipe.execute()

    @override
    async def find(
        self, kind: DocumentKind, where: Where, *, order: Sequence[str] = (),
        after: Sequence[Any] = (), limit: int = 0, fields: Sequence[str] = (),
    ) -> list[Document]:  # fmt: skip
        """Return the documents that meet a condition; marks if it selects them, or is empty."""
        if kind is not SITES or not _means_shared(where):
            return await super().find(
                kind, where, order=order, after=after, limit=limit, fields=fields
            )
        found = await self._marks(where)
        if not where:
            found += await super().find(kind, where, fields=fields and (*fields, *order))
        if order:
            placed = sorted((tuple(one[name] for name in order), n) for n, one in enumerate(found))
            found = [found[n] for place, n in placed if not after or place > tuple(after)]
        return [{name: one[name] for name in fields or one} for one in found[: limit or None]]

    @override
    async def delete(self, kind: DocumentKind, *where: Where) -> int:
        """Delete documents, and marks that ``find`` would return; return their number."""
        deleted = await super().delete(kind, *where)
        for condition in where if kind is SITES else ():
            for one in await self._marks(condition) if _means_shared(condition) else ():
                with away(_MARKS_AWAY):
                    await (await self._client()).hdel(_hash(one["site"]), one["key"])
                deleted += 1
        return deleted

    async def _client(self) -> Redis:
        """Return the client, after moving marks made without Redis from the file to it."""
        client = self._redis = self._redis or self._connect()
        if not self._moved:
            await self._move(client)
            self._moved = True
        return client

    async def _move(self, client: Redis) -> None:
        """Move marks from the file to Redis, where existing marks are kept; all nodes relearn."""
        known = await super().find(SITES, {}, fields=SITES.keys)
        marks = [one for one in known if _is_shared(one["site"])]
        if not marks:
            return
        async with client.pipeline(transaction=True) as pipe:
            for one in await super().get(SITES, [tuple(one.values()) for one in marks]):
                if one["site"] == CHANGED:
                    pipe.hset(_hash(CHANGED), one["key"], _packed({**one, "value": time.time()}))
                else:
                    pipe.hsetnx(_hash(one["site"]), one["key"], _packed(one))
                pipe.sadd(_NAMES, one["site"])
            await pipe.execute()
        await super().delete(SITES, *marks)
        moved = sum(one["site"] != CHANGED for one in marks)
        logger.info("Moved %d marks from the file of this node to Redis", moved)

    async def _marks(self, where: Where) -> list[Document]:
        """Return the shared documents that meet a condition, which is empty or has a site."""
        with away(_MARKS_AWAY):
            client = await self._client()
            if "key" in where:
                texts = [await client.hget(_hash(where["site"]), plain(where["key"]))]
            else:
                everything: set[Any] = set() if where else await client.smembers(_NAMES)
                names = [where["site"]] if where else sorted(map(bytes.decode, everything))
                texts = [text for name in names for text in await client.hvals(_hash(name))]
        found = [SITES.unpacked(json.loads(text)) for text in texts if text is not None]
        return [
            one for one in found if all(one[name] == plain(value) for name, value in where.items())
        ]


def _packed(document: Mapping[str, Any]) -> str:
    return json.dumps(SITES.packed(document), ensure_ascii=False)


def _means_shared(where: Where) -> bool:
    """Return whether a condition selects marks: by their name, or since it is empty."""
    return not where or _is_shared(where.get("site", ""))


def _is_shared(site: str) -> bool:
    return site.startswith(MARKS) or site == CHANGED


def _hash(site: str) -> str:
    return f"{_NAMES}:{plain(site)}"
