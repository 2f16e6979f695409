"""New values for rows of another topic, a few at a time, when nothing else is to be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier.rows import decode, may_move
from topiccrawl.frontier.state import END

if TYPE_CHECKING:
    from topiccrawl.frontier.judge import Judge
    from topiccrawl.frontier.state import State


def sweep(state: State, judge: Judge, n: int) -> int:
    """Look at up to n rows in the order of their arrival; how many were looked at.

    Rows of another strategy version that are queued, or in the errorQueue for their low value, are
    re-scored: evidence, value and lane. 0 when all rows were seen since the topic changed.
    """
    topic, (done, at) = judge.topic, state.swept
    if done == topic and at == END:
        return 0
    numbers = state.urls.after(at if done == topic else 0, n)
    for number in numbers:
        _renew(state, judge, number)
    state.swept = (topic, numbers[-1] if len(numbers) == n else END)
    return len(numbers)


def _renew(state: State, judge: Judge, number: int) -> None:
    data = state.urls.get(number)
    if not may_move(data):
        return
    row = decode(data)
    if judge.refresh(row):
        state.move(row, state.urls.key(number), *judge.standing(row, row.lane))
        state.put(row)
