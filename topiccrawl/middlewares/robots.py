"""robots.txt for requests that do not come from the frontier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from typing_extensions import override

from topiccrawl.scheduler.meta import lease_number

if TYPE_CHECKING:
    from scrapy import Request, Spider


class DirectRobotsMiddleware(RobotsTxtMiddleware):
    """Scrapy's middleware for direct requests, such as those of media pipelines.

    The frontier obeys robots.txt for all other requests, before it leases them.
    """

    @override
    async def process_request(self, request: Request, spider: Spider | None = None) -> None:
        if not lease_number(request):
            await super().process_request(request)
