"""Retries of a crawl that found nothing: at its next start, and in a watch after a while."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import DontCloseSpider

from topiccrawl.scheduler.context import CrawlContext, Search, context_of
from topiccrawl.scheduler.hooks import number
from topiccrawl.storage.pages import MAX_FIRST_RETRY

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from topiccrawl.frontier.contract import Frontier

logger = logging.getLogger(__name__)

KILLER = "crash"
"""Reason of a page that crashed the process repeatedly: the next start skips it."""


class StartRetry:
    """Retries what a crawl needs to start: its seeds, or a search for them.

    Args:
        context: The crawl.
        soon: Seconds until the first retry of a search; doubled up to ``MAX_FIRST_RETRY``.
    """

    def __init__(self, context: CrawlContext, soon: float) -> None:
        self.context = context
        self.soon = soon
        self._at: float | None = None
        self._times = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension; raises SettingError if TOPICCRAWL_REVISIT_SHORTEST is no number."""
        context = context_of(crawler)
        retry = cls(context, number(crawler.settings, "TOPICCRAWL_REVISIT_SHORTEST"))
        crawler.signals.connect(retry.opened, signals.spider_opened)
        if context.spec.watch == "on":
            crawler.signals.connect(retry.idle, signals.spider_idle)
        return retry

    def opened(self) -> None:
        """Queue the failed URLs of earlier runs again, where these fetched not one page."""
        context = self.context
        if not context.opened:
            return
        with context.book.writing() as frontier:
            if not context.spec.conducted:
                self._try_again(frontier)
            if context.search is not None and context.search.is_fruitless(context):
                self._ask(frontier, context.search)

    def _try_again(self, frontier: Frontier) -> None:
        counts = frontier.counts()
        if counts["error"] and counts["crawled"] == counts.get("redirected", 0):
            failed = [url for url, _, reason in frontier.iterate("error") if reason != KILLER]
            for url in failed:
                frontier.requeue(url)

    def idle(self) -> None:
        """Wait, and retry a failed search; a watch needs a start.

        Raises:
            DontCloseSpider: While that is so.
        """
        context, search = self.context, self.context.search
        if search is None or not context.opened or not search.failed(context):
            return
        now = time.monotonic()
        if self._at is None:
            wait = min(self.soon * 2.0 ** min(self._times, 10), MAX_FIRST_RETRY)
            self._at, self._times = now + wait, self._times + 1
            again = time.strftime("%H:%M:%S", time.localtime(time.time() + wait))
            logger.warning("Nowhere to begin was found: it is searched again at %s", again)
        if now < self._at:
            context.alarm.after(self._at - now)
        else:
            self._at = None
            with context.book.writing() as frontier:
                self._ask(frontier, search)
            context.alarm.now()
        raise DontCloseSpider

    def _ask(self, frontier: Frontier, search: Search) -> None:
        for url in search.reset_failures():
            frontier.requeue(url)
