"""Watch of pages: hubs are visited again and again, articles while they are young."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import CloseSpider, DontCloseSpider, NotConfigured

from topiccrawl.addons.watch.budget import HOST_PACE
from topiccrawl.addons.watch.choice import Pace, policy_named
from topiccrawl.addons.watch.due import HUB_VALUE, Due
from topiccrawl.addons.watch.jumps import LEAST, visited_at
from topiccrawl.addons.watch.ledger import Ledger, was_had
from topiccrawl.addons.watch.pagebuffer import PageBuffer
from topiccrawl.addons.watch.seeds import Beginnings, FoundFeeds, take_over
from topiccrawl.addons.watch.visited import Visited
from topiccrawl.errors import TopiccrawlError, finish_reason
from topiccrawl.frontier.contract import Ending, Frontier, Outcome
from topiccrawl.links.urls import canonical
from topiccrawl.scheduler.context import CrawlContext, CrawlSpec, context_of
from topiccrawl.scheduler.finish import STORE_FAILED
from topiccrawl.scheduler.hooks import number
from topiccrawl.scheduler.signals import hosts_taken, page_changed
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.pages import Pages, PageState
from topiccrawl.topics.topic import default_seeds

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.addons.watch.contract import RevisitPolicy
    from topiccrawl.model import Lease
    from topiccrawl.storage.events import Change
    from topiccrawl.storage.status import State

logger = logging.getLogger(__name__)

POLITE = 0.1
"""Share that hubs may take of the requests that a host's delay allows, if no rate is set."""

AGAIN = 10.0
"""Seconds until a failed store is retried."""


