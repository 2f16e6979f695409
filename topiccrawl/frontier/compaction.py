"""Room made in the log: what is needed of its worst segment is written again, bit by bit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from typing_extensions import override

from topiccrawl.frontier.segment import LINKS, ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from topiccrawl.frontier.columns import Column
    from topiccrawl.frontier.log import Log
    from topiccrawl.frontier.segment import Batch, Segment

GARBAGE = 0.35
"""Share of the log that may be garbage; above, segments are cleared."""
PACE = 2
"""Bytes looked at for a byte that is written, at most (and one batch at least)."""


class Clearing(ABC):
    """Clears the segments of a log, a few batches with each commit.

    Args:
        log: The segments.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._victim: Segment | None = None
        self._batches: Iterator[Batch] = iter(())
        self._cleared: Segment | None = None

    def step(self, size: int) -> None:
        """Have written again what a few batches of the worst segment hold, beside so many bytes."""
        if self._victim is None:
            self._victim = self._worst()
            self._batches = self._victim.batches() if self._victim else iter(())
        left = PACE * size
        while self._victim is not None and left > 0:
            batch = next(self._batches, None)
            if batch is None:
                self._victim, self._cleared = None, self._victim
            else:
                self._copy(self._victim, batch)
                left -= int(batch.sizes.sum())

    def end(self) -> None:
        """What ``step`` asked for is written: a segment that was cleared is needed no more."""
        if self._cleared is not None:
            self._log.retire(self._cleared)
            self._cleared = None

    def _worst(self) -> Segment | None:
        segments = self._log.segments()
        total = sum(segment.length for segment in segments)
        live = sum(segment.live for segment in segments)
        if total - live <= GARBAGE * total:
            return None
        return min(segments[:-1], key=lambda one: one.live / one.length, default=None)

    @abstractmethod
    def _copy(self, segment: Segment, batch: Batch) -> None:
        """Write again what is needed of a batch."""

    def _needed(
        self, segment: Segment, batch: Batch, column: Column
    ) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Places of a batch's records, and which of them a column of places names.

        Also named is that there is none any more, unless nothing older is left to come back.
        """
        found = self._log.places(segment, batch.sizes, batch.starts)
        needed = column.array[batch.numbers] == found
        if self._log.segments()[0] is segment:
            needed &= found != 0
        return found, needed


class Compaction(Clearing):
    """Clears the segments of the log of URLs.

    Args:
        log: The segments.
        new: What is written next, by kind and number.
        columns: Where things are, by kind and number.
    """

    def __init__(
        self, log: Log, new: Sequence[dict[int, bytes]], columns: Sequence[Column]
    ) -> None:
        super().__init__(log)
        self._new = new
        self._columns = columns

    @override
    def _copy(self, segment: Segment, batch: Batch) -> None:
        for kind in (ROWS, LINKS):
            found, needed = self._needed(segment, batch, self._columns[kind])
            needed &= batch.kinds == kind
            new = self._new[kind]
            wanted = zip(batch.numbers[needed].tolist(), found[needed].tolist(), strict=True)
            for number, place in wanted:
                if number not in new:
                    new[number] = self._log.read(place) if place else b""
