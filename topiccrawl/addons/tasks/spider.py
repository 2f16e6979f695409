"""Worker: claims turns, runs a crawl for each, and obeys the operator's orders; and its spider.

The spider sends no requests itself. It is a spider so that ``scrapy crawl work`` and scrapyd can
start, log and stop it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from scrapy import Spider, signals
from scrapy.addons import AddonManager
from scrapy.exceptions import DontCloseSpider
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, Settings
from scrapy.utils.project import get_project_settings
from typing_extensions import override

from topiccrawl.addons.tasks.records import Progress, TurnOutcome
from topiccrawl.addons.tasks.session import WorkerSession
from topiccrawl.addons.tasks.work.shardcrawl import LOST, MOVED, OVER, PAUSED, SHUTDOWN, ShardCrawl
from topiccrawl.addons.tasks.work.shared import cache_path, delete_expired
from topiccrawl.errors import StorageError
from topiccrawl.extensions.control import CANCELLED
from topiccrawl.scheduler.build import check_settings
from topiccrawl.scheduler.checks import check_count, flag
from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.frontiers import frontiers_of
from topiccrawl.scheduler.hooks import number
from topiccrawl.spiders.arguments import refuse_unknown
from topiccrawl.storage.version import write_version

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from topiccrawl.addons.tasks.snapshot import Snapshot

logger = logging.getLogger(__name__)

PERIOD = 0.5
"""Seconds between heartbeats, which bounds the delay of orders and of changes of turns."""

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


class Worker:
    """Runs crawls of shards, several at a time in one process.

    Args:
        settings: Settings of the crawls.
        session: Session of this worker.
        quantum: Seconds after which a turn ends if another shard waits for its site or slot.
        once: Whether the worker ends as soon as all tasks have ended.
    """

    def __init__(
        self, settings: Settings, session: WorkerSession, quantum: float, *, once: bool
    ) -> None:
        self._settings = settings
        self._session = session
        self._quantum = quantum
        self._once = once
        self._running: dict[str, ShardCrawl] = {}
        self._wake = asyncio.Event()
        self._stopping = self._ledger_away = self._paused = False

    async def run(self) -> None:
        """Work until ``stop`` is called or, with ``once``, until all tasks have ended."""
        while not (self._stopping and all(crawl.ended for crawl in self._running.values())):
            if self._stopping:
                self._close_all(SHUTDOWN)  # again, for crawls that were not open before
            try:
                if await self._run_once():
                    break
                self._log_ledger_state()
            except StorageError as error:
                self._log_ledger_state(error)
            await self._sleep()
        try:
            await self._release_ended()
            await self._session.leave()
        except StorageError as error:
            logger.error("%s; the turns held here are free once they time out", error)  # noqa: TRY400

    def stop(self) -> None:
        """End ``run``: crawls are closed and their turns released."""
        self._stopping = True
        self._wake.set()

    async def _run_once(self) -> bool:
        """Send one heartbeat and act on the snapshot; return whether the worker should end."""
        await self._release_ended()
        snapshot = await self._session.heartbeat(self._progress())
        if snapshot is None:
            self._close_all(LOST)
            return False
        for crawl in [crawl for crawl in self._running.values() if not crawl.ended]:
            await self._apply_order(crawl, snapshot)
        while not self._stopping and (found := await self._session.claim()) is not None:
            shard, rows = found
            crawl = self._running[shard.name] = ShardCrawl(
                self._settings, rows.tasks[shard.task], shard, rows.remaining_pages(shard),
                self._session.may_fetch, shared=rows.is_shared(shard),
            )  # fmt: skip
            delete_expired(self._settings)
            logger.info("%s: turn %d started", shard.name, shard.turns)
            crawl.start(self._wake.set)
        return self._once and not self._running and all(map(snapshot.is_over, snapshot.tasks))

    async def _apply_order(self, crawl: ShardCrawl, snapshot: Snapshot) -> None:
        order = snapshot.order_of(crawl.shard)
        crawl.set_speed(order.speed)
        if crawl.shard.name not in self._session.shards:
            crawl.close(LOST)
        elif order.cancelled or not snapshot.is_open(crawl.shard.task):
            crawl.close(CANCELLED)
        elif order.paused:
            crawl.close(PAUSED)
        elif snapshot.assigned_worker(crawl.shard) not in {"", self._session.name}:
            crawl.close(MOVED)
        elif crawl.seconds > self._quantum and snapshot.should_yield(crawl.shard):
            crawl.close(OVER)
        elif order.urls and crawl.enqueue_start_urls(order.urls):
            await self._session.control.discard_urls(crawl.shard.crawl, order.urls)

    async def _release_ended(self) -> None:
        """Release the turns of ended crawls; after an error, the next call retries."""
        for name, crawl in list(self._running.items()):
            if not crawl.ended:
                continue
            shard, (outcome, reason) = crawl.shard, crawl.outcome()
            if await self._session.release(name, crawl.progress(), outcome, reason):
                logger.info("%s: turn ended: %s (%s)", name, outcome, reason)
                done = outcome is TurnOutcome.DONE
                if done and not (await self._session.snapshot()).is_shared(shard):
                    cache_path(self._settings, shard.site).unlink(missing_ok=True)
            del self._running[name]

    def _progress(self) -> dict[str, Progress]:
        return {name: crawl.progress(ahead=2 * PERIOD) for name, crawl in self._running.items()}

    def _close_all(self, reason: str) -> None:
        for crawl in self._running.values():
            crawl.close(reason)

    async def _sleep(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), PERIOD)
        self._wake.clear()

    def _log_ledger_state(self, error: StorageError | None = None) -> None:
        """Log failures of the ledger: crawls go on until this worker may have timed out."""
        away, paused = error is not None, error is not None and not self._session.may_fetch()
        if paused and not self._paused:
            logger.warning("%s; crawls pause until the task rows can be read again", error)
        elif away and not self._ledger_away:
            seconds = self._session.safe_until - time.monotonic()
            logger.warning("%s; retrying; crawls go on for up to %.1f s", error, seconds)
        elif self._ledger_away and not away:
            logger.warning("The task rows can be read again")
        self._ledger_away, self._paused = away, paused


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
        cls.check_arguments(crawler.settings, *args, **kwargs)
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
    def check_arguments(cls, settings: BaseSettings, /, once: str = "", **others: str) -> None:
        """Raise ConfigurationError if an argument or a setting is invalid."""
        refuse_unknown(others, known=("once",))
        flag("once", once)
        check_settings(settings)
        check_work(settings)

    def begin(self) -> None:
        """Start the worker."""
        write_version(Path(self.settings["TOPICCRAWL_DATA_DIR"]))
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
        context_of(self.crawler).end("finished" if error is None else "storage_error")

    async def end(self) -> None:
        """Stop the worker and wait until it has released its turns."""
        self.worker.stop()
        if self._work is not None:
            await asyncio.wait([self._work])


def crawl_settings(settings: BaseSettings) -> Settings:
    """Return the settings of the crawls: the project's, with its add-ons and the command line's."""
    result = get_project_settings()
    for name in settings:
        if (settings.getpriority(name) or 0) >= SETTINGS_PRIORITIES["cmdline"]:
            result.set(name, settings[name], priority="cmdline")
    AddonManager.load_pre_crawler_settings(result)
    return result
