"""The operator's side: make, list, control and remove tasks."""

from __future__ import annotations

import asyncio
import re
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from topiccrawl.addons.tasks.board import KINDS, Board
from topiccrawl.addons.tasks.records import COUNTERS, SHARDS, TASKS, Shard, State, Task, Wish
from topiccrawl.errors import ConfigurationError, StateError
from topiccrawl.links.urls import canonical, site_of
from topiccrawl.storage.control import KIND as ORDERS
from topiccrawl.storage.control import Control
from topiccrawl.storage.rows import clean

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from topiccrawl.storage.ledger import CrawlOrder, Key, Ledger

TEMPLATE = "template"
"""Name of the spider, name of its argument, and prefix of its shards' sites."""
ANY = "any"
"""In place of a worker's name: none is chosen."""
_HOST = re.compile(r"[\w-]+(\.[\w-]+)*")


@dataclass(frozen=True, slots=True)
class SiteState:
    """A shard, to be shown: ``Shard``'s fields, and the worker that has its turn.

    Attributes:
        site: Registrable domain.
        state: waiting, running, done or failed.
        worker: Worker that crawls it now, or "".
        pages: Pages parsed.
        relevant: Those on topic.
        articles: New articles.
        seconds: Time it had its site.
        turns: Turns it had.
        reason: Reason for the end of its last turn.
        crawl: Name of its frontier, for ``scrapy frontier`` and ``why`` (-s TOPICCRAWL_CRAWL=...).
        tried: As in ``Shard``.
        chosen: Worker that the operator chose for it, or "".
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
    """A task, to be shown.

    Attributes:
        task: The task as ordered.
        state: waiting, running, paused, cancelled, finished, or failed (no site could be done).
        speed: See ``CrawlOrder.speed``.
        pages: Pages of all its sites.
        relevant: Those on topic.
        articles: New articles.
        sites: Its parts.
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
    """A worker, to be shown.

    Attributes:
        name: Of the worker.
        host: Its machine.
        pid: Its process there.
        slots: Sites it can crawl at once.
        shards: Shards that it crawls now.
        silent: Seconds since its registration expired; 0 for a live worker.
    """

    name: str
    host: str
    pid: int
    slots: int
    shards: tuple[str, ...]
    silent: float


