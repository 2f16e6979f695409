"""Page budget: ends a crawl after a number of parsed pages.

CLOSESPIDER_PAGECOUNT, in contrast, counts all responses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured

from topiccrawl.scheduler.context import context_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

REASON = "topiccrawl_pages"
"""Finish reason of a crawl whose page budget is exhausted."""


class PageBudget:
    """Close the spider after exactly TOPICCRAWL_PAGES parsed pages.

    Requests in flight count as parsed pages until they end in an error or a redirect. Errors,
    redirects and robots.txt files do not count.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.context = context_of(crawler)
        self.pages = crawler.settings.getint("TOPICCRAWL_PAGES")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension.

        Raises:
            NotConfigured: If TOPICCRAWL_PAGES is 0.
        """
        budget = cls(crawler)
        if budget.pages <= 0:
            raise NotConfigured
        context = budget.context
        context.has_room = lambda: budget.remaining() > context.book.pages()
        context.on_settled(budget.check)
        return budget

    def check(self) -> None:
        """Close the spider if the budget is exhausted."""
        if self.remaining() <= 0:
            self.context.end(REASON)

    def remaining(self) -> int:
        """Return the number of pages that may still be parsed."""
        return self.pages - int(self.context.crawler.stats.get_value("topiccrawl/pages", 0))
