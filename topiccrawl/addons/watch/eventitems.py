"""Events as items: new, changed and gone pages go through the pipelines into feeds."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import DontCloseSpider, NotConfigured

from topiccrawl.addons.watch.extension import Watch
from topiccrawl.errors import StorageError
from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.signals import page_changed
from topiccrawl.storage.events import Change, changes_in_window
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.pages import Pages

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

SEEN = "response_received_count"
"""Stat that grows while a spider is active."""


class ChangeEvents:
    """Sends each event as a ``Change`` item: those since a time first, then as they come.

    A spider that watches signals its events; for another one, stored events are read whenever it
    is idle.

    Args:
        crawler: Crawler of the pipelines.
        since: Seconds since the epoch.
    """

    def __init__(self, crawler: Crawler, since: float) -> None:
        self.crawler = crawler
        self.context = context_of(crawler)
        self.since = since
        self._tasks: set[asyncio.Task[None]] = set()
        self._looked = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension.

        Raises:
            NotConfigured: If no changes are sent as items.
        """
        since = context_of(crawler).spec.since
        if since is None:
            raise NotConfigured
        events = cls(crawler, since)
        crawler.signals.connect(events.opened, signals.spider_opened)
        crawler.signals.connect(events.send, page_changed)
        crawler.signals.connect(events.idle, signals.spider_idle)
        return events

    async def opened(self) -> None:
        """Send the events of earlier runs."""
        await self._send_written()

    async def _send_written(self) -> None:
        """Send the events written since the last look."""
        now = time.time()
        try:
            async with Pages(storage_of(self.crawler.settings)) as pages:
                window = await pages.window(self.context.spec.owner, self.since, now)
        except StorageError as error:
            logger.error("Events cannot be read: %s", error)  # noqa: TRY400
            return
        self.since = now
        for change in changes_in_window(window):
            self.send(change)

    def send(self, change: Change) -> None:
        """Send one event; not once the crawl is closing: the next run sends it."""
        engine = self.crawler.engine
        slot = engine.scraper.slot
        if slot is None or slot.closing is not None:
            return
        self._start(engine.scraper.start_itemproc_async(change, response=None))

    def idle(self) -> None:
        """Keep the spider open while events are being sent.

        Raises:
            DontCloseSpider: If any event is being sent.
        """
        watches = self.crawler.get_extension(Watch) is not None
        if not watches and not self._tasks and self._looked < self.crawler.stats.get_value(SEEN, 0):
            self._looked = self.crawler.stats.get_value(SEEN, 0)
            self._start(self._send_written())
        if self._tasks:
            raise DontCloseSpider

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        """Wake an idle engine after the last event, before its next heartbeat."""
        self._tasks.discard(task)
        if not self._tasks:
            self.context.alarm.now()
