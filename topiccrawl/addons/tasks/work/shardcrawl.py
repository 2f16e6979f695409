"""Crawl of one shard in this process, until its turn ends."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.exceptions import CloseSpider

from topiccrawl.addons.tasks.records import Progress, Shard, Task, TurnOutcome
from topiccrawl.addons.tasks.work.shared import cache_path, cache_settings
from topiccrawl.errors import ConfigurationError
from topiccrawl.extensions.budget import REASON as BUDGET
from topiccrawl.extensions.control import CANCELLED, enqueue_start_urls
from topiccrawl.extensions.jsonlog import write_json
from topiccrawl.links.urls import canonical
from topiccrawl.scheduler.context import CrawlContext, context_of
from topiccrawl.scheduler.finish import FAILURE, LOW_YIELD, SEEDS_UNREACHABLE
from topiccrawl.scheduler.signals import lease_settled
from topiccrawl.topics.topic import named_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from scrapy.settings import Settings


logger = logging.getLogger(__name__)

OVER, PAUSED, SHUTDOWN, LOST = "turn_over", "paused", "shutdown", "turn_lost"
MOVED = "moved"
"""Finish reasons of crawls whose site is not done; ``CANCELLED`` is another."""
STARTUP_SECONDS = 5.0
"""Maximum time until the first response that does not count towards the turn."""
_INTERRUPTED = frozenset({PAUSED, SHUTDOWN, LOST, MOVED, CANCELLED})
_NO_RESPONSE = (
    "cannot-", "tls-", "tunnel",
    "download-connection-refused", "download-failed", "download-timeout",
)  # fmt: skip
"""Prefixes of failure reasons without a response; http:// may work if https:// failed so."""
_DONE = frozenset({"finished", BUDGET, LOW_YIELD})
_CRAWL_SETTINGS = {
    "TOPICCRAWL_TURN": True,
    "TOPICCRAWL_CONTROL": False,  # the worker forwards orders
    "TOPICCRAWL_DASHBOARD": "off",  # the worker has its own
    "STATS_DUMP": False,
    "LOGSTATS_INTERVAL": 0,
}
_DISABLED = (
    "topiccrawl.extensions.progress.Progress",
    "topiccrawl.extensions.outcome.CrawlOutcome",
)


