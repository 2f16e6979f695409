"""Extension that serves the dashboard of a running crawl (TOPICCRAWL_DASHBOARD)."""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured

from topiccrawl.addons.dashboard.address import Address, address_in
from topiccrawl.errors import SettingError, StorageError
from topiccrawl.extensions.figures import CrawlFigures
from topiccrawl.scheduler.build import frontier_place

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from topiccrawl.addons.dashboard.stored import Stored
    from topiccrawl.storage.contract import Listed
    from topiccrawl.storage.status import State

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

        settings, source = self.crawler.settings, partial(CrawlSource, figures)
        control = settings.getbool("TOPICCRAWL_CONTROL")
        page = serving(settings, self.address, source, self.crawler, control=control)
        try:
            server = await self._open.enter_async_context(page)
        except (SettingError, StorageError) as error:
            logger.error("The dashboard is not available: %s", error)  # noqa: TRY400 - has the remedy
            return
        logger.info("Dashboard: %s", server.url)

    async def stop(self) -> None:
        """Stop the server."""
        await self._open.aclose()


class CrawlSource:
    """Data source of the running crawl; it ignores which crawl is requested.

    Args:
        figures: Figures of the crawl.
        stored: Reader of the stored data of its topic.
    """

    def __init__(self, figures: CrawlFigures, stored: Stored) -> None:
        self._figures = figures
        self._stored = stored

    async def state(self, crawl: str) -> State:  # noqa: ARG002 - there is only one
        """Return all sections."""
        return self._figures.state()

    async def states(self) -> list[State]:
        """Return the state of the crawl."""
        return [self._figures.state()]

    async def articles(
        self,
        crawl: str,  # noqa: ARG002
        offset: int,
        limit: int,
    ) -> tuple[int, list[Listed]]:
        """Return the number of stored articles and a page of them, last stored first."""
        return await self._stored.articles(self._figures.name, offset, limit)

    async def more(self, crawl: str) -> State:  # noqa: ARG002
        """Return the sections that change slowly."""
        crawler = self._figures.crawler
        place = frontier_place(crawler.settings, crawler.spider)
        return await self._stored.more(self._figures.name, place)
