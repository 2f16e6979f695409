"""Scrapy scheduler on a frontier: leases become requests, responses become outcomes.

``pop`` leases a URL, which becomes a request with the lease's number in its meta.
``middlewares.lease`` counts the output of its callback. The lease is settled when that output has
ended and all items are back from the pipelines, or when the request failed. Scrapy's own delay,
retry and robots.txt components are off: only the frontier delays requests.
"""

from __future__ import annotations

import logging
import math
import time
from typing import TYPE_CHECKING, Self

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import CloseSpider
from scrapy.utils.asyncio import AsyncioLoopingCall, call_later, create_looping_call
from scrapy.utils.defer import deferred_from_coro
from typing_extensions import override

from topiccrawl.errors import StorageError, TopiccrawlError, finish_reason
from topiccrawl.frontier.contract import Ending, Frontier, Outcome, Seed
from topiccrawl.frontier.settlement import CRASH
from topiccrawl.links.urls import host_of
from topiccrawl.model import Kind, Lease
from topiccrawl.scheduler import build, meta
from topiccrawl.scheduler.context import SyncTask, context_of
from topiccrawl.scheduler.downloads import DownloadReporter
from topiccrawl.scheduler.finish import FAILURE
from topiccrawl.scheduler.frontiers import crawl_name, frontier_place, frontiers_of, open_frontier
from topiccrawl.scheduler.hooks import check_parts
from topiccrawl.scheduler.leases import MAX_FURTHER, LeaseBook
from topiccrawl.scheduler.requests import (
    DistinctRequests,
    FollowUpQueue,
    NotSerialisableError,
    Redirects,
    SettlingErrback,
    distinct_start,
    seed_of,
)
from topiccrawl.scheduler.signals import lease_settled
from topiccrawl.scheduler.slow_start import LONG, SlowStart

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred
    from twisted.internet.task import LoopingCall

logger = logging.getLogger(__name__)

DOWNLOAD_SLOT = "topiccrawl"
"""Downloader slot of all requests of the frontier: no delay, full concurrency (set at opening)."""
_HOUSEKEEPING = 0.1
"""Seconds between commits of settled pages; limits the pages fetched again after a ``kill -9``."""
_EXTEND_EVERY = 60.0
"""Seconds between renewals of open leases; a fifth of their life."""
_ROBOTS_REDIRECTS = 5
"""Maximum number of redirects followed for a robots.txt (RFC 9309)."""
_OPEN_FACTOR = 4
"""Maximum number of pages in flight or in processing, as a multiple of CONCURRENT_REQUESTS. A
process that cannot keep up leaves further URLs in the frontier, for other nodes and for better URLs
to come."""
_GUESSES_EVERY = 1.0
"""Seconds until pages in progress are counted again during the slow start."""
_WITHOUT_EFFECT = (
    "DUPEFILTER_CLASS", "SCHEDULER_PRIORITY_QUEUE", "SCHEDULER_DISK_QUEUE",
    "SCHEDULER_MEMORY_QUEUE", "SCHEDULER_START_DISK_QUEUE", "SCHEDULER_START_MEMORY_QUEUE",
)  # fmt: skip
"""Settings of Scrapy's own scheduler."""
_SWEEP = 200
"""Records re-scored at a time after a change of the topic."""


