"""Spiders for ``benchmarks.peers``: what people write in an afternoon, with Scrapy alone."""

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
    """Follows all links; with Scrapy's queues for it, breadth first.

    Args:
        seeds: URLs to begin with, separated by commas.
        terms: The topic's terms, separated by commas.
    """

    name = "everything"

    def __init__(self, seeds: str, terms: str) -> None:
        super().__init__()
        self.start_urls = seeds.split(",")
        self.terms = [term.lower() for term in terms.split(",")]
        self._links = LinkExtractor()

    @override
    def parse(self, response: Response) -> Iterator[Request]:
        """Follow the links of a page."""
        if response.headers.get("Content-Type", b"")[:5] != b"text/":  # type: ignore[index]
            return
        worth = self.count(response.text)
        for link in self._links.extract_links(response):  # type: ignore[arg-type]
            priority = self.priority(worth, f"{link.text} {link.url}")
            yield response.follow(link, self.parse, priority=priority)

    def count(self, text: str) -> int:
        """Return how many of the terms stand in a text."""
        folded = text.lower()
        return sum(term in folded for term in self.terms)

    def priority(self, page: int, link: str) -> int:  # noqa: ARG002
        """Return the same for all links."""
        return 0


class Keywords(Everything):
    """Follows links whose texts name terms first, then those of pages that do."""

    name = "keywords"

    @override
    def priority(self, page: int, link: str) -> int:
        return 10 * self.count(link) + page
