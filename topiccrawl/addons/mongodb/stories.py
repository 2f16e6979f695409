"""Duplicate index over MongoDB: a log that all nodes append to, inverted in RAM.

An entry of ``stories`` has the keys of the articles of one save, under unique numbers. Its unique
``_id`` is the ``_id`` of the previous entry plus one, so a node can append only after the entry
that it read last. If two nodes decide at the same time, one is rejected, reads the entry of the
other and decides again. This needs no lock, lease or clock: a node that was stopped in between is
rejected like any other.

An entry is a claim, appended before its articles are written. A node that finds the keys of an
article that is not stored yet waits for it, at most ``CLAIM`` seconds. The claiming node either
writes it within that time or claims it again.
"""

from __future__ import annotations

import re
import time
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

import xxhash
from bson.binary import Binary
from pymongo.errors import DuplicateKeyError

from topiccrawl.addons.mongodb.client import ensure_index
from topiccrawl.dedup.contract import linked
from topiccrawl.dedup.factory import index_of
from topiccrawl.dedup.index import KEY_BYTES
from topiccrawl.storage.contract import Fate, Saved
from topiccrawl.storage.merge import fate_of, is_part, merge_topics, replaces
from topiccrawl.text.normal import clean

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from topiccrawl.addons.mongodb.client import Collection, Document, Server
    from topiccrawl.dedup import DuplicateDetector, KeyIndex, Match
    from topiccrawl.model import Article

CLAIM = 12.0
"""Seconds that a claim is valid; longer than a write can take (``TIMEOUT_MS``)."""

RECENT = 200
"""Number of newest entries of a read whose articles may not be stored yet."""

READ_BATCH = 2_000
"""Number of entries that are read and inverted at once."""


@dataclass(slots=True)
class Claim:
    """Content of an entry.

    Attributes:
        numbers: Numbers of the articles.
        urls: URLs of the articles, as hashes by ``name_of``.
        keys: Keys of the articles.
        marks: Learned marks of boilerplate.
    """

    numbers: list[int] = field(default_factory=list)
    urls: list[int] = field(default_factory=list)
    keys: list[Sequence[int]] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)


class StoryLog:
    """Index of stored articles by their keys, with one order for all nodes.

    Args:
        server: Database of the log.
        method: Duplicate detector.
        capacity: Number of articles in RAM, the newest.
    """

    def __init__(self, server: Server, method: DuplicateDetector, capacity: int) -> None:
        self.next = 1
        self.forgotten: list[str] = []
        self._server = server
        self._method = method
        self._capacity = capacity
        self._index = index_of(method, capacity)
        self._last = 0
        self._claimed: dict[int, tuple[float, int]] = {}

    async def open(self) -> None:
        """Read the newest entries of the log, up to the capacity."""
        await ensure_index(self._entries, ("next",), unique=False)
        newest = await self._entries.find_one({}, {"next": 1}, sort=[("_id", -1)])
        first = int(newest["next"]) - self._capacity if newest else 0
        self._last = 0
        await self._read({"next": {"$gt": first}})

    async def refresh(self) -> None:
        """Read the entries that other nodes appended since the last read."""
        end = time.monotonic() - CLAIM
        self._claimed = {n: claim for n, claim in self._claimed.items() if claim[0] > end}
        await self._read({"_id": {"$gt": self._last}})

    def find(self, keys: Iterable[int]) -> list[int]:
        """Return the numbers of the articles that share keys, the likeliest first."""
        return self._index.find(keys)

    def awaited(self, numbers: Iterable[int], url: str) -> bool:
        """Return whether one of the missing articles may be in the process of being written.

        Claims for the same URL do not count, since they belong to the article being saved.
        """
        end, name = time.monotonic() - CLAIM, name_of(url)
        claims = (self._claimed[number] for number in numbers if number in self._claimed)
        return any(at > end and claimed != name for at, claimed in claims)

    async def append(self, claim: Claim, forgotten: Sequence[str] = ()) -> bool:
        """Append a claim, whose new numbers ascend from ``next``.

        Args:
            claim: The claim.
            forgotten: Names that all nodes have to delete.

        Returns:
            False if another node was first; then refresh and decide again.
        """
        entry = {
            "_id": self._last + 1,
            "next": max((self.next, *(number + 1 for number in claim.numbers))),
            "by": uuid4().hex,
            "numbers": claim.numbers,
            "urls": claim.urls,
            "marks": claim.marks,
            **_packed([array("I", keys).tobytes() for keys in claim.keys]),
            "forgotten": list(forgotten),
        }
        try:
            await self._entries.insert_one(entry)
        except DuplicateKeyError:
            stored = await self._entries.find_one({"_id": entry["_id"]}, {"by": 1})
            if stored is None or stored["by"] != entry["by"]:  # ours: the driver repeated the write
                return False
        self._add([entry])
        return True

    async def blank(self, numbers: Sequence[int]) -> None:
        """Remove the keys of articles from the log."""
        gone = set(numbers)
        async for entry in self._entries.find({"numbers": {"$in": sorted(gone)}}):
            kept = _packed([b"" if n in gone else keys for n, keys in _claims(entry)])
            await self._entries.update_one({"_id": entry["_id"]}, {"$set": kept})

    async def _read(self, which: Document) -> None:
        cursor = self._entries.find(which, sort=[("_id", 1)])
        async with cursor:
            while entries := await cursor.to_list(READ_BATCH):
                self._add(entries)
                now = time.monotonic()
                for entry in entries[-RECENT:]:
                    for number, name in zip(entry["numbers"], entry["urls"], strict=True):
                        self._claimed[number] = (now, name)

    def _add(self, entries: Sequence[Document]) -> None:
        self._last, self.next = entries[-1]["_id"], max(self.next, entries[-1]["next"])
        self._method.know(mark for entry in entries for mark in entry["marks"])
        self.forgotten += [name for entry in entries for name in entry["forgotten"]]
        self._index.load([claim for entry in entries for claim in _claims(entry)])

    @property
    def _entries(self) -> Collection:
        return self._server.collection(collection_of(self._method.scheme))