class Desk:
    """Operations on tasks. All methods may raise StorageAwayError.

    Args:
        ledger: Ledger of all rows.
        check: Raises ConfigurationError for a wish that no spider can fulfil; returns the slug of
            the wish's template, "" for a wish that names its sites. It runs in a thread, one at a
            time: the loop may be a crawl's.
    """

    def __init__(self, ledger: Ledger, check: Callable[[Wish], str] = lambda _wish: "") -> None:
        self._ledger = ledger
        self._check = check
        self._checking = asyncio.Lock()
        self._control = Control(ledger)

    async def create(self, wish: Wish) -> TaskState:
        """Make a task.

        Raises:
            ConfigurationError: A site, bound or argument cannot be used.
        """
        for name in ("pages", "site_pages", "depth"):
            if getattr(wish, name) < 0:
                raise ConfigurationError(
                    "{name} is {value}: give 0 or more", name=name, value=getattr(wish, name)
                )
        for text in (*wish.arguments.values(), wish.owner):
            if text != clean(text):
                raise ConfigurationError("{text!r} is no text: write it in UTF-8", text=text)
        async with self._checking:
            parts = await asyncio.to_thread(lambda: parts_of(wish, self._check(wish)))
        while True:
            now = await self._ledger.now()
            last = await self._ledger.get(COUNTERS, "task")
            number = str(int(last or 0) + 1)
            task = Task(**asdict(wish), id=number, created=now)
            shards = [
                Shard(number, site, seeds, hosts, served=now)
                for site, (seeds, hosts) in parts.items()
            ]
            rows: dict[Key, str | None] = {(COUNTERS, "task"): number, (TASKS, number): task.text()}
            rows |= {(SHARDS, shard.name): shard.text() for shard in shards}
            if await self._ledger.swap({(COUNTERS, "task"): last}, rows):
                return await self.show(number)

    async def count(self) -> int:
        """Return the number of tasks."""
        return len((await self._ledger.read(TASKS))[TASKS])

    async def board(self) -> Board:
        """Return a board of all rows as they are now."""
        rows = await self._ledger.read(*KINDS)
        return Board.of(rows, await self._ledger.now())

    async def all(self) -> list[TaskState]:
        """Return all tasks, the oldest first."""
        board = await self.board()
        return [state_of(board, task) for task in sorted(board.tasks, key=int)]

    async def show(self, task: str) -> TaskState:
        """Return one task.

        Raises:
            StateError: There is none of that number.
        """
        return state_of(self._known(await self.board(), task), task)

    async def workers(self) -> list[WorkerState]:
        """Return all workers."""
        board = await self.board()
        held = {
            name: tuple(sorted(t.shard for t in board.turns.values() if t.worker == name))
            for name in board.workers
        }
        return [
            WorkerState(name, w.host, w.pid, w.slots, held[name], max(0.0, board.now - w.expires))
            for name, w in sorted(board.workers.items())
        ]

    async def pause(self, task: str) -> TaskState:
        """Stop fetching for a task; other tasks get its turns meanwhile."""
        return await self._steer(task, self._control.pause)

    async def resume(self, task: str) -> TaskState:
        """Continue a task; its failed sites are retried."""
        rows = await self._ledger.read(SHARDS)
        for name, text in rows[SHARDS].items():
            shard = Shard.read(text)
            if shard.task == task and shard.state == State.FAILED:
                again = replace(shard, state=State.WAITING, failures=0, not_before=0.0)
                await self._ledger.swap({(SHARDS, name): text}, {(SHARDS, name): again.text()})
        return await self._steer(task, self._control.resume)

    async def cancel(self, task: str) -> TaskState:
        """End a task for good; fetched pages are kept."""
        return await self._steer(task, self._control.cancel)

    async def speed(self, task: str, factor: float) -> TaskState:
        """Divide the delays of a task's crawls by a factor.

        Raises:
            SettingError: If it is out of bounds.
        """
        return await self._steer(task, lambda name: self._control.speed(name, factor))

    async def assign(self, task: str, site: str, worker: str) -> TaskState:
        """Choose the worker that takes a task's site over; another one that has its turn ends it.

        Args:
            task: Number of the task.
            site: Registrable domain, or a template's name as the task shows it.
            worker: Name of a worker; ``ANY`` revokes the choice. It ends with its worker.

        Raises:
            StateError: There is no such task, site or worker.
        """
        board = self._known(await self.board(), task)
        shard = board.shards.get(f"{task}/{site}")
        if shard is None:
            raise StateError(
                "task {task} has no site {site!r}: `scrapy tasks show {task}`", task=task, site=site
            )
        if worker != ANY and worker not in board.workers:
            raise StateError(
                "there is no worker {worker!r}: `scrapy tasks workers` shows those there are",
                worker=worker,
            )
        await self._control.assign(crawl_of(shard), "" if worker == ANY else worker)
        return await self.show(task)

    async def remove(self, task: str) -> None:
        """Delete a task that is over.

        Raises:
            StateError: It is not over, or there is none of that number.
        """
        while True:
            rows = await self._ledger.read(*KINDS)
            board = self._known(Board.of(rows, await self._ledger.now()), task)
            if not board.over(task) or any(turn.task == task for turn in board.turns.values()):
                raise StateError("task {task} is not over: cancel it first", task=task)
            keys: list[Key] = [(TASKS, task), (ORDERS, f"task-{task}")]
            for shard in board.by_task()[task]:
                keys += [(SHARDS, shard.name), (ORDERS, crawl_of(shard))]
            before = {(kind, name): rows[kind].get(name) for kind, name in keys}
            if await self._ledger.swap(before, dict.fromkeys(keys)):
                return

    def _known(self, board: Board, task: str) -> Board:
        if task not in board.tasks:
            raise StateError(
                "there is no task {task!r}: `scrapy tasks list` shows those there are", task=task
            )
        return board

    async def _steer(self, task: str, how: Callable[[str], Awaitable[CrawlOrder]]) -> TaskState:
        await self.show(task)
        await how(f"task-{task}")
        return await self.show(task)


