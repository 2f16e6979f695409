"""Crawl context: the typed interface of a running crawl for hooks, add-ons and spiders."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from scrapy.utils.asyncio import CallLaterResult, call_later

from topiccrawl.scheduler.meta import lease_number
from topiccrawl.scheduler.signals import lease_settled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from topiccrawl.frontier.contract import Frontier
    from topiccrawl.links.addresses import AddressRules
    from topiccrawl.links.hosts import HostRules
    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.model import Lease
    from topiccrawl.scheduler.leases import LeaseBook
    from topiccrawl.storage.runs import State
    from topiccrawl.topics.topic import Topic

MIN_TIMER_SECONDS = 0.002
"""Minimum seconds of a timer, so that the engine runs before a due time is handled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlSpec:
    """Properties of a crawl that its spider declares in ``spec``; the defaults fit any spider.

    Attributes:
        name: Name of the topic or template, or else of the spider.
        owner: Owner of the crawl's stored data.
        crawl: Name of a separate frontier; "" for TOPICCRAWL_CRAWL, the topic's slug or the owner.
        topic: Topic whose rules of hosts, traps and retention apply.
        strategy: Order of the URLs; None for first come, first served.
        fresh: Delete the frontier of earlier runs.
        watch: "" (pages are fetched once), "once" or "on" (continuously).
        since: Time from which changes are sent as items, seconds since the epoch; None for never.
        judges: Returns whether a page of a relevance is on topic; None if pages are not judged.
        conducted: The spider counts its pages and retries their failures itself.
        prepare: Awaited with a request and its response before the callback; None for nothing.
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
    """Return the ``spec`` of a spider, or a default one if it has none."""
    spec = getattr(spider, "spec", None)
    if isinstance(spec, CrawlSpec):
        return spec
    name = "unnamed" if spider is None else spider.name
    return CrawlSpec(name=name, owner=f"spider-{name}")


class Search(Protocol):
    """Search for seeds."""

    def failed(self, context: CrawlContext) -> bool:
        """Check whether the search found nothing because of failures."""

    def is_fruitless(self, context: CrawlContext) -> bool:
        """Check whether no run found anything."""

    def retry_urls(self) -> list[str]:
        """Clear the failures and return the URLs to retry."""


class SyncTask(Protocol):
    """Task that exchanges a frontier's changes with other nodes."""

    @property
    def away(self) -> bool:
        """True while the server does not respond."""

    @property
    def loading(self) -> bool:
        """True until the node's part of the frontier is loaded."""

    def start(self) -> None:
        """Start the exchange."""

    async def stop(self) -> None:
        """End the exchange."""

    def waits(self) -> bool:
        """Check whether an idle crawl should wait for start URLs."""


class Alarm:
    """Wake-up of Scrapy's engine, which calls the scheduler only on demand.

    Args:
        crawler: Crawler of the engine; an engine that is starting or closing is not woken.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._timer = CallLaterResult()

    def now(self) -> None:
        """Let the engine call the scheduler again soon."""
        engine = self._crawler._engine  # noqa: SLF001
        slot = None if engine is None else engine._slot  # noqa: SLF001
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()

    def after(self, seconds: float | None) -> None:
        """Let the engine call the scheduler after some seconds; None only cancels the timer."""
        self._timer.cancel()
        if seconds is not None:
            self._timer = call_later(max(seconds, MIN_TIMER_SECONDS), self.now)


class CrawlContext:
    """A crawl for hooks, add-ons and spiders; ``context_of`` returns it from the start.

    Attributes:
        crawler: Scrapy's crawler.
        opened: True while the frontier is open; always False with another scheduler.
        frontier: Frontier, once open; writes must use ``book.writing``.
        book: Open leases of this process, once the frontier is open.
        hosts: Rules of allowed hosts, once the frontier is open.
        addresses: Rules of private addresses, once the frontier is open.
        sync: Exchange with other nodes; None for a local frontier.
        alarm: Wakes the engine, for example after a URL was queued.
        paused: True if the operator paused the crawl.
        processing: URL of the page that is being read or whose callback is running, or "".
        may_fetch: Returns whether requests may be sent now; call ``alarm.now`` when it changes to
            True.
        has_room: Returns whether a further page may be leased.
        before_close: Called last before the frontier is closed.
        search: Search for seeds; None if there is none, or it has ended.
        progress: Returns the progress line of a spider with its own progress.
        status: Functions that contribute to the dashboard's figures, by contributor; each returns
            fields by section of the state (``storage.runs``). The section ``circumstances`` has
            arguments of ``extensions.wait_reason.wait_reason``.
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
        self.processing = ""
        self.may_fetch: Callable[[], bool] = lambda: True
        self.has_room: Callable[[], bool] = lambda: True
        self.before_close: Callable[[], None] = lambda: None
        self.search: Search | None = None
        self.progress: Callable[[], str] | None = None
        self.status: dict[str, Callable[[], State]] = {}
        self._closing: asyncio.Future[None] | None = None

    @property
    def spec(self) -> CrawlSpec:
        """Properties of the crawl that its spider declares."""
        return spec_of(self.crawler.spider)

    @property
    def is_blocked(self) -> bool:
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
        """Return the open lease of a request; None if it has none."""
        return self.book.lease(lease_number(request)) if self.opened else None

    @contextmanager
    def step(self, lease: Lease | None) -> Iterator[None]:
        """Mark a page while code runs that may block or kill the process; None: mark nothing."""
        if lease is None:
            yield
            return
        with self.book.writing() as frontier:
            frontier.begin(lease)
        self.processing = lease.url
        try:
            yield
        finally:
            self.processing = ""
            with self.book.writing() as frontier:
                frontier.passed(lease)

    def on_settled(self, listener: Callable[..., None]) -> None:
        """Call a listener whenever a lease is settled, with those of ``lease`` and ``outcome``.

        They are passed by name, if the listener has parameters of these names.
        """
        self.crawler.signals.connect(listener, lease_settled)

    def end(self, reason: str) -> None:
        """Close the spider, unless it is closing; requests in flight are completed."""
        engine = self.crawler.engine
        if self._closing is None and engine.spider is not None:
            self._closing = asyncio.ensure_future(engine.close_spider_async(reason=reason))


def context_of(crawler: Crawler) -> CrawlContext:
    """Return the context of a crawler; it is created at the first call."""
    context: CrawlContext | None = vars(crawler).get("topiccrawl")
    if context is None:
        context = vars(crawler)["topiccrawl"] = CrawlContext(crawler)
    return context
