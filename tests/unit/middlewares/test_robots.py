"""Tests of the limits of robots.txt files of direct requests."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from topiccrawl.middlewares import robots

if TYPE_CHECKING:
    import pytest

RULES = "".join(f"Disallow: /{number}/\n" for number in range(100))


class Engine:
    """Engine that answers each request with the same robots.txt and counts requests."""

    def __init__(self, text: str) -> None:
        self.text, self.asked = text, 0

    async def download_async(self, request: Request) -> Response:
        self.asked += 1
        await asyncio.sleep(0)
        return Response(request.url, body=self.text.encode())


async def fetch(middleware: robots.DirectRobotsMiddleware, url: str) -> bool:
    try:
        await middleware.process_request(Request(url))
    except IgnoreRequest:
        return False
    return True


def test_parsed_files_of_direct_requests_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots, "CACHE_BYTES", 400_000)
    crawler = get_crawler(settings_dict={"ROBOTSTXT_OBEY": True})
    engine = Engine("User-agent: *\n" + RULES)
    crawler.engine = engine  # type: ignore[assignment]
    middleware = robots.DirectRobotsMiddleware(crawler)

    async def run() -> None:
        urls = [f"http://a{number}.test/{path}/" for number in range(40) for path in (1, "x")]
        found = await asyncio.gather(*(fetch(middleware, url) for url in urls))
        assert found == [False, True] * 40
        assert engine.asked == 40
        for number in range(100, 140):
            assert not await fetch(middleware, f"http://a{number}.test/1/")

    asyncio.run(run())
    assert len(middleware._parsers) < 20
    assert not middleware._turns
