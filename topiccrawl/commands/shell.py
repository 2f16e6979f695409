"""``scrapy shell URL`` of Scrapy, with a temporary state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.commands.shell import Command as ScrapyShell
from scrapy.utils.spider import DefaultSpider
from typing_extensions import override

from topiccrawl.commands.isolation import IsolatedCommand, has_addon

if TYPE_CHECKING:
    import argparse

    from scrapy import Spider

_SCHEDULER = "scrapy.core.scheduler.Scheduler"


class ShellCommand(IsolatedCommand, ScrapyShell):
    """Scrapy's command with a temporary state, for local files and servers as well.

    The shell waits for the result of each request. The frontier reports none for a URL that it
    refuses, so the shell uses Scrapy's scheduler. Spiders that need it, and arguments such as a
    topic, give their settings only.
    """

    @override
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run Scrapy's command."""
        if has_addon(self.settings):
            self.settings.set("SCHEDULER", _SCHEDULER, priority="cmdline")
            self.settings.set("TOPICCRAWL_PRIVATE_ADDRESSES", value=True, priority="cmdline")
            file_handler = self.settings["DOWNLOAD_HANDLERS_BASE"]["file"]
            self.settings["DOWNLOAD_HANDLERS"].set("file", file_handler, priority="cmdline")
            process: Any = self.crawler_process
            create = process._create_crawler  # noqa: SLF001  (Scrapy's shell calls it)
            process._create_crawler = lambda spider: create(_simple(spider))  # noqa: SLF001
        super().run(args, opts)


def _simple(spider: type[Spider]) -> type[Spider]:
    """Return a spider without arguments in place of one that checks its own."""
    if not hasattr(spider, "check_arguments"):
        return spider
    return type("Simple", (DefaultSpider,), {"custom_settings": spider.custom_settings})
