"""Middlewares that drop links and queued URLs that are not news by URL patterns [S4]."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response, TextResponse

from topiccrawl.addons.url_patterns.learner import PatternLearner
from topiccrawl.addons.url_patterns.site import learnt_patterns
from topiccrawl.errors import StorageAwayError
from topiccrawl.extract.extract import extract
from topiccrawl.extract.missing import is_missing
from topiccrawl.links.newsurls import is_non_news
from topiccrawl.links.page import read_page
from topiccrawl.links.urls import canonical
from topiccrawl.model import Article, Findings, Offer, Unfinished
from topiccrawl.scheduler.context import context_of
from topiccrawl.spiders.reading import header
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.sites import Sites
from topiccrawl.text.decode import decode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from scrapy.crawler import Crawler


SAVE_EVERY = 200
"""Number of pages between two saves of the learners; a crash loses what was learnt since."""


class NewsFilterMiddleware:
    """Drops links that are not news by the patterns of their site, and learns from each page.

    A page with an article item is an article. A page without one may be an article on another
    topic; it is examined if few pages of its format have been judged.

    Args:
        learner: Learner of the sites' patterns.
        knowledge: Store of the learnt values.
        count: Increments the stat with this name.
    """

    def __init__(
        self, learner: PatternLearner, knowledge: Sites, count: Callable[[str], None]
    ) -> None:
        self.learner = learner
        self.knowledge = knowledge
        self.count = count
        self._pages = 0
        self._open = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware.

        Raises:
            NotConfigured: If TOPICCRAWL_NEWS_FILTER is off.
        """
        if not crawler.settings.getbool("TOPICCRAWL_NEWS_FILTER"):
            raise NotConfigured
        stats = crawler.stats
        knowledge = Sites(storage_of(crawler.settings))
        middleware = cls(
            PatternLearner(), knowledge, lambda name: stats.inc_value(f"topiccrawl/links/{name}")
        )
        crawler.signals.connect(middleware.close, signals.spider_closed)
        return middleware

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Pass on all output, but remove links that are not news from the findings."""
        url = canonical(response.url) or response.url
        links, text, topical, judged = 0, "", False, False
        async for output in result:
            if isinstance(output, Findings) and await self.load(
                [url, *(offer.url for offer in output.offers)]
            ):
                judged, topical = True, output.relevant
                links = self.learner.articles_among(offer.url for offer in output.offers)
                plain = map(self._stripped, output.offers)
                yield output._replace(offers=tuple(o for o in plain if self._is_allowed(o.url)))
                continue
            if isinstance(output, (Article, Unfinished)):
                text = (output.article if isinstance(output, Unfinished) else output).body
            yield output
        if judged:
            await self._learn(url, response, text, links=links, topical=topical)
            await self._save_periodically()

    async def close(self) -> None:
        """Store the learners."""
        await self._save(set(self.learner.changed))
        await self.knowledge.close()

    def _is_allowed(self, url: str) -> bool:
        reason = self.learner.refuse(url)
        if reason is not None:
            self.count(reason)
        return reason is None

    def _stripped(self, offer: Offer) -> Offer:
        url = self.learner.stripped(offer.url)
        if url == offer.url:
            return offer
        self.count("parameter-left-out")
        return offer._replace(url=url)

    async def _learn(
        self, url: str, response: Response, text: str, *, links: int, topical: bool
    ) -> None:
        """Count a page; examination and clustering run in a thread."""
        site = self.learner.site(url)
        if not text and not is_non_news(url):
            if not topical and not site.should_examine(url):
                return
            text, missing = await asyncio.to_thread(_examine, response)
            if missing:
                self.learner.read(url, "")
        if text:
            self.learner.read(url, text)
        if self.learner.observe(url, article=bool(text), links=links, topical=topical):
            patterns = await asyncio.to_thread(learnt_patterns, site.copied_tallies())
            self.learner.apply(url, patterns)

    async def load(self, urls: list[str]) -> bool:
        """Load the stored learners of the sites of URLs that are not in memory.

        Returns:
            False if the store is away. The URLs are not judged then: a new learner would replace
            the stored one.
        """
        unknown = self.learner.unknown(urls)
        try:
            if unknown and not self._open:
                await self.knowledge.open()
                self._open = True
            for site in unknown:
                known = await self.knowledge.get(site)
                if site not in self.learner.sites:  # another request may have loaded it
                    self.learner.load(site, known)
        except StorageAwayError:
            return False
        return True

    async def _save_periodically(self) -> None:
        self._pages += 1
        old = self.learner.excess_sites()
        if old or self._pages % SAVE_EVERY == 0:
            await self._save(self.learner.changed | set(old))
            for site in old:
                self.learner.drop(site)

    async def _save(self, sites: set[str]) -> None:
        self.learner.changed -= sites
        for site in sorted(sites):
            await self.knowledge.put(site, self.learner.stored(site))


class NotNewsError(IgnoreRequest):
    """A queued URL that is not news by patterns learnt after it was queued."""

    reason = "not-news"


class NewsGateMiddleware:
    """Rejects queued URLs that are not news by the current patterns, except seeds and robots.txt.

    Most links of a site are found on its first pages, before it has patterns. A rejected URL goes
    to the errorQueue with the reason ``not-news``.

    Args:
        crawler: The crawler, whose spider middleware has the learner.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware.

        Raises:
            NotConfigured: If TOPICCRAWL_NEWS_FILTER is off.
        """
        if not crawler.settings.getbool("TOPICCRAWL_NEWS_FILTER"):
            raise NotConfigured
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Raise NotNewsError if the URL of a request is not news."""
        lease = context_of(self.crawler).lease(request)
        if lease is None or not lease.depth:
            return
        links = self.crawler.get_spider_middleware(NewsFilterMiddleware)
        if links is None:
            return
        if await links.load([request.url]) and links.learner.refuse(request.url) is not None:
            links.count("given-up")
            raise NotNewsError(f"{request.url}: not news by the URL patterns of its site")


def _examine(response: Response) -> tuple[str, bool]:
    """Return the text of a page's article, on topic or not, and whether it is an error page."""
    if not isinstance(response, TextResponse):
        return "", False
    html = decode(response.body, header(response, "Content-Type")).text
    page = read_page(html, response.url)
    if is_missing(page.title, page.prose):
        return "", True
    found = extract(html, response.url, page)
    return (found.body if found else ""), False
