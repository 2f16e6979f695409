"""Watches pages: hubs are visited again and again, articles while they are young."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import CloseSpider, DontCloseSpider, NotConfigured

from topiccrawl.errors import TopiccrawlError, finish_reason
from topiccrawl.extensions.adoption import take_over
from topiccrawl.extensions.clockset import count_from
from topiccrawl.extensions.foundfeeds import FoundFeeds
from topiccrawl.extensions.seeds import Beginnings
from topiccrawl.frontier.contract import Ending, Outcome
from topiccrawl.links.urls import canonical
from topiccrawl.revisits.budget import HOST_PACE
from topiccrawl.revisits.choice import Pace, policy_named
from topiccrawl.revisits.contract import Role
from topiccrawl.revisits.jumps import LEAST, Jumps, visited_at
from topiccrawl.revisits.ledger import Ledger, was_had
from topiccrawl.scheduler.build import number
from topiccrawl.scheduler.scheduler import FrontierScheduler
from topiccrawl.scheduler.visited import Visited
from topiccrawl.signals import hosts_taken, lease_settled, page_changed
from topiccrawl.stores.choice import pages_of
from topiccrawl.stores.pagebuffer import PageBuffer
from topiccrawl.topic import default_seeds

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.frontier.contract import Frontier, Lease
    from topiccrawl.revisits.contract import RevisitPolicy
    from topiccrawl.revisits.events import Change
    from topiccrawl.stores.pages import PageState

logger = logging.getLogger(__name__)

HUB_VALUE = 1.0
"""Value of a hub that is due: before all links that are only promising."""

MOST = 1_000
"""Pages that are handed out at a time."""

AFRESH = 600.0
"""Seconds between two looks at all that is overdue: what got lost."""

TAKEN = 2.0
"""Seconds after which what the last node of hosts saw of them is in the store (see ``SETTLED``)."""

POLITE = 0.1
"""Share of the requests that a host's delay allows which hubs may take, where no rate is set."""

PAUSE = 60.0
"""Seconds that nothing is looked at, at most: so soon it is seen that the clock was set."""

AGAIN = 10.0
"""Seconds until a store that failed is asked again."""

_END = 1e12


