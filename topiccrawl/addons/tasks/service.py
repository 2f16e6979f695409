"""Operations on tasks for operators: create, list, control and remove."""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from topiccrawl.addons.tasks.records import Shard, State, Task, TaskSpec
from topiccrawl.addons.tasks.snapshot import Snapshot
from topiccrawl.errors import ConfigurationError, StateError
from topiccrawl.links.urls import canonical, site_of
from topiccrawl.storage.ledger import ORDERS, Control, CrawlOrder, Key, Ledger
from topiccrawl.text.normal import clean
from topiccrawl.topics.topic import named_file

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    Sites = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]

TEMPLATE = "template"
"""Name of the spider, name of its argument, and prefix of its shards' sites."""
ANY = "any"
"""Revokes an assignment when given in place of a worker's name."""
_LAST_ID: Key = ("counters", "task")
"""Row with the id of the newest task."""
_HOST = re.compile(r"[\w-]+(\.[\w-]+)*")
_USER = re.compile(r"^((?:\w+:)?/+)?[^/?#]*@")
"""User and password of a URL: crawls do not send them."""


@dataclass(frozen=True, slots=True)
class SiteState:
    """State of a shard as shown to users: its ``Shard`` fields and the worker that crawls it.

    Attributes:
        site: Registrable domain.
        state: waiting, running, done or failed.
        worker: Worker that crawls it now, or "".
        pages: Number of parsed pages.
        relevant: Number of pages on topic.
        articles: Number of new articles.
        seconds: Total duration of its turns.
        turns: Number of its turns.
        reason: Reason for the end of its last turn.
        crawl: Name of its frontier, for ``scrapy frontier`` and ``why`` (-s TOPICCRAWL_CRAWL=...).
        tried: Guessed start URLs, as in ``Shard``.
        chosen: Worker that the operator assigned to it, or "".
    """

    site: str
    state: str
    worker: str
    pages: int
    relevant: int
    articles: int
    seconds: float
    turns: int
    reason: str
    crawl: str
    tried: Mapping[str, str]
    chosen: str


@dataclass(frozen=True, slots=True)
class TaskState:
    """State of a task as shown to users.

    Attributes:
        task: The task as created.
        state: waiting, running, paused, cancelled, finished, or failed (all its sites failed).
        speed: See ``CrawlOrder.speed``.
        pages: Number of parsed pages of all its sites.
        relevant: Number of pages on topic.
        articles: Number of new articles.
        sites: States of its shards.
    """

    task: Task
    state: str
    speed: float
    pages: int
    relevant: int
    articles: int
    sites: tuple[SiteState, ...]


@dataclass(frozen=True, slots=True)
class WorkerState:
    """State of a worker as shown to users.

    Attributes:
        name: Name of the worker.
        host: Name of its machine.
        pid: Process ID on that machine.
        slots: Number of sites it can crawl at once.
        shards: Shards that it crawls now.
        silent: Seconds since its registration expired; 0 for a live worker.
    """

    name: str
    host: str
    pid: int
    slots: int
    shards: tuple[str, ...]
    silent: float


