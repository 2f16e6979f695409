"""Watchdog that logs pages which block the event loop of a crawl."""

from __future__ import annotations

import logging
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import CallLaterResult, call_later

from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.hooks import number

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class Watchdog:
    """Thread that logs the URL and the stack, once, if the event loop is blocked for too long.

    Args:
        seconds: Seconds without a timer call after which the loop counts as blocked.
        working: Returns the URL of the page that is being parsed, or "".
        stalled: Called in the loop when it runs again.
    """

    def __init__(
        self,
        seconds: float,
        working: Callable[[], str],
        stalled: Callable[[], object] = lambda: None,
    ) -> None:
        self._seconds = seconds
        self._working = working
        self._stalled = stalled
        self._stopped = threading.Event()
        self._reported = False
        self._beat = 0.0
        self._loop = 0
        self._timer: CallLaterResult | None = None
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension.

        Raises:
            NotConfigured: If TOPICCRAWL_WATCHDOG is 0.
        """
        seconds = number(crawler.settings, "TOPICCRAWL_WATCHDOG")
        if not seconds:
            raise NotConfigured
        context, stats = context_of(crawler), crawler.stats
        watchdog = cls(
            seconds, lambda: context.processing, lambda: stats.inc_value("topiccrawl/stalled")
        )
        crawler.signals.connect(watchdog.start, signals.engine_started)
        crawler.signals.connect(watchdog.stop, signals.engine_stopped)
        return watchdog

    def start(self) -> None:
        """Start watching the event loop of the calling thread."""
        self._loop = threading.get_ident()
        self._tick()
        self._thread.start()

    def stop(self) -> None:
        """Stop watching."""
        self._stopped.set()
        if self._timer is not None:
            self._timer.cancel()
        self._thread.join()

    def _tick(self) -> None:
        if self._reported:
            self._reported = False
            self._stalled()
        self._beat = time.monotonic()
        self._timer = call_later(self._seconds / 4, self._tick)

    def _watch(self) -> None:
        while not self._stopped.wait(self._seconds / 4):
            late = time.monotonic() - self._beat
            if late > self._seconds and not self._reported:
                self._reported = True
                stack = "".join(traceback.format_stack(sys._current_frames().get(self._loop)))  # noqa: SLF001
                page = self._working() or "no page"
                logger.warning("Event loop blocked for %.1f s at %s:\n%s", late, page, stack)
