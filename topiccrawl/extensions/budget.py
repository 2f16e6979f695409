"""Ends the crawl after a number of parsed pages; CLOSESPIDER_PAGECOUNT counts all responses."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured

from topiccrawl.scheduler.scheduler import FrontierScheduler
from topiccrawl.scheduler.signals import lease_settled

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

REASON = "topiccrawl_pages"
"""Finish reason where the budget is used up."""


class PageBudget:
    """Closes the spider when TOPICCRAWL_PAGES pages were parsed, never one more.

    Requests in flight count as parsed pages; one that turns out to be an error or a redirect makes
    room for another. Errors, redirects and robots.txt do not count.
    """

    def __init__(self, crawler: Crawler, pages: int) -> None:
        self.crawler = crawler
        self.pages = pages
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension.

        Raises:
            NotConfigured: If TOPICCRAWL_PAGES is 0.
        """
        pages = crawler.settings.getint("TOPICCRAWL_PAGES")
        if pages <= 0:
            raise NotConfigured
        budget = cls(crawler, pages)
        crawler.signals.connect(budget.opened, signals.spider_opened)
        crawler.signals.connect(budget.check, lease_settled)
        return budget

    def opened(self) -> None:
        """Limit the requests from now on."""
        scheduler = self.crawler.engine.scheduler
        if isinstance(scheduler, FrontierScheduler):
            scheduler.has_room = lambda: self._left() > scheduler.book.pages()

    def check(self) -> None:
        """Close once the budget is used up."""
        if self._closing is None and self._left() <= 0:
            closing = self.crawler.engine.close_spider_async(reason=REASON)
            self._closing = asyncio.ensure_future(closing)

    def _left(self) -> int:
        return self.pages - int(self.crawler.stats.get_value("topiccrawl/pages", 0))
