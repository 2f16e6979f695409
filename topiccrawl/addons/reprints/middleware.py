"""Spider middleware that ranks links to stories stored from another site below other links."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from typing_extensions import override

from topiccrawl.links.strategies import NORMAL
from topiccrawl.links.urls import site_of
from topiccrawl.model import Article, Findings, Offer
from topiccrawl.scheduler.context import context_of
from topiccrawl.storage.factory import closed_after, storage_of
from topiccrawl.text.normal import fold, has_han

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from topiccrawl.links.strategies.contract import LinkStrategy

LOADED_STORIES = 20_000
"""Number of newest stored stories whose headlines are loaded at the start."""

MIN_HAN = 10
"""Minimum number of letters of a Chinese headline; shorter texts may be names of sections."""

MIN_LATIN = 30
"""Minimum number of letters of a headline in other scripts."""

MAX_HEADLINES = 100_000
"""Maximum number of headlines in memory, about 250 bytes each; the oldest are dropped."""

_NON_LETTERS = re.compile(r"[\W_]+")


class KnownStoryMiddleware(BaseSpiderMiddleware):
    """Lowers offers whose anchor is the headline of a story stored from another site.

    The offer goes to normalQueue with the evidence of a link without text, so that the score of
    its anchor is ignored. A link to the same URL with another text can raise the value again.

    Args:
        crawler: Crawler of the crawl.
        strategy: Link strategy of the crawl.
        topic: Name of the crawl's topic.
    """

    def __init__(self, crawler: Crawler, strategy: LinkStrategy, topic: str) -> None:
        super().__init__(crawler)
        self.headlines = Headlines()
        self._strategy = strategy
        self._topic = topic

    @classmethod
    @override
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the middleware.

        Raises:
            NotConfigured: If TOPICCRAWL_REPRINT_LINKS is off, or the crawl has no link strategy or
                no topic.
        """
        spec = context_of(crawler).spec
        wanted = crawler.settings.getbool("TOPICCRAWL_REPRINT_LINKS")
        if not wanted or spec.strategy is None or spec.topic is None:
            raise NotConfigured
        middleware = cls(crawler, spec.strategy, spec.topic.name)
        crawler.signals.connect(middleware.opened, signals.spider_opened)
        crawler.signals.connect(middleware.stored, signals.item_scraped)
        return middleware

    async def opened(self) -> None:
        """Add the headlines of the newest stored stories."""
        storage = storage_of(self.crawler.settings)
        if not storage.exists():
            return
        async with closed_after(storage.listing()) as listing:
            _, stories = await listing.page(self._topic, LOADED_STORIES, 0)
        for story in reversed(stories):
            self.headlines.add(story.title, site_of(story.url))

    def stored(self, item: object) -> None:
        """Add the headline of a stored story; reprints are dropped before this signal."""
        if isinstance(item, Article):
            self.headlines.add(item.title, site_of(item.url))

    @override
    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        """Return findings with lower offers of known stories; other items unchanged."""
        if not isinstance(item, Findings):
            return item
        return item._replace(offers=tuple(map(self._lowered, item.offers)))

    def _lowered(self, offer: Offer) -> Offer:
        if not self.headlines.is_from_other_site(offer.anchor, site_of(offer.url)):
            return offer
        self.crawler.stats.inc_value("topiccrawl/links/known-story")
        evidence = self._strategy.rescore(offer.evidence, "", "")
        return offer._replace(
            lane=max(offer.lane, NORMAL), evidence=evidence, anchor="", context=""
        )


class Headlines:
    """Headlines with the sites of their stories.

    >>> known = Headlines()
    >>> known.add("老城区三座旧桥年内大修 行人走浮桥", "a.test")
    >>> known.is_from_other_site("老城区三座旧桥年内大修，行人走浮桥", "b.test")
    True
    >>> known.is_from_other_site("老城区三座旧桥年内大修，行人走浮桥", "a.test")
    False
    """

    def __init__(self) -> None:
        self._sites = OrderedDict[str, str]()

    def add(self, title: str, site: str) -> None:
        """Add the headline of a stored story, unless it is there with an earlier site."""
        key = _key(title)
        if key and key not in self._sites:
            self._sites[key] = site
            if len(self._sites) > MAX_HEADLINES:
                self._sites.popitem(last=False)

    def is_from_other_site(self, anchor: str, site: str) -> bool:
        """Return whether a link's text is the headline of a story from another site."""
        return self._sites.get(_key(anchor), site) != site


def _key(text: str) -> str:
    """Return the letters of a headline; "" if it is too short to identify a story."""
    letters = _NON_LETTERS.sub("", fold(text))
    return letters if len(letters) >= (MIN_HAN if has_han(letters) else MIN_LATIN) else ""
