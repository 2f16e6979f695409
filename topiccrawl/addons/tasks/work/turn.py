"""One turn: a crawl of one task's site, in this process, until its turn ends."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.exceptions import CloseSpider

from topiccrawl.addons.tasks.desk import crawl_of, guessed
from topiccrawl.addons.tasks.records import Ended, Progress, Shard, Task
from topiccrawl.addons.tasks.work.shared import place_of, sharing
from topiccrawl.errors import ConfigurationError
from topiccrawl.extensions.budget import REASON as BUDGET
from topiccrawl.extensions.control import CANCELLED, enqueue_start_urls
from topiccrawl.extensions.jsonlog import write_json
from topiccrawl.extensions.stopping import REASON as YIELD
from topiccrawl.scheduler.context import CrawlContext, context_of
from topiccrawl.scheduler.finish import FAILURE, SEEDS_UNREACHABLE
from topiccrawl.scheduler.signals import lease_settled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from scrapy.settings import Settings


logger = logging.getLogger(__name__)

OVER, PAUSED, SHUTDOWN, LOST = "turn_over", "paused", "shutdown", "turn_lost"
MOVED = "moved"
"""Finish reasons of crawls whose site is not done; ``CANCELLED`` is another."""
PREPARES = 5.0
"""Seconds a crawl may take to its first response before the time counts as its turn."""
_CUT = frozenset({PAUSED, SHUTDOWN, LOST, MOVED, CANCELLED})
_UNANSWERED = (
    "cannot-", "tls-", "tunnel",
    "download-connection-refused", "download-failed", "download-timeout",
)  # fmt: skip
"""Beginnings of reasons why no server answered: http:// may do where https:// did not."""
_DONE = frozenset({"finished", BUDGET, YIELD})
_QUIET = {
    "TOPICCRAWL_TURN": True,
    "TOPICCRAWL_CONTROL": False,  # the worker passes orders on
    "TOPICCRAWL_DASHBOARD": "off",  # the worker's own is enough
    "STATS_DUMP": False,
    "LOGSTATS_INTERVAL": 0,
}
_OFF = ("topiccrawl.extensions.progress.Progress", "topiccrawl.extensions.outcome.CrawlOutcome")