class Watch:
    """Requeues due pages into the frontier.

    Args:
        context: The crawl.
        ledger: Judges visits.
        pages: Store of the states.
        once: Visit what is due now, then end; else go on for ever.

    Attributes:
        visited: Visits in progress; middlewares report them.
        feeds: Feeds that were found; middlewares offer them.
        due: Pages to be requeued.
        sizes: Hubs, details and gone pages, by these names.
    """

    def __init__(
        self, context: CrawlContext, ledger: Ledger, pages: PageBuffer, *, once: bool
    ) -> None:
        self.context = context
        self.visited = Visited(ledger, pages, self.count, self._kept, self._moved, self._signal)
        self.feeds = FoundFeeds(context)
        self.sizes: dict[str, int] = {}
        self._owner = ledger.owner
        self._pages = pages.pages
        self._beginnings = Beginnings((), self.visited.failed_first)
        self._adopted = False
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.due = Due(context, self.visited, self._wake.set, self.count, once=once)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension.

        Raises:
            NotConfigured: If the crawl does not watch.
            SettingError: If a setting cannot be used.
        """
        context = context_of(crawler)
        spec = context.spec
        if not spec.watch:
            raise NotConfigured
        settings = crawler.settings
        gone = number(settings, "TOPICCRAWL_GONE_SECONDS")
        soon = number(settings, "TOPICCRAWL_REVISIT_SHORTEST")
        ledger = Ledger(spec.owner, policy_of(settings), gone, soon)
        watch = cls(
            context, ledger, PageBuffer(Pages(storage_of(settings))), once=spec.watch == "once"
        )
        context.status["watch"] = watch.status
        context.on_settled(watch.settled)
        connect = crawler.signals.connect
        connect(watch.opened, signals.spider_opened)
        connect(watch.idle, signals.spider_idle)
        connect(watch.feeds.answered, signals.response_received)
        connect(watch.closed, signals.spider_closed)
        connect(watch.took, hosts_taken)
        return watch

    # -- Life ------------------------------------------------------------------------------------

    async def opened(self) -> None:
        """Open the states, and requeue what is overdue.

        Raises:
            CloseSpider: They cannot be used.
        """
        if not self.context.opened:
            return
        self.context.book.before_settling = self.visited.done
        self.due.begin()
        try:
            await self._pages.open()
            self.sizes = await self._pages.counts(self._owner)
            if self.context.sync is None:
                await self._hand_out()
            else:  # visits of other nodes may not be stored yet
                self.took()
        except TopiccrawlError as error:
            logger.error("%s", error)  # noqa: TRY400  (the operator needs the remedy, not our stack)
            raise CloseSpider(finish_reason(error)) from error
        self._task = asyncio.create_task(self._run())

    def idle(self) -> None:
        """Keep the spider open while anything will be due.

        Raises:
            DontCloseSpider: If so.
            CloseSpider: The watch failed by a bug: nothing would be requeued.
        """
        if self._task is not None and self._task.done() and (error := self._task.exception()):
            logger.critical("The watch ends by a mistake of the program's", exc_info=error)
            raise CloseSpider(STORE_FAILED)
        self._beginnings.look(self.context.frontier)
        for url, reason in () if self.visited else self.due.lost():
            self.visited.failed(url, reason)
        if self._task is not None and (self.due.waits or self.visited):
            raise DontCloseSpider

    def took(self) -> None:
        """Look soon at all overdue pages: this node now serves hosts of another one."""
        self.due.look_soon()
        self._wake.set()

    @property
    def next_at(self) -> float | None:
        """Time when the next page is due, seconds since the epoch; None: none is."""
        return self.due.next_at

    def status(self) -> State:
        """Return what is waited for: the next visit; "" if nothing is due any more."""
        if self.next_at is None:
            return {"circumstances": {"watching": ""}}
        at = time.strftime("%H:%M:%S", time.localtime(self.next_at))
        hubs, details = self.sizes.get("hubs", 0), self.sizes.get("details", 0)
        return {"circumstances": {"watching": f"{hubs} hubs, {details} articles, next at {at}"}}

    def has_links_of(self, url: str) -> bool:
        """Return whether the frontier has a page's links: only then may a request be conditional.

        A state may be older than the frontier (``-a fresh=1``), or newer than its content.
        """
        return self.due.has_links_of(url)

    def settled(self, lease: Lease, outcome: Outcome) -> None:
        """Pass on the outcome of a lease; a failure without further retries is an error."""
        if outcome.ending is Ending.LATER:
            known = self.context.frontier.why(lease.url)
            if known is not None and known.queue == "error":
                outcome = Outcome(Ending.ERROR, reason=outcome.reason)
        self.visited.settled(lease, outcome)
        self._beginnings.settled(lease, outcome)

    async def closed(self) -> None:
        """Write the states that wait."""
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

    def _kept(self, state: PageState) -> None:
        self.due.kept(state)

    def _moved(self, state: PageState) -> None:
        self.due.moved(state)

    # -- Due pages -------------------------------------------------------------------------------

    async def _run(self) -> None:
        """Requeue pages when they are due."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), self.due.next_look() - time.time())
            self._wake.clear()
            try:
                await self._hand_out()
            except TopiccrawlError as error:
                logger.error("What is due cannot be read yet: %s", error)  # noqa: TRY400
                await asyncio.sleep(AGAIN)
                self._wake.set()

    async def _hand_out(self) -> None:
        """Requeue what is due; adopt earlier crawls before the first time."""
        sync = self.context.sync
        if not self._adopted and not (sync and (sync.loading or self.due.is_early)):
            await self._adopt(self.context.frontier)
            self._adopted = True
        self._beginnings.look(self.context.frontier)
        await self.due.hand_out()

    # -- Adoption of earlier crawls ---------------------------------------------------------------

    async def _adopt(self, frontier: Frontier) -> None:
        """Adopt unwatched crawls: seeds, stored articles, and the pages that showed them."""
        seeds = seeds_of(self.context.spec)
        known = await self.visited.pages.get(self._owner, seeds)
        left = [url for url in seeds if url not in known or not was_had(known[url])]
        for url in left:
            frontier.requeue(url, HUB_VALUE)
        if not self.due.once:
            self.visited.seeds = self._beginnings = Beginnings(left, self.visited.failed_first)
        if any(visited_at(state) > time.time() + LEAST for state in known.values()):
            await self.due.set_back()
        if self.sizes.get("hubs") or not frontier.counts()["crawled"]:
            return
        await take_over(self.context.crawler.settings, frontier, self.visited.ledger, self._pages)
        self.sizes = await self._pages.counts(self._owner)


def seeds_of(spec: CrawlSpec) -> tuple[str, ...]:
    """Return the canonical seeds of a crawl's topic: its own, else the default portals."""
    urls = (spec.topic.seeds or default_seeds(spec.topic)) if spec.topic is not None else ()
    return tuple(canonical(url) or url for url in urls)


def policy_of(settings: BaseSettings) -> RevisitPolicy:
    """Return the policy that the settings name.

    Raises:
        SettingError: If one of TOPICCRAWL_REVISIT_* cannot be used.
    """
    pace = Pace(
        rate=number(settings, "TOPICCRAWL_REVISIT_RATE") / 3600.0,
        host_rate=min(HOST_PACE, POLITE / max(1e-3, number(settings, "DOWNLOAD_DELAY"))),
        shortest=number(settings, "TOPICCRAWL_REVISIT_SHORTEST"),
        longest=number(settings, "TOPICCRAWL_REVISIT_LONGEST"),
        hub=number(settings, "TOPICCRAWL_REVISIT_HUB"),
        detail=number(settings, "TOPICCRAWL_REVISIT_ARTICLE"),
        days=number(settings, "TOPICCRAWL_REVISIT_DAYS"),
    )
    return policy_named(settings["TOPICCRAWL_REVISIT_POLICY"], pace)


def found_on(frontier: Frontier, url: str) -> str:
    """Return the URL of the page that showed a URL first, or ""."""
    known = frontier.why(url)
    return known.path[-2] if known is not None and len(known.path) > 1 else ""
