"""One clock for all nodes: that of Redis."""

from __future__ import annotations

import time


class RedisClock:
    """Seconds since the epoch as Redis counts them, computed from this machine's steady clock."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def __call__(self) -> float:
        """Return the current time."""
        return time.monotonic() + self._offset

    def hear(self, now: float, sent: float, heard: float) -> None:
        """Follow Redis, whose clock read ``now`` between two moments (``time.monotonic``).

        Only what those two exclude is corrected: an answer that was not read while the process was
        stopped says little, and must not set the clock back (a host would be requested too soon).

        >>> clock = RedisClock()
        >>> before = clock()
        >>> clock.hear(before, time.monotonic() - 9.0, time.monotonic() + 9.0)
        >>> clock() - before < 1.0
        True
        """
        self._offset = min(max(self._offset, now - heard), now - sent)
