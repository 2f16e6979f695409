"""Item pipeline of the template spider: stores seeds and page results before leases are settled."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import CloseSpider, DontCloseSpider, DropItem, NotConfigured

from topiccrawl.addons.records.periods.seeds import Hits
from topiccrawl.addons.records.periods.visits import PageResults
from topiccrawl.addons.records.spider import TemplateSpider
from topiccrawl.commands.terminal import say
from topiccrawl.errors import StorageError, TopiccrawlError, finish_reason
from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.finish import STORE_FAILED
from topiccrawl.scheduler.frontiers import LocalFrontiers, frontiers_of
from topiccrawl.scheduler.signals import page_counted

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from topiccrawl.storage.runs import State

logger = logging.getLogger(__name__)


_DROPPED = "item_dropped_count"
_STEPS = "item_dropped_reasons_count/StepKept"


class StepKept(DropItem):
    """Drops an item of the template spider after it was stored."""


class RecordPipeline:
    """Passes the template spider's items to its controller, and schedules the next requests."""

    def __init__(self, crawler: Crawler, spider: TemplateSpider) -> None:
        self._crawler = crawler
        self._context = context_of(crawler)
        self._spider = spider
        self._controller = spider.controller
        self._idle_task: asyncio.Task[bool] | None = None
        self._reported = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the pipeline.

        Raises:
            NotConfigured: If the spider is not a TemplateSpider.
        """
        if not isinstance(crawler.spider, TemplateSpider):
            raise NotConfigured
        pipeline = cls(crawler, crawler.spider)
        crawler.signals.connect(pipeline.idle, signals.spider_idle)
        pipeline._context.status["records"] = pipeline.status
        return pipeline

    def status(self) -> State:
        """Return the number of records, which the dashboard adds to the articles."""
        get = self._crawler.stats.get_value
        found = sum(get(f"topiccrawl/{name}", 0) for name in ("articles", "records"))
        return {"totals": {"articles": found}}

    async def open_spider(self) -> None:
        """Open the stores.

        Raises:
            CloseSpider: If a store cannot be opened. The crawl ends before its first request.
        """
        try:
            await self._controller.open(self._spider.plan.number)
            for name in self._spider.plan.obsolete_crawls:
                self._forget(name)
        except TopiccrawlError as error:
            logger.error("%s", error)  # noqa: TRY400  (a traceback does not help the user)
            raise CloseSpider(finish_reason(error)) from error

    def _forget(self, name: str) -> None:
        """Delete the frontier of an earlier period, in the shared and in the local storage."""
        settings = self._crawler.settings
        for frontiers in (frontiers_of(settings), LocalFrontiers(settings)):
            frontiers.discard(frontiers.place(name))

    async def close_spider(self) -> None:
        """Print the summary of the period, and close the stores."""
        if self._idle_task is not None:
            await asyncio.gather(self._idle_task, return_exceptions=True)
        try:
            lines = await self._controller.summary()
            title = f"template {self._spider.template.name}"
            if self._crawler.settings.getbool("TOPICCRAWL_TURN"):
                logger.info("%s", "; ".join([title, *(" ".join(line.split()) for line in lines)]))
            else:
                say("", title, *lines, to=sys.stderr)
                sys.stderr.flush()
        except (StorageError, AttributeError):
            logger.debug("No summary: the stores are not open")
        self._write_stats()
        await self._controller.close()

    def _write_stats(self) -> None:
        """Write the counts of seeds, pages and records of this run to Scrapy's stats."""
        stats = self._crawler.stats
        for name, count in self._controller.counts.items():
            stats.set_value(f"topiccrawl/template/{name}", count)
        left = {name: value for name, value in stats.get_stats().items() if value or name not in
                {_DROPPED, _STEPS}}  # fmt: skip
        stats.set_stats(left)

    async def process_item(self, item: object) -> object:
        """Store an item of the template spider; return other items unchanged.

        Raises:
            StorageError: If the item was not stored. The page is fetched again.
            StepKept: After the item was stored.
        """
        if isinstance(item, Hits):
            await self._controller.add_hits(item.found)
        elif isinstance(item, PageResults):
            await self._controller.store_results(item.results)
            self._count_page(relevant=any(result.records for result in item.results))
        else:
            return item
        self._uncount_drop()
        raise StepKept("stored by the template crawl", log_level="DEBUG")

    def _count_page(self, *, relevant: bool) -> None:
        """Count a page and the records added since the last count."""
        self._crawler.stats.inc_value("topiccrawl/relevant", int(relevant))
        records = self._count_records()
        new, self._reported = records - self._reported, records
        self._crawler.signals.send_catch_log(page_counted, relevant=relevant, articles=new)

    def _uncount_drop(self) -> None:
        """Remove a stored item from Scrapy's count of dropped items."""
        for name in (_DROPPED, _STEPS):
            self._crawler.stats.inc_value(name, -1)

    def idle(self) -> None:
        """Schedule further requests when the frontier is empty.

        Raises:
            DontCloseSpider: While the controller may have more requests.
            CloseSpider: After an unexpected exception (a bug in the program).
        """
        task = self._idle_task
        if task is not None and task.done():
            if error := task.exception():
                logger.critical("The crawl is stopped by an unexpected error", exc_info=error)
                raise CloseSpider(STORE_FAILED)
            if not task.result():
                return
        if task is None or task.done():
            self._idle_task = asyncio.create_task(self._next())
        raise DontCloseSpider

    async def _next(self) -> bool:
        """Go on with the crawl; return whether requests are open."""
        try:
            more = await self._controller.idle()
        except StorageError as error:
            logger.critical("The crawl is stopped because the storage failed: %s", error)
            self._context.end(STORE_FAILED)
            return False
        self._count_records()
        if not more:
            self._context.alarm.now()  # close the spider now, not at the engine's next heartbeat
        return more

    def _count_records(self) -> int:
        """Set the stat of new and changed records, and return it."""
        counts = self._controller.counts
        records = counts["records/new"] + counts["records/changed"]
        self._crawler.stats.set_value("topiccrawl/records", records)
        return records
