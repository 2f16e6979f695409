"""Fixtures of the contract suites: frontiers, nodes, ledgers and storages."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, Self

import pytest
import redis
import redis.asyncio

from examples.jsonstore import JsonStorage
from tests.contracts.strategies import Plain
from tests.mongo_server import database_uri
from topiccrawl.addons.mongodb.storage import MongoStorage
from topiccrawl.addons.redis.frontier import SharedFrontier, base_of, discard
from topiccrawl.addons.redis.host_turns import REGISTER
from topiccrawl.addons.redis.ledger import SharedLedger
from topiccrawl.addons.redis.shared_store import NodeStore
from topiccrawl.frontier.contract import Frontier, Limits, Politeness
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.storage.ledger import LocalLedger
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from pathlib import Path
    from typing import Any

    from topiccrawl.links.strategies.contract import LinkStrategy
    from topiccrawl.storage.contract import ArticleStore, Storage
    from topiccrawl.storage.ledger import Ledger

    Factory = Callable[[Path], ArticleStore]
    LedgerWork = Callable[[Ledger], Coroutine[Any, Any, None]]
    OnLedger = Callable[[LedgerWork], None]

QUICK = Politeness(delay=0.0, jitter=0.0, adaptive=False, robots=False, concurrency=100)


class Clock:
    """A clock that advances only when a test advances it."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now

    def __iadd__(self, seconds: float) -> Self:
        self.now += seconds
        return self


class Make(Protocol):
    """Opens the frontier of a test; after ``close``, the next call opens the same state."""

    clock: Clock

    def __call__(
        self,
        politeness: Politeness = QUICK,
        limits: Limits = ...,
        strategy: LinkStrategy | None = None,
        share: tuple[int, int] | None = None,
    ) -> Frontier: ...


class MakeEmbedded:
    def __init__(self, folder: Path, clock: Clock) -> None:
        self.folder = folder
        self.clock = clock
        self.opened: list[EmbeddedFrontier] = []

    def __call__(
        self,
        politeness: Politeness = QUICK,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        strategy: LinkStrategy | None = None,
        share: tuple[int, int] | None = None,
    ) -> Frontier:
        frontier = EmbeddedFrontier(
            self.folder,
            strategy or Plain(),
            politeness,
            limits,
            clock=self.clock,
            share=share,
            sync="never",
        )
        self.opened.append(frontier)
        return frontier


class MakeShared:
    """A single node, which exchanges its batches with Redis inside the calls."""

    def __init__(self, folder: Path, clock: Clock, client: redis.Redis) -> None:
        self.folder = folder
        self.clock = clock
        self.client = client
        self.opened: list[SharedFrontier] = []

    def __call__(
        self,
        politeness: Politeness = QUICK,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        strategy: LinkStrategy | None = None,
        share: tuple[int, int] | None = None,
    ) -> Frontier:
        frontier = SharedFrontier(
            self.client,
            self.folder.name,
            self.folder,
            strategy or Plain(),
            politeness,
            limits,
            clock=self.clock,
            share=share,
        )
        self.opened.append(frontier)
        return frontier


KINDS = ["embedded", "redis"]


@contextmanager
def maker(
    kind: str, folder: Path, clock: Clock, request: pytest.FixtureRequest, more: int = 0
) -> Iterator[MakeEmbedded | MakeShared]:
    made: MakeEmbedded | MakeShared
    if kind == "embedded":
        made = MakeEmbedded(folder, clock)
    else:
        server, _, database = request.getfixturevalue("redis_url").rpartition("/")
        client = redis.Redis.from_url(f"{server}/{int(database) + more}")
        made = MakeShared(folder, clock, client)
    yield made
    for frontier in made.opened:
        frontier.close()
    if isinstance(made, MakeShared):
        discard(made.client, folder.name)
        made.client.close()


@pytest.fixture(params=KINDS)
def make(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Make]:
    with maker(request.param, tmp_path / "frontier", Clock(), request) as made:
        yield made


