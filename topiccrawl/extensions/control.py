"""Follows the operator's orders while a crawl runs: pause, resume, speed, cancel."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Self

from scrapy import Request, signals
from scrapy.exceptions import NotConfigured

from topiccrawl.errors import TopiccrawlError
from topiccrawl.scheduler.build import crawl_name, start_rules
from topiccrawl.scheduler.context import CrawlContext, context_of
from topiccrawl.scheduler.frontiers import frontiers_of
from topiccrawl.storage.control import Control
from topiccrawl.storage.ledger import CrawlOrder, Ledger

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.crawler import Crawler


logger = logging.getLogger(__name__)

CANCELLED = "cancelled"
"""Finish reason of a crawl that the operator cancelled."""
PAUSED = "is paused by the operator; `scrapy control resume` goes on"
PERIOD = 0.5
"""Seconds between two reads of the orders."""
_FOREMOST = 1000
"""Priority of a start URL: it is fetched as early as a seed."""


class CrawlControl:
    """Looks for orders to this crawl (its topic's slug) and follows them.

    Stats: ``topiccrawl/control/paused`` and ``topiccrawl/control/speed`` show the order in force.

    Args:
        context: The controlled crawl.
        ledger: Store of the orders.

    Attributes:
        order: The order in force.
    """

    def __init__(self, context: CrawlContext, ledger: Ledger) -> None:
        self.context = context
        self.order = CrawlOrder()
        self._ledger = ledger
        self._control = Control(ledger)
        self._task: asyncio.Task[None] | None = None
        self._lost = self._ended = False

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
        """Start reading orders."""
        if self.context.opened:
            self._task = asyncio.ensure_future(self._look())

    async def closed(self) -> None:
        """Stop reading orders."""
        self._ended = True  # a time-out of Redis may swallow the cancellation
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._ledger.close()

    async def _look(self) -> None:
        name, began = crawl_name(self.context.crawler.spider), 0.0
        while not self._ended:
            try:
                began = began or await self._ledger.now()
                order = await self._control.order(name)
                await self._begin(name, order)
            except TopiccrawlError as error:
                if not self._lost:
                    logger.warning("No orders can be heard: %s", error)
                self._lost = True
            else:
                self._lost = False
                if order.cancelled > began:
                    logger.info("The operator cancelled the crawl")
                    self.context.end(CANCELLED)
                    return
                self._follow(order)
            await asyncio.sleep(PERIOD)

    async def _begin(self, name: str, order: CrawlOrder) -> None:
        """Take the start URLs of an order; where they stay in it, they are taken once more."""
        if order.urls and self.context.opened:
            begin_at(self.context, order.urls)
            await self._control.discard_urls(name, order.urls)

    def _follow(self, order: CrawlOrder) -> None:
        context, stats = self.context, self.context.crawler.stats
        if order == self.order or not context.opened:
            return
        if order.paused != self.order.paused:
            # here, not in the figures: those look once a second, and a pause may be shorter
            text = "goes on" if not order.paused else PAUSED
            logger.info("The crawl %s", text)
        if order.speed != self.order.speed:
            logger.info("Delays are divided by %g", order.speed)
        self.order = order
        context.frontier.pace(order.speed)
        (context.pause if order.paused else context.resume)()
        stats.set_value("topiccrawl/control/paused", order.paused)
        stats.set_value("topiccrawl/control/speed", order.speed)


def begin_at(context: CrawlContext, urls: Iterable[str]) -> None:
    """Queue start URLs in a crawl that runs, durably; log and count those that its rules refuse.

    Unlike seeds they name no host that may have a private address: a program may have sent them.
    """
    topic, stats = context.spec.topic, context.crawler.stats
    rules = start_rules(topic, context.addresses) if topic else context.hosts
    for url in urls:
        reason = "a template begins at its seeds" if context.spec.conducted else rules.refuse(url)
        if reason:
            logger.warning("%s is not begun at: %s", url, reason)
            stats.inc_value("topiccrawl/starts/refused")
        else:
            context.crawler.engine.crawl(Request(url, priority=_FOREMOST))
            stats.inc_value("topiccrawl/starts/taken")
    with context.book.writing() as frontier:
        frontier.commit()  # before the order forgets them