class Watch:
    """Puts what is due back into the frontier.

    Args:
        crawler: Whose frontier.
        ledger: Judges visits.
        pages: Where states stay.
        once: Visit what is due now, then end; else go on for ever.

    Attributes:
        visited: What was visited; middlewares tell it.
        feeds: Feeds that were found; middlewares offer them.
        next_at: When the next page is due, seconds since the epoch; None: none is.
        sizes: Hubs, details and gone pages, by these names.
    """

    def __init__(self, crawler: Crawler, ledger: Ledger, pages: PageBuffer, *, once: bool) -> None:
        self.crawler = crawler
        self.once = once
        self.visited = Visited(ledger, pages, self.count, self._kept, self._moved, self._tell)
        self.feeds = FoundFeeds(crawler)
        self.next_at: float | None = None
        self.sizes: dict[str, int] = {}
        self._owner = ledger.owner
        self._pages = pages.pages
        self._out: dict[str, bool] = {}
        self._missing: dict[str, float] = {}
        self._beginnings = Beginnings((), self.visited.failed_first)
        self._jumps = Jumps()
        self._until = self._handed = self._whole = 0.0
        self._look_at = self._low = math.inf
        self._full = self._adopted = False
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension, known to the spider as ``watcher``.

        Raises:
            NotConfigured: If the spider's ``watch`` is empty.
            SettingError: If a setting cannot be used.
        """
        mode = getattr(crawler.spider, "watch", "")
        if not mode:
            raise NotConfigured
        settings = crawler.settings
        gone = number(settings, "TOPICCRAWL_GONE_SECONDS")
        soon = number(settings, "TOPICCRAWL_REVISIT_SHORTEST")
        ledger = Ledger(owner_of(crawler.spider), policy_of(settings), gone, soon)
        watch = cls(crawler, ledger, PageBuffer(pages_of(settings)), once=mode == "once")
        crawler.spider.watcher = watch  # type: ignore[union-attr]
        connect = crawler.signals.connect
        connect(watch.opened, signals.spider_opened)
        connect(watch.idle, signals.spider_idle)
        connect(watch.settled, lease_settled)
        connect(watch.feeds.answered, signals.response_received)
        connect(watch.closed, signals.spider_closed)
        connect(watch.took, hosts_taken)
        return watch

    # -- Life ------------------------------------------------------------------------------------

    async def opened(self) -> None:
        """Open the states, and hand out what is overdue.

        Raises:
            CloseSpider: They cannot be used.
        """
        scheduler = self._scheduler
        if not scheduler.opened:
            return
        scheduler.book.witness = self.visited.done
        self._until = time.time()
        try:
            await self._pages.open()
            self.sizes = await self._pages.counts(self._owner)
            if scheduler.courier is None:
                await self._hand_out()
            else:  # what others had before is on its way
                self.took()
        except TopiccrawlError as error:
            logger.error("%s", error)  # noqa: TRY400  (the operator needs the remedy, not our stack)
            raise CloseSpider(finish_reason(error)) from error
        self._task = asyncio.create_task(self._run())

    def idle(self) -> None:
        """Keep the spider open while anything will be due.

        Raises:
            DontCloseSpider: If so.
        """
        self._beginnings.look(self._scheduler.frontier)
        for url, reason in () if self.visited else self._lost():
            self.visited.failed(url, reason)
        due = self._missing if self.once else self.next_at is not None
        looks = self._look_at < math.inf
        if self._task is not None and (due or looks or self.visited):
            raise DontCloseSpider

    def took(self) -> None:
        """Look soon at all that is overdue: hosts are served here that another node had."""
        self._look_at = time.time() + TAKEN
        self._wake.set()

    def outlook(self) -> str:
        """What is waited for, in words; "" where nothing is due any more."""
        if self.next_at is None:
            return ""
        at = time.strftime("%H:%M:%S", time.localtime(self.next_at))
        hubs, details = self.sizes.get("hubs", 0), self.sizes.get("details", 0)
        return f"{hubs} hubs, {details} articles, next at {at}"

    def has_links_of(self, url: str) -> bool:
        """Whether the frontier has a page's links: only then may it be asked for on condition.

        A state may be older than the frontier (``-a fresh=1``), or newer than what it kept.
        """
        return self._out.get(url, False)

    def settled(self, lease: Lease, outcome: Outcome) -> None:
        """Pass on how a lease ended; of a failure, whether it was the last that is put up with."""
        if outcome.ending is Ending.LATER:
            told = self._scheduler.frontier.why(lease.url)
            if told is not None and told.queue == "error":
                outcome = Outcome(Ending.ERROR, reason=outcome.reason)
        self.visited.settled(lease, outcome)
        self._beginnings.settled(lease, outcome)

    async def closed(self) -> None:
        """Write what waits."""
        if self._task is not None:
            self._task.cancel()
        await self.visited.close()

    def _tell(self, change: Change) -> None:
        self.crawler.signals.send_catch_log(page_changed, change=change)

    def count(self, name: str) -> None:
        """Count what happened to a page."""
        self.crawler.stats.inc_value(f"topiccrawl/revisits/{name}")
        if name in {"hubs", "details", "gone"}:
            self.sizes[name] = self.sizes.get(name, 0) + 1

    # -- What is due -----------------------------------------------------------------------------

    async def _run(self) -> None:
        """Hand out what is due, when it is due."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), self._next_look() - time.time())
            self._wake.clear()
            try:
                if self._jumps.look():
                    await self._set_back()
                await self._hand_out()
            except TopiccrawlError as error:
                logger.error("What is due cannot be read yet: %s", error)  # noqa: TRY400
                await asyncio.sleep(AGAIN)
                self._wake.set()

    def _next_look(self) -> float:
        """When to look at what is due, seconds since the epoch."""
        soonest = math.inf if self._full or self.next_at is None else self.next_at
        return min(soonest, self._look_at, self._whole + AFRESH, time.time() + PAUSE)

    async def _hand_out(self) -> None:
        """Put what is due back into the frontier, and find out what is due next."""
        now, look_at = time.time(), self._look_at
        courier = self._scheduler.courier
        if not self._adopted and not (courier and (courier.loading or now < look_at)):
            await self._adopt(self._scheduler.frontier)
            self._adopted = True
        afresh = AFRESH if courier is None else PAUSE  # others may write late what they saw
        if now - self._whole > afresh or now >= look_at:
            self._whole, self._handed = now, 0.0
            await self._call_off()
        given = 0
        self._full = False
        while not self._full:
            self._low = math.inf
            found = await self._pages.due(self._owner, now, MOST, self._handed)
            given += sum(self._give(state) for state in found)
            if len(found) < MOST:
                self._pass(now)
                break
            first, last = found[0].due, found[-1].due
            self._pass(last if first == last else math.nextafter(last, 0.0))
            self._full = len(self._out) >= MOST
        soonest = [] if self.once else await self._pages.due(self._owner, _END, 1, self._handed)
        ahead = [due for url, due in self._missing.items() if url not in self._out]
        ahead += [self._low] if self._low < math.inf else []
        self.next_at = min([state.due for state in soonest] + ahead, default=None)
        if given:
            self._scheduler.alarm.now()
        if look_at == self._look_at and now >= look_at:
            self._look_at = math.inf
            self._scheduler.alarm.now()

    def _pass(self, until: float) -> None:
        """Note until when all is handed out, but what was written while that was read."""
        self._handed = min(until, math.nextafter(self._low, 0.0))

    def _give(self, state: PageState) -> bool:
        """Give a page back to the frontier; whether it was not there yet."""
        later = self.once and state.due > self._until and state.url not in self._missing
        if state.due + self._jumps.lead(visited_at(state)) > time.time():
            later = True  # what is due by a clock that was set forward is found again: AFRESH
        if later or state.url in self._out or self.visited.waits(state.url):
            return False
        value = HUB_VALUE if state.role is Role.HUB else None
        with self._scheduler.book.writing() as frontier:
            told = frontier.why(state.url)
            if frontier.requeue(state.url, value):
                self._out[state.url] = told is not None and told.queue == "crawled"
                self.count("handed_out")
                return True
        self._missing.pop(state.url, None)  # on its way already, or another node's
        return False

    async def _set_back(self) -> None:
        """Count from now, since the clock was set back."""
        now = time.time()
        await count_from(now, self.visited)
        self._missing = dict.fromkeys(self._missing, now)
        self._look_at = min(self._look_at, now + TAKEN)
        self._whole, self._handed = now, 0.0

    async def _call_off(self) -> None:
        """Note pages that went into errorQueue without a lease: robots.txt, crashes, bounds.

        Forget those that another node has, or had, and those forgotten by hand.
        """
        self._beginnings.look(self._scheduler.frontier)
        for url in tuple(self._out):
            told = self._scheduler.frontier.why(url)
            if told is None or (told.queue == "crawled" and not self.visited.waits(url)):
                self._out.pop(url, None)
            elif told.queue == "error":
                await self.visited.missed(url, told.reason)

    def _lost(self) -> list[tuple[str, str]]:
        """Pages that were handed out and will not be visited, and why."""
        told = ((url, self._scheduler.frontier.why(url)) for url in self._out)
        return [(url, one.reason) for url, one in told if one is not None and one.queue == "error"]

    def _kept(self, state: PageState) -> None:
        """Look again at what is due after a state was written."""
        self._out.pop(state.url, None)
        second = self.once and state.url in self._missing  # one is enough for a crawl that ends
        if state.misses and not (state.gone_at or second):
            self._missing[state.url] = state.due
        else:
            self._missing.pop(state.url, None)
        self._moved(state)

    def _moved(self, state: PageState) -> None:
        """Look again where a page that is not on its way may be due at another time."""
        if state.url in self._out:
            return
        self._low = min(self._low, state.due or math.inf)
        if 0.0 < state.due <= self._handed:
            self._handed = math.nextafter(state.due, 0.0)
        sooner = state.due and (self.next_at is None or state.due < self.next_at)
        if (self._full and len(self._out) <= MOST // 2) or (sooner and not self._full):
            self._wake.set()

    # -- What was crawled before it was watched ---------------------------------------------------

    async def _adopt(self, frontier: Frontier) -> None:
        """Watch what was crawled without: seeds, stored articles, and where they were found."""
        seeds = seeds_of(self.crawler.spider)
        known = await self.visited.pages.get(self._owner, seeds)
        left = [url for url in seeds if url not in known or not was_had(known[url])]
        for url in left:
            frontier.requeue(url, HUB_VALUE)
        if not self.once:
            self.visited.seeds = self._beginnings = Beginnings(left, self.visited.failed_first)
        if any(visited_at(state) > time.time() + LEAST for state in known.values()):
            await self._set_back()
        if self.sizes.get("hubs") or not frontier.counts()["crawled"]:
            return
        await take_over(self.crawler.settings, frontier, self.visited.ledger, self._pages)
        self.sizes = await self._pages.counts(self._owner)

    @property
    def _scheduler(self) -> FrontierScheduler:
        scheduler = self.crawler.engine.scheduler
        assert isinstance(scheduler, FrontierScheduler)  # noqa: S101  (the project's own)
        return scheduler


def owner_of(spider: Spider | None) -> str:
    """Whose pages a spider watches: its topic's name, or its template's."""
    about = getattr(spider, "topic", None) or getattr(spider, "template", None)
    return about.name if about is not None else f"spider-{getattr(spider, 'name', '')}"


def seeds_of(spider: Spider | None) -> tuple[str, ...]:
    """The canonical seeds of a spider's topic: its own, else the default portals."""
    topic = getattr(spider, "topic", None)
    urls = (topic.seeds or default_seeds(topic)) if topic is not None else ()
    return tuple(canonical(url) or url for url in urls)


def policy_of(settings: BaseSettings) -> RevisitPolicy:
    """The policy that the settings name.

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
    """URL of the page that showed a URL first, or ""."""
    told = frontier.why(url)
    return told.path[-2] if told is not None and len(told.path) > 1 else ""
