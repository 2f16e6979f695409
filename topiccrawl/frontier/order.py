"""Sorted orders of queued URLs: eight bytes of RAM each, with the smallest stored separately."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topiccrawl.frontier.hosts import Host, Origin

CHUNK = 4096
"""Maximum number of numbers in a chunk; an insertion moves no more."""
_smallest = itemgetter(0)
_NONE: list[array[int]] = []
"""Shared by all orders of less than two numbers; never changed."""


class Order:
    """A sorted collection of distinct numbers below 2**64.

    >>> order = Order()
    >>> for number in (3, 1, 2):
    ...     order.add(number)
    >>> order.remove(1)
    >>> list(order), order.first
    ([2, 3], 2)

    Attributes:
        first: Smallest number, or None.
    """

    __slots__ = ("_chunks", "first")

    def __init__(self) -> None:
        self.first: int | None = None
        self._chunks = _NONE  # of all numbers after the first

    def add(self, number: int) -> None:
        """Insert a number in order."""
        if self.first is None:
            self.first = number
            return
        if number < self.first:
            self.first, number = number, self.first
        chunks = self._chunks
        if not chunks:
            self._chunks = [array("Q", (number,))]
            return
        at = 0 if len(chunks) == 1 else self._chunk_of(number)
        chunk = chunks[at]
        insort(chunk, number)
        if len(chunk) > CHUNK:
            chunks.insert(at + 1, chunk[CHUNK // 2 :])
            del chunk[CHUNK // 2 :]

    def remove(self, number: int) -> None:
        """Remove a number.

        Raises:
            LookupError: The number is not in the order.
        """
        chunks, at = self._chunks, 0
        if number == self.first:
            self.first = chunks[0].pop(0) if chunks else None
        else:
            at = 0 if len(chunks) < 2 else self._chunk_of(number)  # noqa: PLR2004
            chunk = chunks[at] if chunks else array("Q")
            place = bisect_left(chunk, number)
            if place == len(chunk) or chunk[place] != number:
                message = f"{number} is not in this order"
                raise LookupError(message)
            del chunk[place]
        if chunks and not chunks[at]:
            del chunks[at]

    def _chunk_of(self, number: int) -> int:
        """Return the index of the chunk that a number belongs to."""
        return max(bisect_right(self._chunks, number, key=_smallest) - 1, 0)

    def extend(self, numbers: bytes) -> None:
        """Append numbers to an empty order, eight bytes each; call ``sort`` afterwards."""
        if not self._chunks:
            self._chunks = [array("Q")]
        self._chunks[0].frombytes(numbers)

    def sort(self) -> None:
        """Sort the numbers that were added by ``extend``."""
        if self._chunks:
            numbers = array("Q", np.sort(np.frombuffer(self._chunks[0], np.uint64)).tobytes())
            self.first = numbers[0] if numbers else None
            step = CHUNK * 3 // 4
            self._chunks = [numbers[at : at + step] for at in range(1, len(numbers), step)]

    def __len__(self) -> int:
        return sum(map(len, self._chunks)) + (self.first is not None)

    def __iter__(self) -> Iterator[int]:
        if self.first is not None:
            yield self.first
        for chunk in self._chunks:
            yield from chunk


EMPTY = Order()
"""Shared by all lanes that never had a URL; never changed."""


@dataclass(slots=True, eq=False)
class Unit:
    """One queue: the URLs of one origin and one group.

    Attributes:
        uid: Number inside the host.
        groups: Names of its groups, widest first.
        bias: Prior that is added to all values of the unit, in quanta.
        prior: URLs of priorQueue by inverted value and arrival number, 32 bits each.
        normal: URLs of normalQueue, likewise.
    """

    uid: int
    origin: Origin
    groups: tuple[str, ...]
    bias: float = 0.0
    prior: Order = EMPTY
    normal: Order = EMPTY

    @property
    def host(self) -> Host:
        """Host of the unit."""
        return self.origin.host

    @property
    def orders(self) -> tuple[Order, Order]:
        """Queued URLs of both lanes, for reading."""
        return self.prior, self.normal

    @property
    def is_empty(self) -> bool:
        """True if no URL is queued by value."""
        return self.prior.first is None and self.normal.first is None

    def order(self, lane: int) -> Order:
        """Return the order of a lane, for changes."""
        if lane:
            if self.normal is EMPTY:
                self.normal = Order()
            return self.normal
        if self.prior is EMPTY:
            self.prior = Order()
        return self.prior

    @property
    def group(self) -> str:
        """Queue group, the narrowest one; "" for none."""
        return self.groups[-1] if self.groups else ""

    def __lt__(self, other: Unit) -> bool:
        """Order units in heaps, where entries of other nodes may have equal arrival numbers."""
        return (self.host.id, self.uid) < (other.host.id, other.uid)
