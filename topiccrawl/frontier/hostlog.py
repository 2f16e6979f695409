"""The last word on each host: its clock, its counters, what its pages were like.

Every page changes them, each time on another host: in a tree, that is a page of it for every page
crawled. They lie in a log of their own (see ``log``), beside that of the URLs: what changes all the
time and what hardly does share no segments, or clearing would copy the one because of the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import override

from topiccrawl.frontier.columns import Column
from topiccrawl.frontier.compaction import Clearing
from topiccrawl.frontier.keys import KEY_BYTES
from topiccrawl.frontier.log import SLOT_AT, Log

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.frontier.segment import Batch, Segment

NAME = "hosts"
PARTS = 4
"""There is less of it than of URLs: its segments are so many times smaller."""


class HostLog:
    """A record for each host, by its number; what changed is written at once.

    Args:
        folder: Where the log is.
        readonly: Whether another process writes it.

    Attributes:
        log: The files.
    """

    def __init__(self, folder: Path, *, readonly: bool = False) -> None:
        self.log = Log(folder, NAME, readonly=readonly, parts=PARTS)
        self._places = Column("Q")
        self._new: dict[int, bytes] = {}
        self._compaction = _Compaction(self.log, self._new, self._places)

    def get(self, number: int) -> bytes:
        """The record of a host, b"" where there is none."""
        record = self._new.get(number)
        if record is None:
            cells = self._places.cells
            place = cells[number] if number < len(cells) else 0
            return self.log.read(place) if place else b""
        return record

    def put(self, number: int, record: bytes) -> None:
        """Replace a record; b"" is none."""
        self._new[number] = record

    def is_new(self, number: int) -> bool:
        """Whether a record was replaced since the last commit."""
        return number in self._new

    def write(self) -> dict[int, int]:
        """Write to the log what changed; lengths of the segments by number."""
        if self._new:
            self._compaction.step(sum(map(len, self._new.values())))
            count = len(self._new)
            numbers = np.fromiter(self._new, np.uint32, count)
            self._places.reach(int(numbers.max()) + 1)
            nobody, kinds = bytes(KEY_BYTES * count), np.zeros(count, np.uint32)
            found = self.log.append(numbers, kinds, nobody, list(self._new.values()))
            self.log.count(self._places.array[numbers], -1)
            self._places.array[numbers] = found
            self._new.clear()
            self._compaction.end()
        return self.log.lengths()

    def open(self, lengths: dict[int, int]) -> None:
        """Read a log of these segments and lengths, or what is new since it was read last.

        Raises:
            StorageError: The log is damaged.
            FileNotFoundError: The process that writes has deleted a segment meanwhile.
        """
        for segment, start in self.log.open(lengths):
            for batch in segment.batches(start):
                self._replay(segment, batch)
        for segment in self.log.segments():
            if segment.number not in lengths:
                slots = self._places.array >> np.uint64(SLOT_AT)
                gone = (slots == self.log.slot(segment)) & (self._places.array != 0)
                self._places.array[gone] = 0
                self.log.retire(segment)

    def _replay(self, segment: Segment, batch: Batch) -> None:
        found = self.log.places(segment, batch.sizes, batch.starts)
        self._places.reach(int(batch.numbers.max(initial=0)) + 1)
        self.log.count(self._places.array[batch.numbers], -1)
        self._places.array[batch.numbers] = found
        self.log.count(found, 1)


class _Compaction(Clearing):
    """Clears the segments of hosts."""

    def __init__(self, log: Log, new: dict[int, bytes], places: Column) -> None:
        super().__init__(log)
        self._new = new
        self._places = places

    @override
    def _copy(self, segment: Segment, batch: Batch) -> None:
        found, needed = self._needed(segment, batch, self._places)
        for number, place in zip(
            batch.numbers[needed].tolist(), found[needed].tolist(), strict=True
        ):
            if number not in self._new:
                self._new[number] = self._log.read(place) if place else b""
