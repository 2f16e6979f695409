"""Saves what a template spider found of pages and seeds; the page is settled only after that."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import CloseSpider, DontCloseSpider, DropItem, NotConfigured

from topiccrawl.errors import StorageError, TopiccrawlError, finish_reason
from topiccrawl.frontier.store import discard
from topiccrawl.nodes.address import in_redis
from topiccrawl.periods.seeds import Hits
from topiccrawl.periods.visits import Steps
from topiccrawl.pipelines.store import CLOSE_REASON
from topiccrawl.scheduler.build import folder_of
from topiccrawl.scheduler.requests import apart
from topiccrawl.scheduler.scheduler import FrontierScheduler
from topiccrawl.spiders.template import TemplateSpider
from topiccrawl.terminal import say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.crawler import Crawler

    from topiccrawl.periods.visits import Wanted

logger = logging.getLogger(__name__)


_DROPPED = "item_dropped_count"
_STEPS = "item_dropped_reasons_count/StepKept"
_COUNTED = ("seeds", "records", "pages", "results")


class StepKept(DropItem):
    """Ends what a template spider says of a page or of seeds: it is stored, and goes no further."""


class RecordPipeline:
    """Tells a template spider's conductor what came, and asks the engine for what it wants then."""

    def __init__(self, crawler: Crawler, spider: TemplateSpider) -> None:
        self._crawler = crawler
        self._spider = spider
        self._conductor = spider.conductor
        self._turn: asyncio.Task[None] | None = None
        self._ended = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the pipeline.

        Raises:
            NotConfigured: If the spider follows no template.
        """
        if not isinstance(crawler.spider, TemplateSpider):
            raise NotConfigured
        pipeline = cls(crawler, crawler.spider)
        crawler.signals.connect(pipeline.idle, signals.spider_idle)
        return pipeline

    async def open_spider(self) -> None:
        """Open the stores.

        Raises:
            CloseSpider: They cannot be used: the crawl ends before its first request.
        """
        try:
            await self._conductor.open(self._spider.plan.number)
            for former in self._spider.plan.former:
                self._discard(former)
        except TopiccrawlError as error:
            logger.error("%s", error)  # noqa: TRY400  (the operator needs the remedy, not our stack)
            raise CloseSpider(finish_reason(error)) from error

    def _discard(self, former: str) -> None:
        """Delete the frontier of an earlier period, wherever it lies."""
        if in_redis(self._crawler.settings):
            from topiccrawl.scheduler.shared import forget

            forget(self._crawler.settings, former)
        discard(folder_of(self._crawler.settings, former))

    async def close_spider(self) -> None:
        """Say what the period brought, and close the stores."""
        if self._turn is not None:
            await asyncio.gather(self._turn, return_exceptions=True)
        try:
            lines = await self._spider.summary()
            title = f"template {self._spider.template.name}"
            if self._crawler.settings.getbool("TOPICCRAWL_TURN"):
                logger.info("%s", "; ".join([title, *(" ".join(line.split()) for line in lines)]))
            else:
                say("", title, *lines, to=sys.stderr)
                sys.stderr.flush()
        except (StorageError, AttributeError):
            logger.debug("No summary: the stores were not open")
        self._figures()
        await self._conductor.close()

    def _figures(self) -> None:
        """Say in Scrapy's stats what became of seeds, pages and records in this run."""
        stats = self._crawler.stats
        for name, count in self._conductor.counts.items():
            if name.partition("/")[0] in _COUNTED:
                stats.set_value(f"topiccrawl/template/{name}", count)
        left = {name: value for name, value in stats.get_stats().items() if value or name not in
                {_DROPPED, _STEPS}}  # fmt: skip
        stats.set_stats(left)

    async def process_item(self, item: object) -> object:
        """Store what came; items of ours end here.

        Raises:
            StorageError: It was not kept: the page is fetched again.
            StepKept: It was.
        """
        if isinstance(item, Hits):
            await self._conductor.found(item.found)
        elif isinstance(item, Steps):
            self._ask(await self._conductor.visited(item.taken))
            told = any(step.records for step in item.taken)
            self._crawler.stats.inc_value("topiccrawl/relevant", int(told))
        else:
            return item
        self._count_out()
        raise StepKept("kept as a step of the crawl", log_level="DEBUG")

    def _count_out(self) -> None:
        """Take a step out of what Scrapy counts as dropped: it was none of the crawl's results."""
        for name in (_DROPPED, _STEPS):
            self._crawler.stats.inc_value(name, -1)

    def idle(self) -> None:
        """Nothing is left to fetch: what then?

        Raises:
            DontCloseSpider: Until the conductor has nothing to ask for, either.
            CloseSpider: Something is wrong that only a new version mends.
        """
        if self._turn is not None and self._turn.done() and (error := self._turn.exception()):
            logger.critical("The crawl ends by a mistake of the program's", exc_info=error)
            raise CloseSpider(CLOSE_REASON)
        if self._ended:
            return
        if self._turn is None or self._turn.done():
            self._turn = asyncio.create_task(self._next())
        raise DontCloseSpider

    async def _next(self) -> None:
        try:
            wanted = await self._conductor.idle(self._reason)
        except StorageError as error:
            logger.critical("The crawl ends, nothing can be stored: %s", error)
            self._ended = True
            engine = self._crawler.engine
            asyncio.get_running_loop().create_task(engine.close_spider_async(reason=CLOSE_REASON))
            return
        self._ask(wanted)
        self._ended = not wanted
        scheduler = self._crawler.engine.scheduler
        if self._ended and isinstance(scheduler, FrontierScheduler):
            scheduler.alarm.now()  # the engine looks again at once, not at its next heartbeat

    def _ask(self, wanted: Iterable[Wanted]) -> None:
        counts = self._conductor.counts
        told = counts["records/new"] + counts["records/changed"]
        self._crawler.stats.set_value("topiccrawl/records", told)
        for one in wanted:
            self._crawler.engine.crawl(self._spider.request(one))

    def _reason(self, wanted: Wanted) -> str:
        """Why a page did not come, as the frontier knows it."""
        scheduler = self._crawler.engine.scheduler
        if not isinstance(scheduler, FrontierScheduler):
            return "lost"
        known = scheduler.frontier.why(apart(wanted.url, wanted.role))
        return (known.reason or known.queue) if known is not None else "lost"
