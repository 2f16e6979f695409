"""Reports of downloads, failures and robots.txt files to the frontier."""

from __future__ import annotations

import logging
import re
import time
import zlib
from gzip import BadGzipFile
from typing import TYPE_CHECKING, NamedTuple

from scrapy import Request, signals
from scrapy.exceptions import DownloadCancelledError, IgnoreRequest
from scrapy.http import Response  # noqa: TC002 - tools read the hints of callbacks
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils._compression import brotli, zstd  # type: ignore[attr-defined]
from scrapy.utils.log import failure_to_exc_info
from scrapy.utils.misc import load_object
from twisted.python.failure import Failure

from topiccrawl.frontier.contract import Download, Ending
from topiccrawl.frontier.politeness import retry_seconds
from topiccrawl.model import Kind, Lease
from topiccrawl.scheduler import meta
from topiccrawl.scheduler.build import max_retries

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.scheduler.context import Alarm
    from topiccrawl.scheduler.leases import LeaseBook

logger = logging.getLogger(__name__)

NOT_FOUND = 404

MALFORMED = "malformed-answer"
PRIVATE_ADDRESS = "private-address"
_MALFORMED = (EOFError, ValueError, BadGzipFile, zlib.error, brotli.error, zstd.ZstdError)
"""Raised by Scrapy's middlewares if a body cannot be decompressed or a Location is no URL."""


class ReplacedError(IgnoreRequest):
    """A component returned another request in place of a leased one, or refused its redirect."""

    reason = "replaced"


class DownloadReporter:
    """Handler of the crawler's download signals, and errback of all leased requests.

    Args:
        crawler: Source of signals, stats and settings.
        book: Open leases.
        alarm: Called when a host's next request time may have changed.
    """

    def __init__(self, crawler: Crawler, book: LeaseBook, alarm: Alarm) -> None:
        self._stats = crawler.stats
        self._rules = FailureRules(crawler.settings)
        self._book = book
        self._alarm = alarm
        connect = crawler.signals.connect
        connect(self._downloaded, signals.response_downloaded)
        connect(self.report_no_download, signals.request_left_downloader)
        connect(self.report_no_download, signals.response_received)  # for example from a cache

    def failed(self, request: Request | None, failure: Failure) -> Ending | None:
        """Settle the lease of a failed request; return its ending, or None if it had no lease."""
        number = meta.lease_number(request)
        if request is None or not number:
            return None
        self.report_no_download(request)
        lease = self._book.lease(number)
        if lease is None:
            return Ending.ERROR
        if lease.kind is Kind.ROBOTS:
            self._robots(number, None, *self._robots_status(failure))
            return Ending.ERROR
        return self._settle(request, lease, failure)

    def replaced(self, lease: Lease) -> None:
        """End a lease whose request a component of the user replaced."""
        failure = Failure(ReplacedError())  # type: ignore[no-untyped-call]
        self.failed(Request(lease.url, meta={meta.KEY: lease.epoch}), failure)

    def robots(self, response: Response) -> None:
        """Report the response of a robots.txt; callback of its request."""
        self._robots(meta.lease_number(response.request), response.body, response.status)

    def report_no_download(self, request: Request) -> None:
        """Free the slot of the host if no download was reported."""
        self._report(request, Download(0))

    def _downloaded(self, response: Response, request: Request) -> None:
        wait = retry_after(response, time.time())
        latency = request.meta.get("download_latency")
        self._report(request, Download(response.status, latency, wait))

    def _report(self, request: Request, download: Download) -> None:
        if self._book.report(meta.lease_number(request), download):
            self._alarm.now()

    def _settle(self, request: Request, lease: Lease, failure: Failure) -> Ending:
        verdict = self._rules.classify(failure, time.time())
        self._stats.inc_value(f"topiccrawl/frontier/failed/{verdict.reason}")
        if verdict.unexpected:
            is_local = verdict.reason != MALFORMED  # a server's mistake needs no traceback
            exc_info = failure_to_exc_info(failure) if is_local else None
            logger.error("Cannot fetch %s: %s", request.url, failure.value, exc_info=exc_info)
        if verdict.retry and self._rules.may_retry(request, lease.attempts):
            self._stats.inc_value("retry/count")  # by the names of Scrapy's retry middleware
            self._book.retry_later(lease.epoch, verdict.reason, verdict.retry_after)
            return Ending.LATER
        if verdict.retry and not request.meta.get("dont_retry"):
            self._stats.inc_value("retry/max_reached")
        self._book.failed(lease.epoch, verdict.reason)
        return Ending.ERROR

    def _robots_status(self, failure: Failure) -> tuple[int, str]:
        """Return the HTTP status and "", or 0 and the cause, named as for pages.

        Endless redirects mean that there is no robots.txt (RFC 9309). A private address is treated
        the same way, since its pages are refused anyway.
        """
        if isinstance(failure.value, HttpError):
            return failure.value.response.status, ""
        reason = self._rules.classify(failure, time.time()).reason
        no_file = reason in {"max-redirects", PRIVATE_ADDRESS}
        return (NOT_FOUND, "") if no_file else (0, reason)

    def _robots(self, number: int, body: bytes | None, status: int, cause: str = "") -> None:
        lease = self._book.drop(number)
        if lease is not None:
            self._stats.inc_value(f"topiccrawl/frontier/robots/{status or 'unreachable'}")
            with self._book.writing() as frontier:
                frontier.robots(lease, body, status, cause)
            self._alarm.now()


