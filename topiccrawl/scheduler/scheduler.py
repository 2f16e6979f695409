"""The Scrapy scheduler on a frontier: leases become requests, answers become outcomes.

The life of a request: ``pop`` leases a URL; it becomes a request with our ticket in its meta;
``middlewares.lease`` counts the output of its callback; when that has ended and all items are back
from the pipelines, or when the request failed, the lease is settled. Scrapy's own delay, retry and
robots parts are off: only the frontier waits.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from typing import TYPE_CHECKING, Self

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler, BaseSchedulerMeta
from scrapy.exceptions import CloseSpider
from scrapy.utils.asyncio import call_later, create_looping_call
from scrapy.utils.defer import deferred_from_coro
from typing_extensions import override

from topiccrawl.errors import StorageError, TopiccrawlError, finish_reason
from topiccrawl.frontier.contract import Kind
from topiccrawl.links.urls import host_of
from topiccrawl.scheduler import meta
from topiccrawl.scheduler.answers import Answers
from topiccrawl.scheduler.build import (
    clock_of,
    courier,
    forget,
    hosts_of,
    open_frontier,
    retry_rules,
    traps_of,
)
from topiccrawl.scheduler.finish import FAILURE
from topiccrawl.scheduler.hooks import check_parts
from topiccrawl.scheduler.leases import LeaseBook
from topiccrawl.scheduler.pulse import Pulse
from topiccrawl.scheduler.redirects import Redirects
from topiccrawl.scheduler.requests import (
    Kept,
    NotSerialisableError,
    Settling,
    seed_of,
)
from topiccrawl.scheduler.side import SideQueue
from topiccrawl.scheduler.signals import lease_settled
from topiccrawl.scheduler.wake import Alarm

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from topiccrawl.addons.redis.courier import Courier
    from topiccrawl.frontier.contract import Frontier, Lease, Outcome, Seed

logger = logging.getLogger(__name__)

DOWNLOAD_SLOT = "topiccrawl"
"""The one downloader slot of all our requests: no delay, full concurrency (set at open)."""
_HOUSEKEEPING = 0.1
"""Seconds between commits of settled pages; bounds the pages fetched again after a kill -9."""
_EXTEND_EVERY = 60.0
"""Seconds between renewals of open leases; a fifth of their life."""
_ROBOTS_REDIRECTS = 5
"""Redirects of a robots.txt that are followed (RFC 9309)."""
_OPEN = 4
"""Most pages in flight or in processing, as a multiple of CONCURRENT_REQUESTS: a process that
cannot keep up leaves the rest in the frontier, for other nodes and for better URLs to come."""
_SWEEP = 200
"""Records re-scored at a time after a change of the topic."""


class _Exactly(BaseSchedulerMeta):
    """Metaclass that limits ``isinstance`` to subclasses.

    To Scrapy any class with the methods is a scheduler: its own would pass as ours, too.
    """

    @override
    def __instancecheck__(self, instance: object) -> bool:
        return self in type(instance).__mro__

    @override
    def __subclasscheck__(self, subclass: type) -> bool:
        return self in subclass.__mro__


class FrontierScheduler(BaseScheduler, metaclass=_Exactly):
    """Scheduler on the frontier contract.

    Spiders with a ``strategy`` get its order; for others all URLs have equal values, first come,
    first served.

    Attributes:
        frontier: The frontier, once open.
        book: Open leases of this process.
        may_fetch: Returns whether requests may be sent now; call ``alarm.now`` when they may again.
        has_room: Returns whether another page may be leased besides the open ones.
    """

    frontier: Frontier
    book: LeaseBook

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.stats = crawler.stats
        self.alarm = Alarm(crawler)
        self.opened = False
        self._failure = ""
        self._closing: asyncio.Task[None] | None = None
        self.courier: Courier | None = None
        self.may_fetch: Callable[[], bool] = lambda: True
        self.has_room: Callable[[], bool] = lambda: True
        self._pulse = Pulse()
        self._loops = [
            (create_looping_call(self._housekeeping), _HOUSEKEEPING),
            (create_looping_call(self._extend), _EXTEND_EVERY),
        ]

    @classmethod
    @override
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return a scheduler with the crawler's settings, connected to its signals."""
        scheduler = cls(crawler)
        crawler.signals.connect(scheduler._refuse, signals.spider_opened)
        return scheduler

    @override
    def open(self, spider: Spider) -> None:
        """Open the frontier: the state of an earlier run is resumed.

        If it cannot be used, cause and remedy are logged, and the crawl ends once all parts are
        open: Scrapy cannot close a part that was never opened.
        """
        self.spider = spider
        self.hosts = hosts_of(spider)
        try:
            check_parts(self.crawler.settings)
            self.frontier = open_frontier(self.crawler)
        except TopiccrawlError as error:
            logger.error("%s", error)  # noqa: TRY400  (the operator needs the remedy, not our stack)
            self._failure = finish_reason(error)
            return
        self.opened = True
        rules, clock = retry_rules(self.crawler.settings), clock_of(self.frontier)
        self.book = LeaseBook(self.frontier, rules, clock, self._settled, self.give_up)
        self.answers = Answers(self.crawler, self.book, self.alarm)
        self.side = SideQueue(self.frontier)
        traps = traps_of(self.crawler.settings) if hasattr(spider, "topic") else None
        self.redirects = Redirects(self.crawler, self.book, self.side, self.hosts, traps)
        self.kept = Kept(f"{time.time_ns():x}")
        concurrency = self.crawler.settings.getint("CONCURRENT_REQUESTS") or 1_000
        self.crawler.engine.downloader.per_slot_settings[DOWNLOAD_SLOT] = {
            "delay": 0,
            "concurrency": concurrency,
        }
        self._most = _OPEN * concurrency
        for loop, seconds in self._loops:
            loop.start(seconds, now=False)
        self._pulse.start(self._keep_clocks)
        self.courier = courier(self.crawler, self)
        if self.courier is not None:
            self.courier.start()

    @override
    def close(self, reason: str) -> Deferred[None] | None:
        """Release unused leases, commit, and write the queues' sizes to the stats."""
        if self.courier is None:
            self._end()
            return None
        return deferred_from_coro(self._end_with(self.courier))

    async def _end_with(self, courier: Courier) -> None:
        await courier.stop()
        try:
            self._end()
            forget(self.crawler)
        except StorageError as error:
            logger.error("%s; what is left here is given up and fetched again", error)  # noqa: TRY400

    def _end(self) -> None:
        for loop, _ in self._loops:
            if loop.running:
                loop.stop()
        self._pulse.stop()
        self.alarm.cancel()
        if not self.opened:
            return
        self.opened = False
        with self.book.writing() as frontier:
            if not self._failure:
                self.book.release()
            for name, size in frontier.counts().items():
                self.stats.set_value(f"topiccrawl/queue/{name}", size)
            frontier.close()

    @override
    def has_pending_requests(self) -> bool:
        """Check whether anything is queued, leased, or waits outside the frontier."""
        waits = self.courier is not None and self.courier.waits()
        return self.opened and (bool(self.side) or waits or self.frontier.pending())

    @override
    def enqueue_request(self, request: Request) -> bool:
        """Queue a request of the spider, a middleware or a redirect; return False if refused."""
        self.answers.no_download(request)  # a redirect may come from a cache
        ticket = meta.read(request)
        if ticket is not None and (lease := self.book.lease(ticket.token)) is not None:
            return self.redirects.go_on(request, ticket, lease)
        request.meta.pop(meta.KEY, None)
        new = 0
        with self.book.writing() as frontier:
            new = frontier.push([self._seed(request)])
            self._count("frontier/pushed" if new else "frontier/known")
        return bool(new)

    @override
    def next_request(self) -> Request | None:
        """Return the best request that is allowed now; else None, and set a timer for the next."""
        if not self.opened or self._failure or not self.may_fetch():
            return None
        try:
            return self._next()
        except StorageError as error:
            self.give_up(error)
            return None

    def waits(self, request: Request) -> float:
        """Return seconds for which a leased request must wait: another crawl asked the host."""
        if meta.read(request) is None or not self.opened or self._failure:
            return 0.0
        wait = 0.0
        with self.book.writing() as frontier:
            wait = frontier.waits(host_of(request.url))
        return wait  # noqa: RET504 - 0.0 where the write failed, which ends the crawl

    def leaves(self, request: Request) -> bool:
        """Record that a leased request can be sent now; return whether it still may.

        The process may stall before the operating system has the request: the clock counts once
        more from the loop's next turn.
        """
        ticket = meta.read(request)
        if ticket is None or not self.opened or self._failure:
            return True
        self._keep_clocks()
        host = host_of(request.url)
        with self.book.writing() as frontier:
            if not frontier.left(host):
                return False
        call_later(0, self._sent, host)
        return True

    def _sent(self, host: str) -> None:
        """Count the host's delay from now: the operating system has its request."""
        if self.opened and not self._failure:
            with self.book.writing() as frontier:
                frontier.left(host)

    # -- requests out ----------------------------------------------------------------------------

    def _next(self) -> Request | None:
        self._keep_clocks()
        if waiting := self.side.pop():
            return _at_side(*waiting)
        if len(self.book) - len(self.side) >= self._most or not self.has_room():
            return None  # until one is settled
        while leases := self.frontier.pop(1):
            if request := self._from_lease(leases[0]):
                return request
        self.alarm.after(self.frontier.next_due())
        return None

    def _from_lease(self, lease: Lease) -> Request | None:
        robots = lease.kind is Kind.ROBOTS
        token = self.book.take(lease)
        try:
            kept = self.kept
            request = Request(lease.url) if robots else kept.request_of(lease, self.spider)
        except ValueError as error:  # the spider lost the callback that the URL was stored with
            logger.error("%s cannot be requested as it was stored: %s", lease.url, error)  # noqa: TRY400
            self.book.failed(token, "payload")
            return None
        callback = self.answers.robots if robots else request.callback
        errback = Settling(self.answers.failed, request.errback)
        request = request.replace(dont_filter=True, callback=callback, errback=errback)
        self._count("frontier/robots_requests" if robots else "frontier/leased")
        return _ticketed(request, lease, token)

    def _seed(self, request: Request) -> Seed:
        """Return the seed that the frontier stores for a request without a lease."""
        start = bool(request.meta.get("is_start_request"))
        value = 1.0 if start else 1 / (1 + math.exp(-max(-700, request.priority) / 10))
        if request.dont_filter and (meta.ROLE in request.meta or not start):
            return self.kept.seed(request, self.spider, value)
        fingerprint = self.crawler.request_fingerprinter.fingerprint(request)
        try:
            return seed_of(request, self.spider, fingerprint, value)
        except NotSerialisableError:
            self._count("frontier/not_serialisable")
            return self.kept.seed(request, self.spider, value)

    # -- time ------------------------------------------------------------------------------------

    def _housekeeping(self) -> None:
        """Commit and re-score; check the side queue, whose hosts ring no alarm."""
        try:
            self.frontier.sweep(_SWEEP)
            self.frontier.commit(wait=False)
        except StorageError as error:
            self.give_up(error)
        if self.side:
            self.alarm.now()

    def _keep_clocks(self) -> None:
        """Postpone hosts whose requests were sent later because the process stalled."""
        if lost := self._pulse.lost():
            with self.book.writing() as frontier:
                frontier.stood_still(lost)

    def _settled(self, lease: Lease, outcome: Outcome) -> None:
        self.alarm.now()
        self.crawler.signals.send_catch_log(lease_settled, lease=lease, outcome=outcome)

    def _extend(self) -> None:
        self.book.extend()

    def give_up(self, error: TopiccrawlError) -> None:
        """End the crawl: a frontier that cannot be written stays so until it is reopened."""
        if self._failure:
            return
        self._failure = finish_reason(error)
        self.stats.set_value(FAILURE, self._failure)
        logger.critical("The crawl ends: %s", error)
        if self.opened:
            closing = self.crawler.engine.close_spider_async(reason=self._failure)
            self._closing = asyncio.create_task(closing)

    def _refuse(self) -> None:
        if self._failure:
            raise CloseSpider(self._failure)

    def _count(self, name: str) -> None:
        self.stats.inc_value(f"topiccrawl/{name}")


def _ticketed(request: Request, lease: Lease, token: int) -> Request:
    """Return the request of a lease, with a ticket for its answer."""
    robots = lease.kind is Kind.ROBOTS
    known = (lease.evidence, lease.depth, lease.anchor, lease.context)
    meta.write(request, meta.Ticket(token, robots, *known))
    request.meta["download_slot"] = DOWNLOAD_SLOT
    if robots:
        request.meta["redirect_ttl"] = _ROBOTS_REDIRECTS
    if lease.redirects:
        request.meta["redirect_times"] = lease.redirects
    return request


def _at_side(request: Request, host: str) -> Request:
    """Return a request from the side queue, with the slot of its host in the ticket."""
    ticket = meta.read(request) or meta.Ticket(0)
    meta.write(request, ticket._replace(slot=host, reported=False))
    request.meta["download_slot"] = DOWNLOAD_SLOT
    return request
