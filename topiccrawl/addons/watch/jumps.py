"""Changes of the machine's clock: due visits come neither all at once nor much later."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.storage.pages import PageState

LEAST = 5.0
"""Seconds; smaller corrections of a clock are ignored."""


def _wall() -> float:
    return time.time()


def _steady() -> float:
    """Return steady seconds; they include the machine's sleep if the system counts it."""
    boot: int | None = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


class Jumps:
    """Detects that the clock was set.

    Pages visited before it was set forward are due later by as much. Pages visited "in the
    future", since it was set back, need a new time; see ``set_back``.

    Args:
        wall: The machine's clock, seconds since the epoch.
        steady: A clock that is never set, seconds.
    """

    def __init__(
        self, wall: Callable[[], float] = _wall, steady: Callable[[], float] = _steady
    ) -> None:
        self._wall = wall
        self._steady = steady
        self._offset = wall() - steady()
        self._forward: list[tuple[float, float]] = []

    def look(self) -> bool:
        """Return whether the clock was set back since the last look.

        >>> wall, steady = [1000.0], [0.0]
        >>> jumps = Jumps(lambda: wall[0], lambda: steady[0])
        >>> wall[0] = 8200.0
        >>> jumps.look(), jumps.lead(900.0), jumps.lead(8200.0)  # two hours forward
        (False, 7200.0, 0.0)
        >>> wall[0] = 1000.0
        >>> jumps.look(), jumps.look(), jumps.lead(900.0)
        (True, False, 0.0)
        """
        offset = self._wall() - self._steady()
        moved, self._offset = offset - self._offset, offset
        if moved > LEAST:
            self._forward.append((self._wall(), moved))
        if moved < -LEAST:
            self._forward.clear()
        return moved < -LEAST

    def lead(self, visited_at: float) -> float:
        """Return the seconds by which the clock was set forward since a page was visited."""
        return math.fsum(moved for at, moved in self._forward if visited_at < at - 1.0)


def visited_at(state: PageState) -> float:
    """Return the time of a page's last visit, seconds since the epoch."""
    visits: dict[str, Any] = state.more.get("visits", {})
    return float(visits.get("visited_at", state.checked_at or state.first_seen))


def set_back(state: PageState, now: float) -> PageState:
    """Return the state of a page visited "in the future": visited now, due after the same wait.

    Other states are unchanged; twice equals once.

    >>> from topiccrawl.storage.pages import PageState
    >>> state = set_back(PageState("足球", "http://a.test/", checked_at=9000.0, due=9060.0), 1000.0)
    >>> state.checked_at, state.due
    (1000.0, 1060.0)
    """
    seen = visited_at(state)
    if seen <= now + LEAST:
        return state
    due = state.due and now + max(0.0, state.due - seen)
    more = dict(state.more)
    if visits := more.get("visits"):
        began = visits.get("first_seen", seen) - (seen - now)  # as old as it was
        more["visits"] = {**visits, "visited_at": now, "first_seen": began}
    return replace(state, checked_at=min(state.checked_at, now), due=due, more=more)
