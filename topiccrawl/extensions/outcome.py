"""Outcome of a crawl: errors for unreachable seeds, exit status, and the printed summary."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.exceptions import CloseSpider
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from topiccrawl.errors import TopiccrawlError
from topiccrawl.extensions.budget import REASON as BUDGET
from topiccrawl.extensions.control import CANCELLED
from topiccrawl.extensions.review import CrawlReview
from topiccrawl.messages import NameList, choose_language, escaped, localize, tr
from topiccrawl.scheduler import finish
from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.frontiers import frontier_place, frontiers_of
from topiccrawl.scheduler.review import explain_review
from topiccrawl.settings import TOPICCRAWL_DATA_DIR as DATA_DIR
from topiccrawl.storage.crawls import CrawlLog
from topiccrawl.storage.factory import closed_after, storage_of
from topiccrawl.storage.version import write_version

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_SERVERS = ("MONGODB_URI", "REDIS_URL", "TOPICCRAWL_STORAGE")
"""Settings that further commands need as the crawl did."""
ENOUGH = 10
"""Minimum number of pages after which a crawl without a page on topic counts as fruitless."""


class CrawlOutcome:
    """Record the outcome of a crawl and print its summary."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.context = context_of(crawler)
        self.log = CrawlLog(crawler.settings["TOPICCRAWL_DATA_DIR"])
        self.number = 0
        self.reason = ""
        self._began = 0.0
        self._stored: int | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension."""
        choose_language(str(crawler.settings.get("TOPICCRAWL_LANGUAGE") or ""))
        outcome = cls(crawler)
        crawler.signals.connect(outcome.opened, signals.spider_opened)
        crawler.signals.connect(outcome.idle, signals.spider_idle)
        crawler.signals.connect(outcome.closed, signals.spider_closed)
        crawler.signals.connect(outcome.print_summary, signals.engine_stopped)
        return outcome

    async def opened(self) -> None:
        """Record the start of the crawl; commands use the last crawl by default."""
        write_version(Path(self.crawler.settings["TOPICCRAWL_DATA_DIR"]))
        self._began = time.time()
        await self._record()

    async def _record(self) -> None:
        spec = self.context.spec
        if spec.topic is not None and self._began and not self.number:
            with suppress(TopiccrawlError):  # the store reports the error and ends the crawl
                place = frontier_place(self.crawler)
                begin = partial(self.log.begin, spec.name, place, self._began)
                self.number = await asyncio.to_thread(begin)

    def idle(self) -> None:
        """Close the spider with an error if the frontier is empty and no page was crawled.

        Raises:
            CloseSpider: With reason ``seeds_unreachable``, ``processing_failed`` or
                ``discovery_failed``.
        """
        if not self.context.opened:
            return
        search = self.context.search
        if search is not None and search.failed(self.context):
            raise CloseSpider(finish.DISCOVERY_FAILED)
        counts = self.context.frontier.counts()
        if counts["known"] and counts["crawled"] == counts.get("redirected", 0):
            raise CloseSpider(finish.reason_without_pages(counts))

    async def closed(self, reason: str) -> None:
        """Record the end of the crawl, and whether it completed without a page on topic."""
        self.reason, stats = reason, self.crawler.stats
        if not stats.get_value("topiccrawl/relevant") and reason not in _STORE_ERRORS:
            self._stored = await self._count_stored()
        is_complete = reason in _COMPLETED and not self.context.spec.watch
        if is_complete and self._stored == 0 and stats.get_value("topiccrawl/pages", 0) >= ENOUGH:
            stats.set_value(finish.NOTHING_ON_TOPIC, value=True)
        await self._record()  # if another process locked the store at the start
        if self.number:
            try:
                await asyncio.to_thread(self.log.finish, self.number, reason, time.time())
            except TopiccrawlError as error:
                logger.error("%s", error)  # noqa: TRY400 - it names cause and remedy

    async def _count_stored(self) -> int | None:
        """Return the number of stored articles, or of pages found in earlier runs.

        None if it is unknown, or the crawl does not judge its pages.
        """
        spec = self.context.spec
        if spec.judges is None:
            return None
        try:
            async with closed_after(storage_of(self.crawler.settings).listing()) as listing:
                total, _ = await listing.page(spec.name, 1, 0)
            return total or await self._count_earlier()
        except TopiccrawlError:
            return None

    async def _count_earlier(self) -> int:
        """Return the number of pages on topic in earlier runs; some crawls store no articles."""
        place = frontier_place(self.crawler)
        async with closed_after(frontiers_of(self.crawler.settings).runs()) as runs:
            states = [one.state for one in await runs.all()]
        return sum(one["totals"]["relevant"] for one in states if one["run"]["frontier"] == place)

    def print_summary(self) -> None:
        """Print the summary of a topic crawl below the log."""
        spec = self.context.spec
        if spec.judges is None or not self.reason:
            return
        settings, stats = self.crawler.settings, self.crawler.stats.get_stats()
        review = self.crawler.get_extension(CrawlReview)
        lines = summary(
            spec.name,
            stats.get(finish.FAILURE, self.reason),
            stats,
            "" if self._is_discarded() else frontier_place(self.crawler),
            storage_of(settings).place,
            repeated_options(settings),
            fresh=spec.fresh,
        )
        if review is not None and not stats.get("topiccrawl/relevant") and not self._stored:
            why = explain_review(review.status()["review"])
            lines += [tr("why no page on topic was found:"), *why] if why else []
        lines += _log_lines(settings, stats)
        sys.stderr.writelines(f"{escaped(line)}\n" for line in lines)
        sys.stderr.flush()

    def _is_discarded(self) -> bool:
        """Return whether the scheduler deletes the frontier at the end (SCHEDULER_PERSIST)."""
        persists = self.crawler.settings.getbool("SCHEDULER_PERSIST", default=True)
        return self.context.sync is not None and not persists


def repeated_options(settings: BaseSettings) -> str:
    """Return the options that find the data of a crawl: its folder, and servers of its command.

    Servers have no values, since these may contain passwords.
    """
    folder, given = str(settings["TOPICCRAWL_DATA_DIR"]), SETTINGS_PRIORITIES["cmdline"]
    options = [] if folder == DATA_DIR else [f"-s TOPICCRAWL_DATA_DIR={quote(folder)}"]
    named = [name for name in _SERVERS if settings.getpriority(name) == given and settings[name]]
    return " ".join([*options, *(f"-s {name}=…" for name in named)])


def summary(  # noqa: PLR0913
    topic: str, reason: str, stats: Mapping[str, Any], frontier: str, articles: str, option: str,
    *, fresh: bool = False,
) -> list[str]:  # fmt: skip
    """Return the lines of the summary: results, places of the stored data, further commands.

    Args:
        topic: Name of the topic.
        reason: Reason of the end.
        stats: Stats of the crawl.
        frontier: Place of the frontier; "" if it was deleted.
        articles: Place of the articles.
        option: Options that the further commands need.
        fresh: Whether the command of the crawl deletes the frontier first.
    """
    get = stats.get
    pages, relevant = get("topiccrawl/pages", 0), get("topiccrawl/relevant", 0)
    commands = _FAILED if reason in {finish.SEEDS_UNREACHABLE, finish.PROCESSING_FAILED} else _FOUND
    suffix = tr(" · each with {option}", option=option) if option else ""
    lines = [
        "",
        tr("topic {topic}: {end}", topic=topic, end=_end(reason)),
        _found_line(stats, pages, relevant),
    ]
    if watched := get("topiccrawl/revisits/leased", 0):
        changes = _changes(stats)
        lines.append(
            tr("  watched    {pages} pages revisited: {changes}", pages=watched, changes=changes)
        )
    by_topic = "topiccrawl/topics/"
    if several := sorted(name for name in stats if name.startswith(by_topic)):
        found = NameList(f"{name.removeprefix(by_topic)} {stats[name]}" for name in several)
        lines.append(tr("  by topic   {found} (new articles)", found=found))
    lines += _frontier_line(stats), _places_line(articles, frontier)
    lines.append(tr("  show       {commands}", commands=commands) + suffix)
    if lost := get("topiccrawl/queue/error/item-error", 0):
        command = "topiccrawl frontier requeue --reason item-error"
        lines.append(
            tr(
                "  lost       ERROR: articles of {lost} pages are not stored; see the log, then "
                "{command}",
                lost=lost,
                command=f"{command} {option}".rstrip(),
            )
        )
    queued = get("topiccrawl/queue/prior", 0) or get("topiccrawl/queue/normal", 0)
    if queued and frontier:
        again = tr("  continue   run the same command again; --fresh or -a fresh=1 starts over")
        without = tr("  continue   run the same command again without --fresh or -a fresh=1")
        lines.append(without if fresh else again)
    return lines


def _places_line(articles: str, frontier: str) -> str:
    if not frontier:
        text = tr("  stored in  {articles} (articles); the frontier is deleted", articles=articles)
        return text + " (SCHEDULER_PERSIST)"
    return tr("  stored in  {articles} (articles), {frontier} (frontier)",
              articles=articles, frontier=frontier)  # fmt: skip


def _found_line(stats: Mapping[str, Any], pages: int, relevant: int) -> str:
    get = stats.get
    hubs = get("topiccrawl/hubs", 0)
    line = tr(
        "  this run   {pages} pages, {relevant} on topic (harvest rate {rate}): "
        "{articles} articles, {hubs} lists of articles; "
        "{new} new articles, {known} known, {duplicates} duplicates",
        pages=pages, relevant=relevant, rate=f"{relevant / pages if pages else 0:.1%}",
        articles=relevant - hubs, hubs=hubs, new=get("topiccrawl/articles", 0),
        known=get("topiccrawl/articles_updated", 0) + get("topiccrawl/articles_unchanged", 0),
        duplicates=get("topiccrawl/duplicates", 0),
    )  # fmt: skip
    if spooled := get("topiccrawl/articles_spooled", 0):
        line += tr(", {spooled} spooled during an outage", spooled=spooled)
    return line


def _frontier_line(stats: Mapping[str, Any]) -> str:
    errors = {k.rpartition("/")[2]: v for k, v in stats.items() if "/queue/error/" in k}
    listed = NameList(f"{name} {n}" for name, n in sorted(errors.items(), key=lambda e: -e[1]))
    get = stats.get
    text = tr(
        "  frontier   {crawled} crawled, {prior} in priorQueue, {normal} in normalQueue, "
        "{error} in errorQueue",
        crawled=get("topiccrawl/queue/crawled", 0), prior=get("topiccrawl/queue/prior", 0),
        normal=get("topiccrawl/queue/normal", 0), error=get("topiccrawl/queue/error", 0),
    )  # fmt: skip
    return f"{text} ({localize(listed)})" if listed else text


def _log_lines(settings: Mapping[str, Any], stats: Mapping[str, Any]) -> list[str]:
    """Return a line with the path of the log, if it is a file."""
    file = settings.get("LOG_FILE")
    if not file:
        return []
    warnings, errors = (stats.get(f"log_count/{name}", 0) for name in ("WARNING", "ERROR"))
    return [
        tr("  log        {file} ({warnings} warnings, {errors} errors)",
           file=file, warnings=warnings, errors=errors)
    ]  # fmt: skip


def _changes(stats: Mapping[str, Any]) -> str:
    """Describe the changes that a watch found."""
    get = {
        name: stats.get(f"topiccrawl/revisits/{name}", 0)
        for name in ("details_changed", "gone", "hubs_changed", "not_modified")
    }
    return tr(
        "{details_changed} articles changed, {gone} gone; hubs had changed links {hubs_changed} "
        "times; {not_modified} responses not modified", **get,
    )  # fmt: skip


def _end(reason: str) -> str:
    """Return the finish reason in words."""
    ends = {
        "finished": tr("no URLs left to fetch"),
        "shutdown": tr("stopped; no data is lost"),
        CANCELLED: tr("cancelled; no data is lost"),
        BUDGET: tr("TOPICCRAWL_PAGES reached"),
        finish.LOW_YIELD: tr("expected yield of the queued URLs is below TOPICCRAWL_STOP_YIELD"),
        finish.DISCOVERY_FAILED: tr("ERROR: no seed URLs were found; see the log for remedies"),
        finish.SEEDS_UNREACHABLE: tr(
            "ERROR: no page could be fetched; check the seeds, the network and the errors"
        ),
        finish.PROCESSING_FAILED: tr(
            "ERROR: each fetched page raised an error in the spider or in a pipeline; see the log"
        ),
        "setting_error": tr("ERROR: a setting cannot be used; see the log"),
        "state_error": tr("ERROR: the stored state cannot be used; see the log"),
        "storage_error": tr("ERROR: data cannot be stored; see the log"),
        finish.STORE_FAILED: tr(
            "ERROR: articles cannot be stored; see the log; stored articles are safe"
        ),
    }
    if reason.startswith("closespider_"):
        return tr("{setting} reached", setting=reason.upper())
    return ends.get(reason, reason)


_FOUND = "topiccrawl articles list · topiccrawl articles show URL · topiccrawl why URL"
_FAILED = "topiccrawl frontier list error · topiccrawl why URL"
_COMPLETED = frozenset(
    {
        "finished", BUDGET, finish.LOW_YIELD, "closespider_pagecount", "closespider_itemcount",
        "closespider_timeout",
    }
)  # fmt: skip
"""Finish reasons of completed crawls, which were neither stopped nor failed."""
_STORE_ERRORS = frozenset({"setting_error", "storage_error", finish.STORE_FAILED})
"""Finish reasons after which the store is not read: a server that is down takes its timeout."""
