"""The Scrapy scheduler on a frontier: leases out as requests, outcomes back in.

The life of a request: ``pop`` leases a URL; it becomes a request with our callbacks' ticket in its
meta; ``middlewares.lease`` counts what its callback yields; when that has ended and all items are
back from the pipelines, or when it failed, the lease is settled. Scrapy's own delay, retry and
robots parts are off: waiting happens in the frontier alone.
"""

from __future__ import annotations

import logging
import math
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import CloseSpider
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.asyncio import call_later, create_looping_call
from typing_extensions import override

from topiccrawl import meta
from topiccrawl.errors import StorageError, TopiccrawlError
from topiccrawl.frontier.contract import Download, Ending, Kind, Outcome
from topiccrawl.links.urls import canonical
from topiccrawl.scheduler.build import open_frontier, retry_rules
from topiccrawl.scheduler.failures import FailureRules, retry_after
from topiccrawl.scheduler.leases import LeaseBook
from topiccrawl.scheduler.requests import NotSerialisableError, request_of, seed_of
from topiccrawl.scheduler.side import SideQueue

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.utils.asyncio import CallLaterResult
    from twisted.python.failure import Failure

    from topiccrawl.frontier.contract import Frontier, Lease

logger = logging.getLogger(__name__)

DOWNLOAD_SLOT = "topiccrawl"
"""The one downloader slot of all our requests: no delay, full concurrency (set at open)."""
_HOUSEKEEPING = 0.1
"""Seconds between commits of what ``finish`` did; bounds what a kill -9 makes us fetch again."""
_EXTEND_EVERY = 60.0
"""Seconds between renewals of open leases; a fifth of their life."""
_SWEEP = 200
"""Stale values made anew per housekeeping."""


