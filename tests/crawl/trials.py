"""Spiders, schedulers and a pipeline that fail on purpose."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import signal
import threading
import time
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, Self

from scrapy import Spider, signals
from typing_extensions import override

from topiccrawl.addons.watch.extension import Watch
from topiccrawl.discovery.listings import Feed
from topiccrawl.model import Article, Unfinished
from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.scheduler import FrontierScheduler
from topiccrawl.settings import EXTENSIONS, ITEM_PIPELINES
from topiccrawl.spiders.topic import TopicSpider

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from topiccrawl.discovery.contract import Answer, Fetched
    from topiccrawl.model import Findings

logger = logging.getLogger(__name__)

MAX_FILE_BYTES = 1 << 20
"""Maximum size of a file, to simulate a full disk."""


class TrialSpider(TopicSpider):
    """The topic spider; pages with certain URLs make it fail."""

    name = "trial"
    custom_settings = {  # noqa: RUF012
        "ITEM_PIPELINES": {"tests.crawl.trials.FailingPipeline": 1, **ITEM_PIPELINES}
    }

    @override
    def parse(self, response: Response) -> Iterator[Findings | Article | Unfinished | Request]:
        if "/boom" in response.url:
            raise ZeroDivisionError(response.url)
        if "/poison" in response.url:
            os.kill(os.getpid(), signal.SIGKILL)
        if hours := response.headers.get("X-Clock-Set"):
            seconds, wall = 3600.0 * float(hours), time.time
            time.time = lambda: wall() + seconds
        if "/full" in response.url:
            resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, MAX_FILE_BYTES))
        yield from super().parse(response)


class BrokenWatch(Watch):
    """A watch that fails when it queues due pages for the second time."""

    calls: ClassVar = count()

    @override
    async def _requeue_due(self) -> None:
        if next(self.calls):
            raise ZeroDivisionError("a mistake")
        await super()._requeue_due()


class BrokenSpider(TopicSpider):
    """The topic spider with a watch that fails."""

    name = "broken"
    custom_settings = {  # noqa: RUF012
        "EXTENSIONS": {
            **EXTENSIONS, "topiccrawl.addons.watch.extension.Watch": None,
            "tests.crawl.trials.BrokenWatch": 520,
        }
    }  # fmt: skip


class HastySpider(TopicSpider):
    """The topic spider, which closes itself while the crawl is being opened."""

    name = "hasty"

    @classmethod
    @override
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        async def close() -> None:
            await crawler.engine.close_spider_async(reason="finished")

        crawler.signals.connect(close, signals.spider_opened, weak=False)
        return super().from_crawler(crawler, *args, **kwargs)


class UnqueuedSpider(TopicSpider):
    """The topic spider with Scrapy's own scheduler, which it refuses."""

    name = "unqueued"
    custom_settings = {"SCHEDULER": "scrapy.core.scheduler.Scheduler"}  # noqa: RUF012


class TurnsSpider(TopicSpider):
    """Counts the pages that are not recorded yet in the next turn of the event loop."""

    name = "turns"

    @override
    def parse(self, response: Response) -> Iterator[Findings | Article | Unfinished | Request]:
        def look() -> None:
            if context_of(self.crawler).lease(response.request):
                self.crawler.stats.inc_value("trial/unrecorded")

        asyncio.get_running_loop().call_later(0, look)
        yield from super().parse(response)


class LoggingFeed(Feed):
    """A feed that logs the thread in which it is parsed, and fails if its URL says so."""

    @override
    def read(self, page: Fetched) -> Answer:
        logger.info("parsed in %s", threading.current_thread().name)
        if "/boom" in page.url:
            raise ZeroDivisionError(page.url)
        return super().read(page)


class SecondAttemptScheduler(FrontierScheduler):
    """Releases each request only at the second attempt."""

    held: ClassVar[set[str]] = set()

    @override
    def leaves(self, request: Request) -> bool:
        again = request.url in self.held
        self.held.add(request.url)
        return again and super().leaves(request)


class LoggingScheduler(FrontierScheduler):
    """Logs the requests that it releases; like some schedulers it has a length."""

    def __len__(self) -> int:
        return 0

    @override
    def leaves(self, request: Request) -> bool:
        logger.info("let out: %s", request.url)
        return super().leaves(request)


class CountingScheduler(FrontierScheduler):
    """Counts the calls of ``next_request``."""

    @override
    def next_request(self) -> Request | None:
        self.stats.inc_value("trial/asked")
        return super().next_request()


class PausingScheduler(FrontierScheduler):
    """Blocks between releasing and sending every other request, longer than the delay."""

    calls: ClassVar = count()

    @override
    def leaves(self, request: Request) -> bool:
        leaves = super().leaves(request)
        if next(self.calls) % 2:
            time.sleep(0.25)
        return leaves


class LateScheduler(FrontierScheduler):
    """Blocks between leasing and sending every other request, longer than the delay."""

    calls: ClassVar = count()

    @override
    def next_request(self) -> Request | None:
        request = super().next_request()
        if request is not None and next(self.calls) % 2:
            time.sleep(0.25)
        return request


class BlockingScheduler(FrontierScheduler):
    """Logs the time of each release, then blocks the next iteration of the event loop."""

    block_seconds: ClassVar = 1.5

    @override
    def leaves(self, request: Request) -> bool:
        leaves = super().leaves(request)
        logger.info("let out at %.3f", time.monotonic())
        asyncio.get_running_loop().call_soon(time.sleep, self.block_seconds)
        return leaves


class FailingPipeline:
    """Raises an error for some articles."""

    async def process_item(self, item: object) -> object:
        if isinstance(item, Article) and "/item-error" in item.url:
            raise RuntimeError(item.url)
        return item


class CheckedSpider(Spider):
    """A spider with a contract, for ``scrapy check``."""

    name = "checked"

    @override
    def parse(self, response: Response) -> Iterator[dict[str, str]]:
        """Take the title.

        @url http://news.test/
        @returns items 1 1
        """
        yield {"title": response.css("title::text").get() or ""}