class FrontierScheduler(BaseScheduler):
    """Scheduler on the frontier interface.

    The order is that of the ``strategy`` in a spider's ``spec``; without one, all URLs have equal
    values and are served first come, first served. Hooks and add-ons use the crawl's context.

    Attributes:
        context: Context of the crawl; ``open`` sets its frontier.
        frontier: Frontier, once open.
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
        self._loops: list[AsyncioLoopingCall | LoopingCall] = []

    @classmethod
    @override
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return a scheduler with the crawler's settings, connected to its signals."""
        scheduler = cls(crawler)
        crawler.signals.connect(scheduler._opened, signals.spider_opened)
        return scheduler

    @override
    def open(self, spider: Spider) -> None:
        """Open the frontier and resume the state of an earlier run.

        If it cannot be opened, the cause and remedy are logged, and the crawl ends once all
        components are open: Scrapy cannot close a component that was never opened.
        """
        self.spider = spider
        context, settings = self.context, self.crawler.settings
        context.hosts = build.hosts_of(self.crawler)
        try:
            check_parts(settings)
            self.frontier = context.frontier = open_frontier(self.crawler)
        except TopiccrawlError as error:
            logger.error("%s", error)  # noqa: TRY400  (the operator needs the remedy, not a traceback)
            self._failure = finish_reason(error)
            self.stats.set_value(FAILURE, self._failure)  # another component may close it first
            return
        context.opened = True
        for name in _WITHOUT_EFFECT:
            if settings.getpriority(name):
                logger.warning("%s has no effect: the frontier orders and compares requests", name)
        retry, clock = build.retry_rules(settings), getattr(self.frontier, "clock", time.time)
        self.book = LeaseBook(self.frontier, retry, clock, self._settled, self.end_crawl)
        context.book = self.book
        self.reporter = DownloadReporter(self.crawler, self.book, self.alarm)
        self.followups = FollowUpQueue(self.frontier)
        self.redirects = Redirects(context, self.followups)
        self.distinct = DistinctRequests(f"{time.time_ns():x}")
        concurrency = settings.getint("CONCURRENT_REQUESTS") or 1_000
        slots = self.crawler.engine.downloader.per_slot_settings
        slots[DOWNLOAD_SLOT] = {"delay": 0, "concurrency": concurrency}
        self._max_open = _OPEN_FACTOR * concurrency
        self._max_further = max(MAX_FURTHER, settings.getint("REDIRECT_MAX_TIMES"))
        counts = self.frontier.counts()
        if crawled := counts["crawled"]:
            logger.info(
                "The crawl %s continues: %d URLs were fetched before, %d are queued"
                " (another TOPICCRAWL_CRAWL starts a new crawl)",
                crawl_name(self.crawler), crawled, counts["prior"] + counts["normal"],
            )  # fmt: skip
        self._slow_start = SlowStart(build.slow_start_of(settings), crawled)
        for call, seconds in (self._housekeeping, _HOUSEKEEPING), (self.book.extend, _EXTEND_EVERY):
            self._loops.append(create_looping_call(call))
            self._loops[-1].start(seconds, now=False)
        context.sync = frontiers_of(settings).sync_task(self)
        if context.sync is not None:
            context.sync.start()

    @override
    def close(self, reason: str) -> Deferred[None] | None:
        """Settle complete pages, release unused leases, commit, and write the queues' sizes."""
        sync = self.context.sync
        if sync is None and not (self.context.opened and self.book.is_settling):
            self._close_frontier()
            return None
        return deferred_from_coro(self._close_later(sync))

    async def _close_later(self, sync: SyncTask | None) -> None:
        if self.context.opened:
            await self.book.settle_all()
        if sync is None:
            self._close_frontier()
            return
        await sync.stop()
        settings = self.crawler.settings
        try:
            self._close_frontier()
            if not settings.getbool("SCHEDULER_PERSIST", default=True):
                frontiers_of(settings).discard(frontier_place(self.crawler))
        except StorageError as error:
            logger.error("%s; pages that were not stored will be fetched again", error)  # noqa: TRY400

    def _close_frontier(self) -> None:
        for loop in self._loops:
            if loop.running:
                loop.stop()
        self.alarm.after(None)
        if not self.context.opened:
            return
        self.context.opened = False
        with self.book.writing() as frontier:
            if not self._failure:
                self.book.release()
            self.context.before_close()
            for name, size in frontier.counts().items():
                self.stats.set_value(f"topiccrawl/queue/{name}", size)
            frontier.close()

    @override
    def has_pending_requests(self) -> bool:
        """Check whether anything is queued, leased, or waiting outside the frontier."""
        sync = self.context.sync
        waits = sync is not None and sync.waits()
        return self.context.opened and (bool(self.followups) or waits or self.frontier.pending())

    @override
    def enqueue_request(self, request: Request) -> bool:
        """Queue a request of the spider, a middleware or a redirect; return False if refused."""
        self.reporter.report_no_download(request)  # a redirect may come from a cache
        lease = self.book.lease(meta.lease_number(request))
        if lease is not None and not self.book.may_continue(lease.epoch, self._max_further):
            self.reporter.replaced(lease)
            return False
        if lease is not None:
            return self.redirects.follow(request, lease)
        if not host_of(request.url):
            fingerprint = self.crawler.request_fingerprinter.fingerprint(request)
            return self.followups.push_hostless(request, fingerprint)
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
        """Return the best request that is allowed now; otherwise set a timer and return None."""
        if not self.is_working() or self.context.is_blocked:
            return None
        try:
            return self._next_request()
        except StorageError as error:
            self.end_crawl(error)
            return None

    def waits(self, request: Request) -> float:
        """Return seconds that a leased request must wait for another one that was sent."""
        if not meta.lease_number(request) or not self.is_working():
            return 0.0
        wait = 0.0
        with self.book.writing() as frontier:
            wait = frontier.waits(host_of(request.url))
        return wait  # noqa: RET504 - 0.0 where the write failed, which ends the crawl

    def leaves(self, request: Request) -> bool:
        """Record that a leased request can be sent now; return False if it must not be.

        The process may stall before the operating system has the request, so the host's delay is
        counted once more from the next iteration of the event loop.
        """
        if not meta.lease_number(request) or not self.is_working():
            return True
        host = host_of(request.url)
        with self.book.writing() as frontier:
            if not frontier.left(host):
                return False
        call_later(0, self._record_sent, host)
        return True

    def _record_sent(self, host: str) -> None:
        """Count the host's delay from now: the operating system has its request."""
        if self.is_working():
            with self.book.writing() as frontier:
                frontier.left(host)

    # -- outgoing requests -----------------------------------------------------------------------

    def _next_request(self) -> Request | None:
        if waiting := self.followups.pop():
            further, host = waiting
            if host:
                self.book.add_request(meta.lease_number(further), host)
            further.meta["download_slot"] = DOWNLOAD_SLOT
            return further
        if len(self.book) - len(self.followups) >= self._max_open or not self.context.has_room():
            return None  # until a lease is settled
        allows = self._slow_start.allows
        if not allows(len(self.book)) and not allows(self.book.guesses(LONG)):
            self.alarm.after(_GUESSES_EVERY)
            return None
        while leases := self.frontier.pop(1):
            if request := self._request_of(leases[0]):
                return request
        self.alarm.after(self.frontier.next_due())
        return None

    def _request_of(self, lease: Lease) -> Request | None:
        robots = lease.kind is Kind.ROBOTS
        self.book.add(lease)
        try:
            distinct = self.distinct
            request = Request(lease.url) if robots else distinct.request_of(lease, self.spider)
        except ValueError as error:  # the spider no longer has the stored callback
            logger.error("Cannot rebuild the stored request of %s: %s", lease.url, error)  # noqa: TRY400
            self.book.failed(lease.epoch, "payload")
            return None
        callback = self.reporter.robots if robots else request.callback
        errback = SettlingErrback(self.reporter.failed, request.errback, request.dont_filter)
        request = request.replace(dont_filter=True, callback=callback, errback=errback)
        self._count("frontier/robots_requests" if robots else "frontier/leased")
        return _with_lease(request, lease)

    def _seed(self, request: Request) -> Seed:
        """Return the seed that the frontier stores for a request without a lease."""
        start = bool(request.meta.get("is_start_request"))
        value = 1.0 if start else 1 / (1 + math.exp(-max(-700, request.priority) / 10))
        if request.dont_filter and (meta.ROLE in request.meta or not start):
            return self.distinct.seed(request, self.spider, value)
        fingerprint = self.crawler.request_fingerprinter.fingerprint(request)
        try:
            seed = seed_of(request, self.spider, fingerprint, value)
            unfiltered = request.dont_filter and self.context.spec.topic is None
            return distinct_start(seed) if unfiltered else seed
        except NotSerialisableError:
            self._count("frontier/not_serialisable")
            equal = b"" if request.dont_filter else fingerprint
            return self.distinct.seed(request, self.spider, value, equal)

    # -- timers ----------------------------------------------------------------------------------

    def _housekeeping(self) -> None:
        """Commit and re-score; check the follow-up queue, whose hosts do not set timers."""
        with self.book.writing() as frontier:
            frontier.sweep(_SWEEP)
            frontier.commit(wait=False)
        if self.followups:
            self.alarm.now()
        else:
            self._end_abandoned()

    def _end_abandoned(self) -> None:
        """End leases that a component of the user took over, once no request is in progress.

        A downloader middleware may return another request, a handler of ``request_scheduled`` may
        refuse a redirect, and a spider middleware outside of ours may drop an item.
        """
        slot = self.crawler.engine._slot  # noqa: SLF001 - Scrapy has no signal for it
        if slot is None or slot.inprogress:
            return
        for lease in self.book.abandoned():
            self.reporter.replaced(lease)

    def _settled(self, lease: Lease, outcome: Outcome) -> None:
        self.alarm.now()
        if outcome.ending is Ending.CRAWLED:
            self._slow_start.count()
        if outcome.ending in {Ending.CRAWLED, Ending.ERROR}:
            self.distinct.discard(lease)
        self.crawler.signals.send_catch_log(lease_settled, lease=lease, outcome=outcome)

    def end_crawl(self, error: TopiccrawlError) -> None:
        """Close the crawl: a frontier with a failed write cannot be used until it is reopened."""
        if self._failure:
            return
        self._failure = finish_reason(error)
        self.stats.set_value(FAILURE, self._failure)
        logger.critical("The crawl ends: %s", error)
        if self.context.opened:
            self.context.end(self._failure)

    def is_working(self) -> bool:
        """Check whether the frontier is open and can be written."""
        return self.context.opened and not self._failure

    def _opened(self) -> None:
        """Requeue failed seeds, or a failed search for seeds, if earlier runs fetched no page.

        Raises:
            CloseSpider: The frontier could not be opened.
        """
        if self._failure:
            raise CloseSpider(self._failure)
        search, failed = self.context.search, list[str]()
        with self.book.writing() as frontier:
            counts = frontier.counts()
            is_vain = counts["crawled"] == counts.get("redirected", 0)
            if counts["error"] and is_vain and not self.context.spec.conducted:
                failed += [url for url, _, why in frontier.iterate("error") if why != CRASH]
            if search is not None and search.is_fruitless(self.context):
                failed += search.retry_urls()
            for url in failed:
                frontier.requeue(url)

    def _count(self, name: str) -> None:
        self.stats.inc_value(f"topiccrawl/{name}")


def _with_lease(request: Request, lease: Lease) -> Request:
    """Return a request with the number and properties of its lease in its meta."""
    request.meta.update({meta.KEY: lease.epoch, "depth": lease.depth})
    request.meta["download_slot"] = DOWNLOAD_SLOT
    if lease.kind is Kind.ROBOTS:
        request.meta["redirect_ttl"] = _ROBOTS_REDIRECTS
    if lease.redirects:
        request.meta["redirect_times"] = lease.redirects
    return request
