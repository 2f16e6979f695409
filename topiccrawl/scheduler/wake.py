"""Wakes Scrapy's engine, which asks the scheduler only when told to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.asyncio import call_later

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import CallLaterResult

SHORTEST = 0.002
"""Seconds; a time that has come is looked at after the engine had its turn."""


class Alarm:
    """One timer for the next due time.

    Args:
        crawler: Whose engine is woken; harmless while it starts or closes.
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
        """Let the engine ask after some seconds, or not until told where None."""
        self.cancel()
        if seconds is not None:
            self._timer = call_later(max(seconds, SHORTEST), self._rung)

    def cancel(self) -> None:
        """Ring no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _rung(self) -> None:
        self._timer = None
        self.now()