class SiteTurn:
    """A crawl that runs for a shard.

    Args:
        settings: The project's, with those that the operator gave the worker.
        task: Task of the shard.
        shard: As it was when its turn began.
        room: Pages it may fetch, or None for no bound.
        may_fetch: Returns whether the turn is surely ours at this moment.
        shared: Another task wants pages of the site, too.

    Attributes:
        task: As given.
        shard: As given.
    """

    def __init__(
        self, settings: Settings, task: Task, shard: Shard, room: int | None,
        may_fetch: Callable[[], bool], *, shared: bool = False,
    ) -> None:  # fmt: skip
        self.task, self.shard = task, shard
        self._place = place_of(settings, shard.site)
        self._may_fetch = may_fetch
        shares = settings.getfloat("TOPICCRAWL_SHARED_SECONDS") and (shared or self._place.exists())
        place = self._place if shares else None
        self._runner = AsyncCrawlerRunner(settings_for(settings, task, shard, room, place))
        self._crawler: Crawler | None = None
        self._crawl: asyncio.Task[None] | None = None
        self._began = time.monotonic()
        self._answered: float | None = None
        self._error = ""
        self._speed = 1.0
        self._context: CrawlContext | None = None
        self._held_back = False
        self._tried: dict[str, str] = {}
        self._begun: set[str] = set()

    def start(self, ended: Callable[[SiteTurn], None]) -> None:
        """Start the crawl; ``ended`` is called when it has ended."""
        shard = {"seeds": self.shard.seeds, "sites": self.shard.hosts}
        given = {name: ",".join(values) for name, values in shard.items() if values}
        arguments = {**self.task.arguments, **given}
        self._crawl = asyncio.ensure_future(self._run(arguments))
        self._crawl.add_done_callback(lambda _: ended(self))

    async def _run(self, arguments: dict[str, str]) -> None:
        try:
            self._crawler = self._runner.create_crawler(self.task.spider)
            if self._crawler.settings.getbool("TOPICCRAWL_LOG_JSON"):
                write_json()  # at once: the start of the crawl is logged in between
            self._crawler.signals.connect(self._opened, signals.spider_opened)
            for moment in (lease_settled, signals.spider_idle):
                self._crawler.signals.connect(self._look_at_seeds, moment)
            self._crawler.signals.connect(self._heard, signals.response_received)
            await self._runner.crawl(self._crawler, **arguments)
        except (ConfigurationError, CloseSpider, KeyError) as error:
            logger.error("%s cannot be crawled: %s", self.shard.name, error)  # noqa: TRY400
            said = error.public if isinstance(error, ConfigurationError) else str(error)
            self._error = said or type(error).__name__

    def _opened(self) -> None:
        context = None if self._crawler is None else context_of(self._crawler)
        if context is not None and context.opened:
            self._context = context
            context.may_fetch = self._fetches
            context.frontier.pace(self._speed)

    def enqueue_start_urls(self, urls: Sequence[str]) -> bool:
        """Queue start URLs of the operator; return False if the crawl is not open (yet)."""
        if self._context is None or not self._context.opened:
            return False
        enqueue_start_urls(self._context, urls)
        return True

    def _look_at_seeds(self) -> None:
        """Begin by http:// where a site was named without a scheme and https:// has no answer."""
        context = self._context
        if context is None or not context.opened or context.spec.conducted:
            return
        for secure in guessed(self.task.sites).intersection(self.shard.seeds):
            if not self._fate(context, secure).startswith(_UNANSWERED):
                continue
            plain = f"http{secure.removeprefix('https')}"
            if plain not in self._begun and context.frontier.why(plain) is None:
                enqueue_start_urls(context, [plain])
            self._begun.add(plain)
            self._fate(context, plain)

    def _fate(self, context: CrawlContext, url: str) -> str:
        """Return the reason of a seed's failure; "" where it was fetched, or nothing came yet."""
        if self._tried.get(url) != "":
            known = context.frontier.why(url)
            if known is not None and known.queue in {"crawled", "error"}:
                self._tried[url] = known.reason if known.queue == "error" else ""
        return self._tried.get(url, "")

    def _heard(self) -> None:
        if self._answered is None:
            self._answered = time.monotonic()

    def follow(self, speed: float) -> None:
        """Set the speed of the crawl."""
        if self._context is not None:
            if speed != self._speed:
                self._context.frontier.pace(speed)
            if self._held_back:
                self._context.alarm.now()
        self._speed = speed

    def _fetches(self) -> bool:
        self._held_back = not self._may_fetch()
        return not self._held_back

    def close(self, reason: str) -> None:
        """End the crawl: nothing new is fetched from now on; requests in flight are finished."""
        if self._context is not None:
            self._context.end(reason)

    @property
    def seconds(self) -> float:
        """Seconds of its turn: since the first response, or since ``PREPARES`` after its start."""
        now = time.monotonic()
        late = now - self._began - PREPARES
        return max(late, 0.0 if self._answered is None else now - self._answered)

    async def ended(self) -> None:
        """Wait until the crawl has ended."""
        if self._crawl is not None:
            await asyncio.gather(self._crawl, return_exceptions=True)

    def progress(self, ahead: float = 0.0) -> Progress:
        """Return its progress; ``ahead``: seconds from now in which more requests may be sent."""
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

    def forget(self) -> None:
        """Delete the answers that no other task wants."""
        self._place.unlink(missing_ok=True)

    def outcome(self) -> tuple[Ended, str]:
        """Return the outcome and its reason."""
        if self._error:
            return Ended.HOPELESS, self._error
        assert self._crawler is not None  # noqa: S101 - or there was an error
        assert self._crawler.stats is not None  # noqa: S101
        get = self._crawler.stats.get_value
        reason = str(get(FAILURE) or get("finish_reason") or "did not start")
        if reason == OVER:
            return Ended.LEFT, reason
        if reason in _CUT:
            return Ended.CUT, reason
        if reason in _DONE and not get("topiccrawl/queue/crawled", 0):
            return Ended.FAILED, SEEDS_UNREACHABLE
        done = reason in _DONE or reason.startswith("closespider_")
        return (Ended.DONE if done else Ended.FAILED), reason


def settings_for(
    settings: Settings, task: Task, shard: Shard, room: int | None, shared: Path | None = None
) -> Settings:
    """Return the settings of a shard's crawl: a frontier of its own, the task's bounds, no page.

    ``shared``: the file of answers that the site's tasks share.
    """
    own = settings.copy()
    extensions = {**own.getdict("EXTENSIONS"), **dict.fromkeys(_OFF)}
    given = {**_QUIET, "EXTENSIONS": extensions, "TOPICCRAWL_CRAWL": crawl_of(shard)}
    if shared is not None:
        given |= sharing(shared)
    if room is not None:
        given["TOPICCRAWL_PAGES"] = max(1, room)
    if task.depth:
        given["DEPTH_LIMIT"] = task.depth
    for name, value in given.items():
        own.set(name, value, priority="cmdline")
    return own
