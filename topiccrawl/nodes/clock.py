"""One clock for all nodes: that of Redis."""

from __future__ import annotations

import time

SLACK = 0.005
"""Seconds by which a reading may be off, by the way to Redis and back, without being followed."""


class RedisClock:
    """Seconds since the epoch as Redis counts them, told from this machine's steady clock."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def __call__(self) -> float:
        """The time now."""
        return time.monotonic() + self._offset

    def hear(self, now: float, moment: float) -> None:
        """Follow Redis, whose clock said ``now`` at a moment (``time.monotonic``)."""
        offset = now - moment
        if abs(offset - self._offset) > SLACK:
            self._offset = offset
