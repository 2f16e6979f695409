"""Live figures of a crawl for the page, the metrics, the progress line and the report."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.misc import load_object
from xxhash import xxh32_hexdigest

from topiccrawl import __version__
from topiccrawl.addons.records.periods.visits import Steps
from topiccrawl.addons.records.spider import TemplateSpider
from topiccrawl.errors import StorageError
from topiccrawl.extensions.moments import Figures
from topiccrawl.extensions.waiting import QUIET, Circumstances, Waiting, waiting
from topiccrawl.frontier.contract import Ending
from topiccrawl.frontier.view import Census, Counted
from topiccrawl.model import Article, PageKind
from topiccrawl.pipelines.store import StorePipeline
from topiccrawl.scheduler.build import crawl_name, frontier_place, runs_of
from topiccrawl.scheduler.scheduler import FrontierScheduler
from topiccrawl.scheduler.signals import lease_settled, page_judged
from topiccrawl.spiders.topic import TopicSpider
from topiccrawl.storage.runs import EVERY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from topiccrawl.addons.watch.extension import Watch
    from topiccrawl.frontier.contract import Frontier, Lease, Outcome
    from topiccrawl.model import Page, Verdict

logger = logging.getLogger(__name__)

HOSTS = 30
"""Hosts that are listed one by one, those with most to do."""
LATEST = 10
"""Latest articles that are listed."""
TERMS = 24
"""Terms of the topic that are listed, the heaviest."""
SHARE = 0.005
"""Share of the time that counting the hosts may take: the more hosts, the rarer the count."""
SAID_AGAIN = 60.0
"""Seconds between two log lines that say why the crawl waits."""


class CrawlFigures:
    """Collects the figures of a crawl from its signals.

    Args:
        crawler: Crawler of the crawl.
        spider: A topic spider's pages are judged by it; a template's count as on topic where they
            hold records; of another one every page counts as fetched, none as on topic.
    """

    def __init__(self, crawler: Crawler, spider: Spider) -> None:
        self.crawler = crawler
        self.spider = spider
        self.name = name_of(spider)
        self.began = time.time()
        self.finished: float | None = None
        self.reason = ""
        self.figures = Figures()
        self.latest: deque[dict[str, Any]] = deque(maxlen=LATEST)
        self.failed: dict[str, int] = {}
        self._heard = self._began = time.monotonic()
        self._census: Census | None = None
        self._next_census = 0.0
        self._said = Waiting("")
        self._say_at = 0.0
        self._last_counts: dict[str, int] = {}
        self._number = self._records = 0
        self._tell_at = 0.0
        self._about: dict[str, Any] = {}
        self._told_terms: dict[str, Any] = {}
        self._telling: asyncio.Future[None] | None = None
        self._untold = False
        self.runs = runs_of(crawler.settings)
        self._loop = create_looping_call(self.tick)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension.

        Raises:
            NotConfigured: If the crawl runs on another scheduler, or there is no spider yet, as in
                `scrapy shell`.
        """
        ours = issubclass(load_object(crawler.settings["SCHEDULER"]), FrontierScheduler)
        if crawler.spider is None or not ours:
            raise NotConfigured
        figures = cls(crawler, crawler.spider)
        connect = crawler.signals.connect
        connect(figures.opened, signals.spider_opened)
        connect(figures.closed, signals.spider_closed)
        connect(figures.judged, page_judged)
        connect(figures.settled, lease_settled)
        connect(figures.stored, signals.item_scraped)
        connect(figures.dropped, signals.item_dropped)
        return figures

    # -- signals -----------------------------------------------------------------------------------

    def opened(self) -> None:
        """Start to record the history."""
        self._loop.start(1.0, now=True)

    async def closed(self, reason: str) -> None:
        """Store the last record of the crawl that has ended."""
        self._counts()
        self.tick()
        self.figures.sample(time.monotonic() - self._began, last=True)
        if self._loop.running:
            self._loop.stop()
        self.finished, self.reason = time.time(), reason
        if self._telling is not None:
            await self._telling
        await self._tell_outside()
        await self.runs.close()

    def judged(self, page: Page, verdict: Verdict) -> None:  # noqa: ARG002 - as the signal sends
        """Count a page."""
        self._heard = time.monotonic()
        self.figures.page(relevant=verdict.kind is not PageKind.OTHER)

    def settled(self, lease: Lease, outcome: Outcome) -> None:
        """Count failures by host; and pages that no topic spider judges."""
        if outcome.ending is Ending.CRAWLED and not isinstance(self.spider, TopicSpider):
            self._heard = time.monotonic()
            if not isinstance(self.spider, TemplateSpider):
                self.figures.page(relevant=False)
        if outcome.ending in {Ending.ERROR, Ending.LATER}:
            host = lease.url.split("/", 3)[2]
            self.failed[host] = self.failed.get(host, 0) + 1

    def stored(self, item: object) -> None:
        """Count a new article and list it as one of the latest."""
        if isinstance(item, Article):
            self.figures.article()
            self._tell(item)

    def dropped(self, item: object) -> None:
        """List a reprint as one of the latest; count a template's pages and records."""
        if isinstance(item, Article) and item.reprint_of:
            self._tell(item)
        if isinstance(item, Steps):
            self.figures.page(relevant=any(step.records for step in item.taken))
            records = self.crawler.stats.get_value("topiccrawl/records", 0)
            for _ in range(records - self._records):
                self.figures.article()
            self._records = records

    def tick(self) -> None:
        """Record a point of the history, and log why the crawl waits, if it does."""
        now = time.monotonic()
        self.figures.sample(now - self._began)
        found = self.waiting()
        if found.reason and (found.reason != self._said.reason or now > self._say_at):
            if self._said.reason or found.seconds > 0:
                goes = found.reason == "store-away" and found.seconds < QUIET
                logger.info("The crawl %s: %s", "goes on" if goes else "waits", found.text())
            self._say_at = now + SAID_AGAIN
        self._said = found
        if now >= self._tell_at and self._telling is None:
            self._tell_at = now + EVERY
            self._telling = asyncio.ensure_future(self._tell_outside())

    async def _tell_outside(self) -> None:
        """Store a record for other processes; an error is logged and does not end the crawl."""
        try:
            await self.runs.put(self.state())
        except StorageError as error:
            if not self._untold:
                logger.warning("The run's record cannot be kept: %s", error)
            self._untold = True
        else:
            self._untold = False
        finally:
            self._telling = None

    # -- figures -----------------------------------------------------------------------------------

    def waiting(self) -> Waiting:
        """Return the reason why the crawl waits, if it does."""
        scheduler = self._scheduler()
        if scheduler is None:
            return Waiting("")
        quiet = time.monotonic() - self._heard
        courier = scheduler.courier
        store = self.crawler.get_item_pipeline(StorePipeline)
        counts = self._counts()
        return waiting(
            Circumstances(
                quiet,
                paused=not scheduler.may_fetch(),
                redis_away=courier is not None and courier.away,
                store_away=store is not None and store.away,
                queues=counts,
                own=_own(scheduler.frontier, counts),
                open=len(scheduler.book),
                census=self.census() if quiet > 1 else self._census,
                watching=_outlook(self.spider),
            )
        )

    def census(self) -> Census | None:
        """Return the state of the hosts; counted again at most for ``SHARE`` of the time."""
        scheduler = self._scheduler()
        now = time.monotonic()
        if scheduler is not None and now >= self._next_census:
            frontier = scheduler.frontier
            self._census = frontier.census(HOSTS) if isinstance(frontier, Counted) else None
            cost = time.monotonic() - now
            self._next_census = now + max(1.0, cost / SHARE)
        return self._census

    def state(self) -> dict[str, Any]:
        """Everything there is to show, by section, as plain JSON values; see ``sections``."""
        counts = self._counts()
        census = self.census()
        get = self.crawler.stats.get_value
        return {
            "control": {
                "name": crawl_name(self.spider),
                "paused": bool(get("topiccrawl/control/paused", default=False)),
                "speed": get("topiccrawl/control/speed", 1.0),
            },
            "run": self.last_run(),
            "totals": self._totals(),
            "queues": {name: counts.get(name, 0) for name in QUEUES},
            "errors": {k[6:]: n for k, n in counts.items() if k.startswith("error/") and n},
            "waiting": self.waiting()._asdict(),
            "hosts": _hosts(census, self.failed) if census else {"states": {}, "list": []},
            "terms": self._terms(),
            "latest": list(self.latest),
            "series": {"every": self.figures.every, "points": list(self.figures.history)},
        }

    def last_run(self) -> dict[str, Any]:
        """Describe this run; see ``source``."""
        if not self._about:
            self._about = _about(self.crawler, self.spider, self.name, self.began)
        seconds = round(time.monotonic() - self._began, 1)
        now = {"seconds": seconds, "finished": self.finished, "reason": self.reason}
        return {**self._about, **now}

    def _totals(self) -> dict[str, Any]:
        get, store = self.crawler.stats.get_value, self.crawler.get_item_pipeline(StorePipeline)
        totals = {name: get(f"topiccrawl/{name}", 0) for name in TOTALS}
        totals["pages"] = max(totals["pages"], self.figures.pages)
        totals["articles"] += get("topiccrawl/records", 0)
        totals["recent"] = round(self.figures.recent(), 4)
        totals["spooled"] = store.spooled if store else 0
        totals["bytes"] = get("downloader/response_bytes", 0)
        return totals

    def _terms(self) -> dict[str, Any]:
        if not isinstance(self.spider, TopicSpider):
            return {"changes": 0, "own": [], "now": []}
        changes = self.crawler.stats.get_value("topiccrawl/adaptation/changes", 0)
        if self._told_terms.get("changes") != changes:
            now = _heaviest(self.spider.scorer.vector.items())
            own = list(self.spider.topic.terms)
            self._told_terms = {"changes": changes, "own": own, "now": now}
        return self._told_terms

    def _tell(self, article: Article) -> None:
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
                "terms": [[term, round(share, 3)] for term, share in article.terms[:4]],
                "reprint_of": article.reprint_of,
            }
        )

    def _counts(self) -> dict[str, int]:
        scheduler = self._scheduler()
        if scheduler is not None:
            self._last_counts = scheduler.frontier.counts()
        elif self.crawler.stats.get_value(f"{LEFT}known") is not None:
            stats = self.crawler.stats.get_stats()
            left = ((name, n) for name, n in stats.items() if name.startswith(LEFT))
            self._last_counts = {name.removeprefix(LEFT): n for name, n in left}
        return self._last_counts

    def _scheduler(self) -> FrontierScheduler | None:
        scheduler = self.crawler.engine.scheduler
        if isinstance(scheduler, FrontierScheduler) and scheduler.opened:
            return scheduler
        return None


