"""``scrapy work``: a worker for all tasks; the work spider with options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.commands.crawl import CrawlCommand
from topiccrawl.commands.terminal import positive
from topiccrawl.messages import tr

if TYPE_CHECKING:
    import argparse


class Command(CrawlCommand):
    """Serve tasks."""

    @override
    def syntax(self) -> str:
        return "[options]"

    @override
    def short_desc(self) -> str:
        return tr("Crawl for the tasks that `scrapy tasks` makes, until stopped")

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--once", action="store_true", help=tr("end when no task is left"))
        parser.add_argument("--sites", type=positive, metavar="N", help=tr("sites crawled at once"))

    @override
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise UsageError(
                tr("{value!r}: a worker serves all tasks there are", value=args[0]),
                print_help=False,
            )
        if opts.once:
            opts.spargs["once"] = "1"
        if opts.sites is not None:
            assert self.settings is not None  # noqa: S101  (Scrapy sets it before run)
            self.settings.set("TOPICCRAWL_WORK_SITES", opts.sites, priority="cmdline")
        super().run(["work", *args], opts)
