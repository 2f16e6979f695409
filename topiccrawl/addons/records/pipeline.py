"""Stores a template spider's findings on pages and seeds; a page is settled only after that."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import CloseSpider, DontCloseSpider, DropItem, NotConfigured

from topiccrawl.addons.records.periods.seeds import Hits
from topiccrawl.addons.records.periods.visits import Steps, Wanted
from topiccrawl.addons.records.spider import TemplateSpider
from topiccrawl.commands.terminal import say
from topiccrawl.errors import StorageError, TopiccrawlError, finish_reason
from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.finish import STORE_FAILED
from topiccrawl.scheduler.frontiers import LocalFrontiers, frontiers_of
from topiccrawl.scheduler.requests import distinct_url
from topiccrawl.scheduler.signals import page_counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.crawler import Crawler

    from topiccrawl.storage.status import State

logger = logging.getLogger(__name__)


_DROPPED = "item_dropped_count"
_STEPS = "item_dropped_reasons_count/StepKept"
_COUNTED = ("seeds", "records", "pages", "results")


class StepKept(DropItem):
    """Ends a template spider's item on a page or seeds: it is stored, and goes no further."""


class RecordPipeline:
    """Gives a template spider's items to its conductor, and the engine the requests that follow."""

    def __init__(self, crawler: Crawler, spider: TemplateSpider) -> None:
        self._crawler = crawler
        self._context = context_of(crawler)
        self._spider = spider
        self._conductor = spider.conductor
        self._turn: asyncio.Task[None] | None = None
        self._ended = False
        self._reported = 0

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
        pipeline._context.status["records"] = pipeline.status
        return pipeline

    def status(self) -> State:
        """Return the records so far, which the dashboard shows among the articles."""
        get = self._crawler.stats.get_value
        found = sum(get(f"topiccrawl/{name}", 0) for name in ("articles", "records"))
        return {"totals": {"articles": found}}

    async def open_spider(self) -> None:
        """Open the stores.

        Raises:
            CloseSpider: They cannot be used: the crawl ends before its first request.
        """
        try:
            await self._conductor.open(self._spider.plan.number)
            for former in self._spider.plan.former:
                self._forget(former)
        except TopiccrawlError as error:
            logger.error("%s", error)  # noqa: TRY400  (the operator needs the remedy, not our stack)
            raise CloseSpider(finish_reason(error)) from error

    def _forget(self, former: str) -> None:
        """Delete the frontier of an earlier period, also one from before the nodes shared them."""
        settings = self._crawler.settings
        for frontiers in (frontiers_of(settings), LocalFrontiers(settings)):
            frontiers.forget(former)

    async def close_spider(self) -> None:
        """Report the summary of the period, and close the stores."""
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
        """Count the outcomes of seeds, pages and records of this run in Scrapy's stats."""
        stats = self._crawler.stats
        for name, count in self._conductor.counts.items():
            if name.partition("/")[0] in _COUNTED:
                stats.set_value(f"topiccrawl/template/{name}", count)
        left = {name: value for name, value in stats.get_stats().items() if value or name not in
                {_DROPPED, _STEPS}}  # fmt: skip
        stats.set_stats(left)

    async def process_item(self, item: object) -> object:
        """Store an item of a template spider; pass on all others.

        Raises:
            StorageError: It was not stored: the page is fetched again.
            StepKept: It was stored, and goes no further.
        """
        if isinstance(item, Hits):
            await self._conductor.found(item.found)
        elif isinstance(item, Steps):
            self._ask(await self._conductor.visited(item.taken))
            self._report(relevant=any(step.records for step in item.taken))
        else:
            return item
        self._count_out()
        raise StepKept("kept as a step of the crawl", log_level="DEBUG")

    def _report(self, *, relevant: bool) -> None:
        """Count a page, and the records that are new since the last one."""
        self._crawler.stats.inc_value("topiccrawl/relevant", int(relevant))
        records = self._crawler.stats.get_value("topiccrawl/records", 0)
        new, self._reported = records - self._reported, records
        self._crawler.signals.send_catch_log(page_counted, relevant=relevant, articles=new)

    def _count_out(self) -> None:
        """Take a step out of Scrapy's count of dropped items: it was none of the results."""
        for name in (_DROPPED, _STEPS):
            self._crawler.stats.inc_value(name, -1)

    def idle(self) -> None:
        """Request further pages when the frontier is empty.

        Raises:
            DontCloseSpider: Until the conductor has no more requests, either.
            CloseSpider: Something is wrong that only a new version mends.
        """
        if self._turn is not None and self._turn.done() and (error := self._turn.exception()):
            logger.critical("The crawl ends by a mistake of the program's", exc_info=error)
            raise CloseSpider(STORE_FAILED)
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
            self._context.end(STORE_FAILED)
            return
        self._ask(wanted)
        self._ended = not wanted
        if self._ended:
            self._context.alarm.now()  # the engine looks again at once, not at its next heartbeat

    def _ask(self, wanted: Iterable[Wanted]) -> None:
        counts = self._conductor.counts
        records = counts["records/new"] + counts["records/changed"]
        self._crawler.stats.set_value("topiccrawl/records", records)
        for one in wanted:
            self._crawler.engine.crawl(self._spider.request(one))

    def _reason(self, wanted: Wanted) -> str:
        """Return the reason why a page was not fetched: the frontier's, or "lost"."""
        known = self._context.frontier.why(distinct_url(wanted.url, wanted.role))
        return (known.reason or known.queue) if known is not None else "lost"
