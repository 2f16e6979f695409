"""Applies operator commands to a running crawl: pause, resume, speed, cancel, start URLs."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Self

from scrapy import Request, signals
from scrapy.exceptions import NotConfigured

from topiccrawl.errors import TopiccrawlError
from topiccrawl.scheduler.build import start_rules
from topiccrawl.scheduler.context import CrawlContext, context_of
from topiccrawl.scheduler.frontiers import crawl_name, frontiers_of
from topiccrawl.storage.ledger import Control, CrawlOrder, Ledger

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.crawler import Crawler


logger = logging.getLogger(__name__)

CANCELLED = "cancelled"
"""Finish reason of a crawl that the operator cancelled."""
PAUSED = "paused by the operator; resume it with `topiccrawl control resume`"
PERIOD = 0.5
"""Seconds between two reads of the stored commands."""
_START_PRIORITY = 1000
"""Priority of a start URL: it is fetched as early as a seed."""


class CrawlControl:
    """Poll the commands stored for this crawl (under the slug of its topic) and apply them.

    The stats ``topiccrawl/control/paused`` and ``topiccrawl/control/speed`` show the current state.

    Args:
        context: The controlled crawl.
        ledger: Store of the commands.

    Attributes:
        order: Last applied command.
    """

    def __init__(self, context: CrawlContext, ledger: Ledger) -> None:
        self.context = context
        self.order = CrawlOrder()
        self._ledger = ledger
        self._control = Control(ledger)
        self._task: asyncio.Task[None] | None = None
        self._unreadable = self._ended = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension.

        Raises:
            NotConfigured: If TOPICCRAWL_CONTROL is off.
        """
        if not crawler.settings.getbool("TOPICCRAWL_CONTROL"):
            raise NotConfigured
        control = cls(context_of(crawler), frontiers_of(crawler.settings).ledger())
        crawler.signals.connect(control.opened, signals.engine_started)
        crawler.signals.connect(control.closed, signals.spider_closed)
        return control

    def opened(self) -> None:
        """Start polling commands."""
        if self.context.opened:
            self._task = asyncio.ensure_future(self._poll())

    async def closed(self) -> None:
        """Stop polling commands."""
        self._ended = True  # a timeout of Redis may swallow the cancellation
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._ledger.close()

    async def _poll(self) -> None:
        name, began = crawl_name(self.context.crawler), 0.0
        while not self._ended:
            try:
                began = began or await self._ledger.now()
                order = await self._control.order(name)
                if order.urls and self.context.opened:
                    enqueue_start_urls(self.context, order.urls)
                    await self._control.discard_urls(name, order.urls)  # else enqueued again
            except TopiccrawlError as error:
                if not self._unreadable:
                    logger.warning("Operator commands cannot be read: %s", error)
                self._unreadable = True
            else:
                self._unreadable = False
                if order.cancelled > began:
                    logger.info("Crawl cancelled by the operator")
                    self.context.end(CANCELLED)
                    return
                self._apply(order)
            await asyncio.sleep(PERIOD)

    def _apply(self, order: CrawlOrder) -> None:
        context, stats = self.context, self.context.crawler.stats
        if order == self.order or not context.opened:
            return
        if order.paused != self.order.paused:
            # logged here since a pause may be shorter than the one-second period of CrawlFigures
            text = "resumed" if not order.paused else PAUSED
            logger.info("Crawl %s", text)
        if order.speed != self.order.speed:
            logger.info("Delays between requests are divided by %g", order.speed)
        self.order = order
        context.frontier.pace(order.speed)
        (context.pause if order.paused else context.resume)()
        stats.set_value("topiccrawl/control/paused", order.paused)
        stats.set_value("topiccrawl/control/speed", order.speed)


def enqueue_start_urls(context: CrawlContext, urls: Iterable[str]) -> None:
    """Queue start URLs durably in a running crawl; log and count those that its rules reject.

    Unlike seeds, start URLs give their hosts no permission to have private addresses, since a
    program may have sent them.
    """
    topic, stats = context.spec.topic, context.crawler.stats
    rules = start_rules(topic, context.addresses) if topic else context.hosts
    for url in urls:
        reason = "template crawls use their seeds" if context.spec.conducted else rules.refuse(url)
        if reason:
            logger.warning("%s is not accepted as a start URL: %s", url, reason)
            stats.inc_value("topiccrawl/starts/refused")
        else:
            context.crawler.engine.crawl(Request(url, priority=_START_PRIORITY))
            stats.inc_value("topiccrawl/starts/taken")
    with context.book.writing() as frontier:
        frontier.commit()  # before they are removed from the command
