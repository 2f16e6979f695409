"""Extraction of archived pages with the current rules, without fetching them again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.extract.article import Fetch, compose
from topiccrawl.extract.extract import extract
from topiccrawl.extract.missing import is_missing
from topiccrawl.extract.parts import joined, parts_of
from topiccrawl.links.page import read_page
from topiccrawl.links.urls import canonical
from topiccrawl.text.decode import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from topiccrawl.addons.warc.archive import Exchange
    from topiccrawl.model import Article, Extracted, Page
    from topiccrawl.topics import Scorer
    from topiccrawl.topics.topic import Topic

OK = 200
PARTS = 20
"""Maximum number of pages of one article."""


class Reextraction:
    """Extraction of a topic's articles from archived pages, as a crawl would do it.

    Args:
        pages: Archived responses by URL; also used to look up an article's later pages.
        topic: Topic of the articles.
        scorer: Scorer of pages and articles.
    """

    def __init__(self, pages: Mapping[str, Exchange], topic: Topic, scorer: Scorer) -> None:
        self._pages = pages
        self._topic = topic
        self._scorer = scorer

    def articles(self) -> Iterator[Article]:
        """Yield the articles, in the order of their pages."""
        for url in self._pages:
            if (article := self.article(url)) is not None:
                yield article

    def article(self, url: str) -> Article | None:
        """Return the article of a page with all its parts; None if a crawl would store none."""
        found = self._read(url, part=False)
        if found is None:
            return None
        exchange, encoding, page, extracted = found
        wanted = self._scorer.score_page(page).relevant and not page.directives.noindex
        if not wanted or extracted is None or parts_of(page.url, page.links).first:
            return None
        verdict = self._scorer.score_text(extracted.body, extracted.title)
        if not verdict.relevant or not self._topic.wants(extracted.published):
            return None
        fetch = Fetch(canonical(url) or url, exchange.at, 0, encoding)
        article = compose(extracted, fetch, page, self._topic.name, verdict)
        return self._whole(article, page)

    def _whole(self, article: Article, page: Page) -> Article:
        """Return the article with the text of its later pages, as far as they are archived."""
        known = {page.url}
        for _ in range(PARTS - 1):
            after = parts_of(page.url, page.links).next
            found = self._read(after, part=True) if after not in known else None
            if found is None:
                break
            page, extracted = found[2], found[3]
            known.add(page.url)
            if extracted is not None:
                article = joined(article, extracted.body, extracted.images)
        return article

    def _read(self, url: str, *, part: bool) -> tuple[Exchange, str, Page, Extracted | None] | None:
        exchange = self._pages.get(url)
        if exchange is None or exchange.status != OK:
            return None
        kind = next((v for k, v in exchange.headers if k.lower() == "content-type"), "text/html")
        if "html" not in kind.lower():
            return None
        decoded = decode(exchange.body, kind)
        tags = [v for k, v in exchange.headers if k.lower() == "x-robots-tag"]
        page = read_page(decoded.text, url, tags, decoded.encoding)
        if is_missing(page.title, page.prose):
            return None
        extracted = extract(decoded.text, url, page, fetched_at=exchange.at, part=part)
        return exchange, decoded.encoding, page, extracted