LEFT = "topiccrawl/queue/"
"""Prefix of the scheduler's stats of the queues, once it is closed."""
QUEUES = ("prior", "normal", "leased", "crawled", "error", "known")
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


def name_of(spider: Spider) -> str:
    """Return the name of a crawl: its topic's, else its template's or the spider's own."""
    for what in ("topic", "template"):
        name = getattr(getattr(spider, what, None), "name", "")
        if name:
            return str(name)
    return spider.name


def _own(frontier: Frontier, counts: dict[str, int]) -> int:
    """URLs queued on this node."""
    share = getattr(frontier, "share", None)
    others = share.view.elsewhere(share.epoch) if share is not None else (0, 0, 0)
    return counts.get("prior", 0) + counts.get("normal", 0) - others[0] - others[1]


def _heaviest(terms: Any) -> list[list[Any]]:  # noqa: ANN401 - pairs of term and weight
    heavy = sorted(terms, key=lambda pair: -pair[1])[:TERMS]
    return [[term, round(float(weight), 4)] for term, weight in heavy]


def _outlook(spider: Spider) -> str:
    """Return what a watch waits for, or ""."""
    watch: Watch | None = getattr(spider, "watcher", None)
    return "" if watch is None else watch.outlook()


def _about(crawler: Crawler, spider: Spider, name: str, began: float) -> dict[str, Any]:
    """Return the facts of a run that do not change while it goes on."""
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(began))
    machine, pid = socket.gethostname(), os.getpid()
    place = frontier_place(crawler.settings, spider)
    return {
        # a worker may begin turns at several sites in one second
        "id": f"{stamp}-{machine}-{pid}-{xxh32_hexdigest(place.encode())}",
        "node": f"{machine}:{pid}",
        "topic": name,
        "spider": spider.name,
        "strategy": getattr(getattr(spider, "strategy", None), "name", ""),
        "frontier": place,
        "began": round(began, 3),
        "version": __version__,
    }
