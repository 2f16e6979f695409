"""Reading of pages in separate processes, between download and callback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured

from topiccrawl.scheduler.context import context_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_OK = range(200, 300)


class ReadingMiddleware:
    """Awaits the ``prepare`` of the spider's ``spec``, so that its callbacks stay plain generators.

    Its order is below all others, so it gets the same response as the spider. While a page is read
    its request counts as in flight, which limits the waiting pages to CONCURRENT_REQUESTS.

    Args:
        prepare: Reads the response of a request before its callback.
    """

    def __init__(self, prepare: Callable[[Request, Response], Awaitable[None]]) -> None:
        self.prepare = prepare

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware.

        Raises:
            NotConfigured: The spider has no ``prepare``.
        """
        prepare = context_of(crawler).spec.prepare
        if prepare is None:
            raise NotConfigured
        return cls(prepare)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Return the response after it was read.

        Raises:
            IgnoreRequest: It cannot be read.
        """
        if response.status in _OK:
            await self.prepare(request, response)
        return response
