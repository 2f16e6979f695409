"""The index: which articles share keys with this one.

Entries are 64-bit integers, key above article number, in many small open-addressing tables. A
key's place in its table grows with the key, so that a table that is full is made anew by one sort
and a running maximum, without a loop over its entries; and since a table holds a thousandth of
all, nothing ever stands still for long. The store holds the truth; this is its table of contents,
made from it at the start and brought up to date inside each saving transaction. An entry too many
costs a comparison, never a wrong answer.
"""

from __future__ import annotations

from array import array
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Entries = NDArray[np.uint64]

CAPACITY = 1_000_000
"""Articles held; the oldest are forgotten first. About 300 bytes an article."""

CANDIDATES = 8
"""Articles that are compared at most."""

EVIDENCE = 0.5
"""Keys that an article must share to be compared, each counted by one over the articles that have
it: one key that two have, or several of a template."""

COMMON = 32
"""Articles held under one key; a new one takes the place of the oldest of them."""

LOAD = 0.75
"""Share of a table's places that are taken before it is made anew."""

GROWTH = 1.4
"""Size of the new table to the old one."""

_TABLES = 1 << 10
_TABLE = _TABLES - 1
_SHIFT = 10
_REST = 22
_SMALLEST = 16
_SLACK = 64
_BLANK = b"\0" * 8
_NUMBER = 0xFFFFFFFF


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
        self._tables = [_blank(_SMALLEST) for _ in range(_TABLES)]
        self._taken = [0] * _TABLES

    def __len__(self) -> int:
        """Entries held: keys of all articles together."""
        return sum(self._taken)

    @property
    def bytes(self) -> int:
        """RAM of all tables."""
        return sum(8 * len(table) + 80 for table in self._tables)

    def add(self, number: int, keys: Iterable[int]) -> None:
        """Enter an article, number in [1, 2**32), under its keys, each in [0, 2**32)."""
        self.newest = max(self.newest, number)
        tables, taken = self._tables, self._taken
        for key in keys:
            which = key & _TABLE
            table = tables[which]
            size = len(table) - _SLACK
            place = ((key >> _SHIFT) * size) >> _REST
            low, high = key << 32, key << 32 | _NUMBER
            same: list[int] = []
            while entry := table[place]:
                if low < entry <= high:
                    same.append(place)
                place += 1
            if len(same) >= COMMON:
                place = min(same, key=table.__getitem__)
            else:
                taken[which] += 1
            table[place] = low | number
            if place + 2 > len(table) or taken[which] > size * LOAD:
                self._renew(which)

    def find(self, keys: Iterable[int], but: int = 0) -> list[int]:
        """At most ``CANDIDATES`` articles that share keys, the best first, oldest first in a tie.

        A key counts the more the fewer articles have it.

        Args:
            keys: What they are looked up by.
            but: An article that is not to be found.
        """
        scores: dict[int, float] = {}
        tables = self._tables
        for key in keys:
            table = tables[key & _TABLE]
            place = ((key >> _SHIFT) * (len(table) - _SLACK)) >> _REST
            low, high = key << 32, key << 32 | _NUMBER
            found = []
            while entry := table[place]:
                if low < entry <= high:
                    found.append(entry & _NUMBER)
                place += 1
            for number in found:
                scores[number] = scores.get(number, 0.0) + 1 / len(found)
        scores.pop(but, None)
        likely = [number for number, score in scores.items() if score >= EVIDENCE]
        return sorted(likely, key=lambda number: (-scores[number], number))[:CANDIDATES]

    def load(self, numbers: Entries, keys: Entries) -> None:
        """Enter many at once: number and key of each entry."""
        if not len(numbers):
            return
        self.newest = max(self.newest, int(numbers.max()))
        entries = (keys << np.uint64(32)) | numbers
        which = (keys & np.uint64(_TABLE)).astype(np.int64)
        order = np.argsort(which, kind="stable")
        bounds = np.searchsorted(which[order], np.arange(_TABLES + 1)).tolist()
        entries = entries[order]
        for table, (start, end) in enumerate(pairwise(bounds)):
            self._renew(table, entries[start:end])

    def _renew(self, which: int, new: Entries | None = None) -> None:
        """Make a table anew: without what is too old, with new entries, with room to grow."""
        old = np.frombuffer(self._tables[which], dtype=np.uint64)
        entries = old[old != 0]
        if new is not None:
            entries = np.concatenate([entries, new])
        entries = entries[(entries & np.uint64(_NUMBER)) > max(0, self.newest - self.capacity)]
        entries.sort(kind="stable")  # hardly any is out of its order, which this kind makes use of
        entries = _newest_of_each(entries)
        size = max(_SMALLEST, int(len(entries) / LOAD * GROWTH))
        places = _places(entries, size)
        while len(places) and places[-1] > size + _SLACK - 2:  # a crowd at the end
            size += size // 2
            places = _places(entries, size)
        table = _blank(size)
        np.frombuffer(table, dtype=np.uint64)[places] = entries
        self._tables[which] = table
        self._taken[which] = len(entries)


def _places(entries: Entries, size: int) -> NDArray[np.int64]:
    """Where ascending entries stand: at home, or behind the one before."""
    homes = ((entries >> np.uint64(32 + _SHIFT)).astype(np.int64) * size) >> _REST
    order = np.arange(len(entries))
    return np.asarray(np.maximum.accumulate(homes - order) + order)


def _blank(size: int) -> array[int]:
    """A table of so many places, with slack behind for the last ones' overflow."""
    return array("Q", _BLANK * (size + _SLACK))


def _newest_of_each(entries: Entries) -> Entries:
    """Each entry once, and at most ``COMMON`` of each key; entries are ascending."""
    entries = entries[np.append(entries[1:] != entries[:-1], np.True_)] if len(entries) else entries
    if len(entries) <= COMMON:
        return entries
    keys = entries >> np.uint64(32)
    crowded = np.zeros(len(entries), dtype=np.bool_)
    crowded[:-COMMON] = keys[:-COMMON] == keys[COMMON:]
    return entries[~crowded]
