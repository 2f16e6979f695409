"""Scrapy's own spiders that ``benchmarks.crawl`` compares with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.linkextractors import LinkExtractor
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response


class Everything(Spider):
    """Follows all links, or only fetches pages of known URLs.

    Args:
        seeds: URLs to begin with, separated by commas.
        fetch: So many pages are fetched below the seeds, and no link is read; 0: all are followed.
    """

    name = "everything"

    def __init__(self, seeds: str, fetch: str = "0") -> None:
        super().__init__()
        self.start_urls = seeds.split(",")
        self._fetch = int(fetch)
        self._links = LinkExtractor()

    @override
    async def start(self) -> AsyncIterator[Any]:
        async for request in super().start():
            yield request
        for number in range(self._fetch):
            seed = self.start_urls[number % len(self.start_urls)]
            yield Request(f"{seed}fetched/{number}.html")

    @override
    def parse(self, response: Response) -> Iterator[Request]:
        """Follow the links of a page."""
        if self._fetch:
            return
        for link in self._links.extract_links(response):  # type: ignore[arg-type]
            yield response.follow(link, self.parse)
