"""Reports to the frontier on each request: a download, a failure, a robots.txt."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.log import failure_to_exc_info

from topiccrawl.frontier.contract import Download, Kind
from topiccrawl.scheduler import meta
from topiccrawl.scheduler.failures import MALFORMED, FailureRules, retry_after
from topiccrawl.scheduler.outbound import PrivateAddressError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from topiccrawl.frontier.contract import Lease
    from topiccrawl.scheduler.context import Alarm
    from topiccrawl.scheduler.leases import LeaseBook

logger = logging.getLogger(__name__)

NOT_FOUND = 404


class Answers:
    """Handler of the crawler's download signals, and errback of all leased requests.

    Args:
        crawler: Source of signals, stats and settings.
        book: Open leases.
        alarm: Rung when a host's clock may have changed.
    """

    def __init__(self, crawler: Crawler, book: LeaseBook, alarm: Alarm) -> None:
        self._stats = crawler.stats
        self._rules = FailureRules(crawler.settings)
        self._book = book
        self._alarm = alarm
        connect = crawler.signals.connect
        connect(self._downloaded, signals.response_downloaded)
        connect(self.no_download, signals.request_left_downloader)
        connect(self.no_download, signals.response_received)  # from a cache, say

    def failed(self, request: Request | None, failure: Failure) -> bool:
        """Settle the lease of a request that failed; return whether it had a lease."""
        number = meta.lease_number(request)
        if request is None or not number:
            return False
        self.no_download(request)
        lease = self._book.lease(number)
        if lease is None:
            return True
        if lease.kind is Kind.ROBOTS:
            self._robots(number, None, *self._robots_status(failure))
        else:
            self._settle(request, lease, failure)
        return True

    def robots(self, response: Response) -> None:
        """Report the answer of a robots.txt; the callback of its request."""
        self._robots(meta.lease_number(response.request), response.body, response.status)

    def no_download(self, request: Request) -> None:
        """Free the slot of the host if no download was reported."""
        self._report(request, Download(0))

    def _downloaded(self, response: Response, request: Request) -> None:
        wait = retry_after(response, time.time())
        latency = request.meta.get("download_latency")
        self._report(request, Download(response.status, latency, wait))

    def _report(self, request: Request, download: Download) -> None:
        if self._book.report(meta.lease_number(request), download):
            self._alarm.now()

    def _settle(self, request: Request, lease: Lease, failure: Failure) -> None:
        verdict = self._rules.judge(failure, time.time())
        self._stats.inc_value(f"topiccrawl/frontier/failed/{verdict.reason}")
        if verdict.unforeseen:
            ours = verdict.reason != MALFORMED  # a server's mistake needs no stack
            exc_info = failure_to_exc_info(failure) if ours else None
            logger.error("Cannot fetch %s: %s", request.url, failure.value, exc_info=exc_info)
        if verdict.again and self._rules.may_retry(request, lease.attempts):
            self._book.later(lease.epoch, verdict.reason, verdict.retry_after)
        else:
            self._book.failed(lease.epoch, verdict.reason)

    def _robots_status(self, failure: Failure) -> tuple[int, str]:
        """Return HTTP status and no cause, or 0 and the cause, named as for pages.

        Endless redirects mean that there is no file (RFC 9309). None is asked of a private address:
        its pages end by themselves.
        """
        if isinstance(failure.value, HttpError):
            return failure.value.response.status, ""
        reason = self._rules.judge(failure, time.time()).reason
        none = reason in {"max-redirects", PrivateAddressError.reason}
        return (NOT_FOUND, "") if none else (0, reason)

    def _robots(self, number: int, body: bytes | None, status: int, cause: str = "") -> None:
        lease = self._book.drop(number)
        if lease is not None:
            self._stats.inc_value(f"topiccrawl/frontier/robots/{status or 'unreachable'}")
            with self._book.writing() as frontier:
                frontier.robots(lease, body, status, cause)
            self._alarm.now()
