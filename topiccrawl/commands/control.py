"""``scrapy control``: pause, resume, cancel or pace a running crawl, here or on other nodes."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.commands.terminal import OperatorCommand, add_topic_option, say
from topiccrawl.errors import StateError
from topiccrawl.messages import localize, message, tr
from topiccrawl.scheduler.frontiers import frontiers_of
from topiccrawl.scheduler.hooks import spider_class
from topiccrawl.storage.factory import closed_after
from topiccrawl.storage.ledger import Control, CrawlOrder
from topiccrawl.topics.topic import Topic, resolve

if TYPE_CHECKING:
    import argparse


class ControlCommand(OperatorCommand, ScrapyCommand):
    """Control a running crawl."""

    usage = "show|pause|resume|cancel|speed FACTOR|add URL... [--topic TOPIC | --template NAME]"
    summary = message("Pause, resume, cancel or pace a running crawl")
    details = message(
        "Controls the crawl of a topic (default: the last crawl): with REDIS_URL on all of its"
        " nodes, otherwise in this data folder. speed 2 halves the delays between requests to a"
        " host, speed 0.5 doubles them; the crawl-delay of robots.txt is kept. add enqueues"
        " start URLs; a crawl that is not running takes them at its next start."
    )

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add_topic_option(parser)
        parser.add_argument("--template", metavar="NAME", help=tr("crawl of a template"))

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        match args:
            case ["show" | "pause" | "resume" | "cancel"] | ["speed", _] | ["add", _, *_]:
                action, *words = args
            case _:
                raise UsageError
        if opts.topic and opts.template:
            raise UsageError(tr("use --topic or --template, not both"), print_help=False)
        if opts.template and action == "add":
            raise UsageError(tr("template crawls accept no added start URLs"), print_help=False)
        name = self._name(opts)
        if opts.topic:
            self._warn_if_unknown(opts.topic)
        order = asyncio.run(self.steer(action, name, *words))
        say(tr("{name}: cancelled", name=name) if action == "cancel" else order_line(name, order))

    def _warn_if_unknown(self, topic: str) -> None:
        """Print a warning if no crawl for the topic has begun: its name may be mistyped."""
        try:
            self.last_crawl(topic)
        except StateError as error:
            say(tr("warning: {text}", text=localize(error)), to=sys.stderr)

    def _name(self, opts: argparse.Namespace) -> str:
        """Return the name of the selected crawl."""
        if opts.template:
            spider = spider_class(self.options, "template")
            return str(spider.crawl_of(self.options, opts.template))
        if named := self.options["TOPICCRAWL_CRAWL"]:
            return str(named)
        if opts.topic:
            return resolve(opts.topic).slug
        name = self.last_crawl(None).topic
        return Topic(name=name, terms={name: 1.0}).slug

    async def steer(self, action: str, name: str, *words: str) -> CrawlOrder:
        """Store a command; return the state in force afterwards."""
        async with closed_after(frontiers_of(self.options).ledger()) as ledger:
            control = Control(ledger)
            if action == "add":
                return await control.add(name, words)
            step = control.order if action == "show" else getattr(control, action)
            order: CrawlOrder = await step(name, *words)
            return order


def order_line(name: str, order: CrawlOrder) -> str:
    """Return the line that describes the state in force for a crawl.

    >>> from topiccrawl.storage.ledger import CrawlOrder
    >>> order_line("nev", CrawlOrder(speed=0.5))
    'nev: not paused, speed 0.5'
    """
    state = tr("paused") if order.paused else tr("not paused")
    pending = tr(", {number} start URLs pending", number=len(order.urls)) if order.urls else ""
    return (
        tr("{name}: {state}, speed {speed:g}", name=name, state=state, speed=order.speed) + pending
    )
