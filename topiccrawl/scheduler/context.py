"""The crawl context: all that hooks, add-ons and spiders may use of a running crawl, typed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from scrapy.utils.asyncio import CallLaterResult, call_later

from topiccrawl.scheduler.meta import lease_number
from topiccrawl.scheduler.signals import lease_settled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from topiccrawl.frontier.contract import Frontier, Outcome
    from topiccrawl.links.addresses import AddressRules
    from topiccrawl.links.hosts import HostRules
    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.model import Lease
    from topiccrawl.scheduler.leases import LeaseBook
    from topiccrawl.storage.status import State
    from topiccrawl.topics.topic import Topic

SHORTEST = 0.002
"""Least seconds of a timer, so that the engine has its turn before a due time is handled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlSpec:
    """Facts of a crawl that its spider states in ``spec``; the defaults are those of any spider.

    Attributes:
        name: Name of the topic or template, else of the spider.
        owner: Owner of what the crawl stores.
        crawl: Name of a frontier of its own; "": TOPICCRAWL_CRAWL, the topic's slug or the owner.
        topic: Topic whose rules of hosts, traps and retention apply.
        strategy: Order of the URLs; None: first come, first served.
        fresh: Forget the frontier of earlier runs.
        watch: "" (pages are fetched once), "once" or "on" (for ever).
        since: Time from which on changes are sent as items, seconds since the epoch; None: none.
        judges: Returns whether a page of a relevance is on topic; None: pages are not judged.
        conducted: The spider counts its pages and retries their failures itself.
        prepare: Awaited with a request and its response before the callback; None: nothing is.
    """

    name: str
    owner: str
    crawl: str = ""
    topic: Topic | None = None
    strategy: LinkStrategy | None = None
    fresh: bool = False
    watch: str = ""
    since: float | None = None
    judges: Callable[[float], bool] | None = None
    conducted: bool = False
    prepare: Callable[[Request, Response], Awaitable[None]] | None = None


def spec_of(spider: Spider | None) -> CrawlSpec:
    """Return the ``spec`` of a spider, or the one of any spider where it has none."""
    spec = getattr(spider, "spec", None)
    if isinstance(spec, CrawlSpec):
        return spec
    name = "unnamed" if spider is None else spider.name
    return CrawlSpec(name=name, owner=f"spider-{name}")


class Search(Protocol):
    """Search for seeds."""

    def failed(self, context: CrawlContext) -> bool:
        """Return whether the search found nothing because of failures."""

    def is_fruitless(self, context: CrawlContext) -> bool:
        """Return whether no run found anything."""

    def retry_urls(self) -> list[str]:
        """Clear the failures and return the URLs to retry."""


class SyncTask(Protocol):
    """Task that exchanges a frontier's changes with other nodes."""

    @property
    def away(self) -> bool:
        """True while the server does not answer."""

    @property
    def loading(self) -> bool:
        """True until the frontier has the node's part."""

    def start(self) -> None:
        """Start the exchange."""

    async def stop(self) -> None:
        """End the exchange."""

    def waits(self) -> bool:
        """Return whether an idle crawl should wait for start URLs."""


class Alarm:
    """Wake-up of Scrapy's engine, which asks the scheduler only on demand.

    Args:
        crawler: Crawler of the engine; while that starts or closes, it is not woken.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._timer: CallLaterResult | None = None

    def now(self) -> None:
        """Let the engine ask again soon."""
        engine = self._crawler._engine  # noqa: SLF001
        slot = None if engine is None else engine._slot  # noqa: SLF001
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()

    def after(self, seconds: float | None) -> None:
        """Let the engine ask after some seconds; None sets no timer."""
        self.cancel()
        if seconds is not None:
            self._timer = call_later(max(seconds, SHORTEST), self._rung)

    def cancel(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _rung(self) -> None:
        self._timer = None
        self.now()


class CrawlContext:
    """A crawl as hooks, add-ons and spiders see it; ``context_of`` gives it from the start.

    Attributes:
        crawler: Scrapy's crawler.
        opened: True while the frontier is open; False for ever on another scheduler.
        frontier: The frontier, once open; writes go through ``book.writing``.
        book: Open leases of this process, once the frontier is open.
        hosts: Rules of allowed hosts, once the frontier is open.
        addresses: Rules of private addresses, once the frontier is open.
        sync: Exchange with other nodes; None for a local frontier.
        alarm: Wakes the engine, as after a URL was queued.
        paused: The operator paused the crawl.
        working: URL of the page whose callback runs now, or "".
        may_fetch: Returns whether requests may be sent now; ring the alarm when they may again.
        has_room: Returns whether another page may be leased besides the open ones.
        search: Search for seeds; None where there is none, or it is over.
        progress: Returns the progress line of a spider that has its own.
        status: Contributions to the figures of the dashboard, by contributor: functions that
            return fields by section of the state (``storage.status``). The section
            ``circumstances`` has fields of ``extensions.wait_reason.Circumstances``.
    """

    frontier: Frontier
    book: LeaseBook
    hosts: HostRules
    addresses: AddressRules

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.opened = False
        self.sync: SyncTask | None = None
        self.alarm = Alarm(crawler)
        self.paused = False
        self.working = ""
        self.may_fetch: Callable[[], bool] = lambda: True
        self.has_room: Callable[[], bool] = lambda: True
        self.search: Search | None = None
        self.progress: Callable[[], str] | None = None
        self.status: dict[str, Callable[[], State]] = {}
        self._ending: asyncio.Future[None] | None = None

    @property
    def spec(self) -> CrawlSpec:
        """Facts of the crawl that its spider states."""
        return spec_of(self.crawler.spider)

    @property
    def held(self) -> bool:
        """True while no request may be sent."""
        return self.paused or not self.may_fetch()

    def pause(self) -> None:
        """Send no further requests."""
        self.paused = True

    def resume(self) -> None:
        """Send requests again."""
        self.paused = False
        self.alarm.now()

    def lease(self, request: Request | None) -> Lease | None:
        """Return the open lease of a request; None where the frontier gave none."""
        return self.book.lease(lease_number(request)) if self.opened else None

    def on_settled(self, listener: Callable[[Lease, Outcome], None]) -> None:
        """Call a method with each ``lease`` and its ``outcome`` (by name), once it is settled."""
        self.crawler.signals.connect(listener, lease_settled)

    def end(self, reason: str) -> None:
        """Close the spider, unless it is closing; requests in flight are finished."""
        engine = self.crawler.engine
        if self._ending is None and engine.spider is not None:
            self._ending = asyncio.ensure_future(engine.close_spider_async(reason=reason))


def context_of(crawler: Crawler) -> CrawlContext:
    """Return the context of a crawler, the same at each call."""
    context: CrawlContext | None = vars(crawler).get("topiccrawl")
    if context is None:
        context = vars(crawler)["topiccrawl"] = CrawlContext(crawler)
    return context
