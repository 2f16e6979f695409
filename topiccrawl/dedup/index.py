"""The index: which articles share keys with this one.

Nearly all entries lie in one array of keys, sorted, and one of article numbers beside it, eight
bytes an entry, in which all keys of an article are searched at once; the newest lie in a
dictionary, and are merged into the arrays when there are too many of them. The store holds the
truth; this is its table of contents, made from it at the start and brought up to date inside each
saving transaction. An entry too many costs a comparison, never a wrong answer.
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
"""Articles held; the oldest are forgotten first. About 200 bytes an article."""

CANDIDATES = 8
"""Articles that are compared at most."""

EVIDENCE = 0.5
"""Keys that an article must share to be compared, each counted by one over the articles that have
it: one key that two have, or several of a template."""

COMMON = 32
"""Articles held under one key; a new one takes the place of the oldest of them."""

FRESH = 10_000
"""Entries held in the dictionary at least, at about 100 bytes each."""

SHARE = 40
"""The dictionary holds one in so many entries: more are dear in RAM, fewer are merged too often."""

_CHUNKS = 64
"""Pieces in which a merge is done, for the sake of what it needs of RAM meanwhile."""

_SHIFT = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_KEYS = 1 << 32
_MOST_KEPT = 0.9  # share of an array from which what is empty behind it may stay


class KeyIndex:
    """Articles by key.

    Args:
        capacity: Articles held, see ``CAPACITY``; numbers must be nearly dense and ascending.

    >>> index = KeyIndex()
    >>> index.add(1, [10, 20, 30])
    >>> index.add(2, [20, 30, 40])
    >>> index.find([10, 20, 30])
    [1, 2]
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self.newest = 0
        self._keys: Halves = np.empty(0, dtype=np.uint32)
        self._numbers: Halves = np.empty(0, dtype=np.uint32)
        self._fresh: dict[int, int | list[int]] = {}
        self._room = FRESH

    def __len__(self) -> int:
        """Entries held: keys of all articles together."""
        fresh = sum(1 if isinstance(held, int) else len(held) for held in self._fresh.values())
        return len(self._keys) + fresh

    @property
    def bytes(self) -> int:
        """RAM of the arrays, and of the dictionary with its numbers."""
        fresh = sys.getsizeof(self._fresh) + 64 * len(self._fresh)
        return self._keys.nbytes + self._numbers.nbytes + fresh

    def add(self, number: int, keys: Iterable[int]) -> None:
        """Enter an article, number in [1, 2**32), under its keys, each in [0, 2**32)."""
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
                del held[:-COMMON]
        if len(fresh) > self._room:
            self._merge()

    def find(self, keys: Iterable[int], but: int = 0) -> list[int]:
        """At most ``CANDIDATES`` articles that share keys, the best first, oldest first in a tie.

        A key counts the more the fewer articles have it.

        Args:
            keys: What they are looked up by.
            but: An article that is not to be found.
        """
        keys = list(keys)
        found = self._found(keys)
        for at, key in enumerate(keys):
            held = self._fresh.get(key)
            if held is not None:
                new = [held] if isinstance(held, int) else held
                old = (number for number in found.get(at, ()) if number not in new)
                found[at] = [*old, *new][-COMMON:]
        scores: dict[int, float] = {}
        for numbers in found.values():
            for number in numbers:
                scores[number] = scores.get(number, 0.0) + 1 / len(numbers)
        scores.pop(but, None)
        likely = [number for number, score in scores.items() if score >= EVIDENCE]
        return sorted(likely, key=lambda number: (-scores[number], number))[:CANDIDATES]

    def load(self, numbers: Entries, keys: Entries) -> None:
        """Enter many at once: number and key of each entry."""
        if not len(numbers):
            return
        self.newest = max(self.newest, int(numbers.max()))
        self._merge(np.concatenate([(keys << _SHIFT) | numbers, self._taken()]))

    def _found(self, keys: Sequence[int]) -> dict[int, list[int]]:
        """The articles in the arrays under each key, oldest first, by the key's place."""
        if not len(self._keys):
            return {}
        wanted = np.array(keys, dtype=np.uint32)
        starts = self._keys.searchsorted(wanted)
        starts[starts == len(self._keys)] = 0
        found: dict[int, list[int]] = {}
        for at in np.flatnonzero(self._keys[starts] == wanted).tolist():
            start = int(starts[at])
            run = int(np.count_nonzero(self._keys[start : start + COMMON] == wanted[at]))
            found[at] = self._numbers[start : start + run].tolist()
        return found

    def _taken(self) -> Entries:
        """The dictionary's entries, which it gives away."""
        entries = [
            key << 32 | number
            for key, held in self._fresh.items()
            for number in ([held] if isinstance(held, int) else held)
        ]
        self._fresh = {}
        return np.array(entries, dtype=np.uint64)

    def _merge(self, entries: Entries | None = None) -> None:
        """Put entries, by default the dictionary's, into the arrays; what is too old goes."""
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
        """A piece of the arrays as numbers of 64 bits, key above article number."""
        return (self._keys[start:end].astype(np.uint64) << _SHIFT) | self._numbers[start:end]

    def _kept(self, entries: Entries) -> Entries:
        """Two ascending runs as one, each entry once, at most ``COMMON`` of a key, none too old."""
        entries.sort(kind="stable")  # which makes use of the runs
        if self.newest > self.capacity:
            oldest = np.uint64(self.newest - self.capacity)
            entries = entries[(entries & _LOW) > oldest]
        return _newest_of_each(entries)


def _newest_of_each(entries: Entries) -> Entries:
    """Each entry once, and at most ``COMMON`` of each key; entries are ascending."""
    entries = entries[np.append(entries[1:] != entries[:-1], np.True_)] if len(entries) else entries
    if len(entries) <= COMMON:
        return entries
    keys = entries >> _SHIFT
    crowded = np.zeros(len(entries), dtype=np.bool_)
    crowded[:-COMMON] = keys[:-COMMON] == keys[COMMON:]
    return entries[~crowded]
