"""Extension for the frames of sites: loads them, learns them from articles, stores them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured

from topiccrawl.addons.frames.frame import KEY, SiteFrame
from topiccrawl.links.urls import site_of
from topiccrawl.spiders.topic import TopicSpider
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.sites import Sites

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

MOST_SITES = 2_000
"""Maximum number of sites whose frames are learnt in one run; later ones have no frame."""


class SiteFrames:
    """Provides the spider with the frames of sites; the first page of a site has no frame yet.

    Args:
        knowledge: Store of frames.
    """

    def __init__(self, knowledge: Sites) -> None:
        self._knowledge = knowledge
        self._frames: dict[str, SiteFrame] = {}
        self._loading: dict[str, asyncio.Task[None]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension, registered with the spider.

        Raises:
            NotConfigured: If TOPICCRAWL_FRAMES is off, or the spider has no topic.
        """
        spider = crawler.spider
        if not crawler.settings.getbool("TOPICCRAWL_FRAMES") or not isinstance(spider, TopicSpider):
            raise NotConfigured
        knowledge = Sites(storage_of(crawler.settings))
        frames = cls(knowledge)
        spider.frame_of = frames.frame
        crawler.signals.connect(knowledge.open, signals.spider_opened)
        crawler.signals.connect(frames.close, signals.spider_closed)
        return frames

    def frame(self, url: str) -> SiteFrame | None:
        """Return the frame of a URL's site; None until it is loaded."""
        site = site_of(url)
        if site not in self._loading and len(self._frames) < MOST_SITES:
            self._loading[site] = asyncio.create_task(self._load(site))
        return self._frames.get(site)

    async def close(self) -> None:
        """Store the learnt frames."""
        await asyncio.gather(*self._loading.values())
        for site, frame in self._frames.items():
            if frame.pages or frame.by_hand:
                await self._knowledge.put(site, {KEY: frame.to_json()})
        await self._knowledge.close()

    async def _load(self, site: str) -> None:
        known = await self._knowledge.get(site)
        self._frames[site] = SiteFrame.from_json(known.get(KEY, {}))
