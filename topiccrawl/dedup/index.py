"""Index of articles by key, in RAM.

Most entries are in a sorted array of 64-bit numbers, with the key in the upper half and the article
number in the lower half. All keys of an article are searched at once. The newest entries are in a
dictionary, which is merged into the array when it is too large. The store is authoritative: the
index is built from it on start and updated inside each saving transaction. A superfluous entry
costs a comparison and never changes a result. If keys can be shared by chance, ``MIN_EVIDENCE``,
``MAX_CANDIDATES`` and ``MAX_PER_KEY`` limit the candidates. An ``exact`` index returns every
article that shares a key, like a scan.
"""

from __future__ import annotations

import sys
from array import array
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Entries = NDArray[np.uint64]
    StoredKeys = tuple[int, bytes]
    """Number and keys of an article."""

CAPACITY = 1_000_000
"""Maximum number of articles; the oldest are evicted first. About 200 bytes per article."""

MAX_CANDIDATES = 8
"""Maximum number of articles to compare."""

MIN_EVIDENCE = 0.5
"""Minimum sum of 1/n over the shared keys, where n articles have the key: one key of two articles,
or several keys of a template."""

MAX_PER_KEY = 32
"""Maximum number of articles per key; a new one replaces the oldest."""

MIN_BUFFER = 5_000
"""Minimum number of keys in the dictionary before a merge, about 200 bytes each."""

BUFFER_DIVISOR = 80
"""Ratio of array entries to dictionary entries at a merge: RAM against frequent merges."""

MIN_BULK = 500
"""Minimum number of articles that are added at once."""

KEY_BYTES = 4
"""Size of a stored key."""

_CHUNKS = 64
"""Number of chunks of a merge, which limit its RAM."""

_SHIFT = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_KEYS = 1 << 32
_COPY_BELOW = 0.9  # used share of an array below which it is copied


