"""Retries of a failed search for seeds, as a watch does not end without seeds."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import DontCloseSpider, NotConfigured

from topiccrawl.addons.watch.pagestates import MAX_FIRST_RETRY
from topiccrawl.scheduler.context import CrawlContext, context_of
from topiccrawl.scheduler.hooks import number

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class SearchRetry:
    """Repeat a failed search for seeds until it finds some.

    Args:
        context: The crawl.
        soon: Seconds until the first retry; doubled up to ``MAX_FIRST_RETRY``.
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
            NotConfigured: If the crawl is not a watch without end.
            SettingError: If TOPICCRAWL_REVISIT_SHORTEST is not a number.
        """
        context = context_of(crawler)
        if context.spec.watch != "on":
            raise NotConfigured
        retry = cls(context, number(crawler.settings, "TOPICCRAWL_REVISIT_SHORTEST"))
        crawler.signals.connect(retry.idle, signals.spider_idle)
        return retry

    def idle(self) -> None:
        """Wait, then repeat the search.

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
                for url in search.retry_urls():
                    frontier.requeue(url)
            context.alarm.now()
        raise DontCloseSpider
