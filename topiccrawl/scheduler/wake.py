"""Wake-up of Scrapy's engine, which asks the scheduler only on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.asyncio import call_later

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import CallLaterResult

SHORTEST = 0.002
"""Least seconds of a timer, so that the engine has its turn before a due time is handled."""


class Alarm:
    """One timer for the next due time.

    Args:
        crawler: Crawler of the engine; while that starts or closes, it is not woken.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._timer: CallLaterResult | None = None

    def now(self) -> None:
        """Let the engine ask again soon."""
        engine = self._crawler._engine  # noqa: SLF001
        slot = None if engine is None else engine._slot  # noqa: SLF001
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()

    def after(self, seconds: float | None) -> None:
        """Let the engine ask after some seconds; None sets no timer."""
        self.cancel()
        if seconds is not None:
            self._timer = call_later(max(seconds, SHORTEST), self._rung)

    def cancel(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _rung(self) -> None:
        self._timer = None
        self.now()