class FailureVerdict(NamedTuple):
    """Classification of a failure.

    Attributes:
        retry: True if a retry may help.
        reason: Short reason: ``http-503``, ``download-timeout``, ``max-redirects`` ...
        retry_after: Seconds that the server asked to wait, or None.
        unexpected: True if the failure is unusual and should be logged.
    """

    retry: bool
    reason: str
    retry_after: float | None = None
    unexpected: bool = False


class FailureRules:
    """Scrapy's RETRY_* settings, applied to all kinds of failure."""

    def __init__(self, settings: BaseSettings) -> None:
        retry = settings.getbool("RETRY_ENABLED")
        self.codes = (
            {int(code) for code in settings.getlist("RETRY_HTTP_CODES")} if retry else set()
        )
        names = settings.getlist("RETRY_EXCEPTIONS") if retry else []
        self.exceptions = tuple(load_object(name) for name in names)
        self.max_retries = max_retries(settings)

    def may_retry(self, request: Request, failures: int) -> bool:
        """Check whether RETRY_TIMES and a request's own meta allow a retry after so many failures.

        ``dont_retry`` forbids it; ``max_retry_times`` may lower RETRY_TIMES, not raise it.
        """
        given = request.meta.get("max_retry_times")
        most = self.max_retries if given is None else min(int(given), self.max_retries)
        return not request.meta.get("dont_retry") and failures < most

    def retries(self, request: Request | None, status: int, failures: int) -> bool:
        """Check whether a response is retried, even if the spider handles its status."""
        return request is not None and status in self.codes and self.may_retry(request, failures)

    def classify(self, failure: Failure, now: float) -> FailureVerdict:
        """Classify a failure; ``now`` (seconds since the epoch) is the base of a Retry-After."""
        error = failure.value
        if isinstance(error, HttpError):
            status = error.response.status
            wait = retry_after(error.response, now)
            return FailureVerdict(status in self.codes, f"http-{status}", wait)
        if isinstance(error, IgnoreRequest):
            redirects = "max redirections" in str(error)
            reason = getattr(error, "reason", "ignored")
            retry = getattr(error, "retry", False)
            return FailureVerdict(retry, "max-redirects" if redirects else reason)
        if isinstance(error, _MALFORMED):
            return FailureVerdict(retry=False, reason=MALFORMED, unexpected=True)
        name = type(error).__name__.removesuffix("Error")
        reason = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()
        retry = isinstance(error, self.exceptions)
        too_large = isinstance(error, DownloadCancelledError)  # DOWNLOAD_MAXSIZE
        return FailureVerdict(retry, reason, unexpected=not (retry or too_large))


def retry_after(response: Response, now: float) -> float | None:
    """Return the seconds of a response's Retry-After, at least 0; None if absent."""
    return retry_seconds((response.headers.get("Retry-After") or b"").decode("latin-1"), now)
