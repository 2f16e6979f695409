"""Whole numbers in ascending order, eight bytes of RAM each."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK = 4096
"""Numbers in a piece at most: an insertion moves no more."""
_smallest = itemgetter(0)


class Order:
    """A sorted collection of different numbers below 2**64; any end of it is reached at once.

    >>> order = Order()
    >>> for number in (3, 1, 2):
    ...     order.add(number)
    >>> order.remove(1)
    >>> list(order), order.first()
    ([2, 3], 2)
    """

    __slots__ = ("_chunks",)

    def __init__(self) -> None:
        self._chunks: list[array[int]] = [array("Q")]

    def add(self, number: int) -> None:
        """Put a number in its place."""
        chunks = self._chunks
        at = 0 if len(chunks) == 1 else max(bisect_right(chunks, number, key=_smallest) - 1, 0)
        chunk = chunks[at]
        insort(chunk, number)
        if len(chunk) > CHUNK:
            chunks.insert(at + 1, chunk[CHUNK // 2 :])
            del chunk[CHUNK // 2 :]

    def remove(self, number: int) -> None:
        """Take a number out.

        Raises:
            LookupError: It is not there.
        """
        chunks = self._chunks
        at = 0 if len(chunks) == 1 else max(bisect_right(chunks, number, key=_smallest) - 1, 0)
        chunk = chunks[at]
        place = bisect_left(chunk, number)
        if place == len(chunk) or chunk[place] != number:
            message = f"{number} is not in this order"
            raise LookupError(message)
        del chunk[place]
        if not chunk and len(chunks) > 1:
            del chunks[at]

    def replace(self, old: int, new: int) -> None:
        """Take one number out, and put another in.

        Raises:
            LookupError: The old one is not there.
        """
        if len(self._chunks) > 1:
            self.remove(old)
            self.add(new)
            return
        chunk = self._chunks[0]
        place = bisect_left(chunk, old)
        if place == len(chunk) or chunk[place] != old:
            message = f"{old} is not in this order"
            raise LookupError(message)
        del chunk[place]
        if new < old:
            insort(chunk, new, 0, place)
        else:
            insort(chunk, new, place)

    def first(self) -> int | None:
        """The smallest number, or None."""
        chunk = self._chunks[0]
        return chunk[0] if chunk else None

    def extend(self, numbers: bytes) -> None:
        """Add numbers, eight bytes each, wherever there is room; ``settle`` puts all in order."""
        self._chunks[0].frombytes(numbers)

    def settle(self) -> None:
        """Put what was added by ``extend`` in order."""
        numbers = array("Q")
        numbers.frombytes(np.sort(np.frombuffer(self._chunks[0], np.uint64)).tobytes())
        step = CHUNK * 3 // 4
        self._chunks = [numbers[at : at + step] for at in range(0, len(numbers), step)] or [numbers]

    def __len__(self) -> int:
        return sum(map(len, self._chunks))

    def __iter__(self) -> Iterator[int]:
        for chunk in self._chunks:
            yield from chunk
