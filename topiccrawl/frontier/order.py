"""A sorted collection of numbers: eight bytes of RAM each."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK = 4096
"""Most numbers in a chunk of an order: an insertion moves no more."""
_smallest = itemgetter(0)
_EMPTY = array("Q")


class Order:
    """A sorted collection of distinct numbers below 2**64; the first one is found at once.

    >>> order = Order()
    >>> for number in (3, 1, 2):
    ...     order.add(number)
    >>> order.remove(1)
    >>> list(order), order.first()
    ([2, 3], 2)
    """

    __slots__ = ("_chunks",)

    def __init__(self) -> None:
        self._chunks: list[array[int]] = []

    def add(self, number: int) -> None:
        """Insert a number in order."""
        chunks = self._chunks
        if not chunks:
            chunks.append(array("Q", (number,)))
            return
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
        return self._chunks[0][0] if self._chunks else None

    def extend(self, numbers: bytes) -> None:
        """Append numbers, eight bytes each, in any order; ``settle`` sorts all."""
        if not self._chunks:
            self._chunks.append(array("Q"))
        self._chunks[0].frombytes(numbers)

    def settle(self) -> None:
        """Sort the numbers that were added by ``extend``."""
        if self._chunks:
            numbers = array("Q", np.sort(np.frombuffer(self._chunks[0], np.uint64)).tobytes())
            step = CHUNK * 3 // 4
            self._chunks = [numbers[at : at + step] for at in range(0, len(numbers), step)]

    def __len__(self) -> int:
        return sum(map(len, self._chunks))

    def __iter__(self) -> Iterator[int]:
        for chunk in self._chunks:
            yield from chunk
