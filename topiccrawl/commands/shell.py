"""``scrapy shell URL`` of Scrapy, with a temporary state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.commands.shell import Command as ScrapyShell
from typing_extensions import override

from topiccrawl.commands.isolation import IsolatedCommand, has_addon

if TYPE_CHECKING:
    import argparse

_SCHEDULER = "scrapy.core.scheduler.Scheduler"


class ShellCommand(IsolatedCommand, ScrapyShell):
    """Scrapy's command with a temporary state, for local files and servers as well.

    The shell waits for the result of each request. The frontier reports none for a URL that it
    refuses, so the shell uses Scrapy's scheduler.
    """

    @override
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run Scrapy's command."""
        if has_addon(self.settings):
            self.settings.set("SCHEDULER", _SCHEDULER, priority="cmdline")
            self.settings.set("TOPICCRAWL_PRIVATE_ADDRESSES", value=True, priority="cmdline")
            file_handler = self.settings["DOWNLOAD_HANDLERS_BASE"]["file"]
            self.settings["DOWNLOAD_HANDLERS"].set("file", file_handler, priority="cmdline")
        super().run(args, opts)
