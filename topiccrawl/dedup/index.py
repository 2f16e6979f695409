"""Index of articles by key, in RAM.

Most entries are in a sorted array of keys and a parallel array of article numbers, with eight bytes
per entry. All keys of an article are searched at once. The newest entries are in a dictionary,
which is merged into the arrays when it is too large. The store is authoritative: the index is built
from it on start and updated inside each saving transaction. A superfluous entry costs a comparison
and never changes a result. If keys can be shared by chance, ``MIN_EVIDENCE``, ``MAX_CANDIDATES``
and ``MAX_PER_KEY`` limit the candidates. An ``exact`` index returns every article that shares a
key, like a scan.
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
    Halves = NDArray[np.uint32]
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

MIN_BUFFER = 10_000
"""Minimum number of entries in the dictionary before a merge, about 100 bytes each."""

BUFFER_DIVISOR = 40
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
        self._keys: Halves = np.empty(0, dtype=np.uint32)
        self._numbers: Halves = np.empty(0, dtype=np.uint32)
        self._buffer: dict[int, int | list[int]] = {}
        self._buffer_limit = MIN_BUFFER

    def __len__(self) -> int:
        """Return the number of entries, that is, pairs of key and article."""
        count = sum(1 if isinstance(entry, int) else len(entry) for entry in self._buffer.values())
        return len(self._keys) + count

    @property
    def bytes(self) -> int:
        """RAM of the arrays and the dictionary in bytes."""
        size = sys.getsizeof(self._buffer) + 64 * len(self._buffer)
        return self._keys.nbytes + self._numbers.nbytes + size

    def add(self, number: int, keys: Iterable[int]) -> None:
        """Add an article, number in [1, 2**32), with its keys in [0, 2**32)."""
        self.newest = max(self.newest, number)
        buffer = self._buffer
        for key in keys:
            entry = buffer.setdefault(key, number)
            if entry is number or entry == number:
                continue
            if isinstance(entry, int):
                buffer[key] = [entry, number]
            elif number not in entry:
                entry.append(number)
                del entry[: -self._per_key]
        if len(buffer) > self._buffer_limit:
            self._merge()

    def find(self, keys: Iterable[int]) -> list[int]:
        """Return the numbers of articles that share keys, best first, ties oldest first.

        A key shared by n articles counts 1/n.
        """
        keys = list(keys)
        found = self._search(keys)
        for at, key in enumerate(keys):
            entry = self._buffer.get(key)
            if entry is not None:
                new = [entry] if isinstance(entry, int) else entry
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
        """Return the articles in the arrays by position of the key, oldest first."""
        if not len(self._keys):
            return {}
        wanted = np.array(keys, dtype=np.uint32)
        starts = self._keys.searchsorted(wanted)
        starts[starts == len(self._keys)] = 0
        found: dict[int, list[int]] = {}
        for at in np.flatnonzero(self._keys[starts] == wanted).tolist():
            start = int(starts[at])
            run = int(np.count_nonzero(self._keys[start : start + self._per_key] == wanted[at]))
            found[at] = self._numbers[start : start + run].tolist()
        return found

    def _drain_buffer(self) -> Entries:
        """Return the entries of the dictionary and clear it."""
        entries = [
            key << 32 | number
            for key, entry in self._buffer.items()
            for number in ([entry] if isinstance(entry, int) else entry)
        ]
        self._buffer = {}
        return np.array(entries, dtype=np.uint64)

    def _merge(self, entries: Entries | None = None) -> None:
        """Merge entries, by default of the dictionary, into the arrays; evict the oldest."""
        new = np.sort(self._drain_buffer() if entries is None else entries)
        edges = [at * (_KEYS // _CHUNKS) for at in range(1, _CHUNKS)]
        olds = [0, *self._keys.searchsorted(np.array(edges, np.uint32)).tolist(), len(self._keys)]
        ends = np.array(edges, np.uint64) << _SHIFT
        news = [0, *new.searchsorted(ends).tolist(), len(new)]
        keys = np.empty(len(self._keys) + len(new), dtype=np.uint32)
        numbers = np.empty_like(keys)
        size = 0
        for old, added in zip(pairwise(olds), pairwise(news), strict=True):
            part = self._compact(np.concatenate([self._entries(*old), new[slice(*added)]]))
            keys[size : size + len(part)] = part >> _SHIFT
            numbers[size : size + len(part)] = part & _LOW
            size += len(part)
        self._keys, self._numbers = keys[:size], numbers[:size]
        if size < len(keys) * _COPY_BELOW:
            self._keys, self._numbers = self._keys.copy(), self._numbers.copy()
        self._buffer_limit = max(MIN_BUFFER, size // BUFFER_DIVISOR)

    def _entries(self, start: int, end: int) -> Entries:
        """Return a slice of the arrays as 64-bit numbers, with the key in the upper half."""
        return (self._keys[start:end].astype(np.uint64) << _SHIFT) | self._numbers[start:end]

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
