"""Middlewares of leases: a page's links are kept until its items are stored."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from inspect import isasyncgenfunction, isgeneratorfunction
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, signals
from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.asyncio import call_later

from topiccrawl.model import Findings, Kind, Lease
from topiccrawl.scheduler import meta
from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.downloads import FailureRules
from topiccrawl.scheduler.hooks import uses_frontier
from topiccrawl.scheduler.requests import restore_filter, without_lease

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from topiccrawl.scheduler.leases import LeaseBook

MANY_LINKS = 1_000
"""Links of a page above which other work is done between their scoring and their recording."""
PAUSE = 0.001
"""Seconds of that pause; without a time, the event loop would resume the page first."""

_CANCELLED = (
    "the callback of {} raised asyncio.CancelledError, as by awaiting a cancelled task: catch it"
)


class DirectRequestMiddleware:
    """Removes leases from copies of requests that a spider sends with ``engine.download_async()``.

    Robots.txt, retries and Scrapy's delay then apply to them, as to all direct requests.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._context = context_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Remove the lease if the spider has its response, or its request has failed."""
        number, context = meta.lease_number(request), self._context
        if number and context.opened and not context.book.is_fetching(number):
            for name in (meta.KEY, "download_slot"):
                request.meta.pop(name, None)


class LeaseMiddleware:
    """Middleware between scraper and frontier; its order must be below all that change output.

    A page is not complete when its callback's output has ended, since items may still be in
    pipelines. Each item sent out comes back as item_scraped, item_dropped or item_error, with its
    response; a request that the spider yielded comes back as request_scheduled.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._context = context_of(crawler)
        self._rules = FailureRules(crawler.settings)
        self._in_transit: dict[Request, int] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware.

        Raises:
            NotConfigured: The crawl uses another scheduler.
        """
        if not uses_frontier(crawler.settings):
            raise NotConfigured
        middleware = cls(crawler)
        connect = crawler.signals.connect
        connect(middleware._item_returned, signals.item_scraped)
        connect(middleware._item_returned, signals.item_dropped)
        connect(middleware._item_error, signals.item_error)
        connect(middleware._spider_error, signals.spider_error)
        connect(middleware._request_scheduled, signals.request_scheduled)
        return middleware

    def process_spider_input(self, response: Response) -> None:
        """Count the page, and mark it as being processed if its callback is not a generator.

        Raises:
            HttpError: The response is retried before the spider gets it.
        """
        restore_filter(response.request)
        callback = response.request.callback if response.request else None
        lease, spec = self._lease(response), self._context.spec
        if lease and self._rules.retries(response.request, response.status, lease.attempts):
            raise HttpError(response, "retried")
        self._book.fetched(_number(response))
        if lease and spec.judges is None and not spec.conducted:  # others count their pages
            self._context.crawler.stats.inc_value("topiccrawl/pages")
        if lease and not (isgeneratorfunction(callback) or isasyncgenfunction(callback)):
            with self._book.writing() as frontier:
                frontier.begin(lease)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Keep findings, count items, and signal the end of the output.

        Each step is marked, so that a crash counts for this page.
        """
        number, lease = _number(response), self._lease(response)
        while True:
            try:
                with self._context.step(lease), _cancelled_callback(response.url):
                    output = await anext(result)
            except StopAsyncIteration:
                break
            if isinstance(output, Findings):
                self._book.add_findings(number, output)
                if len(output.offers) > MANY_LINKS:
                    await asyncio.sleep(PAUSE)
                continue
            if isinstance(output, Request):
                output = without_lease(output, lease) if meta.KEY in output.meta else output
                self._in_transit[output] = number
            if output is not None:
                self._book.item_sent(number)
            yield output
        self._book.output_ended(number)

    def _lease(self, response: Response) -> Lease | None:
        lease = self._book.lease(_number(response))
        return None if lease is None or lease.kind is Kind.ROBOTS else lease

    @property
    def _book(self) -> LeaseBook:
        return self._context.book

    def _request_scheduled(self, request: Request) -> None:
        """Count a request of the page that is in the frontier after this loop iteration."""
        number = self._in_transit.pop(request, 0)
        if number:
            call_later(0, self._book.item_returned, number)

    def _item_returned(self, response: Response | Failure | None) -> None:
        self._book.item_returned(_number(response))

    def _item_error(self, response: Response | Failure | None) -> None:
        self._book.item_returned(_number(response), "item-error")

    def _spider_error(self, failure: Failure, response: Response | Failure | None) -> None:
        self._book.failed(_number(response), f"callback-{type(failure.value).__name__}")


def _number(response: Response | Failure | None) -> int:
    return meta.lease_number(getattr(response, "request", None))


@contextmanager
def _cancelled_callback(url: str) -> Iterator[None]:
    """Turn a CancelledError of a callback into an error: Scrapy would wait for its page forever."""
    try:
        yield
    except asyncio.CancelledError as error:
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise  # the end of the crawl's own task
        raise RuntimeError(_CANCELLED.format(url)) from error
