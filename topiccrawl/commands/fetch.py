"""``scrapy fetch URL`` of Scrapy, with a temporary state, apart from all crawls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.commands.fetch import Command as ScrapyFetch
from typing_extensions import override

from topiccrawl.commands.apart import apart

if TYPE_CHECKING:
    import argparse


class FetchCommand(ScrapyFetch):
    """Scrapy's own, with a state that is deleted."""

    @override
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        with apart(self.settings):
            super().run(args, opts)
