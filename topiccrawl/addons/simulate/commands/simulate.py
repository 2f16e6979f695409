"""``scrapy simulate``: compare strategies on recorded crawls, without network access."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.commands.terminal import OperatorCommand, positive, say
from topiccrawl.links.strategies import NAMES
from topiccrawl.messages import NameList, message, tr


class Command(OperatorCommand, ScrapyCommand):
    """Replay recorded crawls with several strategies."""

    usage = "[options] <collection.web.jsonl.gz> [more collections]"
    summary = message(
        "Replay a recorded crawl without network, to compare how soon strategies find a topic"
    )

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        several: dict[str, Any] = {"action": "append"}
        number: dict[str, Any] = {"type": positive, "metavar": "N"}
        text = tr("topic as for a crawl, or a topic of --truth; may be repeated")
        add("--topic", **several, default=[], metavar="TOPIC", help=text)
        text = tr(
            "file with topics and labels of their relevant pages, one per collection, in the same "
            "order (NAME.topics.json in the same folder; with --topic alone, pages are judged by "
            "the topic itself)"
        )
        add("--truth", **several, type=Path, metavar="TOPICS.json", help=text)
        text = tr("start URLs (default: the topic's)")
        add("--seeds", default="", metavar="URL,URL", help=text)
        text = tr(
            "{names}, or the dotted path of a custom one; may be repeated", names=NameList(NAMES)
        )
        add("--strategy", **several, metavar="NAME", help=text)
        text = tr("repeat with N - 1 other sets of start pages, sampled from relevant pages (1)")
        add("--seed-sets", **number, default=1, help=text)
        add("--processes", **number, default=1, help=tr("replay in N processes (1)"))
        add("--budget", **number, help=tr("number of pages to fetch (half of the reachable ones)"))
        add("--batch", **number, default=8, help=tr("concurrent requests (8)"))
        add("--plot", type=Path, help=argparse.SUPPRESS)
        add("--html", type=Path, metavar="FILE.html", help=tr("write curves and tables as HTML"))
        add("--json", type=Path, metavar="FILE", help=tr("write the figures as JSON"))
        text = tr("write area and fetched pages in order, one line per topic and strategy")
        add("--order", type=Path, metavar="FILE.jsonl", help=text)
        text = tr("continue an interrupted run: use the replays in the file of --order")
        add("--resume", action="store_true", help=text)

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise UsageError
        if opts.plot:
            opts.html = opts.html or opts.plot.parent / f"{opts.plot.stem}.html"
            say(tr("--plot is deprecated: {path} has the curves", path=opts.html), to=sys.stderr)
        from topiccrawl.addons.simulate.session import simulate

        simulate(self.options, opts, list(map(Path, args)))
