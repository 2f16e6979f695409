"""Extension that watches pages: hubs are revisited regularly, articles while they are recent."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Self

from scrapy import Request, signals
from scrapy.exceptions import CloseSpider, DontCloseSpider, NotConfigured

from topiccrawl.addons.watch.duepages import HUB_VALUE, DuePages
from topiccrawl.addons.watch.feeds import may_be_news_sitemap
from topiccrawl.addons.watch.pagebuffer import PageBuffer
from topiccrawl.addons.watch.pagestates import (
    TOLERANCE,
    PageStates,
    adopt,
    recall_hubs,
    retry_wait,
    visits_of,
    was_fetched,
)
from topiccrawl.addons.watch.policies import HOST_PACE, Pace, UniformRevisits, YieldRevisits
from topiccrawl.addons.watch.tracker import VisitTracker
from topiccrawl.errors import SettingError, TopiccrawlError, finish_reason
from topiccrawl.frontier.contract import Ending, Frontier, Outcome, Seed
from topiccrawl.links.sitemaps import read_sitemap
from topiccrawl.links.urls import canonical
from topiccrawl.messages import NameList, counted
from topiccrawl.model import Kind, Lease
from topiccrawl.scheduler.context import CrawlContext, CrawlSpec, context_of
from topiccrawl.scheduler.finish import STORE_FAILED
from topiccrawl.scheduler.hooks import number
from topiccrawl.scheduler.signals import hosts_taken, page_changed
from topiccrawl.storage.factory import opened, storage_of
from topiccrawl.storage.pages import Change, Pages
from topiccrawl.topics.topic import default_seeds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from topiccrawl.addons.watch.contract import RevisitPolicy
    from topiccrawl.storage.runs import State

logger = logging.getLogger(__name__)

POLICIES: Mapping[str, Callable[[Pace], RevisitPolicy]] = {
    "yield": YieldRevisits,
    "uniform": UniformRevisits,
}
"""Revisit policies by name."""

FEED_VALUE = 0.9
"""Score of a feed that a page on topic or a seed links to."""

OK = 200

HUB_SHARE = 0.1
"""Share of a host's requests, as its delay allows, for visits of hubs if no rate is set."""

RETRY_SECONDS = 10.0
"""Seconds until the store is retried after an error."""


