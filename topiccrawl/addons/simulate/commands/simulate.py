"""``scrapy simulate``: strategies side by side on recorded crawls, without network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.commands.terminal import OperatorCommand, positive
from topiccrawl.links.strategies import NAMES
from topiccrawl.messages import message, tr

if TYPE_CHECKING:
    import argparse


class Command(OperatorCommand, ScrapyCommand):
    """Replay recorded crawls with several strategies."""

    usage = "[options] <collection.web.jsonl.gz> [more collections]"
    summary = message(
        "Replay a recorded crawl without network: how soon do strategies find a topic?"
    )

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        several: dict[str, Any] = {"action": "append"}
        number: dict[str, Any] = {"type": positive, "metavar": "N"}
        text = tr("topic as for a crawl, or a name in --truth; may be repeated")
        add("--topic", **several, default=[], metavar="TOPIC", help=text)
        text = tr(
            "topics and the labels of their pages, one file for each collection in turn (of "
            "several without it: the NAME.topics.json beside each); else the topic's own "
            "verdict counts"
        )
        add("--truth", **several, type=Path, metavar="TOPICS.json", help=text)
        text = tr("where to begin, if not at the topic's")
        add("--seeds", default="", metavar="URL,URL", help=text)
        text = tr(
            "{names}, or the dotted path of your own; may be repeated", names=", ".join(NAMES)
        )
        add("--strategy", **several, metavar="NAME", help=text)
        text = tr("repeat with N - 1 other sets of start pages, drawn from relevant pages (1)")
        add("--seed-sets", **number, default=1, help=text)
        add("--processes", **number, default=1, help=tr("replay in N processes (1)"))
        add("--budget", **number, help=tr("pages fetched (half of the reachable ones)"))
        add("--batch", **number, default=8, help=tr("requests in flight (8)"))
        add("--plot", type=Path, metavar="FILE.png", help=tr("draw the curves (extra: plot)"))
        add("--html", type=Path, metavar="FILE.html", help=tr("write curves and tables as a page"))
        add("--json", type=Path, metavar="FILE", help=tr("write the figures"))
        text = tr("write area and fetched pages in their order, a line for each topic and strategy")
        add("--order", type=Path, metavar="FILE.jsonl", help=text)

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args or (len(args) == 1 and not (opts.topic or opts.truth)):
            raise UsageError
        from topiccrawl.addons.simulate.session import Session

        Session(self.options, opts).run(list(map(Path, args)))
