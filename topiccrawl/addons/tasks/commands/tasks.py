"""``scrapy tasks``: create, list, control and remove tasks."""

from __future__ import annotations

import asyncio
import time
from itertools import chain
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings, Settings
from scrapy.spiderloader import get_spider_loader
from typing_extensions import override

from topiccrawl.addons.tasks.records import TaskSpec
from topiccrawl.addons.tasks.service import (
    TEMPLATE,
    SiteState,
    TaskService,
    TaskState,
    WorkerState,
    seed_urls,
    to_json,
)
from topiccrawl.commands.terminal import OperatorCommand, count, say
from topiccrawl.errors import ConfigurationError
from topiccrawl.messages import NameList, message, padded, tr
from topiccrawl.scheduler.frontiers import frontiers_of
from topiccrawl.scheduler.review import cause
from topiccrawl.spiders.arguments import refuse_unknown
from topiccrawl.storage.factory import closed_after
from topiccrawl.storage.ledger import parse_speed

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

_COUNTS = {"list": 0, "workers": 0, "show": 1, "pause": 1, "resume": 1, "cancel": 1, "remove": 1,
            "speed": 2, "assign": 3}  # fmt: skip
"""Number of arguments of each action; ``create`` takes any number of sites."""


class Command(OperatorCommand, ScrapyCommand):
    """Create and control tasks."""

    usage = (
        "create SITE... --topic TOPIC | create [URL...] --template NAME"
        " | list | show N | pause N | resume N | cancel N"
        " | speed N FACTOR | remove N | workers | assign N SITE WORKER"
    )
    summary = message("Create, list, pause, resume, pace and cancel tasks that workers crawl")
    details = message(
        "A task is a topic with sites, or a template; it can have limits and an owner. Workers"
        " (`topiccrawl work`) crawl for all tasks, on any number of machines with the same"
        " REDIS_URL or with this data folder. A site is crawled for one task at a time, in turns."
        ' assign gives a site to a worker; the worker "any" revokes that.'
    )

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add(
            "--topic", metavar="TOPIC", help=tr("create: words, a sentence, a name or a topic file")
        )
        add("--template", metavar="NAME", help=tr("create: name or path of a template"))
        add("--discover", metavar="WHERE", help=tr("create: seed providers of a template"))
        add("--owner", default="", help=tr("create: owner of the task"))
        add("--pages", type=count, default=0, help=tr("create: maximum pages of the task"))
        add("--site-pages", type=count, default=0, help=tr("create: maximum pages of each site"))
        add("--depth", type=count, default=0, help=tr("create: maximum links from a seed"))
        add("--json", action="store_true", help=tr("write JSON"))

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        action, words = (args[0], args[1:]) if args else ("list", [])
        given: Sequence[Any] = words
        if action == "create":
            given = [spec_of(words, opts)]
        elif _COUNTS.get(action) != len(words):
            raise UsageError
        elif action == "speed":
            given = [words[0], parse_speed(words[1])]
        result = asyncio.run(self._call("all" if action == "list" else action, *given))
        if opts.json:
            say(to_json(result))
        else:
            say(*lines_of(result, full=action in {"create", "show", "assign"}))

    async def _call(self, method: str, *given: Any) -> Any:  # noqa: ANN401 - its result
        async with closed_after(frontiers_of(self.options).ledger()) as ledger:
            return await getattr(TaskService(ledger, checker(self.options)), method)(*given)


_SPIDER_ARGUMENTS = {TEMPLATE: (TEMPLATE, "discover", "chance")}
"""Arguments that a task may pass to a spider; other spiders take ``topic`` only."""


def checker(settings: BaseSettings) -> Callable[[TaskSpec], str]:
    """Return a function that checks specifications, for ``TaskService``."""

    def check(spec: TaskSpec) -> str:
        loader = get_spider_loader(settings)
        if spec.spider == "work" or spec.spider not in loader.list():
            raise ConfigurationError(
                "spider {spider!r} cannot run tasks: use the spider of a topic or a template",
                spider=spec.spider,
            )
        arguments = {**spec.arguments}
        refuse_unknown(arguments, known=_SPIDER_ARGUMENTS.get(spec.spider, ("topic",)))
        if spec.spider == TEMPLATE and spec.sites:
            arguments["seeds"] = ",".join(seed_urls(spec.sites))
        spider: Any = loader.load(spec.spider)
        if hasattr(spider, "check_arguments"):
            turn = Settings(settings)  # no other process crawls the site during a turn
            turn.set("TOPICCRAWL_TURN", value=True, priority="cmdline")
            spider.check_arguments(turn, **arguments)
        return str(spider.owner_of(arguments[TEMPLATE]).slug) if spec.spider == TEMPLATE else ""

    return check


