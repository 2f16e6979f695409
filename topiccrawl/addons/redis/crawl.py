"""Frontier in Redis from Scrapy settings: REDIS_URL alone chooses it."""

from __future__ import annotations

import json
import logging
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request

from topiccrawl.addons.redis.client import async_client_of, client_of
from topiccrawl.addons.redis.courier import Courier, Starts
from topiccrawl.addons.redis.frontier import SharedFrontier, discard
from topiccrawl.addons.redis.reading import owner_in, read, strategy_in
from topiccrawl.addons.redis.wire import address
from topiccrawl.errors import StateLockedError
from topiccrawl.frontier.contract import Limits, Politeness
from topiccrawl.scheduler import meta
from topiccrawl.storage.redisaddress import in_redis

if TYPE_CHECKING:
    from collections.abc import Callable

    import redis
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.errors import TopiccrawlError
    from topiccrawl.frontier.contract import Frontier
    from topiccrawl.frontier.portable import Reader
    from topiccrawl.links.strategies.contract import LinkStrategy

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Crawl:
    """Parameters of a crawl's frontier.

    Attributes:
        name: Of the crawl in Redis; nodes of one name share it.
        owner: Owner of the frontier.
        strategy: Its order.
        politeness: Rules of requests to hosts.
        limits: Bounds.
        share: Share of the lanes, or None.
        fresh: Whether an existing crawl is deleted first.
        seconds: Silence after which a node times out.
        again: Whether crawled pages are fetched again.
    """

    name: str
    owner: str
    strategy: LinkStrategy
    politeness: Politeness
    limits: Limits
    share: tuple[int, int] | None
    fresh: bool
    seconds: float
    again: bool = False


def open_shared(settings: BaseSettings, crawl: Crawl) -> SharedFrontier:
    """Return this node's frontier, joined and detached: it needs a courier for its messages.

    Raises:
        SettingError: If a setting cannot be used.
        StateError: If Redis holds another crawl of this name, or one to be deleted is in use.
        StorageError: If Redis cannot be reached.
    """
    client = client_of(settings)
    if crawl.fresh:
        discard(client, crawl.name)
    nodes = Path(settings["TOPICCRAWL_DATA_DIR"]) / "nodes" / crawl.name
    number = 0
    while True:
        try:
            return SharedFrontier(
                client, crawl.name, nodes / str(number), crawl.strategy, crawl.politeness,
                crawl.limits, share=crawl.share, owner=crawl.owner, ttl=crawl.seconds,
                attached=False, again=crawl.again,
            )  # fmt: skip
        except StateLockedError:  # another node's, on this machine
            number += 1


def courier_of(
    crawler: Crawler, frontier: Frontier, *, wake: Callable[[], None],
    fail: Callable[[TopiccrawlError], None], took: Callable[[], object],
    take: Callable[[Request], object],
) -> Courier:  # fmt: skip
    """Return the courier of a frontier, not yet started.

    ``took`` is called when this node has taken over hosts, ``take`` with the requests of start
    URLs that operators put into Redis.
    """
    assert isinstance(frontier, SharedFrontier)  # noqa: S101 - the settings that chose it chose us
    settings = crawler.settings
    client = async_client_of(settings)
    name = getattr(crawler.spider, "name", "")
    key = str(settings.get("REDIS_START_URLS_KEY") or "%(name)s:start_urls") % {"name": name}
    most = settings.getint("REDIS_START_URLS_BATCH_SIZE") or settings.getint("CONCURRENT_REQUESTS")
    wait = settings.get("MAX_IDLE_TIME_BEFORE_CLOSE")

    seconds = -1.0 if wait is None else float(wait)
    starts = Starts(key, most or 16, lambda text: start(text, key, take), seconds)
    return Courier(frontier, client, wake=wake, fail=fail, took=took, starts=starts)


def forget_if_done(settings: BaseSettings, name: str) -> None:
    """Delete the crawl if SCHEDULER_PERSIST is false and no node is left."""
    if not settings.getbool("SCHEDULER_PERSIST", default=True):
        forget(settings, name)


def forget(settings: BaseSettings, name: str) -> None:
    """Delete a crawl, unless nodes work on it."""
    with suppress(StateLockedError):
        discard(client_of(settings), name)


def place_of(settings: BaseSettings, name: str) -> str:
    """Return the place of a crawl's frontier for the log of crawls: server and name.

    >>> from scrapy.settings import Settings
    >>> place_of(Settings({"REDIS_URL": "redis://:secret@h:7/3"}), "nev")
    'redis://h:7/3#nev'
    """
    return f"{address(client_of(settings))}#{name}"


def read_shared(place: str, settings: BaseSettings, order: Callable[[str], LinkStrategy]) -> Reader:
    """Return a view of a crawl in Redis; ``order`` makes the strategy of a name.

    Raises:
        StorageError: If there is none, or Redis cannot be reached.
    """
    client, name = _found(place, settings)
    return read(client, name, order(strategy_in(client, name)))


def edit_shared(
    place: str, settings: BaseSettings, order: Callable[[str], LinkStrategy]
) -> Frontier:
    """Return the frontier of a crawl in Redis that no node works on.

    Raises:
        StateLockedError: If a node works on it.
        StorageError: If there is none, or Redis cannot be reached.
    """
    client, name = _found(place, settings)
    return new_shared(place, settings, order(strategy_in(client, name)), owner_in(client, name))


def new_shared(place: str, settings: BaseSettings, strategy: LinkStrategy, owner: str) -> Frontier:
    """Return a frontier to be filled or changed by hand, for this process alone.

    Raises:
        StateLockedError: If a node works on it.
    """
    client, name = _found(place, settings)
    folder = tempfile.mkdtemp(prefix="topiccrawl-edit-")
    frontier = SharedFrontier(client, name, folder, strategy, Politeness(), Limits(), owner=owner)
    if not frontier.share.alone():
        frontier.close()
        raise StateLockedError(f"{address(client)}: nodes work on {name}; stop them first")
    return frontier


def _found(place: str, settings: BaseSettings) -> tuple[redis.Redis, str]:
    url, _, name = place.partition("#")
    if not in_redis(settings):
        settings = settings.copy()
        settings.set("REDIS_URL", url, priority="cmdline")
    return client_of(settings), name


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
