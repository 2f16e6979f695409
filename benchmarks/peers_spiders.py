"""Plain Scrapy spiders that ``benchmarks.crawl`` and ``benchmarks.peers`` compare with.

``python peers_spiders.py NAME ARGUMENTS SETTINGS`` runs one; the last two are JSON objects.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import TextResponse
from scrapy.linkextractors import LinkExtractor
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response


class Everything(Spider):
    """Follows all links.

    Args:
        seeds: URLs to begin with, separated by commas.
        terms: Terms of the topic, separated by commas.
        fetch: Number of pages below the seeds that ``Fetch`` requests.
    """

    name = "scrapy"

    def __init__(self, seeds: str, terms: str = "", fetch: int = 0) -> None:
        super().__init__()
        self.start_urls = seeds.split(",")
        self.terms = [term.lower() for term in terms.split(",")]
        self.fetch = fetch
        self.links = LinkExtractor()

    @override
    def parse(self, response: Response) -> Iterator[Request]:
        """Follow the links of a page."""
        if isinstance(response, TextResponse):
            for link in self.links.extract_links(response):
                yield response.follow(link, self.parse)


class Fetch(Everything):
    """Fetches pages of known URLs, and reads none."""

    name = "fetch"

    @override
    async def start(self) -> AsyncIterator[Any]:
        async for request in super().start():
            yield request
        for number in range(self.fetch):
            seed = self.start_urls[number % len(self.start_urls)]
            yield Request(f"{seed}fetched/{number}.html")

    @override
    def parse(self, response: Response) -> Iterator[Request]:
        yield from ()


class Keywords(Everything):
    """Follows links with terms in their texts first, then links of pages with terms."""

    name = "keywords"

    @override
    def parse(self, response: Response) -> Iterator[Request]:
        if isinstance(response, TextResponse):
            page = self.count(response.text)
            for link in self.links.extract_links(response):
                priority = 10 * self.count(f"{link.text} {link.url}") + page
                yield response.follow(link, self.parse, priority=priority)

    def count(self, text: str) -> int:
        """Return how many of the terms are in a text."""
        folded = text.lower()
        return sum(term in folded for term in self.terms)


SPIDERS = {spider.name: spider for spider in (Everything, Fetch, Keywords)}
"""Spiders by name."""


if __name__ == "__main__":
    process = CrawlerProcess(json.loads(sys.argv[3]))
    process.crawl(SPIDERS[sys.argv[1]], **json.loads(sys.argv[2]))
    process.start()
    sys.exit(process.bootstrap_failed)
