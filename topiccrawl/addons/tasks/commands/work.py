"""``scrapy work``: start a worker; runs the work spider with options."""

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
    """Start a worker."""

    @override
    def syntax(self) -> str:
        return "[options]"

    @override
    def short_desc(self) -> str:
        return tr("Crawl for the tasks that `topiccrawl tasks` creates, until stopped")

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.usage = f"%(prog)s work {self.syntax()}"
        parser.add_argument("--once", action="store_true", help=tr("end when all tasks have ended"))
        parser.add_argument("--sites", type=positive, metavar="N", help=tr("sites crawled at once"))

    @override
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise UsageError(
                tr("unexpected argument {value!r}: a worker crawls for all tasks", value=args[0]),
                print_help=False,
            )
        if opts.once:
            opts.spargs["once"] = "1"
        if opts.sites is not None:
            assert self.settings is not None  # noqa: S101  (Scrapy sets it before run)
            self.settings.set("TOPICCRAWL_WORK_SITES", opts.sites, priority="cmdline")
        super().run(["work", *args], opts)
