"""Tests of the outcomes of failed requests."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from scrapy import Request
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import DownloadCancelledError, DownloadTimeoutError, IgnoreRequest
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.test import get_crawler
from twisted.python.failure import Failure as TwistedFailure

from topiccrawl.scheduler.downloads import MALFORMED, FailureRules, FailureVerdict, retry_after

NOW = 1_700_000_000.0


def failure(error: Exception) -> TwistedFailure:
    return TwistedFailure(error)  # type: ignore[no-untyped-call]


def http_error(status: int, **headers: str) -> TwistedFailure:
    response = Response("http://a.test/", status, headers, request=Request("http://a.test/"))
    return failure(HttpError(response, "not wanted"))


@pytest.mark.parametrize(
    ("status", "retried"), [(404, False), (410, False), (503, True), (429, True)]
)
def test_status_decides_whether_a_request_is_retried(status: int, retried: bool) -> None:  # noqa: FBT001
    verdict = FailureRules(Settings()).classify(http_error(status), NOW)
    assert (verdict.retry, verdict.reason) == (retried, f"http-{status}")


def test_nothing_is_retried_when_retry_is_disabled() -> None:
    rules = FailureRules(Settings({"RETRY_ENABLED": False}))
    assert not rules.classify(http_error(503), NOW).retry
    assert not rules.classify(failure(DownloadTimeoutError()), NOW).retry


@pytest.mark.parametrize("times", ["1", "1.0", 1.5])
def test_retry_times_may_be_a_fraction(times: str | float) -> None:
    rules, request = FailureRules(Settings({"RETRY_TIMES": times})), Request("http://a.test/")
    assert [rules.may_retry(request, failures) for failures in (0, 1)] == [True, False]


def test_exceptions_have_readable_reasons() -> None:
    rules = FailureRules(Settings())
    timeout = rules.classify(failure(DownloadTimeoutError()), NOW)
    assert timeout == FailureVerdict(retry=True, reason="download-timeout")
    bug = rules.classify(failure(ZeroDivisionError()), NOW)
    assert bug == FailureVerdict(retry=False, reason="zero-division", unexpected=True)
    large = rules.classify(failure(DownloadCancelledError("larger than download max size")), NOW)
    assert large == FailureVerdict(retry=False, reason="download-cancelled")
    redirects = failure(IgnoreRequest("max redirections reached"))
    assert rules.classify(redirects, NOW).reason == "max-redirects"
    assert rules.classify(failure(IgnoreRequest("other")), NOW).reason == "ignored"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_body_that_cannot_be_decompressed_is_malformed(encoding: str) -> None:
    middleware = HttpCompressionMiddleware.from_crawler(get_crawler())
    response = Response("http://a.test/", headers={"Content-Encoding": encoding}, body=b"<p>plain")
    with pytest.raises(Exception) as caught:  # noqa: PT011 - each decoder has its own
        middleware.process_response(Request("http://a.test/"), response)
    verdict = FailureRules(Settings()).classify(failure(caught.value), NOW)
    assert verdict.reason == MALFORMED


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7.0), (" 120 ", 120.0), ("soon", None), ("", None), ("-3", None), ("9" * 12, None)],
)
def test_retry_after_in_seconds(header: str, seconds: float | None) -> None:
    response = Response("http://a.test/", 503, {"Retry-After": header})
    assert retry_after(response, NOW) == seconds


def test_retry_after_as_date_is_never_negative() -> None:
    def header(at: float) -> Response:
        text = format_datetime(datetime.fromtimestamp(at, UTC), usegmt=True)
        return Response("http://a.test/", 503, {"Retry-After": text})

    assert retry_after(header(NOW + 90), NOW) == 90
    assert retry_after(header(NOW - 90), NOW) == 0
    assert retry_after(header(time.time()), NOW) is not None
