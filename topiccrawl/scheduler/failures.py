"""Verdicts on failed requests: retry later, or an error with a short reason."""

from __future__ import annotations

import re
import zlib
from email.utils import parsedate_to_datetime
from gzip import BadGzipFile
from typing import TYPE_CHECKING, NamedTuple

from scrapy.exceptions import DownloadCancelledError, IgnoreRequest
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.misc import load_object

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

MALFORMED = "malformed-answer"
_MALFORMED = (EOFError, ValueError, BadGzipFile, zlib.error)
"""Raised by Scrapy's middlewares where a body cannot be unpacked, or a Location is no URL."""
_RETRY_AFTER_DIGITS = re.compile(r"\s*(\d{1,9})\s*$")


class FailureVerdict(NamedTuple):
    """Verdict on a failure.

    Attributes:
        again: Whether a retry may help.
        reason: Short reason: ``http-503``, ``download-timeout``, ``max-redirects`` ...
        retry_after: Seconds the server asked for, or None.
        unforeseen: Whether the failure is unusual and should be logged.
    """

    again: bool
    reason: str
    retry_after: float | None = None
    unforeseen: bool = False


class FailureRules:
    """Scrapy's RETRY_* settings, applied once for all kinds of failure."""

    def __init__(self, settings: BaseSettings) -> None:
        retry = settings.getbool("RETRY_ENABLED")
        self.codes = (
            {int(code) for code in settings.getlist("RETRY_HTTP_CODES")} if retry else set()
        )
        names = settings.getlist("RETRY_EXCEPTIONS") if retry else []
        self.exceptions = tuple(load_object(name) for name in names)

    def may_retry(self, request: Request, failures: int) -> bool:
        """Check whether a request's own meta allows a retry after so many earlier failures.

        ``dont_retry`` forbids it; ``max_retry_times`` may lower RETRY_TIMES, not raise it.
        """
        most = request.meta.get("max_retry_times")
        return not request.meta.get("dont_retry") and (most is None or failures < int(most))

    def judge(self, failure: Failure, now: float) -> FailureVerdict:
        """Return the verdict; ``now``, in seconds since the epoch, is the base of a Retry-After."""
        error = failure.value
        if isinstance(error, HttpError):
            status = error.response.status
            wait = retry_after(error.response, now)
            return FailureVerdict(status in self.codes, f"http-{status}", wait)
        if isinstance(error, IgnoreRequest):
            redirects = "max redirections" in str(error)
            own = getattr(error, "reason", "ignored")  # set by our own middlewares
            return FailureVerdict(again=False, reason="max-redirects" if redirects else own)
        if isinstance(error, _MALFORMED):
            return FailureVerdict(again=False, reason=MALFORMED, unforeseen=True)
        name = type(error).__name__.removesuffix("Error")
        reason = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()
        again = isinstance(error, self.exceptions)
        too_large = isinstance(error, DownloadCancelledError)  # DOWNLOAD_MAXSIZE
        return FailureVerdict(again, reason, unforeseen=not (again or too_large))


def retry_after(response: Response, now: float) -> float | None:
    """Return the seconds of Retry-After (delta or HTTP date), never below 0; None if absent."""
    text = (response.headers.get("Retry-After") or b"").decode("latin-1")
    if match := _RETRY_AFTER_DIGITS.match(text):
        return float(match[1])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (TypeError, ValueError, OverflowError):
        return None
