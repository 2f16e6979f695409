"""The outermost spider middleware: holds a page's links back and counts its items until it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.misc import load_object

from topiccrawl import meta
from topiccrawl.scheduler.scheduler import FrontierScheduler
from topiccrawl.records import Findings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from topiccrawl.scheduler.leases import LeaseBook


class LeaseMiddleware:
    """Between scraper and frontier; its order must be below every middleware that changes output.

    The end of the callback's output is not the end of the page: items may still be in the pipelines.
    Each item that went out comes back as item_scraped, item_dropped or item_error with its response.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware.

        Raises:
            NotConfigured: If the crawl runs on another scheduler.
        """
        if not issubclass(_scheduler_class(crawler), FrontierScheduler):
            raise NotConfigured
        middleware = cls(crawler)
        connect = crawler.signals.connect
        connect(middleware._item_back, signals.item_scraped)
        connect(middleware._item_back, signals.item_dropped)
        connect(middleware._item_error, signals.item_error)
        connect(middleware._spider_error, signals.spider_error)
        return middleware

    def process_spider_input(self, response: Response) -> None:
        """Mark the page as being processed: if the process dies of it, that is remembered."""
        ticket = meta.read(response.request)
        lease = self._book.lease(ticket.token) if ticket else None
        if ticket and lease and not ticket.robots:
            self._book.frontier.begin(lease)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Keep findings back, count items, and say when the output has ended."""
        ticket = meta.read(response.request)
        token = ticket.token if ticket else 0
        async for output in result:
            if isinstance(output, Findings):
                self._book.found(token, output.relevance, output.offers)
                continue
            if output is not None and not isinstance(output, Request):
                self._book.item_out(token)
            yield output
        self._book.ended(token)

    @property
    def _book(self) -> LeaseBook:
        scheduler = self.crawler.engine.scheduler
        assert isinstance(scheduler, FrontierScheduler)  # noqa: S101  (checked in from_crawler)
        return scheduler.book

    def _item_back(self, response: Response | Failure | None) -> None:
        self._book.item_back(_token(response))

    def _item_error(self, response: Response | Failure | None) -> None:
        self._book.item_back(_token(response), "item-error")

    def _spider_error(self, failure: Failure, response: Response | Failure | None) -> None:
        self._book.failed(_token(response), f"callback-{type(failure.value).__name__}")


def _token(response: Response | Failure | None) -> int:
    ticket = meta.read(getattr(response, "request", None))
    return 0 if ticket is None else ticket.token


def _scheduler_class(crawler: Crawler) -> type:
    found: type = load_object(crawler.settings["SCHEDULER"])
    return found
