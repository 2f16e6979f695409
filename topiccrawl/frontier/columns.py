"""Columns of whole numbers in RAM that grow where they stand."""

from __future__ import annotations

import mmap
import sys
from typing import Literal

import numpy as np

LINUX = sys.platform == "linux"
NO_RESERVE = 0x4000 if LINUX else 0
"""MAP_NORESERVE: room that was never written to costs nothing."""
START = 1 << 16
TYPES = {"I": np.uint32, "Q": np.uint64}


class Column:
    """Numbers by place, 0 where none was written. Only what was written to takes RAM.

    >>> column = Column("Q")
    >>> column.reach(4_000_000_000)
    >>> column.cells[3_999_999_999] = 7
    >>> int(column.array[3_999_999_999]), column.cells[0]
    (7, 0)

    Args:
        kind: "I" for 32 bits each, "Q" for 64.

    Attributes:
        cells: For single numbers. Replaced when the column grows, as is ``array``: keep neither.
        array: For many numbers at once.
    """

    __slots__ = ("_kind", "_map", "array", "cells")

    def __init__(self, kind: Literal["I", "Q"]) -> None:
        self._kind: Literal["I", "Q"] = kind
        self._map = _room(START)
        self._look()

    def _look(self) -> None:
        self.cells = memoryview(self._map).cast(self._kind)
        self.array = np.frombuffer(self._map, TYPES[self._kind])

    def reach(self, count: int) -> None:
        """Have room for so many numbers at least."""
        cells = self.cells
        if count > len(cells):
            size = max(count * cells.itemsize, 2 * cells.nbytes)
            del self.array
            cells.release()
            self._resize(-(-size // mmap.PAGESIZE) * mmap.PAGESIZE)
            self._look()

    def _resize(self, size: int) -> None:
        if LINUX:
            self._map.resize(size)
        else:  # only Linux moves pages to where there is more room
            old, self._map = self._map, _room(size)
            self._map[: len(old)] = old[:]


def _room(size: int) -> mmap.mmap:
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
