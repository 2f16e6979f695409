"""Values of rows by their evidence, and the sweep that re-scores old ones."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from topiccrawl.frontier import rows
from topiccrawl.frontier.rows import Row, decode, quantum
from topiccrawl.links.strategies.contract import LEARNT, LinkStrategy

if TYPE_CHECKING:
    from topiccrawl.frontier.queues import Queues

END = rows.TOP
"""Number that a sweep has reached when it has read all rows."""


class Judge:
    """Scorer of rows by their evidence; re-scores old rows when idle.

    Args:
        strategy: Gives values and lanes.

    Attributes:
        swept: Topic's part of the version that the sweep works for, and the number it has reached.
    """

    def __init__(self, strategy: LinkStrategy) -> None:
        self.strategy = strategy
        self._signature = crc32(strategy.signature().encode()) % LEARNT
        self.swept = self.topic, END

    @property
    def version(self) -> int:
        """Version of strategy, formula and parameters: rows with another one are stale."""
        return self.strategy.version ^ self._signature

    @property
    def topic(self) -> int:
        """The part of the version that is not learnt: rows with another one are swept."""
        return self.version % LEARNT

    def refresh(self, row: Row) -> bool:
        """Rebuild a row's evidence from its texts if it is of another version.

        Returns whether it was; ``standing`` then gives value and lane.
        """
        version = self.version
        if row.version == version:
            return False
        row.version = version
        if row.evidence:
            _, anchor, context, _, _ = row.texts.split(b"\0")
            row.evidence = self.strategy.rescore(row.evidence, anchor.decode(), context.decode())
        return True

    def standing(self, row: Row, lane: int) -> tuple[int, int]:
        """Return lane and value (in quanta) of a row by its evidence; ``lane`` is the worst."""
        if not row.evidence:
            return min(row.lane, lane), row.value
        value = quantum(self.strategy.value(row.evidence))
        if row.flags & rows.PINNED:
            value = max(value, row.value)
        return min(row.lane, lane, self.strategy.lane(row.evidence)), value

    def sweep(self, queues: Queues, n: int) -> int:
        """Read up to n rows in the order of their arrival; return how many were read.

        Rows of another version that are queued, or in the errorQueue for their low value, are
        re-scored: evidence, value and lane. 0 when all rows were read since the topic changed.
        """
        topic, (done, at) = self.topic, self.swept
        if done == topic and at == END:
            return 0
        found = queues.urls.after(at if done == topic else 0, n)
        for _, key, data in found:
            if rows.may_move(data) and self.refresh(row := decode(data)):
                queues.move(row, key, *self.standing(row, row.lane))
                queues.urls.put(key, row)
        self.swept = (topic, found[-1][0] if len(found) == n else END)
        return len(found)
