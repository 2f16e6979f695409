"""Puts links to stories that are stored from another site behind other links."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured

from topiccrawl.links.urls import site_of
from topiccrawl.model import Article, Findings, Offer
from topiccrawl.scheduler.context import context_of
from topiccrawl.storage.factory import closed_after, storage_of
from topiccrawl.text.normal import fold, has_han

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from topiccrawl.links.strategies.contract import LinkStrategy
    from topiccrawl.storage.contract import Storage

RECALLED = 20_000
"""Stored stories whose headlines are read at the start, the newest."""

NORMAL = 1
"""Lane of normalQueue."""

LEAST = 10
"""Letters of a Chinese headline that names one story; shorter ones are rubrics."""

LATIN_LEAST = 30
"""The same in English."""

MOST = 100_000
"""Headlines in memory, the newest; about 250 bytes each."""

_NO_LETTERS = re.compile(r"[\W_]+")


class KnownStoryMiddleware:
    """Lowers offers whose anchor is a stored story's headline on another site.

    The offer goes to normalQueue with the evidence of a link without text, so that what its anchor
    promises counts no more. Another page that offers the URL under another text lifts it again.

    Args:
        strategy: Order of the crawl.
        storage: Where stories are stored.
        topic: Name of the crawl's topic.
        count: Counts a lowered link.
    """

    def __init__(
        self, strategy: LinkStrategy, storage: Storage, topic: str, count: Callable[[], None]
    ) -> None:
        self.headlines = Headlines()
        self._strategy = strategy
        self._storage = storage
        self._topic = topic
        self._count = count
        self._read = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware.

        Raises:
            NotConfigured: If TOPICCRAWL_REPRINT_LINKS is off, or the crawl has no order or topic.
        """
        spec, stats = context_of(crawler).spec, crawler.stats
        wanted = crawler.settings.getbool("TOPICCRAWL_REPRINT_LINKS")
        if not wanted or spec.strategy is None or spec.topic is None:
            raise NotConfigured
        middleware = cls(
            spec.strategy,
            storage_of(crawler.settings),
            spec.topic.name,
            lambda: stats.inc_value("topiccrawl/links/known-story"),
        )
        crawler.signals.connect(middleware.stored, signals.item_scraped)
        return middleware

    def stored(self, item: object) -> None:
        """Add the headline of a stored story; reprints are dropped before this signal."""
        if isinstance(item, Article):
            self.headlines.add(item.title, site_of(item.url))

    async def process_spider_output(
        self,
        response: Response,  # noqa: ARG002
        result: AsyncIterator[Any],
    ) -> AsyncIterator[Any]:
        """Pass everything on; of findings, offers of known stories are lowered."""
        if not self._read:
            self._read = True
            await self._recall()
        async for output in result:
            if isinstance(output, Findings):
                yield output._replace(offers=tuple(map(self._lowered, output.offers)))
            else:
                yield output

    def _lowered(self, offer: Offer) -> Offer:
        if not self.headlines.elsewhere(offer.anchor, site_of(offer.url)):
            return offer
        self._count()
        evidence = self._strategy.rescore(offer.evidence, "", "")
        return offer._replace(
            lane=max(offer.lane, NORMAL), evidence=evidence, anchor="", context=""
        )

    async def _recall(self) -> None:
        if not self._storage.exists():
            return
        async with closed_after(self._storage.listing()) as listing:
            _, known = await listing.page(self._topic, RECALLED, 0)
        for story in reversed(known):
            self.headlines.add(story.title, site_of(story.url))


class Headlines:
    """Headlines with the site of their story.

    >>> known = Headlines()
    >>> known.add("老城区三座旧桥年内大修 行人走浮桥", "a.test")
    >>> known.elsewhere("老城区三座旧桥年内大修，行人走浮桥", "b.test")
    True
    >>> known.elsewhere("老城区三座旧桥年内大修，行人走浮桥", "a.test")
    False
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._sites: OrderedDict[str, str] = OrderedDict()

    def add(self, title: str, site: str) -> None:
        """Add the headline of a stored story; the first site that had it stays."""
        key = _key(title)
        if key and key not in self._sites:
            self._sites[key] = site
            if len(self._sites) > self._most:
                self._sites.popitem(last=False)

    def elsewhere(self, anchor: str, site: str) -> bool:
        """Return whether a link's text is the headline of a story from another site."""
        return self._sites.get(_key(anchor), site) != site


def _key(text: str) -> str:
    """Return the letters of a headline; "" where they are too few to name a story."""
    letters = _NO_LETTERS.sub("", fold(text))
    return letters if len(letters) >= (LEAST if has_han(letters) else LATIN_LEAST) else ""
