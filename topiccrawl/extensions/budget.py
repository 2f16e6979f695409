"""Ends the crawl after so many parsed pages; CLOSESPIDER_PAGECOUNT counts every answer instead."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

REASON = "topiccrawl_pages"
"""Finish reason where the budget is used up."""


class PageBudget:
    """Closes the spider when TOPICCRAWL_PAGES pages were parsed; answers in flight are finished.

    Errors, redirects and robots.txt do not count.
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
        crawler.signals.connect(budget.check, signals.response_received)
        return budget

    def check(self) -> None:
        """Close once the budget is used up."""
        if (
            self._closing is None
            and self.crawler.stats.get_value("topiccrawl/pages", 0) >= self.pages
        ):
            closing = self.crawler.engine.close_spider_async(reason=REASON)
            self._closing = asyncio.ensure_future(closing)
