"""``scrapy crawl`` of Scrapy, with arguments checked first and a meaningful exit status."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.commands.names import strangers
from topiccrawl.errors import ConfigurationError
from topiccrawl.scheduler.checks import check_values
from topiccrawl.scheduler.finish import failed
from topiccrawl.scheduler.hooks import check_hooks

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scrapy import Spider
    from scrapy.crawler import Crawler


logger = logging.getLogger(__name__)


class CrawlCommand(ScrapyCrawl):
    """Run a spider; exit 2 where its arguments are wrong, 1 where the crawl failed."""

    _crawlers: Sequence[Crawler] = ()

    @override
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) == 1:
            self._check(args[0], opts.spargs)
        super().run(args, opts)
        if any(map(_failed, self._crawlers)):
            self.exitcode = 1

    def _check(self, name: str, arguments: dict[str, str]) -> None:
        assert self.crawler_process is not None  # noqa: S101  (Scrapy sets both before run)
        assert self.settings is not None  # noqa: S101
        try:
            spider = self.crawler_process.spider_loader.load(name)
        except KeyError as error:
            msg = f"no spider {name!r}: `scrapy list` shows those that there are"
            raise UsageError(msg, print_help=False) from error
        check = getattr(spider, "check", None)
        try:
            check_values(self.settings)
            if check is not None:
                check_hooks(self.settings)
                check(self.settings, **arguments)
        except ConfigurationError as error:
            raise UsageError(str(error), print_help=False) from error
        for line in strangers(self.settings, os.environ):
            logger.warning("%s", line)

    @override
    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        crawler: Crawler = super()._create_crawler(spidercls)
        self._crawlers = [*self._crawlers, crawler]
        return crawler


def _failed(crawler: Crawler) -> bool:
    try:
        return failed(crawler.stats.get_stats())
    except RuntimeError:  # it never began
        return True