class FrontierScheduler(BaseScheduler):
    """Scheduler on the frontier contract.

    Spiders with a ``strategy`` get its order; to others all URLs are alike, first come, first
    served.

    Attributes:
        frontier: The frontier, once open.
        book: Open leases of this process.
    """

    frontier: Frontier
    book: LeaseBook

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.stats = crawler.stats
        self.rules = FailureRules(crawler.settings)
        self.opened = False
        self._timer: CallLaterResult | None = None
        self._loops = [
            (create_looping_call(self._housekeeping), _HOUSEKEEPING),
            (create_looping_call(self._extend), _EXTEND_EVERY),
        ]

    @classmethod
    @override
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return a scheduler that reads the crawler's settings and hears its signals."""
        scheduler = cls(crawler)
        connect = crawler.signals.connect
        connect(scheduler._response_downloaded, signals.response_downloaded)
        connect(scheduler._left_downloader, signals.request_left_downloader)
        return scheduler

    @override
    def open(self, spider: Spider) -> None:
        """Open the frontier: what an earlier run left is continued.

        Raises:
            CloseSpider: If the frontier cannot be used; the log says why and what to do.
        """
        self.spider = spider
        try:
            self.frontier = open_frontier(self.crawler)
        except TopiccrawlError as error:
            logger.error("%s", error)  # noqa: TRY400  (the operator needs the remedy, not our stack)
            reason = "storage_error" if isinstance(error, StorageError) else "state_error"
            raise CloseSpider(reason) from error
        self.opened = True
        self.book = LeaseBook(
            self.frontier, retry_rules(self.crawler.settings), time.time, self._wake
        )
        self.side = SideQueue(self.frontier)
        concurrency = self.crawler.settings.getint("CONCURRENT_REQUESTS") or 1_000
        self.crawler.engine.downloader.per_slot_settings[DOWNLOAD_SLOT] = {
            "delay": 0,
            "concurrency": concurrency,
        }
        for loop, seconds in self._loops:
            loop.start(seconds, now=False)

    @override
    def close(self, reason: str) -> None:
        """Return unused leases, commit, and leave the queues' sizes in the stats."""
        for loop, _ in self._loops:
            if loop.running:
                loop.stop()
        self._cancel_timer()
        if not self.opened:
            return
        self.opened = False
        self.book.release()
        for name, size in self.frontier.counts().items():
            self.stats.set_value(f"topiccrawl/queue/{name}", size)
        self.frontier.close()

    @override
    def has_pending_requests(self) -> bool:
        """Whether anything is queued, leased, or waits beside the frontier."""
        return self.opened and (bool(self.side) or self.frontier.pending())

    @override
    def enqueue_request(self, request: Request) -> bool:
        """Take a request from the spider, a middleware or a redirect; False for a known URL."""
        ticket = meta.read(request)
        if ticket is not None and (lease := self.book.lease(ticket.token)) is not None:
            return self._go_on(request, ticket, lease)
        request.meta.pop(meta.KEY, None)
        try:
            start = bool(request.meta.get("is_start_request"))
            if request.dont_filter and not start:
                raise NotSerialisableError  # noqa: TRY301
            fingerprint = self.crawler.request_fingerprinter.fingerprint(request)
            value = 1.0 if start else 1 / (1 + math.exp(-max(-700, request.priority) / 10))
            seed = seed_of(request, self.spider, fingerprint, value)
        except NotSerialisableError:
            return self._aside(request)
        new = self.frontier.push([seed])
        self._count("frontier/pushed" if new else "frontier/known")
        return bool(new)

    @override
    def next_request(self) -> Request | None:
        """Return the best request that is allowed now; None asks for a wake-up when one will be."""
        if not self.opened:
            return None
        if waiting := self.side.pop():
            return self._from_side(*waiting)
        while leases := self.frontier.pop(1):
            if request := self._from_lease(leases[0]):
                return request
        self._wake_when_due()
        return None

    # -- requests out ----------------------------------------------------------------------------

    def _from_lease(self, lease: Lease) -> Request | None:
        robots = lease.kind is Kind.ROBOTS
        token = self.book.take(lease)
        try:
            request = Request(lease.url) if robots else request_of(lease, self.spider)
        except ValueError as error:  # the spider lost the callback that the URL was stored with
            logger.error("%s cannot be requested as it was stored: %s", lease.url, error)  # noqa: TRY400
            self.book.failed(token, "payload")
            return None
        callback = self._robots_answer if robots else request.callback
        request = request.replace(
            dont_filter=True, callback=callback, errback=partial(self._failed, request.errback)
        )
        meta.write(request, meta.Ticket(token, robots, lease.evidence, lease.depth))
        request.meta["download_slot"] = DOWNLOAD_SLOT
        if lease.redirects:
            request.meta["redirect_times"] = lease.redirects
        self._count("frontier/robots_requests" if robots else "frontier/leased")
        return request

    def _from_side(self, request: Request, host: str) -> Request:
        ticket = meta.read(request) or meta.Ticket(0, depth=int(request.meta.get("depth", 0)))
        meta.write(request, ticket._replace(slot=host, reported=False))
        request.meta["download_slot"] = DOWNLOAD_SLOT
        return request

    def _aside(self, request: Request) -> bool:
        self._count("frontier/not_serialisable")
        self.side.push(request)
        self._wake()
        return True

    def _go_on(self, request: Request, ticket: meta.Ticket, lease: Lease) -> bool:
        """Go on with a lease after a redirect: same page, or another that takes over its value."""
        target = canonical(request.url) or request.url
        if ticket.robots or target == lease.url:
            self.side.push(request)
            return True
        redirects = int(request.meta.get("redirect_times", 1))
        self._count("frontier/redirected")
        outcome = Outcome(Ending.REDIRECTED, target=target, redirects=redirects)
        self.book.settle(ticket.token, outcome)
        return True

    # -- outcomes in -----------------------------------------------------------------------------

    def _failed(self, errback: Any, failure: Failure) -> Any:  # noqa: ANN401
        """Errback of every leased request; the spider's own is called after it."""
        ticket = meta.read(getattr(failure, "request", None))
        if ticket is not None and ticket.token:
            self._settle_failure(ticket, failure)
        return errback(failure) if errback else None

    def _settle_failure(self, ticket: meta.Ticket, failure: Failure) -> None:
        if ticket.robots:
            error = failure.value
            status = error.response.status if isinstance(error, HttpError) else 0
            self._robots(ticket, None, status)
            return
        verdict = self.rules.judge(failure, time.time())
        self._count(f"frontier/failed/{verdict.reason}")
        if verdict.again:
            self.book.later(ticket.token, verdict.reason, verdict.retry_after)
        else:
            self.book.failed(ticket.token, verdict.reason)

    def _robots_answer(self, response: Response) -> None:
        ticket = meta.read(response.request)
        if ticket is not None:
            self._robots(ticket, response.body, response.status)

    def _robots(self, ticket: meta.Ticket, body: bytes | None, status: int) -> None:
        lease = self.book.drop(ticket.token)
        if lease is not None:
            self._count(f"frontier/robots/{status or 'unreachable'}")
            self.frontier.robots(lease, body, status)
            self._wake()

    def _response_downloaded(self, response: Response, request: Request) -> None:
        self._report(request, response)

    def _left_downloader(self, request: Request) -> None:
        self._report(request, None)

    def _report(self, request: Request, response: Response | None) -> None:
        """Tell the frontier how a download went, once per request: the host's clock runs on."""
        ticket = meta.read(request)
        if ticket is None or ticket.reported:
            return
        meta.write(request, ticket._replace(reported=True))
        if ticket.slot:
            self.frontier.release(ticket.slot)
        elif lease := self.book.lease(ticket.token):
            self.frontier.downloaded(lease, _download(request, response))
        self._wake()

    # -- time ------------------------------------------------------------------------------------

    def _wake(self) -> None:
        """Let the engine ask again soon; harmless when it is closing."""
        engine = self.crawler._engine  # noqa: SLF001
        slot = None if engine is None else engine._slot  # noqa: SLF001
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()

    def _wake_when_due(self) -> None:
        seconds = self.frontier.next_due()
        self._cancel_timer()
        if seconds is not None:
            self._timer = call_later(max(seconds, 0.002), self._due)

    def _due(self) -> None:
        self._timer = None
        self._wake()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _housekeeping(self) -> None:
        self.frontier.sweep(_SWEEP)
        self.frontier.commit()

    def _extend(self) -> None:
        self.book.extend()

    def _count(self, name: str) -> None:
        self.stats.inc_value(f"topiccrawl/{name}")


def _download(request: Request, response: Response | None) -> Download:
    if response is None:
        return Download(0)
    latency = request.meta.get("download_latency")
    return Download(response.status, latency, retry_after(response, time.time()))
