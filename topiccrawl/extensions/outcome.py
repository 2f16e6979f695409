"""End of the crawl: unreachable seeds are an error, and a summary shows results and places."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.exceptions import CloseSpider

from topiccrawl.errors import TopiccrawlError
from topiccrawl.extensions.budget import REASON as BUDGET
from topiccrawl.extensions.control import CANCELLED
from topiccrawl.extensions.stopping import REASON as YIELD
from topiccrawl.scheduler.build import frontier_place
from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.finish import (
    CLOSE_REASON,
    DISCOVERY_FAILED,
    FAILURE,
    SEEDS_UNREACHABLE,
)
from topiccrawl.settings import TOPICCRAWL_DATA_DIR as DATA_DIR
from topiccrawl.storage.choice import storage_of
from topiccrawl.storage.crawls import CrawlLog
from topiccrawl.text.escaping import escaped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Spider
    from scrapy.crawler import Crawler


class CrawlOutcome:
    """Records the end of a crawl and prints its summary."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.context = context_of(crawler)
        self.log = CrawlLog(crawler.settings["TOPICCRAWL_DATA_DIR"])
        self.number = 0
        self.reason = ""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension."""
        outcome = cls(crawler)
        crawler.signals.connect(outcome.opened, signals.spider_opened)
        crawler.signals.connect(outcome.idle, signals.spider_idle)
        crawler.signals.connect(outcome.closed, signals.spider_closed)
        crawler.signals.connect(outcome.print_summary, signals.engine_stopped)
        return outcome

    def opened(self, spider: Spider) -> None:
        """Record that the crawl began: commands use the last one by default."""
        spec = self.context.spec
        if spec.topic is not None:
            with suppress(TopiccrawlError):  # the store reports it and ends the crawl
                place = frontier_place(self.crawler.settings, spider)
                self.number = self.log.begin(spec.name, place, time.time())

    def idle(self) -> None:
        """Close with an error where the frontier ran empty without one fetched page.

        Raises:
            CloseSpider: With reason ``seeds_unreachable`` or ``discovery_failed``.
        """
        if not self.context.opened:
            return
        frontier, search = self.context.frontier, self.context.search
        if search is not None and search.failed(frontier):
            raise CloseSpider(DISCOVERY_FAILED)
        counts = frontier.counts()
        if counts["known"] and counts["crawled"] == counts.get("redirected", 0):
            raise CloseSpider(SEEDS_UNREACHABLE)

    def closed(self, reason: str) -> None:
        """Record that the crawl ended."""
        self.reason = reason
        if self.number:
            self.log.finish(self.number, reason, time.time())

    def print_summary(self) -> None:
        """Print the summary of a topic crawl below the log."""
        spec = self.context.spec
        if spec.topic is None or not self.reason:
            return
        settings, stats = self.crawler.settings, self.crawler.stats.get_stats()
        lines = summary(
            spec.name,
            stats.get(FAILURE, self.reason),
            stats,
            frontier_place(settings, self.crawler.spider),
            storage_of(settings).place,
            settings["TOPICCRAWL_DATA_DIR"],
        )
        sys.stderr.writelines(f"{escaped(line)}\n" for line in lines)
        sys.stderr.flush()


def summary(
    topic: str, reason: str, stats: Mapping[str, Any], frontier: str, articles: str, folder: str
) -> list[str]:
    """Return the lines that state what was found, where it is stored and how to look at it."""
    get = stats.get
    pages, relevant = get("topiccrawl/pages", 0), get("topiccrawl/relevant", 0)
    hubs = get("topiccrawl/hubs", 0)
    known = get("topiccrawl/articles_updated", 0) + get("topiccrawl/articles_unchanged", 0)
    where = "" if folder == DATA_DIR else f" · each with -s TOPICCRAWL_DATA_DIR={folder}"
    errors = {k.rpartition("/")[2]: v for k, v in stats.items() if "/queue/error/" in k}
    listed = ", ".join(f"{name} {n}" for name, n in sorted(errors.items(), key=lambda e: -e[1]))
    lines = [
        "",
        f"topic {topic}: {_ENDS.get(reason, reason)}",
        (
            f"  this run   {pages} pages, {relevant} on topic "
            f"(harvest rate {relevant / pages if pages else 0:.1%}): "
            f"{relevant - hubs} articles, {hubs} lists of articles; "
            f"{get('topiccrawl/articles', 0)} new articles, {known} known, "
            f"{get('topiccrawl/duplicates', 0)} duplicates"
        ),
        (
            f"  frontier   {get('topiccrawl/queue/crawled', 0)} crawled, "
            f"{get('topiccrawl/queue/prior', 0)} in priorQueue, "
            f"{get('topiccrawl/queue/normal', 0)} in normalQueue, "
            f"{get('topiccrawl/queue/error', 0)} in errorQueue{f' ({listed})' if listed else ''}"
        ),
        f"  stored in  {articles} (articles), {frontier} (frontier)",
        f"  look at it {_FAILED if reason == SEEDS_UNREACHABLE else _FOUND}{where}",
    ]
    if watched := get("topiccrawl/revisits/handed_out", 0):
        lines.insert(3, f"  watched    {watched} pages again: {_changes(stats)}")
    if get("topiccrawl/queue/prior", 0) or get("topiccrawl/queue/normal", 0):
        lines.append("  go on      the same command again; -a fresh=1 starts over")
    return lines


def _changes(stats: Mapping[str, Any]) -> str:
    """Describe what a watch found."""
    named = {
        "details_changed": "articles changed",
        "gone": "gone",
        "hubs_changed": "times a hub with other links",
        "not_modified": "times not modified",
    }
    found = {words: stats.get(f"topiccrawl/revisits/{name}", 0) for name, words in named.items()}
    return ", ".join(f"{number} {words}" for words, number in found.items())


_FOUND = "scrapy articles list · scrapy articles show URL · scrapy why URL"
_FAILED = "scrapy frontier list error · scrapy why URL"
_ENDS = {
    "finished": "nothing is left to fetch",
    "shutdown": "stopped; nothing is lost",
    CANCELLED: "cancelled; nothing is lost",
    BUDGET: "TOPICCRAWL_PAGES reached",
    YIELD: "what is queued promises less than TOPICCRAWL_STOP_YIELD",
    DISCOVERY_FAILED: "ERROR: nowhere to begin was found; see the log for reasons and remedies",
    SEEDS_UNREACHABLE: "ERROR: no page could be fetched; check seeds, network and the errors",
    "closespider_pagecount": "CLOSESPIDER_PAGECOUNT reached",
    "closespider_itemcount": "CLOSESPIDER_ITEMCOUNT reached",
    "closespider_timeout": "CLOSESPIDER_TIMEOUT reached",
    "setting_error": "ERROR: a setting cannot be used, see the log",
    "state_error": "ERROR: the stored state cannot be used, see the log",
    "storage_error": "ERROR: nothing can be stored, see the log",
    CLOSE_REASON: "ERROR: articles cannot be stored, see the log; nothing acknowledged is lost",
}
