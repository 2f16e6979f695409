"""The index of articles by key.

Nearly all entries are in one sorted array of keys and a parallel one of article numbers, eight
bytes an entry, in which all keys of an article are searched at once. The newest are in a
dictionary and are merged into the arrays when there are too many of them. The store is
authoritative; the index is built from it at the start and updated inside each saving transaction.
An entry too many costs a comparison, never a wrong answer. A detector whose keys may be shared by
chance is served by bounds (``EVIDENCE``, ``CANDIDATES``, ``COMMON``); one that is ``exact`` gets
every article that shares a key, so that it finds what a scan would.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Entries = NDArray[np.uint64]
    Halves = NDArray[np.uint32]

CAPACITY = 1_000_000
"""Articles in the index; the oldest are evicted first. About 200 bytes an article."""

CANDIDATES = 8
"""Most articles that are compared."""

EVIDENCE = 0.5
"""Keys that an article must share to be compared, each counted by one over the articles that have
it: one key that two have, or several of a template."""

COMMON = 32
"""Articles under one key; a new one replaces the oldest of them."""

FRESH = 10_000
"""Least entries of the dictionary before a merge, at about 100 bytes each."""

SHARE = 40
"""One in so many entries is in the dictionary: more cost RAM, fewer are merged too often."""

_CHUNKS = 64
"""Pieces of a merge, which bound the RAM that it needs."""

_SHIFT = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_KEYS = 1 << 32
_MOST_KEPT = 0.9  # share of an array in use from which its unused end may stay


class KeyIndex:
    """Articles by key.

    Args:
        capacity: Most articles, see ``CAPACITY``; numbers must be nearly dense and ascending.
        exact: Find every article that shares a key, however common the key is.

    >>> index = KeyIndex()
    >>> index.add(1, [10, 20, 30])
    >>> index.add(2, [20, 30, 40])
    >>> index.find([10, 20, 30])
    [1, 2]
    """

    def __init__(self, capacity: int = CAPACITY, *, exact: bool = False) -> None:
        self.capacity = capacity
        self._common = capacity if exact else COMMON
        self._most: int | None = None if exact else CANDIDATES
        self._evidence = 0.0 if exact else EVIDENCE
        self.newest = 0
        self._keys: Halves = np.empty(0, dtype=np.uint32)
        self._numbers: Halves = np.empty(0, dtype=np.uint32)
        self._fresh: dict[int, int | list[int]] = {}
        self._room = FRESH

    def __len__(self) -> int:
        """Return the number of entries: the keys of all articles together."""
        fresh = sum(1 if isinstance(held, int) else len(held) for held in self._fresh.values())
        return len(self._keys) + fresh

    @property
    def bytes(self) -> int:
        """RAM of the arrays, and of the dictionary with its numbers."""
        fresh = sys.getsizeof(self._fresh) + 64 * len(self._fresh)
        return self._keys.nbytes + self._numbers.nbytes + fresh

    def add(self, number: int, keys: Iterable[int]) -> None:
        """Add an article, number in [1, 2**32), under its keys, each in [0, 2**32)."""
        self.newest = max(self.newest, number)
        fresh = self._fresh
        for key in keys:
            held = fresh.setdefault(key, number)
            if held is number or held == number:
                continue
            if isinstance(held, int):
                fresh[key] = [held, number]
            elif number not in held:
                held.append(number)
                del held[: -self._common]
        if len(fresh) > self._room:
            self._merge()

    def find(self, keys: Iterable[int], but: int = 0) -> list[int]:
        """Return articles that share keys, best first, in a tie oldest first.

        A key counts one over the number of articles that have it.

        Args:
            keys: Keys to look up.
            but: An article to leave out.
        """
        keys = list(keys)
        found = self._found(keys)
        for at, key in enumerate(keys):
            held = self._fresh.get(key)
            if held is not None:
                new = [held] if isinstance(held, int) else held
                old = (number for number in found.get(at, ()) if number not in new)
                found[at] = [*old, *new][-self._common :]
        scores: dict[int, float] = {}
        for numbers in found.values():
            for number in numbers:
                scores[number] = scores.get(number, 0.0) + 1 / len(numbers)
        scores.pop(but, None)
        likely = [number for number, score in scores.items() if score >= self._evidence]
        return sorted(likely, key=lambda number: (-scores[number], number))[: self._most]

    def load(self, numbers: Entries, keys: Entries) -> None:
        """Add many entries at once: number and key of each."""
        if not len(numbers):
            return
        self.newest = max(self.newest, int(numbers.max()))
        self._merge(np.concatenate([(keys << _SHIFT) | numbers, self._taken()]))

    def _found(self, keys: Sequence[int]) -> dict[int, list[int]]:
        """Return the articles in the arrays under each key, oldest first, by the key's place."""
        if not len(self._keys):
            return {}
        wanted = np.array(keys, dtype=np.uint32)
        starts = self._keys.searchsorted(wanted)
        starts[starts == len(self._keys)] = 0
        found: dict[int, list[int]] = {}
        for at in np.flatnonzero(self._keys[starts] == wanted).tolist():
            start = int(starts[at])
            run = int(np.count_nonzero(self._keys[start : start + self._common] == wanted[at]))
            found[at] = self._numbers[start : start + run].tolist()
        return found

    def _taken(self) -> Entries:
        """Return the dictionary's entries and empty it."""
        entries = [
            key << 32 | number
            for key, held in self._fresh.items()
            for number in ([held] if isinstance(held, int) else held)
        ]
        self._fresh = {}
        return np.array(entries, dtype=np.uint64)

    def _merge(self, entries: Entries | None = None) -> None:
        """Merge entries, by default the dictionary's, into the arrays and evict the too old."""
        new = np.sort(self._taken() if entries is None else entries)
        edges = [at * (_KEYS // _CHUNKS) for at in range(1, _CHUNKS)]
        olds = [0, *self._keys.searchsorted(np.array(edges, np.uint32)).tolist(), len(self._keys)]
        ends = np.array(edges, np.uint64) << _SHIFT
        news = [0, *new.searchsorted(ends).tolist(), len(new)]
        keys = np.empty(len(self._keys) + len(new), dtype=np.uint32)
        numbers = np.empty_like(keys)
        size = 0
        for old, fresh in zip(pairwise(olds), pairwise(news), strict=True):
            part = self._kept(np.concatenate([self._entries(*old), new[slice(*fresh)]]))
            keys[size : size + len(part)] = part >> _SHIFT
            numbers[size : size + len(part)] = part & _LOW
            size += len(part)
        self._keys, self._numbers = keys[:size], numbers[:size]
        if size < len(keys) * _MOST_KEPT:
            self._keys, self._numbers = self._keys.copy(), self._numbers.copy()
        self._room = max(FRESH, size // SHARE)

    def _entries(self, start: int, end: int) -> Entries:
        """Return a piece of the arrays as 64-bit numbers, key above article number."""
        return (self._keys[start:end].astype(np.uint64) << _SHIFT) | self._numbers[start:end]

    def _kept(self, entries: Entries) -> Entries:
        """Merge two ascending runs: each entry once, the newest of a common key, none too old."""
        entries.sort(kind="stable")  # a stable sort is fast on runs
        if self.newest > self.capacity:
            oldest = np.uint64(self.newest - self.capacity)
            entries = entries[(entries & _LOW) > oldest]
        return _newest_of_each(entries, self._common)


def _newest_of_each(entries: Entries, common: int) -> Entries:
    """Return each of the ascending entries once, and the newest ``common`` of each key."""
    entries = entries[np.append(entries[1:] != entries[:-1], np.True_)] if len(entries) else entries
    if len(entries) <= common:
        return entries
    keys = entries >> _SHIFT
    crowded = np.zeros(len(entries), dtype=np.bool_)
    crowded[:-common] = keys[:-common] == keys[common:]
    return entries[~crowded]
