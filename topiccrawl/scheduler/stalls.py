"""Detection of stalls of the process: it was stopped, or too busy to send requests in time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import CallLaterResult, call_later

if TYPE_CHECKING:
    from collections.abc import Callable


PERIOD = 0.05
"""Seconds between two timer calls."""
TOLERANCE = 0.01
"""Seconds by which any timer may be late."""


class StallDetector:
    """Periodic timer that measures how late it is.

    Args:
        clock: Returns seconds; continues while the process is stopped.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._due = float("inf")
        self._timer: CallLaterResult | None = None

    def start(self, on_beat: Callable[[], object]) -> None:
        """Call ``on_beat`` periodically in the running loop; it should call ``pop_stall``."""
        on_beat()
        self._due = self._clock() + PERIOD
        self._timer = call_later(PERIOD, self.start, on_beat)

    def pop_stall(self) -> float:
        """Return the seconds of a stall that was not returned before; usually 0.0.

        >>> times = iter([0.0, 0.02, 5.05, 5.05, 5.05, 5.05])
        >>> detector = StallDetector(lambda: next(times))
        >>> detector._due = next(times) + PERIOD
        >>> detector.pop_stall(), detector.pop_stall(), detector.pop_stall()
        (0.0, 5.0, 0.0)
        """
        now = self._clock()
        late = now - self._due
        if late < TOLERANCE:
            return 0.0
        self._due = now
        return late

    def stop(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