class KeyIndex:
    """Index of articles by key.

    Args:
        capacity: See ``CAPACITY``; article numbers must be nearly dense and ascending.
        exact: Find every article that shares a key, however common the key is.

    >>> index = KeyIndex()
    >>> index.add(1, [10, 20, 30])
    >>> index.add(2, [20, 30, 40])
    >>> index.find([10, 20, 30])
    [1, 2]
    """

    def __init__(self, capacity: int = CAPACITY, *, exact: bool = False) -> None:
        self.capacity = capacity
        self._per_key = capacity if exact else MAX_PER_KEY
        self._limit: int | None = None if exact else MAX_CANDIDATES
        self._min_evidence = 0.0 if exact else MIN_EVIDENCE
        self.newest = 0
        self._entries: Entries = np.empty(0, dtype=np.uint64)
        self._buffer: defaultdict[int, list[int]] = defaultdict(list)
        self._buffer_limit = MIN_BUFFER

    def __len__(self) -> int:
        """Return the number of entries, that is, pairs of key and article."""
        return len(self._entries) + sum(map(len, self._buffer.values()))

    @property
    def bytes(self) -> int:
        """RAM of the array and the dictionary in bytes."""
        return self._entries.nbytes + sys.getsizeof(self._buffer) + 152 * len(self._buffer)

    def add(self, number: int, keys: Iterable[int]) -> None:
        """Add an article, number in [1, 2**32), with its keys in [0, 2**32)."""
        self.newest = max(self.newest, number)
        for key in keys:
            numbers = self._buffer[key]
            if number not in numbers:
                numbers.append(number)
                del numbers[: -self._per_key]
        if len(self._buffer) > self._buffer_limit:
            self._merge()

    def find(self, keys: Iterable[int]) -> list[int]:
        """Return the numbers of articles that share keys, best first, ties oldest first.

        A key shared by n articles counts 1/n.
        """
        keys = list(keys)
        found = self._search(keys)
        for at, key in enumerate(keys):
            if new := self._buffer.get(key):
                old = (number for number in found.get(at, ()) if number not in new)
                found[at] = [*old, *new][-self._per_key :]
        scores: defaultdict[int, float] = defaultdict(float)
        for numbers in found.values():
            for number in numbers:
                scores[number] += 1 / len(numbers)
        likely = [number for number, score in scores.items() if score >= self._min_evidence]
        return sorted(likely, key=lambda number: (-scores[number], number))[: self._limit]

    def load(self, articles: Sequence[StoredKeys]) -> None:
        """Add articles, given their numbers and keys of 32 bits; many are added at once."""
        lengths = [len(keys) // KEY_BYTES for _, keys in articles]
        if len(articles) < MIN_BULK or not any(lengths):
            for number, keys in articles:
                self.add(number, array("I", keys))
            return
        numbers = np.repeat(np.array([number for number, _ in articles], np.uint64), lengths)
        flat = np.frombuffer(b"".join(keys for _, keys in articles), dtype=np.uint32)
        self.newest = max(self.newest, int(numbers.max()))
        entries = (flat.astype(np.uint64) << _SHIFT) | numbers
        self._merge(np.concatenate([entries, self._drain_buffer()]))

    def _search(self, keys: Sequence[int]) -> dict[int, list[int]]:
        """Return the articles in the array by position of the key, oldest first."""
        first = np.array(keys, dtype=np.uint64) << _SHIFT
        starts = self._entries.searchsorted(first).tolist()
        ends = self._entries.searchsorted(first | _LOW, side="right").tolist()
        return {
            at: (self._entries[start:end] & _LOW).tolist()
            for at, (start, end) in enumerate(zip(starts, ends, strict=True))
            if start < end
        }

    def _drain_buffer(self) -> Entries:
        """Return the entries of the dictionary and clear it."""
        entries = [key << 32 | number for key in self._buffer for number in self._buffer[key]]
        self._buffer.clear()
        return np.array(entries, dtype=np.uint64)

    def _merge(self, entries: Entries | None = None) -> None:
        """Merge entries, by default of the dictionary, into the array; evict the oldest."""
        new = np.sort(self._drain_buffer() if entries is None else entries)
        edges = np.arange(1, _CHUNKS, dtype=np.uint64) * np.uint64(_KEYS // _CHUNKS) << _SHIFT
        olds = [0, *self._entries.searchsorted(edges).tolist(), len(self._entries)]
        news = [0, *new.searchsorted(edges).tolist(), len(new)]
        merged = np.empty(len(self._entries) + len(new), dtype=np.uint64)
        size = 0
        for old, added in zip(pairwise(olds), pairwise(news), strict=True):
            part = self._compact(np.concatenate([self._entries[slice(*old)], new[slice(*added)]]))
            merged[size : size + len(part)] = part
            size += len(part)
        unused = size < len(merged) * _COPY_BELOW
        self._entries = merged[:size].copy() if unused else merged[:size]
        self._buffer_limit = max(MIN_BUFFER, size // BUFFER_DIVISOR)

    def _compact(self, entries: Entries) -> Entries:
        """Merge two ascending runs; drop repeated, old and excess entries."""
        entries.sort(kind="stable")  # a stable sort is fast on runs
        if self.newest > self.capacity:
            oldest = np.uint64(self.newest - self.capacity)
            entries = entries[(entries & _LOW) > oldest]
        return _newest_of_each(entries, self._per_key)


def _newest_of_each(entries: Entries, common: int) -> Entries:
    """Return the distinct entries, at most the newest ``common`` of each key."""
    entries = entries[np.append(entries[1:] != entries[:-1], np.True_)] if len(entries) else entries
    if len(entries) <= common:
        return entries
    keys = entries >> _SHIFT
    crowded = np.zeros(len(entries), dtype=np.bool_)
    crowded[:-common] = keys[:-common] == keys[common:]
    return entries[~crowded]
