"""``scrapy tasks``: make, list, control and remove tasks."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader
from typing_extensions import override

from topiccrawl.addons.tasks.desk import TEMPLATE, Desk, SiteState, TaskState, WorkerState, seeds_in
from topiccrawl.addons.tasks.records import Wish
from topiccrawl.commands.terminal import OperatorCommand, count, say
from topiccrawl.errors import ConfigurationError
from topiccrawl.messages import message, tr
from topiccrawl.scheduler.build import turn_settings
from topiccrawl.scheduler.frontiers import frontiers_of
from topiccrawl.scheduler.review import cause
from topiccrawl.spiders.arguments import refuse_unknown
from topiccrawl.storage.control import parse_speed
from topiccrawl.storage.factory import closed_after

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from scrapy.settings import BaseSettings

_NUMBERS = {"list": 0, "workers": 0, "show": 1, "pause": 1, "resume": 1, "cancel": 1, "remove": 1,
            "speed": 2, "assign": 3}  # fmt: skip
"""Words after each action; ``create`` takes any number of sites."""


class Command(OperatorCommand, ScrapyCommand):
    """Make and steer tasks."""

    usage = (
        "create SITE... --topic TOPIC | create [URL...] --template NAME"
        " | list | show N | pause N | resume N | cancel N"
        " | speed N FACTOR | remove N | workers | assign N SITE WORKER"
    )
    summary = message("Make, list, pause, resume, pace and cancel tasks that workers crawl")
    details = message(
        "A task is a topic with sites, or a template; bounds, an owner. `scrapy work`, on any"
        " number of machines with the same REDIS_URL or in this data folder, crawls for all"
        " tasks there are: one crawler a site, in turns. assign lets a worker take a site"
        ' over; the worker "any" revokes that.'
    )

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add(
            "--topic", metavar="TOPIC", help=tr("create: words, a sentence, a name or a topic file")
        )
        add("--template", metavar="NAME", help=tr("create: name or path of a template, instead"))
        add("--discover", metavar="WHERE", help=tr("create: where a template's seeds are searched"))
        add("--owner", default="", help=tr("create: whose it is"))
        add("--pages", type=count, default=0, help=tr("create: pages after which the task is done"))
        add("--site-pages", type=count, default=0, help=tr("create: pages of each site at most"))
        add("--depth", type=count, default=0, help=tr("create: links from a seed at most"))
        add("--json", action="store_true", help=tr("write JSON"))

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        action, words = (args[0], args[1:]) if args else ("list", [])
        if action != "create" and _NUMBERS.get(action) != len(words):
            raise UsageError
        if action == "create":
            found = self._ask(lambda desk: desk.create(wish_of(words, opts)))
        elif action == "speed":
            factor = parse_speed(words[1])
            found = self._ask(lambda desk: desk.speed(words[0], factor))
        else:
            found = self._ask(lambda desk: getattr(desk, _CALLS.get(action, action))(*words))
        if opts.json:
            say(json.dumps(_plain(found), ensure_ascii=False))
        else:
            say(*lines_of(found, full=action in {"create", "show", "assign"}))

    def _ask(self, question: Callable[[Desk], Any]) -> Any:  # noqa: ANN401 - what the desk gives
        async def asked() -> Any:  # noqa: ANN401
            async with closed_after(frontiers_of(self.options).ledger()) as ledger:
                return await question(Desk(ledger, checker(self.options)))

        return asyncio.run(asked())


_CALLS = {"list": "all"}
_ARGUMENTS = {TEMPLATE: (TEMPLATE, "discover", "chance")}
"""Arguments that a task may give a spider; for a topic its name only."""


def checker(settings: BaseSettings) -> Callable[[Wish], str]:
    """Return a check of wishes, as ``Desk`` has it."""

    def check(wish: Wish) -> str:
        loader = get_spider_loader(settings)
        if wish.spider == "work" or wish.spider not in loader.list():
            raise ConfigurationError(
                "no tasks for spider {spider!r}: a task crawls a topic, or a template",
                spider=wish.spider,
            )
        arguments = {**wish.arguments}
        refuse_unknown(arguments, known=_ARGUMENTS.get(wish.spider, ("topic",)))
        if wish.spider == TEMPLATE and wish.sites:
            arguments["seeds"] = ",".join(seeds_in(wish.sites))
        spider: Any = loader.load(wish.spider)
        if hasattr(spider, "check"):
            spider.check(turn_settings(settings), **arguments)
        return str(spider.owner_of(arguments[TEMPLATE]).slug) if wish.spider == TEMPLATE else ""

    return check


def wish_of(sites: Sequence[str], opts: argparse.Namespace) -> Wish:
    """Return the wish of the command line.

    Raises:
        ConfigurationError: If it names neither a topic nor a template, or both.
    """
    if bool(opts.topic) == bool(opts.template):
        raise ConfigurationError("name what is looked for: --topic TOPIC or --template NAME")
    if opts.topic and opts.discover:
        raise ConfigurationError("--discover is for templates: a topic's task names its sites")
    spider = "topic" if opts.topic else TEMPLATE
    arguments = {spider: opts.topic or opts.template}
    if opts.discover:
        arguments["discover"] = opts.discover
    bounds = opts.pages, opts.site_pages, opts.depth
    return Wish(spider, arguments, tuple(sites), *bounds, opts.owner)


def lines_of(found: TaskState | Sequence[Any] | None, *, full: bool) -> list[str]:
    """Return the lines that show tasks or workers."""
    if found is None:
        return []
    if isinstance(found, TaskState):
        return [_line(found), *(_sites(found) if full else ())]
    if not found:
        return ["none"]
    if isinstance(found[0], WorkerState):
        return [_worker(one) for one in found]
    return [line for one in found for line in (_line(one), *filter(None, map(_tried, one.sites)))]


def _line(state: TaskState) -> str:
    task = state.task
    what = task.arguments.get(task.spider, task.spider)
    speed = "" if state.speed == 1.0 else f", speed {state.speed:g}"
    owner = f"  {task.owner}" if task.owner else ""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(task.created))
    if task.spider == TEMPLATE:
        found = f"template, {state.pages} pages, {state.articles} records new or changed"
    else:
        found = (
            f"{len(state.sites)} sites, {state.pages} pages ({state.relevant} on topic),"
            f" {state.articles} articles"
        )
    return f"{task.id:>4}  {state.state}{speed}  {what}  {found}  {when}{owner}"


def _sites(state: TaskState) -> list[str]:
    lines = [(_site(site), _tried(site)) for site in state.sites]
    return [line for both in lines for line in both if line]


def _site(site: SiteState) -> str:
    worker = f"  at {site.worker}" if site.worker else ""
    reason = f"  ({site.reason})" if site.reason else ""
    chosen = f"  for {site.chosen}" if site.chosen not in {"", site.worker} else ""
    return (
        f"      {site.site:24} {site.state:8} {site.pages:6} pages, {site.relevant} on topic,"
        f" {site.turns} turns, {site.seconds:.0f} s{worker}{chosen}{reason}"
    )


def _tried(site: SiteState) -> str:
    """Return the line that names the URLs a site was begun at, if the first one failed."""
    if not any(site.tried.values()):
        return ""
    fetched = tr("fetched")
    fates = [f"{url} {cause(why) if why else fetched}" for url, why in site.tried.items()]
    return tr("      {site} tried {urls}", site=f"{site.site:24}", urls=", ".join(fates))


def _worker(worker: WorkerState) -> str:
    late = f"  silent for {worker.silent:.0f} s" if worker.silent else ""
    busy = ", ".join(worker.shards) or "idle"
    return f"{worker.name}  {len(worker.shards)} of {worker.slots}: {busy}{late}"


def _plain(found: Any) -> Any:  # noqa: ANN401 - what the desk gives
    if found is None:
        return {}
    return [asdict(one) for one in found] if isinstance(found, list) else asdict(found)