class TaskService:
    """Create, list, control and remove tasks. All methods may raise StorageAwayError.

    Args:
        ledger: Ledger that stores all rows.
        check: Raises ConfigurationError for a spec that no spider accepts. Returns the slug of the
            spec's template, or "" if the spec lists sites. It runs in a thread, one call at a
            time, so that it does not block the event loop of a crawl.
    """

    def __init__(self, ledger: Ledger, check: Callable[[TaskSpec], str] = lambda _wish: "") -> None:
        self._ledger = ledger
        self._check = check
        self._checking = asyncio.Lock()
        self._control = Control(ledger)

    async def create(self, spec: TaskSpec) -> TaskState:
        """Create a task.

        Raises:
            ConfigurationError: If a site or argument is invalid.
        """
        for text in (*spec.arguments.values(), spec.owner):
            if text != clean(text):
                raise ConfigurationError("{text!r} is not valid UTF-8", text=text)
        spec = replace(spec, sites=tuple(_USER.sub(r"\1", one.strip()) for one in spec.sites))
        async with self._checking:
            sites = await asyncio.to_thread(lambda: shards_of(spec, self._check(spec)))
            named = await asyncio.to_thread(named_file, spec.arguments.get("topic", "")) is not None
        while True:
            now = await self._ledger.now()
            last = await self._ledger.get(*_LAST_ID)
            number = str(int(last or 0) + 1)
            task = Task(**asdict(spec), id=number, created=now, named=named)
            shards = [
                Shard(number, site, seeds, hosts, served=now)
                for site, (seeds, hosts) in sites.items()
            ]
            rows: dict[Key, str | None] = {_LAST_ID: number, Task.key(number): task.text()}
            rows |= {Shard.key(shard.name): shard.text() for shard in shards}
            if await self._ledger.swap({_LAST_ID: last}, rows):
                return await self.show(number)

    async def count(self) -> int:
        """Return the number of tasks."""
        return len((await self._ledger.read(Task.kind))[Task.kind])

    async def snapshot(self) -> Snapshot:
        """Return a snapshot of all rows."""
        return await Snapshot.read(self._ledger)

    async def all(self) -> list[TaskState]:
        """Return all tasks, oldest first."""
        snapshot = await self.snapshot()
        return [state_of(snapshot, task) for task in sorted(snapshot.tasks, key=int)]

    async def show(self, task: str) -> TaskState:
        """Return one task.

        Raises:
            StateError: If the task does not exist.
        """
        return state_of(await self._snapshot_with(task), task)

    async def workers(self) -> list[WorkerState]:
        """Return all workers."""
        snapshot = await self.snapshot()
        shards = defaultdict(list)
        for turn in snapshot.turns.values():
            shards[turn.worker].append(turn.shard)
        return [
            WorkerState(
                name, worker.host, worker.pid, worker.slots, tuple(sorted(shards[name])),
                silent=max(0.0, snapshot.now - worker.expires),
            )
            for name, worker in sorted(snapshot.workers.items())
        ]  # fmt: skip

    async def pause(self, task: str) -> TaskState:
        """Stop fetching for a task; its sites are free for other tasks until it is resumed."""
        return await self._send_order(task, self._control.pause)

    async def resume(self, task: str) -> TaskState:
        """Resume a task and retry its failed sites."""
        while True:
            snapshot = await self.snapshot()
            retried: dict[Key, Shard] = {
                Shard.key(shard.name): replace(
                    shard, state=State.WAITING, failures=0, not_before=0.0
                )
                for shard in snapshot.shards_of(task)
                if shard.state == State.FAILED
            }
            if await snapshot.swap(self._ledger, retried):
                break
        return await self._send_order(task, self._control.resume)

    async def cancel(self, task: str) -> TaskState:
        """Cancel a task permanently; fetched pages are kept."""
        return await self._send_order(task, self._control.cancel)

    async def speed(self, task: str, factor: float) -> TaskState:
        """Divide the delays of a task's crawls by a factor.

        Raises:
            SettingError: If the factor is out of range.
        """
        return await self._send_order(task, lambda name: self._control.speed(name, factor))

    async def assign(self, task: str, site: str, worker: str) -> TaskState:
        """Assign a task's site to a worker; a turn of another worker at the site ends.

        The assignment lasts until it is revoked or the worker leaves.

        Args:
            task: Number of the task.
            site: Registrable domain, or a template's name as the task shows it.
            worker: Name of a worker; ``ANY`` revokes the assignment.

        Raises:
            StateError: If the task, site or worker does not exist.
        """
        snapshot = await self._snapshot_with(task)
        shard = snapshot.shards.get(f"{task}/{site}")
        if shard is None:
            raise StateError(
                "task {task} has no site {site!r}: `topiccrawl tasks show {task}`",
                task=task,
                site=site,
            )
        if worker != ANY and worker not in snapshot.workers:
            raise StateError(
                "there is no worker {worker!r}: `topiccrawl tasks workers` lists all workers",
                worker=worker,
            )
        await self._control.assign(shard.crawl, "" if worker == ANY else worker)
        return await self.show(task)

    async def remove(self, task: str) -> None:
        """Delete a task that has ended.

        Raises:
            StateError: If the task does not exist or has not ended.
        """
        while True:
            snapshot = await self._snapshot_with(task)
            running = any(turn.task == task for turn in snapshot.turns.values())
            if running or not snapshot.is_over(task):
                raise StateError("task {task} has not ended: cancel it first", task=task)
            keys: list[Key] = [Task.key(task), (ORDERS, f"task-{task}")]
            for shard in snapshot.shards_of(task):
                keys += [Shard.key(shard.name), (ORDERS, shard.crawl)]
            if await snapshot.swap(self._ledger, dict.fromkeys(keys)):
                return

    async def _snapshot_with(self, task: str) -> Snapshot:
        """Return a snapshot; raise StateError if it does not have the task."""
        snapshot = await self.snapshot()
        if task not in snapshot.tasks:
            raise StateError(
                "there is no task {task!r}: `topiccrawl tasks list` lists all tasks", task=task
            )
        return snapshot

    async def _send_order(
        self, task: str, send: Callable[[str], Awaitable[CrawlOrder]]
    ) -> TaskState:
        await self.show(task)
        await send(f"task-{task}")
        return await self.show(task)


