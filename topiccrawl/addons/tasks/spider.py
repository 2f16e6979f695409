"""Spider of a worker: it sends no requests itself and runs the crawls of all tasks.

It is a spider so that ``scrapy crawl work`` and scrapyd can start, log and stop it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, Spider, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, Settings
from scrapy.utils.project import get_project_settings
from typing_extensions import override

from topiccrawl.addons.tasks.session import WorkerSession
from topiccrawl.addons.tasks.work.worker import Worker
from topiccrawl.scheduler.build import check_settings
from topiccrawl.scheduler.checks import check_count
from topiccrawl.scheduler.frontiers import frontiers_of
from topiccrawl.scheduler.hooks import number
from topiccrawl.spiders.arguments import flag, refuse_unknown

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler

_VERBOSE_LOGGERS = ("scrapy.addons", "scrapy.crawler", "scrapy.middleware")
"""Loggers that list the enabled components, in thirty lines per turn."""
_LOG = "topiccrawl.extensions.jsonlog."
_WORKER_SETTINGS = {
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    "ITEM_PIPELINES": {},
    "SPIDER_MIDDLEWARES": {},
    "DOWNLOADER_MIDDLEWARES": {},
    "STATS_DUMP": False,
    "LOGSTATS_INTERVAL": 0,
}


def check_work(settings: BaseSettings) -> None:
    """Raise SettingError if a worker's settings are invalid."""
    check_count(settings, "TOPICCRAWL_WORK_SITES")
    number(settings, "TOPICCRAWL_WORK_QUANTUM")
    number(settings, "TOPICCRAWL_SHARED_SECONDS")


class WorkSpider(Spider):
    """Crawls for all tasks (``scrapy tasks``) until it is stopped.

    Args:
        once: "1" ends the worker as soon as all tasks have ended.
    """

    name = "work"

    def __init__(self, worker: Worker) -> None:
        super().__init__()
        self.worker = worker
        self._work: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    @override
    def update_settings(cls, settings: BaseSettings) -> None:
        """Disable the components that belong to the crawls."""
        super().update_settings(settings)
        extensions = {
            name: order if name.startswith(("scrapy.", _LOG)) else None
            for name, order in settings.getdict("EXTENSIONS").items()
        }
        settings.setdict({**_WORKER_SETTINGS, "EXTENSIONS": extensions}, priority="spider")

    @classmethod
    @override
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Create the spider; raises ConfigurationError for invalid arguments or settings."""
        cls.check(crawler.settings, *args, **kwargs)
        for name in _VERBOSE_LOGGERS:
            logging.getLogger(name).setLevel(logging.WARNING)
        own = crawl_settings(crawler.settings)
        sites, ttl = own.getint("TOPICCRAWL_WORK_SITES"), own.getfloat("TOPICCRAWL_NODE_SECONDS")
        session = WorkerSession(frontiers_of(own).ledger(), max(1, sites), ttl)
        once = flag("once", kwargs.get("once", ""))
        spider = cls(Worker(own, session, own.getfloat("TOPICCRAWL_WORK_QUANTUM"), once=once))
        spider._set_crawler(crawler)
        crawler.signals.connect(spider.begin, signals.engine_started)
        crawler.signals.connect(spider.idle, signals.spider_idle)
        crawler.signals.connect(spider.end, signals.spider_closed)
        return spider

    @classmethod
    def check(cls, settings: BaseSettings, /, once: str = "", **others: str) -> None:
        """Raise ConfigurationError if an argument or a setting is invalid."""
        refuse_unknown(others, known=("once",))
        flag("once", once)
        check_settings(settings)
        check_work(settings)

    @override
    async def start(self) -> AsyncIterator[Request]:
        none: tuple[Request, ...] = ()
        for request in none:
            yield request

    def begin(self) -> None:
        """Start the worker."""
        self._work = asyncio.ensure_future(self.worker.run())
        self._work.add_done_callback(self._ended)

    def idle(self) -> None:
        """Keep the spider open while the worker runs.

        Raises:
            DontCloseSpider: While the worker runs.
        """
        if self._work is None or not self._work.done():
            raise DontCloseSpider

    def _ended(self, work: asyncio.Task[None]) -> None:
        """Close the spider after the end of the worker; log an error of the worker."""
        error = None if work.cancelled() else work.exception()
        if error is not None:
            self.logger.critical("The worker failed", exc_info=error)
        engine = self.crawler.engine
        if engine.spider is not None:
            reason = "finished" if error is None else "storage_error"
            self._closing = asyncio.ensure_future(engine.close_spider_async(reason=reason))

    async def end(self) -> None:
        """Stop the worker and wait until it has released its turns."""
        self.worker.stop()
        if self._work is not None:
            await asyncio.wait([self._work])


def crawl_settings(settings: BaseSettings) -> Settings:
    """Return the settings of the crawls: the project's, with those of the command line."""
    result = get_project_settings()
    for name in settings:
        if (settings.getpriority(name) or 0) >= SETTINGS_PRIORITIES["cmdline"]:
            result.set(name, settings[name], priority="cmdline")
    return result
