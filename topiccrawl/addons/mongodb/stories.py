"""The duplicate index over MongoDB: a log that all nodes append to, turned round in RAM.

An entry of ``stories`` holds the keys of the articles of one save, under numbers that nobody else
has. Its ``_id`` is the number of the entry before plus one, and unique: a node appends only behind
the entry that it read last, so of two nodes that decide at the same time one is refused, reads the
other's entry, and decides again. No lock, no lease, no clock: a node that was stopped in between
is refused like any other.

An entry is a claim: it is appended before its articles are written. A node that meets the keys of
an article which is not there yet waits for it, ``CLAIM`` seconds at most; the one that claimed it
either writes it within that time or claims it anew.
"""

from __future__ import annotations

import re
import time
from array import array
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

import numpy as np
import xxhash
from bson.binary import Binary
from pymongo.errors import DuplicateKeyError

from topiccrawl.dedup.index import CAPACITY, KeyIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from topiccrawl.addons.mongodb.client import Collection, Document, Server
    from topiccrawl.dedup import Method

CLAIM = 12.0
"""Seconds; longer than a write can take (``TIMEOUT_MS``)."""

RECENT = 200
"""Entries of those read at once whose articles may not be there yet."""

READ = 2_000
"""Entries that are turned round together."""


class Claim(NamedTuple):
    """What an entry says.

    Attributes:
        numbers: Of its articles.
        urls: Theirs, as ``name_of``.
        keys: Theirs.
        marks: Boilerplate that was learnt.
    """

    numbers: Sequence[int]
    urls: Sequence[int]
    keys: Sequence[Sequence[int]]
    marks: Sequence[int] = ()


class StoryLog:
    """Tells which stored articles share keys, and lets nodes agree on who came first.

    Args:
        server: Where it lies.
        method: How duplicates are told.
        capacity: Articles held in RAM, the newest.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        server: Server,
        method: Method,
        capacity: int = CAPACITY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.next = 1
        self.told: list[str] = []
        self._server = server
        self._method = method
        self._capacity = capacity
        self._clock = clock
        self._index = KeyIndex(capacity)
        self._last = 0
        self._claimed: dict[int, tuple[float, int]] = {}

    async def open(self) -> None:
        """Read what is known."""
        await self._entries.create_index("next")
        newest = await self._entries.find_one({}, {"next": 1}, sort=[("_id", -1)])
        since = int(newest["next"]) - self._capacity if newest else 0
        self._last = 0
        await self._read({"next": {"$gt": since}})

    async def refresh(self) -> None:
        """Take over what other nodes appended since."""
        now = self._clock()
        self._claimed = {n: c for n, c in self._claimed.items() if now - c[0] < CLAIM}
        await self._read({"_id": {"$gt": self._last}})

    def find(self, keys: Iterable[int]) -> list[int]:
        """Numbers of the articles that share keys, the likeliest first."""
        return self._index.find(keys)

    def awaited(self, numbers: Iterable[int], url: str) -> bool:
        """Whether one of these articles, which are not there, may still be being written.

        What was claimed for the same URL is not waited for: it is what is being saved.
        """
        now, name = self._clock(), name_of(url)
        claims = (self._claimed[number] for number in numbers if number in self._claimed)
        return any(now - at < CLAIM and claimed != name for at, claimed in claims)

    async def append(self, claim: Claim, forgotten: Sequence[str] = ()) -> bool:
        """Whether the claim was entered; if not, another node was first: refresh, decide again.

        Its new numbers ascend from ``next`` on. Names that are forgotten are told to all nodes.
        """
        flat = array("I", [key for keys in claim.keys for key in keys])
        entry = {
            "_id": self._last + 1,
            "next": max((self.next, *(number + 1 for number in claim.numbers))),
            "by": uuid4().hex,
            "numbers": list(claim.numbers),
            "urls": list(claim.urls),
            "lengths": [len(keys) for keys in claim.keys],
            "keys": Binary(flat.tobytes()),
            "marks": list(claim.marks),
            "forgotten": list(forgotten),
        }
        try:
            await self._entries.insert_one(entry)
        except DuplicateKeyError:
            held = await self._entries.find_one({"_id": entry["_id"]}, {"by": 1})
            if held is None or held["by"] != entry["by"]:  # else the answer to a repeated write
                return False
        self._take([entry])
        return True

    async def blank(self, numbers: Sequence[int]) -> None:
        """Take the keys of articles out of the log."""
        gone = set(numbers)
        async for entry in self._entries.find({"numbers": {"$in": sorted(gone)}}):
            claims = [(n, () if n in gone else keys) for n, keys in _claims(entry)]
            flat = array("I", [key for _, keys in claims for key in keys])
            lengths = [len(keys) for _, keys in claims]
            change = {"keys": Binary(flat.tobytes()), "lengths": lengths}
            await self._entries.update_one({"_id": entry["_id"]}, {"$set": change})

    async def _read(self, which: Document) -> None:
        cursor = self._entries.find(which, sort=[("_id", 1)])
        async with cursor:
            while entries := await cursor.to_list(READ):
                self._take(entries)
                self._watch(entries[-RECENT:])

    def _watch(self, entries: Sequence[Document]) -> None:
        now = self._clock()
        for entry in entries:
            for number, name in zip(entry["numbers"], entry["urls"], strict=True):
                self._claimed[number] = (now, name)

    def _take(self, entries: Sequence[Document]) -> None:
        self._last, self.next = entries[-1]["_id"], max(self.next, entries[-1]["next"])
        self._method.know(mark for entry in entries for mark in entry["marks"])
        self.told += [name for entry in entries for name in entry["forgotten"]]
        if len(entries) == 1:
            for number, keys in _claims(entries[0]):
                self._index.add(number, keys)
            return
        numbers = np.fromiter((n for entry in entries for n in entry["numbers"]), np.uint64)
        lengths = [length for entry in entries for length in entry["lengths"]]
        if not any(lengths):
            return
        flat = np.frombuffer(b"".join(entry["keys"] for entry in entries), dtype=np.uint32)
        self._index.load(np.repeat(numbers, lengths), flat.astype(np.uint64))

    @property
    def _entries(self) -> Collection:
        return self._server.collection(collection_of(self._method.scheme))


def collection_of(scheme: str) -> str:
    """Name of the log of a method's keys: another method begins a log of its own.

    >>> collection_of("shingles/1")
    'stories.shingles_1'
    """
    return "stories." + re.sub(r"\W+", "_", scheme).strip("_")


def name_of(url: str) -> int:
    """A URL as a number of 63 bits."""
    return xxhash.xxh3_64_intdigest(url.encode("utf-8", "replace")) >> 1


def _claims(entry: Document) -> Iterable[tuple[int, array[int]]]:
    keys, begin = array("I", entry["keys"]), 0
    for number, length in zip(entry["numbers"], entry["lengths"], strict=True):
        yield number, keys[begin : begin + length]
        begin += length
