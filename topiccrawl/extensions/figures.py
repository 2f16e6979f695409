"""Live figures of a crawl for the dashboard, the metrics, the progress line and the report."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections import deque
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call
from xxhash import xxh32_hexdigest

from topiccrawl import __version__
from topiccrawl.errors import StorageError
from topiccrawl.extensions.history import CrawlHistory
from topiccrawl.extensions.wait_reason import QUIET, WaitReason, wait_reason
from topiccrawl.frontier.contract import Ending, Frontier, Outcome
from topiccrawl.frontier.queues import SIZES
from topiccrawl.model import Article, Lease, PageKind, Verdict
from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.frontiers import crawl_name, frontier_place, frontiers_of
from topiccrawl.scheduler.hooks import uses_frontier
from topiccrawl.scheduler.signals import page_counted, page_judged
from topiccrawl.storage.runs import EMPTY, INTERVAL, State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler

    from topiccrawl.frontier.view import Census

logger = logging.getLogger(__name__)

HOSTS = 30
"""Maximum number of listed hosts, those with the most work."""
LATEST = 10
"""Number of listed articles, the latest."""
SHARE = 0.005
"""Maximum share of the run time for counting the hosts; with more hosts, counts are rarer."""
LOG_INTERVAL = 60.0
"""Seconds between two log lines with the same reason for waiting."""


class CrawlFigures:
    """Collect the figures of a crawl from its signals.

    Args:
        crawler: Crawler of the crawl. If its spider does not report its pages by ``page_judged`` or
            ``page_counted``, each page counts as fetched, and none as on topic.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.context = context_of(crawler)
        self.name = self.context.spec.name
        self.began = time.time()
        self.finished: float | None = None
        self.reason = ""
        self.history = CrawlHistory()
        self.latest: deque[dict[str, Any]] = deque(maxlen=LATEST)
        self.failed: dict[str, int] = {}
        self._last_page = self._began = time.monotonic()
        self._census: Census | None = None
        self._next_census = 0.0
        self._log_at: dict[str, float] = {}
        self._last_counts: dict[str, int] = {}
        self._number = 0
        self._store_at = 0.0
        self._storing: asyncio.Future[None] | None = None
        self._store_failed = False
        self.runs = frontiers_of(crawler.settings).runs()
        self._loop = create_looping_call(self.tick)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension.

        Raises:
            NotConfigured: If the crawl runs on another scheduler, or there is no spider yet, as in
                `scrapy shell`.
        """
        if crawler.spider is None or not uses_frontier(crawler.settings):
            raise NotConfigured
        figures = cls(crawler)
        connect = crawler.signals.connect
        connect(figures.opened, signals.spider_opened)
        connect(figures.closed, signals.spider_closed)
        connect(figures.judged, page_judged)
        connect(figures.counted, page_counted)
        figures.context.on_settled(figures.settled)
        figures.context.before_close = figures.count
        connect(figures.stored, signals.item_scraped)
        connect(figures.dropped, signals.item_dropped)
        return figures

    # -- signals -----------------------------------------------------------------------------------

    def opened(self) -> None:
        """Start recording the history."""
        self._loop.start(1.0, now=True)

    async def closed(self, reason: str) -> None:
        """Store the final record of the run."""
        self.tick()
        self.history.sample(time.monotonic() - self._began, last=True)
        if self._loop.running:
            self._loop.stop()
        self.finished, self.reason = time.time(), reason
        if self._storing is not None:
            await self._storing
        await self._store()
        await self.runs.close()

    def judged(self, verdict: Verdict) -> None:
        """Count a page."""
        self._last_page = time.monotonic()
        self.history.page(relevant=verdict.kind is not PageKind.OTHER)

    def counted(self, relevant: bool, articles: int) -> None:  # noqa: FBT001 - as the signal sends
        """Count a page that was not scored, and its new articles."""
        self.history.page(relevant=relevant)
        self.history.articles += articles

    def settled(self, lease: Lease, outcome: Outcome) -> None:
        """Count failures by host, and pages that the spider does not report."""
        spec = self.context.spec
        if outcome.ending is Ending.CRAWLED:
            self._last_page = time.monotonic()  # also of a 304, which is not scored
            if spec.judges is None and not spec.conducted:
                self.history.page(relevant=False)
        if outcome.ending in {Ending.ERROR, Ending.LATER}:
            host = lease.url.split("/", 3)[2]
            self.failed[host] = self.failed.get(host, 0) + 1

    def stored(self, item: object) -> None:
        """Count a new article and list it as one of the latest."""
        if isinstance(item, Article):
            self.history.articles += 1
            self._list(item)

    def dropped(self, item: object) -> None:
        """List a reprint as one of the latest."""
        if isinstance(item, Article) and item.reprint_of:
            self._list(item)

    def tick(self) -> None:
        """Record a point of the history; log the reason if the crawl is waiting."""
        now = time.monotonic()
        self.history.sample(now - self._began)
        found = self.waiting()
        if found.reason and now > self._log_at.get(found.reason, 0.0):
            running = found.reason == "store-away" and found.seconds < QUIET
            logger.info("Crawl %s: %s", "continues" if running else "waiting", found.text())
            self._log_at[found.reason] = now + LOG_INTERVAL
        if now >= self._store_at and self._storing is None:
            self._store_at = now + INTERVAL
            self._storing = asyncio.ensure_future(self._store())

    async def _store(self) -> None:
        """Store a record for other processes; an error is logged and does not end the crawl."""
        try:
            await self.runs.put(self.state())
        except StorageError as error:
            if not self._store_failed:
                logger.warning(
                    "The record of the run cannot be stored, so the dashboard and other processes"
                    " show an old one; retrying: %s", error,
                )  # fmt: skip
            self._store_failed = True
        else:
            self._store_failed = False
        finally:
            self._storing = None

    # -- figures -----------------------------------------------------------------------------------

    def waiting(self) -> WaitReason:
        """Return the reason why the crawl is waiting; empty while it fetches."""
        context = self.context
        if not context.opened:
            return WaitReason("")
        quiet, counts = time.monotonic() - self._last_page, self._counts()
        return wait_reason(
            quiet,
            paused=context.is_blocked,
            redis_away=context.sync is not None and context.sync.away,
            queues=counts,
            own=_own(context.frontier, counts),
            leases=len(context.book),
            census=self.census() if quiet > 1 else self._census,
            **self._contributed().get("circumstances", {}),
        )

    def _contributed(self) -> State:
        """Merge the contributions of the parts of the crawl by section."""
        joined: State = {}
        for contribution in self.context.status.values():
            for section, fields in contribution().items():
                joined[section] = {**joined.get(section, {}), **fields}
        return joined

    def census(self) -> Census | None:
        """Return the state of the hosts; counting takes at most ``SHARE`` of the run time."""
        now = time.monotonic()
        if self.context.opened and now >= self._next_census:
            self.count()
            cost = time.monotonic() - now
            self._next_census = now + max(1.0, cost / SHARE)
        return self._census

    def count(self) -> None:
        """Count URLs and hosts by state; at the end of a crawl, when no request is in flight."""
        frontier = self.context.frontier
        self._last_counts, self._census = frontier.counts(), frontier.census(HOSTS)

    def state(self) -> dict[str, Any]:
        """Return all figures by section, as plain JSON values; see ``sections``."""
        counts = self._counts()
        census = self.census()
        get, parts = self.crawler.stats.get_value, self._contributed()
        return {
            "control": {
                "name": crawl_name(self.crawler),
                "paused": bool(get("topiccrawl/control/paused", default=False)),
                "speed": get("topiccrawl/control/speed", 1.0),
            },
            "run": self.last_run(),
            "totals": {**self._totals(), **parts.get("totals", {})},
            "queues": {name: counts.get(name, 0) for name in SIZES},
            "errors": {k[6:]: n for k, n in counts.items() if k.startswith("error/") and n},
            "waiting": self.waiting()._asdict(),
            "hosts": _hosts(census, self.failed) if census else {"states": {}, "list": []},
            "terms": parts.get("terms", EMPTY["terms"]),
            "review": parts.get("review", EMPTY["review"]),
            "latest": list(self.latest),
            "series": {"every": self.history.every, "points": list(self.history.points)},
        }

    def last_run(self) -> dict[str, Any]:
        """Describe this run; see ``source``."""
        seconds = round(time.monotonic() - self._began, 1)
        now = {"seconds": seconds, "finished": self.finished, "reason": self.reason}
        return {**self._identity, **now}

    @cached_property
    def _identity(self) -> dict[str, Any]:
        """Facts of the run that do not change."""
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(self.began))
        machine, pid, spider = socket.gethostname(), os.getpid(), self.crawler.spider
        spec, place = self.context.spec, frontier_place(self.crawler)
        return {
            # a worker may start turns at several sites in one second
            "id": f"{stamp}-{machine}-{pid}-{xxh32_hexdigest(place.encode())}",
            "node": f"{machine}:{pid}",
            "topic": spec.name,
            "spider": "" if spider is None else spider.name,
            "strategy": "" if spec.strategy is None else spec.strategy.name,
            "frontier": place,
            "began": round(self.began, 3),
            "version": __version__,
        }

    def _totals(self) -> dict[str, Any]:
        get = self.crawler.stats.get_value
        totals = {name: get(f"topiccrawl/{name}", 0) for name in TOTALS}
        totals["pages"] = max(totals["pages"], self.history.pages)
        totals["recent"] = round(self.history.recent(), 4)
        totals["spooled"] = 0
        totals["bytes"] = get("downloader/response_bytes", 0)
        return totals

    def _list(self, article: Article) -> None:
        self._number += 1
        self.latest.append(
            {
                "n": self._number,
                "at": round(time.time(), 1),
                "url": article.url,
                "title": article.title,
                "site": article.site,
                "published": article.published,
                "score": round(article.topics.get(self.name, 0.0), 4),
                "terms": [[term, round(share, 3)] for term, share in article.words[:4]],
                "reprint_of": article.reprint_of,
            }
        )

    def _counts(self) -> dict[str, int]:
        if self.context.opened:
            self._last_counts = self.context.frontier.counts()
        return self._last_counts


TOTALS = (
    "pages", "relevant", "hubs", "articles", "articles_updated", "articles_unchanged", "duplicates",
    "storage_errors",
)  # fmt: skip


def _hosts(census: Census, failed: Mapping[str, int]) -> dict[str, Any]:
    listed = [
        {
            **host._asdict(),
            "seconds": round(host.seconds, 1),
            "delay": round(host.delay, 2),
            "worth": round(host.worth, 3),
            "failed": failed.get(host.name, 0),
        }
        for host in census.hosts
    ]
    return {"states": census.states, "list": listed}


def _own(frontier: Frontier, counts: dict[str, int]) -> int:
    """Return the number of URLs queued on this node."""
    node = getattr(frontier, "membership", None)
    others = node.view.other_sizes(node.epoch) if node is not None else (0, 0, 0)
    return counts.get("prior", 0) + counts.get("normal", 0) - others[0] - others[1]