def collection_of(scheme: str) -> str:
    """Return the collection of the log of a duplicate detector; each detector has its own log.

    >>> collection_of("shingles/1")
    'stories.shingles_1'
    """
    return "stories." + re.sub(r"\W+", "_", scheme).strip("_")


def name_of(url: str) -> int:
    """Return a 63-bit hash of a URL."""
    return xxhash.xxh3_64_intdigest(url.encode("utf-8", "replace")) >> 1


def _packed(keys: Sequence[bytes]) -> Document:
    """Return the fields of an entry with the keys of its articles."""
    lengths = [len(one) // KEY_BYTES for one in keys]
    return {"lengths": lengths, "keys": Binary(b"".join(keys))}


def _claims(entry: Document) -> Iterator[tuple[int, bytes]]:
    """Yield the numbers and keys of the articles of an entry."""
    begin = 0
    for number, length in zip(entry["numbers"], entry["lengths"], strict=True):
        end = begin + KEY_BYTES * length
        yield number, entry["keys"][begin:end]
        begin = end


@dataclass(slots=True)
class Decision:
    """Decision about the articles of one save; each is also compared with the ones before it.

    Attributes:
        method: Duplicate detector.
        next: First free number.
        stored: Number and article of each stored URL of the save.
        texts: Articles to compare with, by number.
        recorded: URLs of the save that are recorded as reprints.
        forgotten: URLs of the save that must not be stored again.
        saved: Fates, in the order of the articles.
        upserts: Articles to write, with their numbers.
        replaced: Texts that become versions, with the time of the text that replaces them.
        reprints: Reprints to record, with their stories.
        freed: URLs that are no longer reprints.
        parts: Stored parts of articles that are reprints: URL, number, and URL of the story.
        claim: Entry for the story log, without marks.
    """

    method: DuplicateDetector
    next: int
    stored: dict[str, tuple[int, Article]]
    texts: dict[int, Article]
    recorded: Container[str]
    forgotten: Container[str]
    saved: list[Saved] = field(default_factory=list)
    upserts: list[tuple[Article, int]] = field(default_factory=list)
    replaced: list[tuple[Article, float]] = field(default_factory=list)
    reprints: list[tuple[Article, Match]] = field(default_factory=list)
    freed: list[str] = field(default_factory=list)
    parts: list[tuple[str, int, str]] = field(default_factory=list)
    claim: Claim = field(default_factory=Claim)
    _index: KeyIndex = field(init=False)

    def __post_init__(self) -> None:
        self._index = index_of(self.method)

    def take(self, article: Article, keys: Sequence[int], candidates: Sequence[int]) -> None:
        """Decide about the next article.

        Args:
            article: The article.
            keys: Keys of the article.
            candidates: Numbers of stored articles that share keys with the article.
        """
        url = clean(article.url)
        if url in self.forgotten:
            self.saved.append(Saved(article.url, Fate.FORGOTTEN, article.url))
            return
        numbers = dict.fromkeys((*self._index.find(keys), *candidates))
        near = (self.texts[number] for number in numbers if number in self.texts)
        found = self.method.judge(article, (other for other in near if other.url != url))
        article, match = linked(article, found)
        if match is None:
            self._store(url, article, keys)
        else:
            number, known = self.stored.get(url, (0, None))
            if known is not None and is_part(known, article):
                self.parts.append((url, number, clean(match.url)))
                del self.stored[url]
            self.reprints.append((article, match))
            self.saved.append(Saved(article.url, Fate.REPRINT, *match[:3]))

    def _store(self, url: str, article: Article, keys: Sequence[int]) -> None:
        if url in self.recorded:
            self.freed.append(url)
        number, before = self.stored.get(url, (self.next, None))
        fate = Fate.NEW if before is None else fate_of(before, article)
        self.next += before is None
        if before is not None and replaces(before, article):
            self.replaced.append((before, article.fetched_at))
        self.stored[url] = (number, merge_topics(before, article))
        if before is None or before.digest != article.digest:
            self.texts[number] = article
            self._index.add(number, keys)
            self.claim.numbers.append(number)
            self.claim.urls.append(name_of(article.url))
            self.claim.keys.append(keys)
        self.upserts.append((article, number))
        self.saved.append(Saved(article.url, fate, article.url, follows=article.follows))
