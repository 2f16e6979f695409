"""Reading of pages between download and callback, by processes of their own."""

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
    """Awaits the spider's own ``prepare``, so that its callbacks stay plain generators.

    Its order is below all others: it gets the response that the spider gets. While a page is read
    its request counts as in flight, so that no more pages wait than CONCURRENT_REQUESTS.

    Args:
        prepare: Reads a response of a request ahead of its callback.
    """

    def __init__(self, prepare: Callable[[Request, Response], Awaitable[None]]) -> None:
        self.prepare = prepare

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware.

        Raises:
            NotConfigured: If the spider prepares nothing.
        """
        prepare = context_of(crawler).spec.prepare
        if prepare is None:
            raise NotConfigured
        return cls(prepare)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Return the response, read; raise IgnoreRequest where that cannot be."""
        if response.status in _OK:
            await self.prepare(request, response)
        return response
