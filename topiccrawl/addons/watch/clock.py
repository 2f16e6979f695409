"""Detection of changes of the system clock, which would make visits due too early or too late."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.storage.pages import PageState

TOLERANCE = 5.0
"""Corrections of the clock up to this size are ignored, in seconds."""


def _wall() -> float:
    return time.time()


def _steady() -> float:
    """Return monotonic seconds, which include suspend time if the system supports it."""
    boot: int | None = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


class ClockChanges:
    """Detects that the system clock was set.

    If it was set forward, the due times of pages visited before are postponed by as much. If it
    was set back, pages visited "in the future" need new times; see ``set_back``.

    Args:
        wall: Returns wall-clock time, seconds since the epoch.
        steady: Returns monotonic time in seconds.
    """

    def __init__(
        self, wall: Callable[[], float] = _wall, steady: Callable[[], float] = _steady
    ) -> None:
        self._wall = wall
        self._steady = steady
        self._offset = wall() - steady()
        self._forward: list[tuple[float, float]] = []

    def update(self) -> bool:
        """Compare the clocks; return whether the system clock was set back since the last call.

        >>> wall, steady = [1000.0], [0.0]
        >>> changes = ClockChanges(lambda: wall[0], lambda: steady[0])
        >>> wall[0] = 8200.0
        >>> changes.update(), changes.forward_since(900.0)  # two hours forward
        (False, 7200.0)
        >>> changes.forward_since(8200.0)
        0.0
        >>> wall[0] = 1000.0
        >>> changes.update(), changes.update(), changes.forward_since(900.0)
        (True, False, 0.0)
        """
        offset = self._wall() - self._steady()
        moved, self._offset = offset - self._offset, offset
        if moved > TOLERANCE:
            self._forward.append((self._wall(), moved))
        if moved < -TOLERANCE:
            self._forward.clear()
        return moved < -TOLERANCE

    def forward_since(self, visited_at: float) -> float:
        """Return the seconds by which the clock was set forward since a time."""
        return math.fsum(moved for at, moved in self._forward if visited_at < at - 1.0)


def visited_at(state: PageState) -> float:
    """Return the time of a page's last visit, seconds since the epoch."""
    visits: dict[str, Any] = state.more.get("visits", {})
    return float(visits.get("visited_at", state.checked_at or state.first_seen))


def set_back(state: PageState, now: float) -> PageState:
    """Shift the times of a page visited "in the future": visited now, due after the same wait.

    Other states are returned unchanged. The function is idempotent.

    >>> from topiccrawl.storage.pages import PageState
    >>> state = set_back(PageState("足球", "http://a.test/", checked_at=9000.0, due=9060.0), 1000.0)
    >>> state.checked_at, state.due
    (1000.0, 1060.0)
    """
    seen = visited_at(state)
    if seen <= now + TOLERANCE:
        return state
    due = state.due and now + max(0.0, state.due - seen)
    more = dict(state.more)
    if visits := more.get("visits"):
        began = visits.get("first_seen", seen) - (seen - now)  # the age stays the same
        more["visits"] = {**visits, "visited_at": now, "first_seen": began}
    return replace(state, checked_at=min(state.checked_at, now), due=due, more=more)
