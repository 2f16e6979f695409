"""Queues in order: sorted numbers, eight bytes of RAM each; a single one is kept as it is."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topiccrawl.frontier.hosts import Host, Origin

CHUNK = 4096
"""Most numbers in a chunk of an order: an insertion moves no more."""
_smallest = itemgetter(0)
_EMPTY = array("Q")
_NONE: list[array[int]] = []
"""Of all orders that are empty; never changed."""


class Order:
    """A sorted collection of distinct numbers below 2**64; the first one is found at once.

    >>> order = Order()
    >>> for number in (3, 1, 2):
    ...     order.add(number)
    >>> order.remove(1)
    >>> list(order), order.first()
    ([2, 3], 2)
    """

    __slots__ = ("_chunks", "_only")

    def __init__(self) -> None:
        self._only: int | None = None
        self._chunks: list[array[int]] = _NONE

    def add(self, number: int) -> None:
        """Insert a number in order."""
        chunks = self._chunks
        if not chunks:
            if self._only is None:
                self._only = number
                return
            chunks = self._chunks = [array("Q", (self._only,))]
            self._only = None
        at = 0 if len(chunks) == 1 else max(bisect_right(chunks, number, key=_smallest) - 1, 0)
        chunk = chunks[at]
        insort(chunk, number)
        if len(chunk) > CHUNK:
            chunks.insert(at + 1, chunk[CHUNK // 2 :])
            del chunk[CHUNK // 2 :]

    def remove(self, number: int) -> None:
        """Remove a number.

        Raises:
            LookupError: It is not there.
        """
        if number == self._only:
            self._only = None
            return
        chunks = self._chunks
        at = 0 if len(chunks) == 1 else max(bisect_right(chunks, number, key=_smallest) - 1, 0)
        chunk = chunks[at] if chunks else _EMPTY
        place = bisect_left(chunk, number)
        if place == len(chunk) or chunk[place] != number:
            message = f"{number} is not in this order"
            raise LookupError(message)
        del chunk[place]
        if not chunk:
            del chunks[at]

    def first(self) -> int | None:
        """Return the smallest number, or None."""
        return self._chunks[0][0] if self._chunks else self._only

    def extend(self, numbers: bytes) -> None:
        """Append numbers, eight bytes each, in any order; ``settle`` sorts all."""
        if not self._chunks:
            self._chunks = [array("Q")]
        self._chunks[0].frombytes(numbers)

    def settle(self) -> None:
        """Sort the numbers that were added by ``extend``."""
        if self._chunks:
            numbers = array("Q", np.sort(np.frombuffer(self._chunks[0], np.uint64)).tobytes())
            step = CHUNK * 3 // 4
            self._chunks = [numbers[at : at + step] for at in range(0, len(numbers), step)]
            if len(numbers) == 1:
                self._only, self._chunks = numbers[0], _NONE

    def __len__(self) -> int:
        return sum(map(len, self._chunks)) + (self._only is not None)

    def __iter__(self) -> Iterator[int]:
        if self._only is not None:
            yield self._only
        for chunk in self._chunks:
            yield from chunk


@dataclass(slots=True, eq=False)
class Unit:
    """One queue: an origin's URLs of one group.

    Attributes:
        uid: Number inside the host.
        groups: Names of its groups, widest first.
        orders: Queued URLs of priorQueue and of normalQueue by inverted value and arrival number,
            32 bits each.
    """

    uid: int
    host: Host
    origin: Origin
    groups: tuple[str, ...]
    orders: tuple[Order, Order] = field(default_factory=lambda: (Order(), Order()))

    def head(self, lane: int) -> int | None:
        """Return the best entry of a lane, or None."""
        return self.orders[lane].first()

    @property
    def group(self) -> str:
        """Its queue group, the narrowest one; "" for none."""
        return self.groups[-1] if self.groups else ""

    @property
    def bias(self) -> float:
        """Prior that is added to all values of the unit, in quanta."""
        return self.host.costs[self.uid]

    def __lt__(self, other: Unit) -> bool:
        """Order units for heaps: URLs numbered by other nodes may have equal arrival numbers."""
        return (self.host.id, self.uid) < (other.host.id, other.uid)
