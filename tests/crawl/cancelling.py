"""A spider and a pipeline that raise asyncio.CancelledError, as by awaiting a cancelled task."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy import Spider
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy import Request
    from scrapy.http import Response


class CancellingPipeline:
    """Raises CancelledError for the items of one page."""

    async def process_item(self, item: dict[str, str]) -> dict[str, str]:
        """Return the item after a short wait."""
        await asyncio.sleep(0.01)
        if item["url"].endswith("/pipeline"):
            raise asyncio.CancelledError
        return item


class CancellingSpider(Spider):
    """Yields the URL of each page; raises CancelledError on one page."""

    name = "cancelling"
    start_urls = ["http://news.test/"]  # noqa: RUF012
    custom_settings = {  # noqa: RUF012
        "ITEM_PIPELINES": {"tests.crawl.cancelling.CancellingPipeline": 1}
    }

    @override
    async def parse(self, response: Response) -> AsyncIterator[dict[str, Any] | Request]:
        if response.url.endswith("/callback"):
            raise asyncio.CancelledError
        yield {"url": response.url}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)