class ShardCrawl:
    """Crawl of one shard.

    Args:
        settings: Project settings with those of the worker's command line.
        task: Task of the shard.
        shard: The shard as of the start of its turn.
        max_pages: Maximum number of pages to fetch, or None for no limit.
        may_fetch: Returns whether the worker certainly still owns the turn.
        shared: Whether another task also needs pages of the site.

    Attributes:
        task: Task of the shard.
        shard: The shard as of the start of its turn.
    """

    def __init__(
        self, settings: Settings, task: Task, shard: Shard, max_pages: int | None,
        may_fetch: Callable[[], bool], *, shared: bool = False,
    ) -> None:  # fmt: skip
        self.task, self.shard = task, shard
        self._may_fetch = may_fetch
        cache = cache_path(settings, shard.site)
        cached = settings.getfloat("TOPICCRAWL_SHARED_SECONDS") and (shared or cache.exists())
        own = settings_for(settings, task, shard, max_pages, cache if cached else None)
        self._runner = AsyncCrawlerRunner(own)
        self._crawler: Crawler | None = None
        self._crawl: asyncio.Task[None] | None = None
        self._started_at = time.monotonic()
        self._first_response_at: float | None = None
        self._error = ""
        self._speed = 1.0
        self._context: CrawlContext | None = None
        self._tried: dict[str, str] = {}
        self._queued_fallbacks: set[str] = set()

    @property
    def ended(self) -> bool:
        """True after the end of the crawl."""
        return self._crawl is not None and self._crawl.done()

    def start(self, on_end: Callable[[], None]) -> None:
        """Start the crawl; ``on_end`` is called when it has ended."""
        arguments = dict(self.task.arguments)
        for name, values in (("seeds", self.shard.seeds), ("sites", self.shard.hosts)):
            if values:
                arguments[name] = ",".join(values)
        self._crawl = asyncio.ensure_future(self._run(arguments))
        self._crawl.add_done_callback(lambda _: on_end())

    async def _run(self, arguments: dict[str, str]) -> None:
        try:
            self._check_topic_file()
            crawler = self._crawler = self._runner.create_crawler(self.task.spider)
            if crawler.settings.getbool("TOPICCRAWL_LOG_JSON"):
                write_json()  # now, so that the lines of the crawl's start are JSON too
            crawler.signals.connect(self._opened, signals.spider_opened)
            crawler.signals.connect(self._check_guessed_seeds, lease_settled)
            crawler.signals.connect(self._check_guessed_seeds, signals.spider_idle)
            crawler.signals.connect(self._response_received, signals.response_received)
            await self._runner.crawl(crawler, **arguments)
        except (ConfigurationError, CloseSpider, KeyError) as error:
            logger.error("%s cannot be crawled: %s", self.shard.name, error)  # noqa: TRY400
            self._error = getattr(error, "public", str(error)) or type(error).__name__

    def _check_topic_file(self) -> None:
        """Check that this machine has the topic file, whose name would be read as words."""
        if self.task.named and named_file(name := self.task.arguments["topic"]) is None:
            raise ConfigurationError(
                "the worker has no topic file {name!r}: copy it into its folder topics/, then "
                "`topiccrawl tasks resume {task}`", name=name, task=self.task.id,
            )  # fmt: skip

    def _opened(self) -> None:
        assert self._crawler is not None  # noqa: S101 - it sent the signal
        context = context_of(self._crawler)
        if context.opened:
            self._context = context
            context.may_fetch = self._may_fetch
            context.frontier.pace(self._speed)

    def enqueue_start_urls(self, urls: Sequence[str]) -> bool:
        """Queue start URLs from the operator; return False if the crawl is not open."""
        if self._context is None or not self._context.opened:
            return False
        enqueue_start_urls(self._context, urls)
        return True

    def _check_guessed_seeds(self) -> None:
        """Queue the http:// URL of a site given without a scheme if https:// has no response."""
        context = self._context
        if context is None or not context.opened or context.spec.conducted:
            return
        for secure in guessed_urls(self.task.sites).intersection(self.shard.seeds):
            if not self._failure_of(context, secure).startswith(_NO_RESPONSE):
                continue
            plain = f"http{secure.removeprefix('https')}"
            if plain not in self._queued_fallbacks and context.frontier.why(plain) is None:
                enqueue_start_urls(context, [plain])
            self._queued_fallbacks.add(plain)
            self._failure_of(context, plain)

    def _failure_of(self, context: CrawlContext, url: str) -> str:
        """Return the reason of a seed's failure; "" if it was fetched or has no result yet."""
        if self._tried.get(url) != "":
            record = context.frontier.why(url)
            if record is not None and record.queue in {"crawled", "error"}:
                self._tried[url] = record.reason if record.queue == "error" else ""
        return self._tried.get(url, "")

    def _response_received(self) -> None:
        if self._first_response_at is None:
            self._first_response_at = time.monotonic()

    def set_speed(self, speed: float) -> None:
        """Set the speed of the crawl, and wake it, since it may not have been allowed to fetch."""
        if self._context is not None:
            if speed != self._speed:
                self._context.frontier.pace(speed)
            self._context.alarm.now()
        self._speed = speed

    def close(self, reason: str) -> None:
        """End the crawl: no new requests are sent; requests in flight are finished."""
        if self._context is not None:
            self._context.end(reason)

    @property
    def seconds(self) -> float:
        """Duration of the turn: since its first response, or since ``STARTUP_SECONDS`` passed."""
        now = time.monotonic()
        late, first = now - self._started_at - STARTUP_SECONDS, self._first_response_at
        return max(late, 0.0 if first is None else now - first)

    def progress(self, ahead: float = 0.0) -> Progress:
        """Return the progress of the turn.

        Args:
            ahead: Seconds from now in which more requests may be sent.
        """
        if self._crawler is None or self._crawler.stats is None:
            return Progress()
        get = self._crawler.stats.get_value
        rest = 0.0 if self._context is None else self._context.frontier.rest(ahead)
        return Progress(
            int(get("topiccrawl/pages", 0)),
            int(get("topiccrawl/relevant", 0)),
            int(get("topiccrawl/articles", 0)) + int(get("topiccrawl/records", 0)),
            rest,
            dict(self._tried),
        )

    def outcome(self) -> tuple[TurnOutcome, str]:
        """Return the outcome and its reason."""
        if self._error:
            return TurnOutcome.NOT_CRAWLABLE, self._error
        assert self._crawler is not None  # noqa: S101 - _run sets it or _error
        assert self._crawler.stats is not None  # noqa: S101
        get = self._crawler.stats.get_value
        reason = str(get(FAILURE) or get("finish_reason") or "did not start")
        if reason == OVER:
            return TurnOutcome.UNFINISHED, reason
        if reason in _INTERRUPTED:
            return TurnOutcome.INTERRUPTED, reason
        if reason in _DONE and not get("topiccrawl/queue/crawled", 0):
            return TurnOutcome.FAILED, SEEDS_UNREACHABLE
        done = reason in _DONE or reason.startswith("closespider_")
        return (TurnOutcome.DONE if done else TurnOutcome.FAILED), reason


def guessed_urls(sites: Iterable[str]) -> frozenset[str]:
    """Return the start URLs of the sites that were given without a scheme.

    >>> sorted(guessed_urls(["A.test", "b.test/", "c.test/x", "http://d.test/"]))
    ['https://a.test/', 'https://b.test/', 'https://c.test/x']
    """
    texts = [site.strip() for site in sites if "://" not in site]
    return frozenset(filter(None, (canonical(f"https://{text}") for text in texts)))


def settings_for(
    settings: Settings, task: Task, shard: Shard, max_pages: int | None, cache: Path | None
) -> Settings:
    """Return the settings of a shard's crawl: its own frontier, the task's limits, no dashboard.

    Args:
        settings: Settings of the worker.
        task: Task of the shard.
        shard: The shard.
        max_pages: Maximum number of pages to fetch, or None for no limit.
        cache: File of responses that tasks share, or None.
    """
    result = settings.copy()
    extensions = {**result.getdict("EXTENSIONS"), **dict.fromkeys(_DISABLED)}
    changes = {**_CRAWL_SETTINGS, "EXTENSIONS": extensions, "TOPICCRAWL_CRAWL": shard.crawl}
    if cache is not None:
        changes |= cache_settings(cache)
    if max_pages is not None:
        changes["TOPICCRAWL_PAGES"] = max(1, max_pages)
    if task.depth:
        changes["DEPTH_LIMIT"] = task.depth
    result.setdict(changes, priority="cmdline")
    return result
