"""Frontier in Redis from Scrapy settings: what ``choice`` gives where REDIS_URL is given."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from topiccrawl.addons.redis.client import async_client_of, client_of
from topiccrawl.addons.redis.frontier import SharedFrontier, discard
from topiccrawl.addons.redis.ledger import SharedLedger
from topiccrawl.addons.redis.reading import owner_in, read, strategy_in
from topiccrawl.addons.redis.runs import SharedRuns
from topiccrawl.addons.redis.starts import starts_of
from topiccrawl.addons.redis.sync import RedisSync
from topiccrawl.addons.redis.wire import address
from topiccrawl.errors import StateLockedError
from topiccrawl.frontier.contract import Limits, Politeness
from topiccrawl.links.strategies import stored_strategy
from topiccrawl.scheduler.frontiers import checked_name
from topiccrawl.scheduler.hooks import number
from topiccrawl.scheduler.signals import hosts_taken

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from topiccrawl.frontier.contract import Frontier
    from topiccrawl.frontier.portable import Reader
    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.scheduler.frontiers import FrontierSpec
    from topiccrawl.scheduler.scheduler import FrontierScheduler


class SharedFrontiers:
    """Frontiers in the Redis that the settings name; see ``scheduler.frontiers.Frontiers``."""

    def __init__(self, settings: BaseSettings) -> None:
        self._settings = settings

    def open(self, spec: FrontierSpec) -> SharedFrontier:
        """Return this node's frontier, joined and detached: ``sync_task`` sends its messages.

        Raises:
            SettingError: If a setting cannot be used.
            StateError: If Redis holds another crawl of this name, or one to be deleted is in use.
            StorageError: If Redis cannot be reached.
        """
        settings = self._settings
        client, ttl = client_of(settings), number(settings, "TOPICCRAWL_NODE_SECONDS")
        if spec.fresh:
            discard(client, spec.name)
        nodes, node = Path(settings["TOPICCRAWL_DATA_DIR"]) / "nodes" / spec.name, 0
        while True:
            try:
                return SharedFrontier(
                    client, spec.name, nodes / str(node), spec.strategy, spec.politeness,
                    spec.limits, share=spec.share, owner=spec.owner, ttl=ttl, attached=False,
                    again=spec.again,
                )  # fmt: skip
            except StateLockedError:  # another node's, on this machine
                node += 1

    def sync_task(self, scheduler: FrontierScheduler) -> RedisSync:
        """Return the sync task of the scheduler's frontier, not yet started."""
        frontier, crawler, settings = scheduler.frontier, scheduler.crawler, self._settings
        assert isinstance(frontier, SharedFrontier)  # noqa: S101 - the same settings opened it
        return RedisSync(
            frontier,
            async_client_of(settings),
            wake=scheduler.alarm.now,
            fail=scheduler.give_up,
            took=lambda: crawler.signals.send_catch_log(hosts_taken),
            starts=starts_of(crawler, settings, scheduler.enqueue_request),
        )

    def place(self, name: str) -> str:
        """Return the place of a crawl's frontier for the log of crawls: server and name.

        >>> from scrapy.settings import Settings
        >>> SharedFrontiers(Settings({"REDIS_URL": "redis://:secret@h:7/3"})).place("nev")
        'redis://h:7/3#nev'
        """
        return f"{address(client_of(self._settings))}#{checked_name(name)}"

    def read(self, place: str) -> Reader:
        """See ``Frontiers.read``."""
        client, name = client_of(self._settings), _name(place)
        return read(client, name, stored_strategy(strategy_in(client, name)))

    def edit(self, place: str) -> Frontier:
        """Return the frontier of a crawl in Redis that no node works on.

        Raises:
            StateLockedError: If a node works on it.
            StorageError: If there is none, or Redis cannot be reached.
        """
        client, name = client_of(self._settings), _name(place)
        return self.new(place, stored_strategy(strategy_in(client, name)), owner_in(client, name))

    def new(self, place: str, strategy: LinkStrategy, owner: str) -> Frontier:
        """Return a frontier to be filled or changed by hand, for this process alone.

        Raises:
            StateLockedError: If a node works on it.
        """
        client, name = client_of(self._settings), _name(place)
        folder = tempfile.mkdtemp(prefix="topiccrawl-edit-")
        frontier = SharedFrontier(
            client, name, folder, strategy, Politeness(), Limits(), owner=owner
        )
        if not frontier.membership.alone():
            frontier.close()
            raise StateLockedError(f"{address(client)}: nodes work on {name}; stop them first")
        return frontier

    def discard(self, place: str) -> None:
        """Delete a frontier that could not be filled, unless nodes work on it."""
        with suppress(StateLockedError):
            discard(client_of(self._settings), _name(place))

    def forget(self, name: str) -> None:
        """Delete a crawl, unless nodes work on it."""
        with suppress(StateLockedError):
            discard(client_of(self._settings), name)

    def ledger(self) -> SharedLedger:
        """Return the store of tasks and orders in Redis."""
        return SharedLedger(async_client_of(self._settings))

    def runs(self) -> SharedRuns:
        """Return the store of run records in Redis."""
        return SharedRuns(async_client_of(self._settings))


def _name(place: str) -> str:
    return place.partition("#")[2]
