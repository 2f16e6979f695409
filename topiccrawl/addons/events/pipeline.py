"""Item pipeline that assigns articles to events before they are stored."""

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

MAX_RELOADED = 2_000
"""Number of newest stored articles that are loaded at the start."""


class EventPipeline:
    """Sets ``Article.event``; other items are returned unchanged.

    Args:
        settings: Settings with the storage and TOPICCRAWL_EVENTS, the window.
        count: Increments the stat with this name.
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
        """Load the events of the newest stored articles."""
        storage = storage_of(self._settings)
        if not storage.exists():
            return
        async with opened(storage.articles()) as store:
            known = await store.articles(limit=MAX_RELOADED)
        await asyncio.to_thread(self._reload, [one for one in reversed(known) if one.event])

    async def process_item(self, item: object) -> object:
        """Return the item; an article gets its event."""
        if not isinstance(item, Article):
            return item
        event = self._events.add(item)
        self._count("events" if event == item.url else "events_joined")
        return replace(item, event=event)

    def _reload(self, articles: list[Article]) -> None:
        for article in articles:
            self._events.add(article)
