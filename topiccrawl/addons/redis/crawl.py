"""Frontier in Redis from Scrapy settings: what ``choice`` gives where REDIS_URL is given."""

from __future__ import annotations

import json
import logging
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request

from topiccrawl.addons.redis.client import async_client_of, client_of
from topiccrawl.addons.redis.frontier import SharedFrontier, discard
from topiccrawl.addons.redis.ledger import SharedLedger
from topiccrawl.addons.redis.reading import owner_in, read, strategy_in
from topiccrawl.addons.redis.runs import SharedRuns
from topiccrawl.addons.redis.sync import RedisSync, Starts
from topiccrawl.addons.redis.wire import address
from topiccrawl.errors import StateLockedError
from topiccrawl.frontier.contract import Limits, Politeness
from topiccrawl.links.strategies import stored_strategy
from topiccrawl.scheduler import meta
from topiccrawl.scheduler.hooks import number
from topiccrawl.scheduler.signals import hosts_taken

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.settings import BaseSettings

    from topiccrawl.frontier.contract import Frontier
    from topiccrawl.frontier.portable import Reader
    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.scheduler.frontiers import FrontierSpec
    from topiccrawl.scheduler.scheduler import FrontierScheduler

logger = logging.getLogger(__name__)


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
        key = str(settings.get("REDIS_START_URLS_KEY") or "%(name)s:start_urls")
        key %= {"name": getattr(crawler.spider, "name", "")}
        most = settings.getint("REDIS_START_URLS_BATCH_SIZE")
        wait = settings.get("MAX_IDLE_TIME_BEFORE_CLOSE")
        starts = Starts(
            key,
            most or settings.getint("CONCURRENT_REQUESTS") or 16,
            lambda text: start(text, key, scheduler.enqueue_request),
            -1.0 if wait is None else float(wait),
        )
        return RedisSync(
            frontier,
            async_client_of(settings),
            wake=scheduler.alarm.now,
            fail=scheduler.give_up,
            took=lambda: crawler.signals.send_catch_log(hosts_taken),
            starts=starts,
        )

    def place(self, name: str) -> str:
        """Return the place of a crawl's frontier for the log of crawls: server and name.

        >>> from scrapy.settings import Settings
        >>> SharedFrontiers(Settings({"REDIS_URL": "redis://:secret@h:7/3"})).place("nev")
        'redis://h:7/3#nev'
        """
        return f"{address(client_of(self._settings))}#{name}"

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
        """Do nothing: a frontier in Redis is deleted by ``-a fresh=1`` only."""

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


def start(text: str, key: str, take: Callable[[Request], object]) -> None:
    """Take a start URL; log an invalid one, since it would stop node after node."""
    try:
        take(request_of(text))
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        logger.error("%s holds what is no start URL: %.200r (%s)", key, text, error)  # noqa: TRY400


def request_of(text: str) -> Request:
    """Return the request of a start URL: plain, or JSON with ``url`` and perhaps ``meta``.

    >>> request_of('{"url": "http://a.cn/", "meta": {"site": 1}}').meta["site"]
    1
    """
    record: dict[str, Any] = {"url": text.strip()}
    if text.lstrip().startswith("{"):
        record = json.loads(text)
    given = {**record.get("meta", {}), "is_start_request": True}
    given.pop(meta.KEY, None)  # it would name a lease of this process
    return Request(record["url"], meta=given, method=record.get("method", "GET"))
