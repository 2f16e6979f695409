"""Middlewares of watched pages: conditional requests, comparison, and reports to the watch."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import Response, TextResponse

from topiccrawl.addons.watch.extension import Watch
from topiccrawl.addons.watch.feeds import find_feeds, is_sitemap_index
from topiccrawl.addons.watch.pagestates import NOT_MODIFIED, VisitResult, parent_of
from topiccrawl.extract.hubs import MIN_ITEMS, has_list
from topiccrawl.model import Article, Findings, Kind, Lease, Unfinished
from topiccrawl.spiders.reading import header
from topiccrawl.text.decode import decode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler

    from topiccrawl.storage.pages import PageState

MAX_FEEDS = 10_000
"""Most feeds remembered with the first article that names them."""


class _WatchPart:
    """Part of a watch on one of Scrapy's hooks.

    Args:
        watch: Watch of the crawl.
    """

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.context = watch.context

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the middleware.

        Raises:
            NotConfigured: If the crawl does not watch pages.
        """
        watch = crawler.get_extension(Watch)
        if watch is None:
            raise NotConfigured
        return cls(watch)

    def page_lease(self, request: Request | None) -> Lease | None:
        """Return the lease of a page; None for robots.txt and for later pages of an article."""
        lease = self.context.lease(request)
        if request is None or lease is None or lease.kind is Kind.ROBOTS:
            return None
        return None if request.cb_kwargs or request.method != "GET" else lease


class ConditionalMiddleware(_WatchPart):
    """Makes requests for watched pages conditional."""

    async def process_request(self, request: Request) -> None:
        """Add the validators of the page's last response, and bypass Scrapy's HTTP cache."""
        if self.context.lease(request) is not None:
            request.meta["dont_cache"] = True
        if (lease := self.page_lease(request)) is None:
            return
        known = await self.watch.visited.load_state(lease.url)
        if known is None or known.gone_at or not self.watch.due.has_links_of(lease.url):
            return
        if not (known.etag or known.last_modified) or known.more.get("parts"):
            return  # an article of several pages must be compared as a whole
        request.meta["handle_httpstatus_list"] = [NOT_MODIFIED]
        if known.etag:
            request.headers["If-None-Match"] = known.etag
        if known.last_modified:
            request.headers["If-Modified-Since"] = known.last_modified


class WatchMiddleware(_WatchPart):
    """Reports visits to the watch, and drops unchanged articles before the pipelines."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(watch)
        self._named_by: dict[str, str] = {}

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Yield the new output of a page; for status 304, only its previous relevance."""
        lease = self.page_lease(response.request)
        if lease is None:
            async for output in result:
                if isinstance(output, Article):  # all pages of an article were read
                    self.watch.visited.compare_whole(output.url, time.time(), digest_of(output))
                yield output
            return
        visit = self.watch.visited.visit(lease.url)
        known = visit.known
        if response.status == NOT_MODIFIED and known is not None:
            self.watch.count("not_modified")
            visit.seen = _seen(response)
            yield Findings(known.relevance)
            return
        page = _PageOutput()
        async for output in result:
            page.add(output)
            passed = output if page.is_new(known) else page.next_part(output)
            if passed is not None:
                yield passed
        visit.seen = self._seen(response, lease.url, lease.depth, page)

    def _seen(self, response: Response, url: str, depth: int, page: _PageOutput) -> VisitResult:
        findings, article = page.findings, page.article
        seed = depth == 0 and article is None
        feeds: list[str] = []
        if seed or findings.relevant or findings.lists:
            feeds = find_feeds(response.body, response.url)
            shared = [feed for feed in feeds if article is None or self._is_shared(feed, url)]
            self.watch.offer_feeds(shared, depth + 1)
        bare_index = findings.lists and not feeds and is_sitemap_index(response.body)
        seen = _seen(
            response,
            relevance=findings.relevance,
            hub=(findings.lists and not bare_index)
            or seed
            or url in self.watch.seeds
            or (article is None and _lists(response, findings)),
            links=(*(offer.url for offer in findings.offers), *(feeds if findings.lists else ())),
            parts=page.parts,
        )
        if article is None:
            return seen
        return replace(
            seen,
            digest=digest_of(article),
            found_on=parent_of(self.context.frontier, url),
            published=seconds_of(article.published),
        )

    def _is_shared(self, feed: str, url: str) -> bool:
        """Return whether another article names a feed, too: else it may be that of its comments."""
        if len(self._named_by) >= MAX_FEEDS:
            self._named_by.clear()
        return self._named_by.setdefault(feed, url) != url


class _PageOutput:
    """Spider output of a page so far.

    Attributes:
        findings: Findings of the page.
        article: Article of the page, or the part of it on this page.
        parts: Whether the article continues on more pages.
    """

    def __init__(self) -> None:
        self.findings = Findings(0.0)
        self.article: Article | None = None
        self.parts = False

    def add(self, output: object) -> None:
        """Add one output of the spider."""
        if isinstance(output, Findings):
            self.findings = output
        elif isinstance(output, Unfinished):
            self.parts = True
            self.article = self.article or output.article
        elif isinstance(output, Article):
            self.article = self.article or output

    def is_new(self, known: PageState | None) -> bool:
        """Return whether the article's text on this page differs from the last visit's."""
        return self.article is None or known is None or known.digest != digest_of(self.article)

    def next_part(self, output: object) -> Request | None:
        """Return an output of an unchanged article if it requests its next page, or None."""
        if not self.parts or not isinstance(output, Request):
            return None
        return output.replace(cb_kwargs={**output.cb_kwargs, "again": True})


def digest_of(article: Article) -> str:
    """Return the digest of an article; by default, the MD5 of its title and main text.

    >>> digest_of(Article("http://a.test/1", "题", "文"))
    'f7ed2e956f7b68ac14768ec4548a87b1'
    """
    text = f"{article.title}\n{article.body}".encode(errors="replace")
    return article.digest or hashlib.md5(text, usedforsecurity=False).hexdigest()


def seconds_of(published: str) -> float:
    """Parse an ISO 8601 time (local without a zone) as seconds since the epoch, or 0.

    >>> seconds_of("1970-01-02T00:00:00+00:00"), seconds_of("")
    (86400.0, 0.0)
    """
    try:
        return max(0.0, datetime.fromisoformat(published).timestamp())
    except (ValueError, OverflowError):
        return 0.0


def _seen(response: Response, **more: Any) -> VisitResult:  # noqa: ANN401  (fields of VisitResult)
    etag, modified = (response.headers.get(n) or b"" for n in ("ETag", "Last-Modified"))
    return VisitResult(
        time.time(), response.status, etag.decode("latin-1"), modified.decode("latin-1"), **more
    )


def _lists(response: Response, findings: Findings) -> bool:
    """Return whether an on-topic page without an article lists links."""
    if not findings.relevant or len(findings.offers) < MIN_ITEMS:
        return False
    if not isinstance(response, TextResponse):
        return False
    decoded = decode(response.body, header(response, "Content-Type"))
    return has_list(decoded.text, response.url)
