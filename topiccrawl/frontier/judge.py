"""What a row's evidence says of it now: its value and its lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier.contract import LEARNT
from topiccrawl.frontier.rows import PINNED, quantum

if TYPE_CHECKING:
    from topiccrawl.frontier.contract import Strategy
    from topiccrawl.frontier.rows import Row


class Judge:
    """Judges rows; moves none.

    Args:
        strategy: Gives values and lanes.
    """

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy

    @property
    def topic(self) -> int:
        """The topic's part of the strategy's version: rows of another are swept."""
        return self._strategy.version % LEARNT

    def refresh(self, row: Row) -> bool:
        """Make a row's evidence anew from its texts if it is of another version; whether it was.

        Value and lane follow with ``standing``.
        """
        version = self._strategy.version
        if row.version == version:
            return False
        row.version = version
        if row.evidence:
            _, anchor, context, _, _ = row.texts.split(b"\0")
            row.evidence = self._strategy.rescore(row.evidence, anchor.decode(), context.decode())
        return True

    def standing(self, row: Row, lane: int) -> tuple[int, int]:
        """Lane and value (in quanta) of a row by its evidence; ``lane`` is the worst it gets."""
        if not row.evidence:
            return min(row.lane, lane), row.value
        value = quantum(self._strategy.value(row.evidence))
        if row.flags & PINNED:
            value = max(value, row.value)
        return min(row.lane, lane, self._strategy.lane(row.evidence)), value
