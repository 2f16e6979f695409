"""Frontiers in Redis, built from Scrapy settings; used if REDIS_URL is set."""

from __future__ import annotations

import json
import logging
import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from scrapy import Request, signals
from scrapy_redis.defaults import START_URLS_KEY
from scrapy_redis.spiders import RedisMixin
from typing_extensions import override

from topiccrawl.addons.redis.buckets import BUCKETS
from topiccrawl.addons.redis.changes import Changes
from topiccrawl.addons.redis.client import async_client_of, client_of
from topiccrawl.addons.redis.frontier import SharedFrontier, base_of, discard
from topiccrawl.addons.redis.ledger import SharedLedger, SharedRuns
from topiccrawl.addons.redis.membership import (
    crawl_identity,
    identity_mismatch,
    parse_identity,
)
from topiccrawl.addons.redis.partitions import LOAD_BATCH
from topiccrawl.addons.redis.sync import RedisSync, Starts
from topiccrawl.addons.redis.transport import Call, address, failures_of
from topiccrawl.addons.redis.working_copy import WorkingCopy
from topiccrawl.errors import StateLockedError, StorageError
from topiccrawl.frontier.contract import Frontier, Limits, Politeness, Reader
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.view import View
from topiccrawl.links.strategies import FirstCome, LinkStrategy, stored_strategy
from topiccrawl.links.strategies.contract import GroupStats
from topiccrawl.scheduler import meta
from topiccrawl.scheduler.build import limits_of, politeness_of, share_of
from topiccrawl.scheduler.frontiers import checked_name
from topiccrawl.scheduler.hooks import number
from topiccrawl.scheduler.signals import hosts_taken
from topiccrawl.storage.redis_address import redis_url

if TYPE_CHECKING:
    import redis
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.scheduler.context import CrawlSpec
    from topiccrawl.scheduler.scheduler import FrontierScheduler

logger = logging.getLogger(__name__)

Enqueue = Callable[[Request], object]
RequestFactory = Callable[[bytes], Iterable[Request] | Request | None]


