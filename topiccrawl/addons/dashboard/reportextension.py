"""A report at the end of the crawl, at the path in TOPICCRAWL_REPORT."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured

from topiccrawl.addons.dashboard.reporting import language_of, written
from topiccrawl.errors import TopiccrawlError
from topiccrawl.extensions.figures import CrawlFigures
from topiccrawl.scheduler.frontiers import frontiers_of
from topiccrawl.storage.factory import closed_after

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class CrawlReport:
    """Writes the report once all parts of the crawl are closed.

    Args:
        crawler: Crawler of the crawl.
        place: A file that ends in .html, or a folder, where the run's id names it.
        language: See ``reporting.LANGUAGES``.
    """

    def __init__(self, crawler: Crawler, place: Path, language: str) -> None:
        self.crawler = crawler
        self.place = place
        self.language = language

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension.

        Raises:
            NotConfigured: If TOPICCRAWL_REPORT is empty.
            SettingError: If there is no such language.
        """
        place = str(crawler.settings.get("TOPICCRAWL_REPORT") or "")
        if not place:
            raise NotConfigured
        report = cls(crawler, Path(place), language_of(crawler.settings))
        crawler.signals.connect(report.write, signals.engine_stopped)
        return report

    async def write(self) -> None:
        """Write it; what goes wrong is logged, the crawl has ended anyway."""
        figures = self.crawler.get_extension(CrawlFigures)
        if figures is None:
            return
        run = figures.last_run()
        path = self.place
        if path.suffix.lower() != ".html":
            path = path / f"{run['id']}.html"
        settings = self.crawler.settings
        try:
            async with closed_after(frontiers_of(settings).runs()) as runs:
                records = await runs.all()
            await written(path, records, settings, topic=run["topic"], language=self.language)
        except TopiccrawlError as error:
            logger.error("No report: %s", error)  # noqa: TRY400 - the remedy is in it
        else:
            logger.info("Report: %s", path)
