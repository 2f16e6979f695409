"""Names the event of every article before it is stored."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured

from topiccrawl.addons.events.grouping import Events
from topiccrawl.model import Article
from topiccrawl.storage.factory import opened, storage_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

RECALLED = 2_000
"""Stored articles that are read at the start, the newest."""


class EventPipeline:
    """Sets ``Article.event``; other items pass untouched.

    Args:
        settings: Name the storage; TOPICCRAWL_EVENTS is the window.
        count: Takes the name of a stat.
    """

    def __init__(self, settings: BaseSettings, count: Callable[[str], None]) -> None:
        self._settings = settings
        self._count = count
        self._events = Events(settings.getfloat("TOPICCRAWL_EVENTS"))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the pipeline.

        Raises:
            NotConfigured: If TOPICCRAWL_EVENTS is 0.
        """
        if crawler.settings.getfloat("TOPICCRAWL_EVENTS") <= 0:
            raise NotConfigured
        stats = crawler.stats
        return cls(crawler.settings, lambda name: stats.inc_value(f"topiccrawl/{name}"))

    async def open_spider(self) -> None:
        """Read the events of the newest stored articles."""
        storage = storage_of(self._settings)
        if not storage.exists():
            return
        async with opened(storage.articles()) as store:
            known = await store.articles(limit=RECALLED)
        await asyncio.to_thread(self._recall, [one for one in reversed(known) if one.event])

    async def process_item(self, item: object) -> object:
        """Return the item, an article with its event."""
        if not isinstance(item, Article):
            return item
        event = self._events.add(item)
        self._count("events" if event == item.url else "events_joined")
        return replace(item, event=event)

    def _recall(self, articles: list[Article]) -> None:
        for article in articles:
            self._events.add(article)