def spec_of(sites: Sequence[str], opts: argparse.Namespace) -> TaskSpec:
    """Return the task specification of the command line.

    Raises:
        ConfigurationError: If it names neither a topic nor a template, or both.
    """
    if bool(opts.topic) == bool(opts.template):
        raise ConfigurationError("give either --topic TOPIC or --template NAME")
    if opts.topic and opts.discover:
        raise ConfigurationError("--discover needs --template: list the sites of a topic's task")
    spider = "topic" if opts.topic else TEMPLATE
    arguments = {spider: opts.topic or opts.template}
    if opts.discover:
        arguments["discover"] = opts.discover
    bounds = opts.pages, opts.site_pages, opts.depth
    return TaskSpec(spider, arguments, tuple(sites), *bounds, opts.owner)


def lines_of(found: TaskState | Sequence[Any] | None, *, full: bool) -> list[str]:
    """Format tasks or workers as lines."""
    if found is None:
        return []
    if isinstance(found, TaskState):
        sites = ((_site_line(site), _tried_line(site)) for site in found.sites if full)
        return [_task_line(found), *filter(None, chain.from_iterable(sites))]
    if not found:
        return [tr("none")]
    if isinstance(found[0], WorkerState):
        return [_worker_line(worker) for worker in found]
    lines = ((_task_line(task), *map(_tried_line, task.sites)) for task in found)
    return list(filter(None, chain.from_iterable(lines)))


_STATES = (
    message("waiting"), message("running"), message("paused"), message("cancelled"),
    message("finished"), message("failed"), message("done"),
)  # fmt: skip
"""States of tasks and sites, as shown in lists."""


def _task_line(state: TaskState) -> str:
    task = state.task
    subject = task.arguments.get(task.spider, task.spider)
    speed = "" if state.speed == 1.0 else tr(", speed {speed:g}", speed=state.speed)
    owner = f"  {task.owner}" if task.owner else ""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(task.created))
    if task.spider == TEMPLATE:
        found = tr(
            "template, {pages} pages, {records} records new or changed",
            pages=state.pages, records=state.articles,
        )  # fmt: skip
    else:
        found = tr(
            "{sites} sites, {pages} pages ({relevant} on topic), {articles} articles",
            sites=len(state.sites), pages=state.pages, relevant=state.relevant,
            articles=state.articles,
        )  # fmt: skip
    return f"{task.id:>4}  {tr(state.state)}{speed}  {subject}  {found}  {when}{owner}"


def _site_line(site: SiteState) -> str:
    worker = tr("  at {worker}", worker=site.worker) if site.worker else ""
    reason = f"  ({site.reason})" if site.reason else ""
    has_other = site.chosen not in {"", site.worker}
    chosen = tr("  for {worker}", worker=site.chosen) if has_other else ""
    counts = tr(
        "{pages:6} pages, {relevant} on topic, {turns} turns, {seconds:.0f} s",
        pages=site.pages, relevant=site.relevant, turns=site.turns, seconds=site.seconds,
    )  # fmt: skip
    return f"      {site.site:24} {padded(site.state, 8)} {counts}{worker}{chosen}{reason}"


def _tried_line(site: SiteState) -> str:
    """Return a line with the guessed start URLs of a site, or "" if the first one was fetched."""
    if not any(site.tried.values()):
        return ""
    fetched = tr("fetched")
    results = [f"{url} {cause(why) if why else fetched}" for url, why in site.tried.items()]
    return tr("      {site} tried {urls}", site=f"{site.site:24}", urls=NameList(results))


def _worker_line(worker: WorkerState) -> str:
    late = tr("  silent for {seconds:.0f} s", seconds=worker.silent) if worker.silent else ""
    busy = NameList(worker.shards) or tr("idle")
    text = message("{name}  {number} of {slots}: {busy}{late}")
    return tr(
        text, name=worker.name, number=len(worker.shards), slots=worker.slots, busy=busy, late=late
    )