class Watch:
    """Watches the pages of a crawl and requeues them into the frontier when they are due.

    Args:
        context: The crawl.
        ledger: Computes the states of pages.
        pages: Store of the states.
        once: Whether to visit only pages that are due at the start, then end.

    Attributes:
        visited: Tracker of visits, to which middlewares report.
        due: Due pages.
        seeds: Canonical seeds of the topic; by default, those of the portals.
        sizes: Numbers of ``hubs``, ``details`` and ``gone`` pages.
    """

    def __init__(
        self, context: CrawlContext, ledger: PageStates, pages: PageBuffer, *, once: bool
    ) -> None:
        self.context = context
        self.visited = VisitTracker(ledger, pages, self.count, self._signal)
        self.seeds = seeds_of(context.spec)
        self.sizes: dict[str, int] = {}
        self._owner = ledger.owner
        self._pages = pages.pages
        self._search_at: float | None = None
        self._searches = 0
        self._adopted = False
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.due = DuePages(context, self.visited, self._wake.set, once=once)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the extension.

        Raises:
            NotConfigured: If the crawl does not watch pages.
            SettingError: If a setting is invalid.
        """
        context = context_of(crawler)
        spec = context.spec
        if not spec.watch:
            raise NotConfigured
        settings = crawler.settings
        gone = number(settings, "TOPICCRAWL_GONE_SECONDS")
        soon = number(settings, "TOPICCRAWL_REVISIT_SHORTEST")
        ledger = PageStates(spec.owner, policy_of(settings), gone, soon)
        end = partial(context.end, STORE_FAILED)
        pages = PageBuffer(Pages(storage_of(settings)), end=end)
        watch = cls(context, ledger, pages, once=spec.watch == "once")
        context.status["watch"] = watch.status
        context.on_settled(watch.settled)
        connect = crawler.signals.connect
        connect(watch.opened, signals.spider_opened)
        connect(watch.idle, signals.spider_idle)
        connect(watch.answered, signals.response_received)
        connect(watch.closed, signals.spider_closed)
        connect(watch.took, hosts_taken)
        return watch

    # -- Signals ---------------------------------------------------------------------------------

    async def opened(self) -> None:
        """Open the store of the states, and requeue overdue pages.

        Raises:
            CloseSpider: If the store cannot be used.
        """
        if not self.context.opened:
            return
        self.context.book.before_settling = self.visited.page_done
        self.due.begin()
        try:
            await self._pages.open()
            self.sizes = await self._pages.counts(self._owner)
            if self.context.sync is None:  # else the hubs of other nodes have budgets of their own
                await recall_hubs(self.visited.ledger, self._pages)
                await self._requeue_due()
            else:  # visits of other nodes may not be stored yet
                self.took()
        except TopiccrawlError as error:
            logger.error("%s", error)  # noqa: TRY400  (the text has the remedy)
            raise CloseSpider(finish_reason(error)) from error
        self._task = asyncio.create_task(self._run())

    def idle(self) -> None:
        """Keep the spider open while pages may become due, or the search for seeds is retried.

        Raises:
            DontCloseSpider: If a page may become due, or the search has found no seeds.
            CloseSpider: If the watch failed because of a bug, as no page would be requeued.
        """
        if self._task is not None and self._task.done() and (error := self._task.exception()):
            logger.critical("The watch failed because of a bug", exc_info=error)
            raise CloseSpider(STORE_FAILED)
        if not self.visited:
            self.due.check_requeued()
        if self._retries_search() or (self._task and (self.due.waits or self.visited)):
            raise DontCloseSpider

    def _retries_search(self) -> bool:
        """Repeat a failed search for seeds when its time has come; return whether it failed.

        The time until the first retry is that of unreachable seeds, and doubles as well.
        """
        context, search = self.context, self.context.search
        if self.due.once or search is None or not (context.opened and search.failed(context)):
            return False
        now = time.monotonic()
        if self._search_at is None:
            wait = retry_wait(self.visited.ledger.unfetched_seconds, self._searches)
            self._search_at, self._searches = now + wait, self._searches + 1
            at = time.strftime("%H:%M:%S", time.localtime(time.time() + wait))
            logger.warning("No seed URLs were found; the search is retried at %s", at)
        if now < self._search_at:
            context.alarm.after(self._search_at - now)
            return True
        self._search_at = None
        with context.book.writing() as frontier:
            for url in search.retry_urls():
                frontier.requeue(url)
        context.alarm.now()
        return True

    def offer_feeds(self, urls: Iterable[str], depth: int) -> None:
        """Queue discovered feeds as seeds, since the trap rules would refuse their URLs."""
        hosts = self.context.hosts
        seeds = [Seed(url, FEED_VALUE, depth=depth) for url in urls if not hosts.refuse(url)]
        if seeds:
            with self.context.book.writing() as frontier:
                new = frontier.push(seeds)
            self.context.crawler.stats.inc_value("topiccrawl/revisits/feeds", new)

    def answered(self, response: Response, request: Request) -> None:
        """Queue the news sitemaps and sitemap indexes in a robots.txt."""
        lease = self.context.lease(request)
        if lease is not None and lease.kind is Kind.ROBOTS and response.status == OK:
            self.offer_feeds(filter(may_be_news_sitemap, read_sitemap(response.body).sitemaps), 1)

    def took(self) -> None:
        """Scan all overdue pages and seeds soon, as this node now serves hosts of another node."""
        self._adopted = False
        self.due.check_soon()
        self._wake.set()

    def status(self) -> State:
        """Return the status section with the next visit; "" if no page will be due."""
        if self.due.next_at is None:
            return {"circumstances": {"watching": ""}}
        at = time.strftime("%H:%M:%S", time.localtime(self.due.next_at))
        hubs, details = self.sizes.get("hubs", 0), self.sizes.get("details", 0)
        text = "{hubs} hubs, {details} articles, next at {at}"
        return {"circumstances": {"watching": counted(text, hubs=hubs, details=details, at=at)}}

    def settled(self, lease: Lease, outcome: Outcome) -> None:
        """Report the outcome of a lease; a failure without further retries is an error."""
        if outcome.ending is Ending.LATER:
            known = self.context.frontier.why(lease.url)
            if known is not None and known.queue == "error":
                outcome = Outcome(Ending.ERROR, reason=outcome.reason)
        self.visited.settled(lease, outcome)
        moved = outcome.ending is Ending.REDIRECTED and lease.url in self.visited.seeds
        if moved and not self.due.has_links_of(lease.url):
            self.due.follow([outcome.target])

    async def closed(self) -> None:
        """Write all pending states."""
        if self._task is not None:
            self._task.cancel()
        await self.visited.close()

    def _signal(self, change: Change) -> None:
        self.context.crawler.signals.send_catch_log(page_changed, change=change)

    def count(self, name: str) -> None:
        """Count an event of a page."""
        self.context.crawler.stats.inc_value(f"topiccrawl/revisits/{name}")
        if name in {"hubs", "details", "gone"}:
            self.sizes[name] = self.sizes.get(name, 0) + 1

    # -- Due pages ------------------------------------------------------------------------------

    async def _run(self) -> None:
        """Requeue pages when they are due."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), self.due.next_check() - time.time())
            self._wake.clear()
            try:
                await self._requeue_due()
            except TopiccrawlError as error:
                logger.error("Due pages cannot be read; retrying: %s", error)  # noqa: TRY400
                await asyncio.sleep(RETRY_SECONDS)
                self._wake.set()

    async def _requeue_due(self) -> None:
        """Requeue due pages; the first call adopts earlier crawls."""
        sync = self.context.sync
        if not self._adopted and not (sync and (sync.loading or self.due.is_early)):
            await self._adopt(self.context.frontier)
            self._adopted = True
        await self.due.requeue_due()

    # -- Adoption of earlier crawls ---------------------------------------------------------------

    async def _adopt(self, frontier: Frontier) -> None:
        """Adopt crawls without a watch: seeds, stored articles, and pages that linked to them."""
        known = await self.visited.pages.get(self._owner, self.seeds)
        unfetched = [url for url in self.seeds if url not in known or not was_fetched(known[url])]
        for url in unfetched:
            frontier.requeue(url, HUB_VALUE)
        if not self.due.once:
            self.due.follow(unfetched)
        if any(visits_of(state).visited_at > time.time() + TOLERANCE for state in known.values()):
            await self.due.set_back()
        if self.sizes.get("hubs") or not frontier.counts()["crawled"]:
            return
        async with opened(storage_of(self.context.crawler.settings).articles()) as store:
            await adopt(frontier, store, self.visited.ledger, self._pages, time.time())
        self.sizes = await self._pages.counts(self._owner)


