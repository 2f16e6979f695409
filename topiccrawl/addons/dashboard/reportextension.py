"""Extension that writes a report when the crawl ends (TOPICCRAWL_REPORT)."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured

from topiccrawl.addons.dashboard.reporting import language_of, write_report
from topiccrawl.errors import TopiccrawlError
from topiccrawl.extensions.figures import CrawlFigures

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class CrawlReport:
    """Writes the report after all components of the crawl are closed.

    Args:
        crawler: Crawler of the crawl.
        path: A file that ends in .html, or a folder; the file is then named after the run's id.
        language: One of ``messages.LANGUAGES``.
    """

    def __init__(self, crawler: Crawler, path: Path, language: str) -> None:
        self.crawler = crawler
        self.path = path
        self.language = language

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the extension.

        Raises:
            NotConfigured: If TOPICCRAWL_REPORT is empty.
            SettingError: If the language is not supported.
        """
        path = str(crawler.settings.get("TOPICCRAWL_REPORT") or "")
        if not path:
            raise NotConfigured
        report = cls(crawler, Path(path), language_of(crawler.settings))
        crawler.signals.connect(report.write, signals.engine_stopped)
        return report

    async def write(self) -> None:
        """Write the report; an error is only logged, as the crawl has ended."""
        figures = self.crawler.get_extension(CrawlFigures)
        if figures is None:
            return
        run = figures.last_run()
        path = self.path
        if path.suffix.lower() != ".html":
            path = path / f"{run['id']}.html"
        settings = self.crawler.settings
        try:
            await write_report(path, settings, topic=run["topic"], language=self.language)
        except TopiccrawlError as error:
            logger.error(  # noqa: TRY400 - it has the remedy
                "The report was not written: %s; once that is repaired: topiccrawl report %s",
                error, path,
            )  # fmt: skip
        else:
            logger.info("Report: %s", path)
