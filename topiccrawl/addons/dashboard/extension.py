"""Extension that serves the dashboard of a running crawl (TOPICCRAWL_DASHBOARD)."""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured

from topiccrawl.addons.dashboard.address import Address, address_in
from topiccrawl.addons.dashboard.stored import CrawlSource
from topiccrawl.errors import SettingError, StorageError
from topiccrawl.extensions.figures import CrawlFigures

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


logger = logging.getLogger(__name__)


class Dashboard:
    """Serves the dashboard while the crawl runs.

    Args:
        crawler: Crawler of the crawl.
        address: Address to listen on.
    """

    def __init__(self, crawler: Crawler, address: Address) -> None:
        self.crawler = crawler
        self.address = address
        self._open = AsyncExitStack()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the extension.

        Raises:
            NotConfigured: If TOPICCRAWL_DASHBOARD is off.
            SettingError: If TOPICCRAWL_DASHBOARD is not a valid address.
        """
        address = address_in(crawler.settings)
        if address is None:
            raise NotConfigured
        dashboard = cls(crawler, address)
        crawler.signals.connect(dashboard.start, signals.spider_opened)
        crawler.signals.connect(dashboard.stop, signals.spider_closed)
        return dashboard

    async def start(self) -> None:
        """Start the server; after an error, the crawl continues without the dashboard."""
        figures = self.crawler.get_extension(CrawlFigures)
        if figures is None:
            return
        from topiccrawl.addons.dashboard.server import serving

        settings = self.crawler.settings
        control = settings.getbool("TOPICCRAWL_CONTROL")
        try:
            page = serving(settings, self.address, CrawlSource(figures), control=control)
            server = await self._open.enter_async_context(page)
        except (SettingError, StorageError) as error:
            logger.error("The dashboard is not available: %s", error)  # noqa: TRY400 - has the remedy
            return
        logger.info("Dashboard: %s", server.url)

    async def stop(self) -> None:
        """Stop the server."""
        await self._open.aclose()
