"""Notices when the process stood still: it was stopped, or too busy to send what it should."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import call_later

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.utils.asyncio import CallLaterResult

PERIOD = 0.05
"""Seconds between two beats."""
LEAST = 0.01
"""Seconds of lateness that any timer may have."""


class Pulse:
    """A timer that knows how late it is.

    Args:
        clock: Seconds that go on while the process is stopped.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._due = float("inf")
        self._timer: CallLaterResult | None = None

    def start(self, late: Callable[[], object]) -> None:
        """Beat in the running loop; ``late`` is called with each beat, and asks ``lost``."""
        late()
        self._due = self._clock() + PERIOD
        self._timer = call_later(PERIOD, self.start, late)

    def lost(self) -> float:
        """Seconds that the process stood still and nobody was told of yet; 0.0 mostly.

        >>> times = iter([0.0, 0.02, 5.05, 5.05, 5.05, 5.05])
        >>> pulse = Pulse(lambda: next(times))
        >>> pulse._due = next(times) + PERIOD
        >>> pulse.lost(), pulse.lost(), pulse.lost()
        (0.0, 5.0, 0.0)
        """
        now = self._clock()
        late = now - self._due
        if late < LEAST:
            return 0.0
        self._due = now
        return late

    def stop(self) -> None:
        """Beat no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
