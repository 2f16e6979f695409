"""robots.txt for requests that do not come from the frontier."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.python import to_unicode
from typing_extensions import override

from topiccrawl.links.robots import OWN_BYTES, bounded, memory_of, rules_for
from topiccrawl.scheduler.meta import lease_number

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser

CACHE_BYTES = 16_000_000
"""Estimated memory of parsed files; above it all are removed, and fetched again when needed."""


class DirectRobotsMiddleware(RobotsTxtMiddleware):
    """Scrapy's middleware for direct requests, such as those of media pipelines.

    The frontier obeys robots.txt for all other requests, before it leases them. Requests that wait
    for the robots.txt of a host take turns: Scrapy 2.19 gives the rules to the first one only, and
    sends the others without a check. Files and their number are bounded as in the frontier.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._bytes = 0

    @override
    async def robot_parser(self, request: Request) -> RobotParser | None:
        host = urlparse_cached(request).netloc
        async with self._turns.setdefault(host, asyncio.Lock()):
            if self._bytes > CACHE_BYTES:
                fetched = [name for name in self._parsers if name not in self._turns]
                for name in fetched:
                    del self._parsers[name]
                self._bytes = 0
            if host not in self._parsers:
                self._bytes += OWN_BYTES
            return await super().robot_parser(request)

    @override
    async def _parse_robots(self, response: Response, netloc: str, request: Request) -> None:
        body = bounded(response.body)
        self._bytes += memory_of(body)
        agent = self._robotstxt_useragent or request.headers.get(
            b"User-Agent", self._default_useragent
        )
        rules = rules_for(to_unicode(agent or ""), body.decode())
        await super()._parse_robots(response.replace(body=rules.encode()), netloc, request)

    @override
    async def process_request(self, request: Request, spider: Spider | None = None) -> None:
        if not lease_number(request):
            await super().process_request(request)
