"""Duplicate index in Redis for nodes that share no store.

Every node has the index of keys in RAM, as each store does, and reads the entries of other nodes
before it decides. An entry is a claim, which is accepted only if no other node has added an entry
since the last read (``lua/claim.lua``). If two nodes find one story at the same time, one is
rejected, reads again, and finds the entry of the other. Since a node cannot read the store of
another one, compressed texts are stored with the keys; the oldest are evicted first.
"""

from __future__ import annotations

import zlib
from array import array
from typing import TYPE_CHECKING, NamedTuple

import msgpack

from topiccrawl.addons.redis.transport import Call
from topiccrawl.dedup.factory import index_of
from topiccrawl.model import Article
from topiccrawl.storage.selection import names_of
from topiccrawl.text.normal import clean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from redis.asyncio import Redis

    from topiccrawl.dedup import DuplicateDetector

MAX_TEXTS = 200_000
"""Number of articles whose texts are stored in Redis, about 2 kB each."""
READ_BATCH = 2_000
"""Number of entries read at once."""
SCAN_BATCH = 500
"""Number of entries scanned at once when articles are deleted."""
_FIELDS = ("url", "title", "body", "site", "published", "digest")
"""Fields of an article that are stored."""


class SharedStory(NamedTuple):
    """Story in Redis.

    Attributes:
        article: Article with the compared fields.
        store: Name of the store that has the article.
    """

    article: Article
    store: str


class Claim(NamedTuple):
    """Article to be added to the index.

    Attributes:
        article: The article.
        keys: Keys for the look-up of the article.
    """

    article: Article
    keys: Sequence[int]


class StoryRegister:
    """Index of the articles of all nodes by their keys, with claims that order the nodes.

    Args:
        client: Client of the server, without decoding of responses.
        method: Duplicate detector; it receives the boilerplate that other nodes learn.
        store: Name of the store of this node.
        capacity: Number of articles in RAM, and with their texts in Redis, the newest; at most
            ``MAX_TEXTS``.
    """

    def __init__(
        self, client: Redis, method: DuplicateDetector, store: str, capacity: int = MAX_TEXTS
    ) -> None:
        self._client = client
        self._method = method
        self._store = store
        self._kept = min(capacity, MAX_TEXTS)
        self._base = "{topiccrawl:stories:" + method.scheme + "}:"
        self._index = index_of(method, self._kept)
        self._next = 1
        self._marks = 0

    async def refresh(self) -> None:
        """Read the entries that other nodes added since the last call."""
        newest = int(await self._client.get(self._base + "next") or 1)
        if newest < self._next:  # the server has lost its data
            self._index = index_of(self._method, self._kept)
            self._next, self._marks = 1, 0
        begin = max(self._next, newest - self._kept)
        for first in range(begin, newest, READ_BATCH):
            numbers = range(first, min(first + READ_BATCH, newest))
            found = await self._client.hmget(self._base + "keys", [str(n) for n in numbers])
            pairs = zip(numbers, found, strict=True)
            self._index.load([(number, keys) for number, keys in pairs if isinstance(keys, bytes)])
        self._next = newest
        marks = await self._client.lrange(self._base + "marks", self._marks, -1)
        if marks:
            self._marks += len(marks)
            self._method.know(int(mark) for mark in marks)

    async def near(self, keys: Sequence[Sequence[int]]) -> list[list[SharedStory]]:
        """Return for the keys of each article the stories that share keys, likeliest first."""
        found = [self._index.find(one) for one in keys]
        texts = await self._texts(sorted({number for numbers in found for number in numbers}))
        return [[texts[number] for number in numbers if number in texts] for numbers in found]

    async def known(self, urls: Sequence[str]) -> dict[str, SharedStory]:
        """Return the recorded stories of the given URLs, by URL."""
        found = await self._client.hmget(self._base + "urls", [clean(url) for url in urls])
        texts = await self._texts([int(number) for number in found if number is not None])
        return {shared.article.url: shared for shared in texts.values()}

    async def claim(self, claims: Sequence[Claim], marks: Iterable[int]) -> bool:
        """Add articles; return False if another node was first, then refresh and decide again."""
        items = [
            (clean(article.url), array("I", keys).tobytes(), _packed(article, self._store))
            for article, keys in claims
        ]
        packed = msgpack.packb({"items": items, "marks": list(marks)}, use_bin_type=False)
        claim = Call("claim", self._base, (self._next, self._kept, packed))
        return bool(await claim.on(self._client))

    async def withdraw(self, urls: Iterable[str]) -> None:
        """Delete the texts and keys of articles."""
        for url in urls:
            number = await self._client.hget(self._base + "urls", clean(url))
            if number is not None:
                await self._drop(int(number), clean(url))

    async def forget(self, names: Collection[str]) -> int:
        """Delete the articles of URLs or of ``site:HOST``; return their number."""
        targets = {name.lower() if name.startswith("site:") else name for name in names}
        gone: list[tuple[int, str]] = []
        async for number, data in self._client.hscan_iter(self._base + "texts", count=SCAN_BATCH):
            article = _unpacked(data).article
            if not targets.isdisjoint(names_of(article)):
                gone.append((int(number), article.url))
        for number, url in gone:
            await self._drop(number, url)
        return len(gone)

    async def close(self) -> None:
        """Close the connection."""
        await self._client.aclose()

    async def _drop(self, number: int, url: str) -> None:
        pipe = self._client.pipeline(transaction=True)
        for table in ("names", "texts", "keys"):
            pipe.hdel(self._base + table, str(number))
        pipe.hdel(self._base + "urls", url)
        await pipe.execute()

    async def _texts(self, numbers: Sequence[int]) -> dict[int, SharedStory]:
        if not numbers:
            return {}
        found = await self._client.hmget(self._base + "texts", [str(n) for n in numbers])
        pairs = zip(numbers, found, strict=True)
        return {number: _unpacked(data) for number, data in pairs if isinstance(data, bytes)}


def _packed(article: Article, store: str) -> bytes:
    parts = (store, *(getattr(article, name) for name in _FIELDS))
    return zlib.compress(msgpack.packb(parts, unicode_errors="replace"))


def _unpacked(data: bytes) -> SharedStory:
    store, *values = msgpack.unpackb(zlib.decompress(data))
    return SharedStory(Article(**dict(zip(_FIELDS, values, strict=True))), store)