def parts_of(
    wish: Wish, template: str = ""
) -> Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the shards of a wish: one a site; a template finds its sites itself: one shard.

    Args:
        wish: What is wished.
        template: Slug of its template; "" if it has none.

    Raises:
        ConfigurationError: A site or a bound cannot be used.
    """
    if not template:
        return split(wish.sites)
    if wish.site_pages or wish.depth:
        raise ConfigurationError(
            "a template bounds itself what it fetches of a site ([limits], "
            "[[filter]]): leave out site_pages and depth"
        )
    return {f"{TEMPLATE}:{template}": (seeds_in(wish.sites), ())}


def seeds_in(sites: Iterable[str]) -> tuple[str, ...]:
    """Return the seed URLs of a list of URLs and hosts; it may be empty.

    Raises:
        ConfigurationError: An entry is neither URL nor host.
    """
    given = list(sites)
    return tuple(url for urls, _ in (split(given).values() if given else ()) for url in urls)


def split(sites: Iterable[str]) -> Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the shards of a list of URLs and hosts: site to (seeds, hosts).

    A site is a registrable domain (methods.md §8 [S5]). Only a given host, or the host of a given
    URL, is crawled, with the hosts below it.

    Raises:
        ConfigurationError: The list is empty, or an entry is neither URL nor host.

    >>> split(["https://news.a.com.cn/x", "b.test", "www.a.com.cn"])["a.com.cn"]
    (('https://news.a.com.cn/x', 'https://www.a.com.cn/'), ('news.a.com.cn', 'www.a.com.cn'))
    """
    found: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for given in sites:
        text = given.strip()
        url = canonical(text if "://" in text else f"https://{text}/")
        host = urlsplit(url).hostname if url else None
        if not host or not _HOST.fullmatch(host):
            raise ConfigurationError(
                "{given!r} is no site: write a host, or https://host/path", given=given
            )
        seeds, hosts = found.setdefault(site_of(host), ({}, {}))
        seeds[str(url)] = None
        hosts[host] = None
    if not found:
        raise ConfigurationError("a task needs sites: name hosts, or URLs to begin at")
    return {site: (tuple(seeds), tuple(hosts)) for site, (seeds, hosts) in found.items()}


def guessed(sites: Iterable[str]) -> frozenset[str]:
    """Return the URLs that sites named without a scheme are begun at.

    >>> guessed(["A.test", "http://b.test/"])
    frozenset({'https://a.test/'})
    """
    texts = [site.strip() for site in sites if "://" not in site]
    return frozenset(filter(None, (canonical(f"https://{text}/") for text in texts)))


def state_of(board: Board, task: str) -> TaskState:
    """Return the state of a task, to be shown."""
    shards = board.by_task()[task]
    sites = tuple(_site(board, shard) for shard in shards)
    return TaskState(
        task=board.tasks[task],
        state=_state(board, task, sites),
        speed=board.order(task).speed,
        pages=sum(shard.pages for shard in shards),
        relevant=sum(shard.relevant for shard in shards),
        articles=sum(shard.articles for shard in shards),
        sites=sites,
    )


def crawl_of(shard: Shard) -> str:
    """Return the name of a shard's frontier.

    >>> crawl_of(Shard("7", "a.test", (), ()))
    'task-7.a.test'
    """
    return f"task-{shard.task}.{shard.site}"


def _site(board: Board, shard: Shard) -> SiteState:
    turn = board.turns.get(shard.site)
    worker = turn.worker if turn is not None and turn.shard == shard.name else ""
    return SiteState(
        shard.site, State.RUNNING if worker else shard.state, worker, shard.pages, shard.relevant,
        shard.articles, round(shard.seconds, 1), shard.turns, shard.reason, crawl_of(shard),
        shard.tried, board.chosen(shard),
    )  # fmt: skip


def _state(board: Board, task: str, sites: tuple[SiteState, ...]) -> str:
    order = board.order(task)
    running = any(site.worker for site in sites)
    if order.cancelled:
        return "cancelled"
    if not running and board.over(task):
        return "failed" if all(site.state == State.FAILED for site in sites) else "finished"
    if order.paused:
        return "paused"
    return "running" if running else "waiting"