def seeds_of(spec: CrawlSpec) -> tuple[str, ...]:
    """Return the canonical seeds of a crawl."""
    urls = (spec.topic.seeds or default_seeds(spec.topic)) if spec.topic is not None else ()
    return tuple(canonical(url) or url for url in urls)


def policy_of(settings: BaseSettings) -> RevisitPolicy:
    """Create the policy of TOPICCRAWL_REVISIT_POLICY.

    Raises:
        SettingError: If one of TOPICCRAWL_REVISIT_* is invalid.
    """
    pace = Pace(
        rate=number(settings, "TOPICCRAWL_REVISIT_RATE") / 3600.0,
        host_rate=min(HOST_PACE, HUB_SHARE / max(1e-3, number(settings, "DOWNLOAD_DELAY"))),
        shortest=number(settings, "TOPICCRAWL_REVISIT_SHORTEST"),
        longest=number(settings, "TOPICCRAWL_REVISIT_LONGEST"),
        hub=number(settings, "TOPICCRAWL_REVISIT_HUB"),
        detail=number(settings, "TOPICCRAWL_REVISIT_ARTICLE"),
        days=number(settings, "TOPICCRAWL_REVISIT_DAYS"),
    )
    name = settings["TOPICCRAWL_REVISIT_POLICY"]
    if name not in POLICIES:
        raise SettingError(
            "TOPICCRAWL_REVISIT_POLICY is {name!r}: set it to one of {known}",
            name=name,
            known=NameList(POLICIES),
        )
    return POLICIES[name](pace)
