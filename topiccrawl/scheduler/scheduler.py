"""The Scrapy scheduler on a frontier: leases become requests, answers become outcomes.

The life of a request: ``pop`` leases a URL; it becomes a request with its number in its meta;
``middlewares.lease`` counts the output of its callback; when that has ended and all items are back
from the pipelines, or when the request failed, the lease is settled. Scrapy's own delay, retry and
robots parts are off: only the frontier waits.
"""

from __future__ import annotations

import logging
import math
import time
from typing import TYPE_CHECKING, Self

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler, BaseSchedulerMeta
from scrapy.exceptions import CloseSpider
from scrapy.utils.asyncio import call_later, create_looping_call
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.misc import load_object
from typing_extensions import override

from topiccrawl.errors import StorageError, TopiccrawlError, finish_reason
from topiccrawl.links.urls import host_of
from topiccrawl.model import Kind, Lease
from topiccrawl.scheduler import meta
from topiccrawl.scheduler.answers import Answers
from topiccrawl.scheduler.build import (
    clock_of,
    crawl_name,
    hosts_of,
    open_frontier,
    retry_rules,
)
from topiccrawl.scheduler.context import SyncTask, context_of
from topiccrawl.scheduler.finish import FAILURE
from topiccrawl.scheduler.frontiers import frontiers_of
from topiccrawl.scheduler.hooks import check_parts
from topiccrawl.scheduler.leases import LeaseBook
from topiccrawl.scheduler.redirects import Redirects, SideQueue
from topiccrawl.scheduler.requests import (
    Kept,
    NotSerialisableError,
    SettlingErrback,
    seed_of,
)
from topiccrawl.scheduler.signals import lease_settled
from topiccrawl.scheduler.stalls import StallDetector

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from twisted.internet.defer import Deferred

    from topiccrawl.frontier.contract import Frontier, Outcome, Seed

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

    The order is that of the ``strategy`` in a spider's ``spec``; for others all URLs have equal
    values, first come, first served. Hooks and add-ons use the crawl's context.

    Attributes:
        context: The crawl's context; ``open`` sets its frontier.
        frontier: The frontier, once open.
        book: Open leases of this process.
    """

    frontier: Frontier
    book: LeaseBook

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.stats = crawler.stats
        self.context = context_of(crawler)
        self.alarm = self.context.alarm
        self._failure = ""
        self._stalls = StallDetector()
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
        context = self.context
        context.hosts = hosts_of(self.crawler)
        try:
            check_parts(self.crawler.settings)
            self.frontier = context.frontier = open_frontier(self.crawler)
        except TopiccrawlError as error:
            logger.error("%s", error)  # noqa: TRY400  (the operator needs the remedy, not our stack)
            self._failure = finish_reason(error)
            return
        context.opened = True
        rules, clock = retry_rules(self.crawler.settings), clock_of(self.frontier)
        self.book = LeaseBook(self.frontier, rules, clock, self._settled, self.give_up)
        context.book = self.book
        self.answers = Answers(self.crawler, self.book, self.alarm)
        self.side = SideQueue(self.frontier)
        self.redirects = Redirects(context, self.side)
        self.kept = Kept(f"{time.time_ns():x}")
        concurrency = self.crawler.settings.getint("CONCURRENT_REQUESTS") or 1_000
        self.crawler.engine.downloader.per_slot_settings[DOWNLOAD_SLOT] = {
            "delay": 0,
            "concurrency": concurrency,
        }
        self._most = _OPEN * concurrency
        for loop, seconds in self._loops:
            loop.start(seconds, now=False)
        self._stalls.start(self._keep_clocks)
        context.sync = frontiers_of(self.crawler.settings).sync_task(self)
        if context.sync is not None:
            context.sync.start()

    @override
    def close(self, reason: str) -> Deferred[None] | None:
        """Release unused leases, commit, and write the queues' sizes to the stats."""
        if self.context.sync is None:
            self._end()
            return None
        return deferred_from_coro(self._end_with(self.context.sync))

    async def _end_with(self, sync: SyncTask) -> None:
        await sync.stop()
        settings = self.crawler.settings
        try:
            self._end()
            if not settings.getbool("SCHEDULER_PERSIST", default=True):
                frontiers_of(settings).forget(crawl_name(self.spider))
        except StorageError as error:
            logger.error("%s; what is left here is given up and fetched again", error)  # noqa: TRY400

    def _end(self) -> None:
        for loop, _ in self._loops:
            if loop.running:
                loop.stop()
        self._stalls.stop()
        self.alarm.cancel()
        if not self.context.opened:
            return
        self.context.opened = False
        with self.book.writing() as frontier:
            if not self._failure:
                self.book.release()
            for name, size in frontier.counts().items():
                self.stats.set_value(f"topiccrawl/queue/{name}", size)
            frontier.close()

    @override
    def has_pending_requests(self) -> bool:
        """Check whether anything is queued, leased, or waits outside the frontier."""
        sync = self.context.sync
        waits = sync is not None and sync.waits()
        return self.context.opened and (bool(self.side) or waits or self.frontier.pending())

    @override
    def enqueue_request(self, request: Request) -> bool:
        """Queue a request of the spider, a middleware or a redirect; return False if refused."""
        self.answers.no_download(request)  # a redirect may come from a cache
        lease = self.book.lease(meta.lease_number(request))
        if lease is not None:
            return self.redirects.go_on(request, lease)
        if request.meta.get("is_start_request"):
            addresses = self.context.addresses
            named = addresses.allow_origin if meta.ROLE in request.meta else addresses.allow_host
            named(request.url)
        request.meta.pop(meta.KEY, None)
        new = 0
        with self.book.writing() as frontier:
            new = frontier.push([self._seed(request)])
            self._count("frontier/pushed" if new else "frontier/known")
        return bool(new)

    @override
    def next_request(self) -> Request | None:
        """Return the best request that is allowed now; else None, and set a timer for the next."""
        if not self.is_working() or self.context.held:
            return None
        try:
            return self._next()
        except StorageError as error:
            self.give_up(error)
            return None

    def waits(self, request: Request) -> float:
        """Return seconds for which a leased request must wait: another crawl asked the host."""
        if not meta.lease_number(request) or not self.is_working():
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
        if not meta.lease_number(request) or not self.is_working():
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
        if self.is_working():
            with self.book.writing() as frontier:
                frontier.left(host)

    # -- requests out ----------------------------------------------------------------------------

    def _next(self) -> Request | None:
        self._keep_clocks()
        if waiting := self.side.pop():
            further, host = waiting
            self.book.go_on(meta.lease_number(further), host)
            further.meta["download_slot"] = DOWNLOAD_SLOT
            return further
        if len(self.book) - len(self.side) >= self._most or not self.context.has_room():
            return None  # until one is settled
        while leases := self.frontier.pop(1):
            if request := self._from_lease(leases[0]):
                return request
        self.alarm.after(self.frontier.next_due())
        return None

    def _from_lease(self, lease: Lease) -> Request | None:
        robots = lease.kind is Kind.ROBOTS
        self.book.take(lease)
        try:
            kept = self.kept
            request = Request(lease.url) if robots else kept.request_of(lease, self.spider)
        except ValueError as error:  # the spider lost the callback that the URL was stored with
            logger.error("%s cannot be requested as it was stored: %s", lease.url, error)  # noqa: TRY400
            self.book.failed(lease.epoch, "payload")
            return None
        callback = self.answers.robots if robots else request.callback
        errback = SettlingErrback(self.answers.failed, request.errback)
        request = request.replace(dont_filter=True, callback=callback, errback=errback)
        self._count("frontier/robots_requests" if robots else "frontier/leased")
        return _leased(request, lease)

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
        if lost := self._stalls.lost():
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
        if self.context.opened:
            self.context.end(self._failure)

    def is_working(self) -> bool:
        """Return whether the frontier is open and can be written."""
        return self.context.opened and not self._failure

    def _refuse(self) -> None:
        if self._failure:
            raise CloseSpider(self._failure)

    def _count(self, name: str) -> None:
        self.stats.inc_value(f"topiccrawl/{name}")


def on_frontier(settings: BaseSettings) -> bool:
    """Return whether crawls with these settings run on the frontier, not another scheduler."""
    return issubclass(load_object(settings["SCHEDULER"]), FrontierScheduler)


def _leased(request: Request, lease: Lease) -> Request:
    """Return the request of a lease, with the lease's number for its answer."""
    request.meta.update({meta.KEY: lease.epoch, "depth": lease.depth})
    request.meta["download_slot"] = DOWNLOAD_SLOT
    if lease.kind is Kind.ROBOTS:
        request.meta["redirect_ttl"] = _ROBOTS_REDIRECTS
    if lease.redirects:
        request.meta["redirect_times"] = lease.redirects
    return request
