"""``scrapy report``: write a report of a crawl."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.addons.dashboard.reporting import language_of, write_report
from topiccrawl.commands.terminal import OperatorCommand, add_topic_option, say
from topiccrawl.messages import LANGUAGES, message, tr
from topiccrawl.topics.topic import resolve

if TYPE_CHECKING:
    import argparse


class Command(OperatorCommand, ScrapyCommand):
    """Write a report of a crawl."""

    usage = "[options] [FILE.html]"
    summary = message("Write one self-contained HTML page about a crawl, also while it runs")
    details = message(
        "Contains harvest curve, sites, articles, duplicates, errors by reason and topic changes "
        "of the last crawl, or of the last one for --topic. Nodes that share a Redis are one "
        "crawl. The default FILE is report.html. TOPICCRAWL_REPORT writes a report when a crawl "
        "ends."
    )

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add_topic_option(parser)
        parser.add_argument("--language", choices=LANGUAGES, default="", help=tr("language"))

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) > 1:
            raise UsageError
        language = opts.language or language_of(self.options)
        path = Path(args[0] if args else "report.html")
        topic = resolve(opts.topic).name if opts.topic else ""
        asyncio.run(write_report(path, self.options, topic=topic, language=language))
        say(str(path))
