"""Events as items: new, changed and gone pages are sent through the pipelines to feeds."""

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
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.pages import Change, Pages

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

RESPONSES = "response_received_count"
"""Stat that increases while a spider is active."""


class ChangeEvents:
    """Sends each event as a ``Change`` item: first the stored events since a time, then new ones.

    A spider that watches pages signals its events. For other spiders, stored events are read
    whenever the spider is idle.

    Args:
        crawler: Crawler of the pipelines.
        since: Time of the oldest events to send, seconds since the epoch.
    """

    def __init__(self, crawler: Crawler, since: float) -> None:
        self.crawler = crawler
        self.context = context_of(crawler)
        self.since = since
        self._tasks: set[asyncio.Task[None]] = set()
        self._responses = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the extension.

        Raises:
            NotConfigured: If changes are not sent as items.
        """
        since = context_of(crawler).spec.since
        if since is None:
            raise NotConfigured
        events = cls(crawler, since)
        crawler.signals.connect(events.send_stored, signals.spider_opened)
        crawler.signals.connect(events.send, page_changed)
        crawler.signals.connect(events.idle, signals.spider_idle)
        return events

    async def send_stored(self) -> None:
        """Send the events stored since the last call."""
        now = time.time()
        try:
            async with Pages(storage_of(self.crawler.settings)) as pages:
                changes = await pages.changes(self.context.spec.owner, self.since, now)
        except StorageError as error:
            logger.error("Events cannot be read: %s", error)  # noqa: TRY400
            return
        self.since = now
        for change in changes:
            self.send(change)

    def send(self, change: Change) -> None:
        """Send one event, unless the crawl is closing; then the next run sends it."""
        engine = self.crawler.engine
        slot = engine.scraper.slot
        if slot is None or slot.closing is not None:
            return
        self._start(engine.scraper.start_itemproc_async(change, response=None))

    def idle(self) -> None:
        """Keep the spider open while events are being sent.

        Raises:
            DontCloseSpider: While events are being sent.
        """
        watches = self.crawler.get_extension(Watch) is not None
        responses = self.crawler.stats.get_value(RESPONSES, 0)
        if not watches and not self._tasks and self._responses < responses:
            self._responses = responses
            self._start(self.send_stored())
        if self._tasks:
            raise DontCloseSpider

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        """Wake the idle engine after the last event, instead of waiting for its heartbeat."""
        self._tasks.discard(task)
        if not self._tasks:
            self.context.alarm.now()
