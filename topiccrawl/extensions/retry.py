"""Retries of seeds and seed searches that failed: at the next start, or during a watch."""

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

CRASH = "crash"
"""Error reason of a page that crashed the process repeatedly; such pages are not retried."""


class StartRetry:
    """Retry failed seeds, or a failed search for seeds.

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
        """Return the extension.

        Raises:
            SettingError: If TOPICCRAWL_REVISIT_SHORTEST is not a number.
        """
        context = context_of(crawler)
        retry = cls(context, number(crawler.settings, "TOPICCRAWL_REVISIT_SHORTEST"))
        crawler.signals.connect(retry.opened, signals.spider_opened)
        if context.spec.watch == "on":
            crawler.signals.connect(retry.idle, signals.spider_idle)
        return retry

    def opened(self) -> None:
        """Requeue the failed URLs of earlier runs if those runs fetched no page."""
        context = self.context
        if not context.opened:
            return
        with context.book.writing() as frontier:
            if not context.spec.conducted:
                self._requeue_failed(frontier)
            if context.search is not None and context.search.is_fruitless(context):
                self._requeue_search(frontier, context.search)

    def _requeue_failed(self, frontier: Frontier) -> None:
        counts = frontier.counts()
        if counts["error"] and counts["crawled"] == counts.get("redirected", 0):
            failed = [url for url, _, reason in frontier.iterate("error") if reason != CRASH]
            for url in failed:
                frontier.requeue(url)

    def idle(self) -> None:
        """Wait, then retry a failed search; a watch does not end without seeds.

        Raises:
            DontCloseSpider: While the search has found no seeds.
        """
        context, search = self.context, self.context.search
        if search is None or not context.opened or not search.failed(context):
            return
        now = time.monotonic()
        if self._at is None:
            wait = min(self.soon * 2.0 ** min(self._times, 10), MAX_FIRST_RETRY)
            self._at, self._times = now + wait, self._times + 1
            retry_at = time.strftime("%H:%M:%S", time.localtime(time.time() + wait))
            logger.warning("No seed URLs were found; the search is retried at %s", retry_at)
        if now < self._at:
            context.alarm.after(self._at - now)
        else:
            self._at = None
            with context.book.writing() as frontier:
                self._requeue_search(frontier, search)
            context.alarm.now()
        raise DontCloseSpider

    def _requeue_search(self, frontier: Frontier, search: Search) -> None:
        for url in search.retry_urls():
            frontier.requeue(url)