def shards_of(spec: TaskSpec, template: str = "") -> Sites:
    """Return the shards of a spec: one per site, or one for a template.

    Args:
        spec: The crawl that the user asks for.
        template: Slug of its template; "" if it has none.

    Returns:
        Site to (seeds, hosts).

    Raises:
        ConfigurationError: If a site or a limit is invalid.
    """
    if not template:
        if not spec.sites:
            raise ConfigurationError("a task needs sites: give hosts or start URLs")
        return split(spec.sites)
    if spec.site_pages or spec.depth:
        raise ConfigurationError(
            "a template sets its own limits for a site ([limits], "
            "[[filter]]): leave out site_pages and depth"
        )
    return {f"{TEMPLATE}:{template}": (seed_urls(spec.sites), ())}


def seed_urls(sites: Iterable[str]) -> tuple[str, ...]:
    """Return the seed URLs of a list of URLs and hosts; it may be empty.

    Raises:
        ConfigurationError: If an entry is neither a URL nor a host.
    """
    return tuple(url for seeds, _ in split(sites).values() for url in seeds)


def split(sites: Iterable[str]) -> Sites:
    """Return the shards of a list of URLs and hosts: site to (seeds, hosts).

    A site is a registrable domain (methods.md §8 [S5]). The crawl is limited to the listed hosts,
    the hosts of the listed URLs, and their subdomains.

    Raises:
        ConfigurationError: If an entry is neither a URL nor a host.

    >>> split(["https://news.a.com.cn/x", "b.test", "www.a.com.cn/"])["a.com.cn"]
    (('https://news.a.com.cn/x', 'https://www.a.com.cn/'), ('news.a.com.cn', 'www.a.com.cn'))
    """
    found: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for given in sites:
        text = given.strip()
        url = canonical(text if "://" in text else f"https://{text}")
        host = urlsplit(url).hostname if url else None
        if not host or not _HOST.fullmatch(host):
            raise ConfigurationError(
                "{given!r} is not a site: write a host, or https://host/path", given=given
            )
        seeds, hosts = found.setdefault(site_of(host), ({}, {}))
        seeds[str(url)] = None
        hosts[host] = None
    return {site: (tuple(seeds), tuple(hosts)) for site, (seeds, hosts) in found.items()}


def state_of(snapshot: Snapshot, task: str) -> TaskState:
    """Return the state of a task."""
    shards = sorted(snapshot.shards_of(task), key=attrgetter("name"))
    sites = tuple(_site(snapshot, shard) for shard in shards)
    return TaskState(
        task=snapshot.tasks[task],
        state=_state(snapshot, task, sites),
        speed=snapshot.order(task).speed,
        pages=sum(shard.pages for shard in shards),
        relevant=sum(shard.relevant for shard in shards),
        articles=sum(shard.articles for shard in shards),
        sites=sites,
    )


def to_json(result: object) -> str:
    """Return a result of ``TaskService`` or ``Control`` as JSON; {} for None."""
    return json.dumps({} if result is None else result, default=asdict, ensure_ascii=False)


def _site(snapshot: Snapshot, shard: Shard) -> SiteState:
    turn = snapshot.turns.get(shard.site)
    worker = turn.worker if turn is not None and turn.shard == shard.name else ""
    return SiteState(
        shard.site, State.RUNNING if worker else shard.state, worker, shard.pages, shard.relevant,
        shard.articles, round(shard.seconds, 1), shard.turns, shard.reason, shard.crawl,
        shard.tried, snapshot.assigned_worker(shard),
    )  # fmt: skip


def _state(snapshot: Snapshot, task: str, sites: tuple[SiteState, ...]) -> str:
    order = snapshot.order(task)
    running = any(site.worker for site in sites)
    if order.cancelled:
        return "cancelled"
    if not running and snapshot.is_over(task):
        return "failed" if all(site.state == State.FAILED for site in sites) else "finished"
    if order.paused:
        return "paused"
    return "running" if running else "waiting"
