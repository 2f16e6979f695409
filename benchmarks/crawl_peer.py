"""A Scrapy spider that follows every link: what ``benchmarks.crawl`` compares with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import Spider
from scrapy.linkextractors import LinkExtractor
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.http import Response


class Everything(Spider):
    """Follows all links.

    Args:
        seeds: URLs to begin with, separated by commas.
    """

    name = "everything"

    def __init__(self, seeds: str) -> None:
        super().__init__()
        self.start_urls = seeds.split(",")
        self._links = LinkExtractor()

    @override
    def parse(self, response: Response) -> Iterator[Request]:
        """Follow the links of a page."""
        for link in self._links.extract_links(response):  # type: ignore[arg-type]
            yield response.follow(link, self.parse)
