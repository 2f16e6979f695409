"""The index: which articles share keys with this one.

Keys and article numbers are kept as 64-bit integers, key above number, in a few sorted arrays
(runs) and one small dictionary of what came last. A full dictionary becomes a run, and runs of
like size are merged (a log-structured merge tree), so that an entry is 8 bytes and an insert costs
a few moves of memory. The store holds the truth; this is its table of contents, made from it at
the start and brought up to date inside each saving transaction. An entry too many costs a
comparison, never a wrong answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Run = NDArray[np.uint64]

CAPACITY = 1_000_000
"""Articles held; the oldest are forgotten first. About 200 bytes an article."""

RECENT = 1 << 15
"""Entries of the dictionary before it becomes a run."""

CANDIDATES = 8
"""Articles that are compared at most."""

COMMON = 32
"""Articles that one key may bring, the newest; a phrase in more of them tells nothing."""

_32 = np.uint64(32)
_NUMBER = np.uint64(0xFFFFFFFF)


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
        self._runs: list[Run] = []
        self._recent: dict[int, list[int]] = {}
        self._count = 0

    def __len__(self) -> int:
        """Entries held: keys of all articles together."""
        return self._count + sum(map(len, self._runs))

    @property
    def bytes(self) -> int:
        """RAM of the runs, without the dictionary, which has a bound."""
        return sum(run.nbytes for run in self._runs)

    def add(self, number: int, keys: Iterable[int]) -> None:
        """Enter an article, number in [1, 2**32), under its keys, each in [0, 2**32)."""
        recent = self._recent
        before = self._count
        for key in keys:
            recent.setdefault(key, []).append(number)
            before += 1
        self._count = before
        self.newest = max(self.newest, number)
        if self._count >= RECENT:
            self._seal()

    def load(self, numbers: Run, keys: Run) -> None:
        """Enter many at once: number and key of each entry."""
        if len(numbers):
            self.newest = max(self.newest, int(numbers.max()))
            self._push(np.sort((keys << _32) | numbers))

    def find(self, keys: Sequence[int], but: int = 0) -> list[int]:
        """At most ``CANDIDATES`` articles that share keys, the best first, oldest first in a tie.

        A key counts the more the fewer articles have it.

        Args:
            keys: What they are looked up by.
            but: An article that is not to be found.
        """
        scores: dict[int, float] = {}
        for key in keys:
            if key in self._recent:
                _count(scores, self._recent[key])
        if self._runs and keys:
            wanted = np.sort(np.array(keys, dtype=np.uint64)) << _32
            for run in self._runs:
                _count_run(scores, run, wanted)
        scores.pop(but, None)
        return sorted(scores, key=lambda number: (-scores[number], number))[:CANDIDATES]

    def _seal(self) -> None:
        numbers = [number for those in self._recent.values() for number in those]
        lengths = [len(those) for those in self._recent.values()]
        keys = np.repeat(np.fromiter(self._recent, np.uint64, len(self._recent)), lengths)
        self._recent = {}
        self._count = 0
        self._push(np.sort((keys << _32) | np.array(numbers, dtype=np.uint64)))

    def _push(self, run: Run) -> None:
        """Add a run and merge it with those that are not much larger."""
        oldest = np.uint64(max(0, self.newest - self.capacity))
        while self._runs and len(self._runs[-1]) < 2 * len(run):
            run = np.concatenate([self._runs.pop(), run])
            run = run[(run & _NUMBER) > oldest]
            run.sort(kind="stable")  # merges the two sorted halves
        self._runs.append(run)


def _count(scores: dict[int, float], numbers: Sequence[int]) -> None:
    """Add a key's weight to its articles; the newest of a key that has very many."""
    weight = 1 / len(numbers)
    for number in numbers[-COMMON:]:
        scores[number] = scores.get(number, 0.0) + weight


def _count_run(scores: dict[int, float], run: Run, wanted: Run) -> None:
    """The same for the keys found in a run; ``wanted`` are keys shifted up."""
    places = np.searchsorted(run, wanted)
    places[places == len(run)] = 0
    hits = np.flatnonzero((run[places] ^ wanted) <= _NUMBER)
    if not len(hits):
        return
    ends = np.searchsorted(run, wanted[hits] | _NUMBER, side="right").tolist()
    for start, end in zip(places[hits].tolist(), ends, strict=True):
        _count(scores, (run[start:end] & _NUMBER).tolist())