@pytest.fixture(params=KINDS)
def make_other(tmp_path: Path, make: Make, request: pytest.FixtureRequest) -> Iterator[Make]:
    """Factory of a second, empty frontier of each implementation, on the same clock.

    It has its own database: crawls of one database take turns at their hosts.
    """
    with maker(request.param, tmp_path / "elsewhere", make.clock, request, more=8) as made:
        yield made


@pytest.fixture(params=["local", "shared"])
def on_ledger(request: pytest.FixtureRequest, tmp_path: Path) -> OnLedger:
    """Function that runs work on a new ledger of each implementation."""

    async def run(work: LedgerWork) -> None:
        ledger: Ledger = LocalLedger(tmp_path / "ledger")
        if request.param == "shared":
            client = redis.asyncio.Redis.from_url(request.getfixturevalue("redis_url"))
            ledger = SharedLedger(client)
        try:
            await work(ledger)
        finally:
            await ledger.close()
            await ledger.close()

    return lambda work: asyncio.run(run(work))


class Crew:
    """Nodes in one process, on one clock."""

    def __init__(self, client: redis.Redis, folder: Path) -> None:
        self.client, self.folder = client, folder
        self.clock = Clock()
        self.nodes: list[SharedFrontier] = []

    def join(
        self,
        politeness: Politeness = QUICK,
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> SharedFrontier:
        folder = self.folder / str(len(self.nodes))
        node = SharedFrontier(
            self.client, "crew", folder, Plain(), politeness, limits, clock=self.clock
        )
        self.nodes.append(node)
        return node

    def settle(self, *nodes: SharedFrontier) -> None:
        """Exchange batches until no node has more to send."""
        for _ in range(6):
            for node in nodes or self.nodes:
                node.settle()

    def kill(self, node: SharedFrontier) -> None:
        """Kill the node and let its registration expire."""
        self.nodes.remove(node)
        node.abandon()
        self.time_out(node)

    def time_out(self, node: SharedFrontier) -> None:
        """Let the registration of the node expire."""
        self.client.zadd(f"{node.base}nodes", {str(node.membership.epoch): 0})
        self.client.zadd(f"{REGISTER}nodes", {f"{node.base}{node.membership.epoch}": 0})


@pytest.fixture
def crew(redis_url: str, tmp_path: Path) -> Iterator[Crew]:
    with redis.Redis.from_url(redis_url) as client:
        crew = Crew(client, tmp_path)
        yield crew
        for node in crew.nodes:
            node.close()
        base = base_of("crew")
        living = set(client.zrange(f"{base}nodes", 0, -1))
        for name in ("names", "sizes", "done"):
            assert set(client.hkeys(f"{base}{name}")) <= living
        discard(client, "crew")
        assert {key.decode() for key in client.keys(f"{base}*")} <= {f"{base}born", f"{base}epoch"}


STORAGES = ["sqlite", "mongo", "json"]
"""Storages that the contract suites run over; name a new one here and in ``storage_at``."""


def storage_at(kind: str, folder: Path, request: pytest.FixtureRequest) -> Storage:
    """Storage of a folder; two storages of one folder share their data."""
    if kind == "mongo":
        return MongoStorage(database_uri(request.getfixturevalue("mongo_uri"), folder))
    return SqliteStorage(folder) if kind == "sqlite" else JsonStorage(folder)


@pytest.fixture(params=STORAGES)
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    """An empty storage of each kind."""
    return storage_at(request.param, tmp_path, request)


@pytest.fixture(params=[*STORAGES, "redis"])
def factory(request: pytest.FixtureRequest) -> Factory:
    if request.param == "redis":
        url = request.getfixturevalue("redis_url")
        connect = redis.asyncio.Redis.from_url
        return lambda folder: NodeStore(folder, lambda: connect(url))
    return lambda folder: storage_at(request.param, folder, request).articles()
