"""Events as items: what is new, changed and gone goes through the pipelines into feeds."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import DontCloseSpider, NotConfigured

from topiccrawl.errors import StorageError
from topiccrawl.extensions.watch import owner_of
from topiccrawl.revisits.events import Change, changes_in
from topiccrawl.signals import page_changed
from topiccrawl.stores.choice import pages_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class ChangeEvents:
    """Sends each event as a ``Change`` item: those since a time first, then as they come.

    Args:
        crawler: Whose pipelines.
        since: Seconds since the epoch.
    """

    def __init__(self, crawler: Crawler, since: float) -> None:
        self.crawler = crawler
        self.since = since
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension.

        Raises:
            NotConfigured: If the spider has no ``since``.
        """
        since = getattr(crawler.spider, "since", None)
        if since is None:
            raise NotConfigured
        events = cls(crawler, since)
        crawler.signals.connect(events.opened, signals.spider_opened)
        crawler.signals.connect(events.send, page_changed)
        crawler.signals.connect(events.idle, signals.spider_idle)
        return events

    async def opened(self) -> None:
        """Send what earlier runs found."""
        pages = pages_of(self.crawler.settings)
        try:
            await pages.open()
            window = await pages.window(owner_of(self.crawler.spider), self.since, time.time())
        except StorageError as error:
            logger.error("Events of earlier runs cannot be read: %s", error)  # noqa: TRY400
            return
        finally:
            await pages.close()
        for change in changes_in(window):
            self.send(change)

    def send(self, change: Change) -> None:
        """Send one event; not once the crawl is closing: the next run sends it."""
        engine = self.crawler.engine
        slot = engine.scraper.slot
        if slot is None or slot.closing is not None:
            return
        task = asyncio.create_task(engine.scraper.start_itemproc_async(change, response=None))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def idle(self) -> None:
        """Keep the spider open while events are on their way.

        Raises:
            DontCloseSpider: If any is.
        """
        if self._tasks:
            raise DontCloseSpider
