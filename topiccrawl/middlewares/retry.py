"""Retries of requests that do not come from the frontier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.retry import RetryMiddleware
from typing_extensions import override

from topiccrawl.scheduler.meta import lease_number

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response


class DirectRetryMiddleware(RetryMiddleware):
    """Scrapy's middleware for direct requests, such as those of media pipelines.

    The frontier retries all other requests. A spider with Scrapy's own scheduler has direct
    requests only.
    """

    @override
    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        if lease_number(request):
            return response
        return super().process_response(request, response)

    @override
    def process_exception(
        self, request: Request, exception: Exception, spider: Spider | None = None
    ) -> Request | Response | None:
        return None if lease_number(request) else super().process_exception(request, exception)
