"""robots.txt for requests that do not come from the frontier."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.utils.httpobj import urlparse_cached
from typing_extensions import override

from topiccrawl.scheduler.meta import lease_number

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser


class DirectRobotsMiddleware(RobotsTxtMiddleware):
    """Scrapy's middleware for direct requests, such as those of media pipelines.

    The frontier obeys robots.txt for all other requests, before it leases them. Requests that wait
    for the robots.txt of a host take turns: Scrapy 2.19 gives the rules to the first one only, and
    sends the others without a check.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @override
    async def robot_parser(self, request: Request) -> RobotParser | None:
        async with self._turns[urlparse_cached(request).netloc]:
            return await super().robot_parser(request)

    @override
    async def process_request(self, request: Request, spider: Spider | None = None) -> None:
        if not lease_number(request):
            await super().process_request(request)
