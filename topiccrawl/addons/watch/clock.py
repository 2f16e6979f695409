"""Detection of changes of the system clock, which would make visits due too early or too late."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

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
    was set back, pages visited "in the future" need new times; see ``pagestates.set_back``.

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