class SharedFrontiers:
    """Frontiers in the Redis server of the settings; see ``scheduler.frontiers.Frontiers``."""

    def __init__(self, settings: BaseSettings) -> None:
        self._settings = settings

    def open(self, name: str, spec: CrawlSpec) -> SharedFrontier:
        """Open the frontier of this node, joined and detached: ``sync_task`` sends its messages.

        Raises:
            SettingError: If a setting cannot be used.
            StateError: If Redis holds another crawl of this name, or a crawl to delete is in use.
            StorageError: If Redis cannot be reached.
        """
        settings = self._settings
        client, ttl = client_of(settings), number(settings, "TOPICCRAWL_NODE_SECONDS")
        politeness, limits = politeness_of(settings), limits_of(settings)
        share = share_of(settings)
        if spec.fresh:
            discard(client, name)
        nodes, node = Path(settings["TOPICCRAWL_DATA_DIR"]) / "nodes" / name, 0
        while True:
            try:
                return SharedFrontier(
                    client, name, nodes / str(node), spec.strategy or FirstCome(), politeness,
                    limits, share=share, owner=spec.crawl or spec.owner, ttl=ttl, attached=False,
                    again=bool(spec.watch),
                )  # fmt: skip
            except StateLockedError:  # used by another node on this machine
                node += 1

    def sync_task(self, scheduler: FrontierScheduler) -> RedisSync:
        """Return the sync task of the scheduler's frontier, not yet started."""
        frontier, crawler, settings = scheduler.frontier, scheduler.crawler, self._settings
        assert isinstance(frontier, SharedFrontier)  # noqa: S101 - opened with the same settings
        return RedisSync(
            frontier,
            async_client_of(settings),
            wake=scheduler.alarm.now,
            fail=scheduler.end_crawl,
            took=lambda: crawler.signals.send_catch_log(hosts_taken),
            starts=starts_of(crawler, settings, scheduler.enqueue_request),
        )

    def place(self, name: str) -> str:
        """Return the place of a frontier for the log of crawls: server, TLS options, and name.

        >>> from scrapy.settings import Settings
        >>> url = "rediss://:secret@h:7/3?ssl_cert_reqs=none&ssl_password=secret"
        >>> SharedFrontiers(Settings({"REDIS_URL": url})).place("nev")
        'rediss://h:7/3?ssl_cert_reqs=none#nev'
        """
        server, given = address(client_of(self._settings)), redis_url(self._settings)
        options = {
            option: value
            for option, value in parse_qsl(urlsplit(given).query)
            if option.startswith("ssl_") and option != "ssl_password"
        }
        return f"{server}{'?' if options else ''}{urlencode(options)}#{checked_name(name)}"

    def read(self, place: str) -> Reader:
        """See ``Frontiers.read``."""
        client, name = client_of(self._settings), _name(place)
        strategy = stored_strategy(identity_in(client, name)["strategy"])
        return read(client, name, strategy)

    def edit(self, place: str) -> Frontier:
        """Open the frontier of a crawl in Redis that no node works on.

        Raises:
            StateLockedError: If a node works on it.
            StorageError: If there is no such crawl, or Redis cannot be reached.
        """
        identity = identity_in(client_of(self._settings), _name(place))
        return self.new(place, stored_strategy(identity["strategy"]), identity["owner"])

    def new(self, place: str, strategy: LinkStrategy, owner: str) -> Frontier:
        """Open a frontier to be filled or edited by this process only.

        Raises:
            StateLockedError: If a node works on it.
        """
        client, name = client_of(self._settings), _name(place)
        folder = tempfile.mkdtemp(prefix="topiccrawl-edit-")
        frontier = SharedFrontier(
            client, name, folder, strategy, Politeness(), Limits(), owner=owner
        )
        if not frontier.membership.is_only_node():
            frontier.close()
            raise StateLockedError(
                "{address}: nodes work on {name}; stop them first",
                address=address(client),
                name=name,
            )
        return frontier

    def discard(self, place: str) -> None:
        """Delete a crawl, unless nodes work on it."""
        with suppress(StateLockedError):
            discard(client_of(self._settings), _name(place))

    def ledger(self) -> SharedLedger:
        """Return the store of tasks and orders in Redis."""
        return SharedLedger(async_client_of(self._settings))

    def runs(self) -> SharedRuns:
        """Return the store of run records in Redis."""
        return SharedRuns(async_client_of(self._settings))


def _name(place: str) -> str:
    return place.partition("#")[2]


class SharedSnapshot(View):
    """Snapshot of a crawl in Redis; its local copy is deleted by ``close``.

    Args:
        frontier: Frontier of the local copy.
    """

    def __init__(self, frontier: EmbeddedFrontier) -> None:
        super().__init__(frontier.store, frontier.scorer.strategy)
        self._frontier = frontier

    @override
    def close(self) -> None:
        """Delete the local copy. Idempotent."""
        self._frontier.abandon()
        shutil.rmtree(self._frontier.store.path, ignore_errors=True)


def identity_in(client: redis.Redis, name: str) -> dict[str, Any]:
    """Return the identity of a crawl in Redis; see ``crawl_identity``.

    Raises:
        StateVersionError: If another version of the program started it.
        StorageError: If there is no such crawl, or Redis cannot be reached.
    """
    server = address(client)
    with failures_of(client):
        identity = client.get(base_of(name) + "about")
    if not isinstance(identity, bytes):
        raise StorageError("{address}: has no crawl named {name}", address=server, name=name)
    return parse_identity(f"{server}: {name}", identity.decode())


def read(client: redis.Redis, name: str, strategy: LinkStrategy) -> SharedSnapshot:
    """Return a snapshot of a whole crawl in Redis; leased URLs are shown in their lane.

    Raises:
        StateVersionError: If another version of the program or strategy started it.
        StorageError: If there is no such crawl, or Redis cannot be reached.
    """
    identity = identity_in(client, name)
    owner, fields = identity["owner"], identity["fields"]
    own = list(strategy.fields)[: len(fields)]
    if strategy.name == identity["strategy"] and fields != own:  # evidence of another meaning
        wanted = crawl_identity(strategy, owner)
        raise identity_mismatch(f"{address(client)}: {name}", json.dumps(identity), wanted)
    folder = tempfile.mkdtemp(prefix="topiccrawl-read-")
    copy = EmbeddedFrontier(folder, strategy, Politeness(), Limits(), sync="never", owner=owner)
    snapshot = SharedSnapshot(copy)
    try:
        with failures_of(client):
            _fill(client, base_of(name), copy)
    except StorageError:
        snapshot.close()
        raise
    return snapshot


def _fill(client: redis.Redis, base: str, frontier: EmbeddedFrontier) -> None:
    frontier.store.feed = changes = Changes()
    copy = WorkingCopy(frontier, changes)
    for bucket in range(BUCKETS):
        cursor = None
        while cursor != b"0":
            load = Call("load", base, (bucket, cursor or b"0", LOAD_BATCH, 1))
            cursor, *loaded = load.on(client)
            copy.take(*loaded)
        frontier.write()
    for label, total in _counters(client, base + "tally").items():
        frontier.queues.tally[label] = int(total)
    progress = _counters(client, base + "progress")
    pages, worth = int(progress.get("pages", 0)), float(progress.get("worth", 0))
    frontier.ready.crawl = GroupStats(pages, worth)
    frontier.dispatch.turn = int(progress.get("turn", 0))
    frontier.write()


def _counters(client: redis.Redis, key: str) -> dict[str, bytes]:
    found: Any = client.hgetall(key)
    return {label.decode(): text for label, text in found.items()}


def starts_of(crawler: Crawler, settings: BaseSettings, take: Enqueue) -> Starts:
    """Return the source of start URLs of a crawl.

    A spider of scrapy-redis defines the key and builds the requests. Its own idle handler is
    disconnected, since URLs that it takes from the key are lost if the process is killed.

    Args:
        crawler: Crawler of the crawl.
        settings: Settings with the key, the batch size and the waiting time.
        take: Enqueues a request.
    """
    spider = crawler.spider
    key = str(settings.get("REDIS_START_URLS_KEY") or START_URLS_KEY)
    key %= {"name": getattr(spider, "name", "")}
    wait = settings.get("MAX_IDLE_TIME_BEFORE_CLOSE")
    encoding = settings.get("REDIS_ENCODING") or "utf-8"
    make: RequestFactory = lambda data: request_of(data.decode(encoding))  # noqa: E731
    if isinstance(spider, RedisMixin):
        crawler.signals.disconnect(spider.spider_idle, signal=signals.spider_idle)
        key, wait, make = spider.redis_key, spider.max_idle_time, spider.make_request_from_data
    most = settings.getint("REDIS_START_URLS_BATCH_SIZE")
    most = most or settings.getint("CONCURRENT_REQUESTS") or 16
    enqueue = partial(start, key=key, take=take, make=make)
    return Starts(key, most, enqueue, -1.0 if wait is None else float(wait))


def start(data: bytes, key: str, take: Enqueue, make: RequestFactory) -> None:
    """Enqueue a start URL; log an invalid one, since an error would stop one node after another."""
    try:
        requests = make(data) or ()
        for request in (requests,) if isinstance(requests, Request) else requests:
            request.meta["is_start_request"] = True
            request.meta.pop(meta.KEY, None)  # the key identifies a lease of this process
            take(request)
    except _INVALID as error:
        logger.error("Invalid start URL in %s: %.200r (%s)", key, data, error)  # noqa: TRY400


_INVALID = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)


def request_of(text: str) -> Request:
    """Return the request of a start URL: plain, or JSON with ``url`` and optional ``meta``.

    >>> request_of('{"url": "http://a.cn/", "meta": {"site": 1}}').meta["site"]
    1
    """
    record: dict[str, Any] = {"url": text.strip()}
    if text.lstrip().startswith("{"):
        record = json.loads(text)
    given = dict(record.get("meta", {}))
    return Request(record["url"], meta=given, method=record.get("method", "GET"))
