"""Construction of a frontier from Scrapy settings: its place, politeness and bounds."""

from __future__ import annotations

import time
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.settings import Settings

from topiccrawl.errors import SettingError
from topiccrawl.frontier.contract import Limits, Politeness
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.store import discard, strategy_of
from topiccrawl.frontier.view import View
from topiccrawl.links.hosts import HostRules, host_named
from topiccrawl.links.strategies import NAMES, FirstCome, strategy
from topiccrawl.links.traps import TrapRules
from topiccrawl.links.urlrules import UrlRules
from topiccrawl.scheduler.leases import Retry
from topiccrawl.scheduler.neighbours import HostTimes, NeighbourClock
from topiccrawl.scheduler.signals import hosts_taken
from topiccrawl.storage.ledger_file import LocalLedger
from topiccrawl.storage.redisaddress import in_redis
from topiccrawl.storage.runs import LocalRuns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.addons.redis.courier import Courier
    from topiccrawl.frontier.contract import Frontier, Strategy
    from topiccrawl.frontier.portable import Reader
    from topiccrawl.scheduler.scheduler import FrontierScheduler
    from topiccrawl.storage.ledger import Ledger
    from topiccrawl.storage.runs import Runs
    from topiccrawl.topics.topic import Topic


LEAST_ERROR, MOST_ERROR = 1e-6, 0.1
"""Range of the error of filters of evicted URLs: with less they need more room than they save."""
RELEARNT = 2_000
"""Pages of earlier runs from which a strategy learns at the start, about .2 s."""


def open_frontier(crawler: Crawler) -> Frontier:
    """Return the open frontier of a crawler's spider.

    Raises:
        SettingError: If a setting cannot be used.
        StateError: If the state is in use, or of a version that cannot be read.
        StorageError: If the folder cannot be written, or Redis not be reached.
    """
    settings, spider = crawler.settings, crawler.spider
    fresh = getattr(spider, "fresh", False)
    order = getattr(spider, "strategy", None) or FirstCome()
    politeness, limits, share = politeness_of(settings), limits_of(settings), share_of(settings)
    if in_redis(settings):
        from topiccrawl.addons.redis.crawl import Crawl, open_shared

        name, owner = crawl_name(spider), _owner(spider)
        seconds = number(settings, "TOPICCRAWL_NODE_SECONDS")
        again = bool(getattr(spider, "watch", ""))
        crawl = Crawl(name, owner, order, politeness, limits, share, fresh, seconds, again)
        return open_shared(settings, crawl)
    path = frontier_path(settings, spider)
    if fresh:
        discard(path)
    times, owner = HostTimes(settings["TOPICCRAWL_DATA_DIR"]), _owner(spider)
    frontier = EmbeddedFrontier(
        path, order, politeness, limits, share=share, owner=owner,
        clock_of=partial(NeighbourClock, times),
    )  # fmt: skip
    _relearn(frontier, order)
    return frontier


def courier(crawler: Crawler, scheduler: FrontierScheduler) -> Courier | None:
    """Return the transport of a shared frontier's messages, or None for a local frontier."""
    if not in_redis(crawler.settings):
        return None
    from topiccrawl.addons.redis.crawl import courier_of

    return courier_of(
        crawler, scheduler.frontier, wake=scheduler.alarm.now, fail=scheduler.give_up,
        took=lambda: crawler.signals.send_catch_log(hosts_taken), take=scheduler.enqueue_request,
    )  # fmt: skip


def clock_of(frontier: Frontier) -> Callable[[], float]:
    """Return the clock of a frontier's times: that of Redis for a shared frontier."""
    clock: Callable[[], float] = getattr(frontier, "clock", time.time)
    return clock


def ledger_of(settings: BaseSettings) -> Ledger:
    """Return the store of tasks and orders: in Redis where the settings name it, else on disk."""
    if in_redis(settings):
        from topiccrawl.addons.redis.client import async_client_of
        from topiccrawl.addons.redis.ledger import SharedLedger

        return SharedLedger(async_client_of(settings))
    return LocalLedger(settings["TOPICCRAWL_DATA_DIR"])


def as_turn(settings: BaseSettings) -> Settings:
    """Return settings for a crawl that is one turn of a task: no other process crawls the same."""
    own = Settings()
    own.update(settings)
    own.set("TOPICCRAWL_TURN", "1", priority="cmdline")
    return own


def runs_of(settings: BaseSettings) -> Runs:
    """Return the store of run records: in Redis where the settings name it, else on disk."""
    if in_redis(settings):
        from topiccrawl.addons.redis.client import async_client_of
        from topiccrawl.addons.redis.runs import SharedRuns

        return SharedRuns(async_client_of(settings))
    return LocalRuns(settings["TOPICCRAWL_DATA_DIR"])


def forget(crawler: Crawler) -> None:
    """Delete a crawl in Redis without SCHEDULER_PERSIST, if no node is left."""
    from topiccrawl.addons.redis.crawl import forget_if_done

    forget_if_done(crawler.settings, crawl_name(crawler.spider))


def crawl_name(spider: Spider | None) -> str:
    """Return the name of a crawl's frontier: TOPICCRAWL_CRAWL, else its topic's slug.

    Nodes of one name share a crawl. A spider's own ``crawl_name`` wins: each period of a template
    has a frontier of its own.
    """
    if own := getattr(spider, "crawl_name", ""):
        return str(own)
    settings = getattr(spider, "settings", None)
    if settings is not None and (given := settings.get("TOPICCRAWL_CRAWL")):
        return str(given)
    topic = getattr(spider, "topic", None)
    return topic.slug if topic is not None else _owner(spider)


def _relearn(frontier: Frontier, order: Strategy) -> None:
    """Train a strategy again on links to pages that earlier runs crawled.

    The trained model is not stored: the frontier has all its examples. At most ``RELEARNT`` pages
    are used, in the order of the frontier.
    """
    learn = getattr(order, "learn", None)
    if learn is None:
        return
    for url, _, _ in islice(frontier.iterate("crawled"), RELEARNT):
        known = frontier.why(url)
        if known is not None and known.relevance is not None:
            learn(known.anchor, known.context, known.relevance)


def read_frontier(place: str | Path, settings: BaseSettings | None = None) -> Reader:
    """Return a read-only view of a crawl's frontier, also while the crawl runs.

    ``settings`` may have the connection to Redis (no log has the password).

    Raises:
        StorageError: If there is none.
        StateVersionError: If it is of another version.
    """
    if _is_address(place):
        from topiccrawl.addons.redis.crawl import read_shared

        return read_shared(str(place), settings or Settings(), _without_topic)
    return View.read(place, _without_topic(strategy_of(place)))


def edit_frontier(place: str | Path, settings: BaseSettings | None = None) -> Frontier:
    """Return a frontier that no crawl uses, for changes by the operator; it fetches nothing.

    Raises:
        StateLockedError: If a crawl uses it.
        StorageError: If there is none.
    """
    if _is_address(place):
        from topiccrawl.addons.redis.crawl import edit_shared

        return edit_shared(str(place), settings or Settings(), _without_topic)
    return EmbeddedFrontier(place, _without_topic(strategy_of(place)), Politeness(), Limits())


def new_frontier(
    place: str | Path, strategy_name: str, owner: str, settings: BaseSettings | None = None
) -> Frontier:
    """Return the frontier into which an export is loaded; create it where there is none."""
    order = _without_topic(strategy_name)
    if _is_address(place):
        from topiccrawl.addons.redis.crawl import new_shared

        return new_shared(str(place), settings or Settings(), order, owner)
    return EmbeddedFrontier(place, order, Politeness(), Limits(), owner=owner)


def discard_frontier(place: str | Path) -> None:
    """Delete a frontier's folder; one in Redis is deleted by ``-a fresh=1`` only."""
    if not _is_address(place):
        discard(place)


def _is_address(place: str | Path) -> bool:
    return str(place).startswith(("redis:", "unix:"))


def frontier_place(settings: BaseSettings, spider: Spider | None) -> str:
    """Return the place of a crawl's frontier, for the log of crawls: folder, or server and name."""
    return place_named(settings, crawl_name(spider))


def place_named(settings: BaseSettings, name: str) -> str:
    """Return the place of the frontier of a topic's slug (or of another owner)."""
    if in_redis(settings):
        from topiccrawl.addons.redis.crawl import place_of

        return place_of(settings, name)
    return str(folder_of(settings, name).absolute())


def _without_topic(name: str) -> Strategy:
    """Return the strategy of that name, for reading and moving stored evidence."""
    return strategy(name, _NoTopic()) if name in NAMES else FirstCome()


class _NoTopic:
    """Scorer for reading only: the stored evidence is shown as it is."""

    def score_many(self, texts: list[str]) -> list[float]:
        return [0.0] * len(texts)

    def contains(self, text: str) -> bool:  # noqa: ARG002
        return False


def frontier_path(settings: BaseSettings, spider: Spider | None) -> Path:
    """Return the frontier's folder: in JOBDIR where given, else by topic in the data folder."""
    return folder_of(settings, crawl_name(spider))


def folder_of(settings: BaseSettings, name: str) -> Path:
    """Return the folder of the frontier of a topic's slug (or of another owner)."""
    if jobdir := settings.get("JOBDIR"):
        return Path(jobdir) / "frontier"
    return Path(settings["TOPICCRAWL_DATA_DIR"]) / "frontiers" / name


def _owner(spider: Spider | None) -> str:
    """Return the owner of a spider's frontier: a JOBDIR must not mix two crawls."""
    topic = getattr(spider, "topic", None)
    if topic is not None:
        return str(topic.name)
    return getattr(spider, "crawl_name", f"spider-{getattr(spider, 'name', 'unnamed')}")


def check_settings(settings: BaseSettings) -> None:
    """Read all settings of the scheduler once.

    Raises:
        SettingError: If one cannot be used.
    """
    politeness_of(settings)
    limits_of(settings)
    retry_rules(settings)
    share_of(settings)


def politeness_of(settings: BaseSettings) -> Politeness:
    """Return Scrapy's own politeness settings in the frontier's form."""
    target = number(settings, "AUTOTHROTTLE_TARGET_CONCURRENCY")
    if not target:
        raise SettingError("AUTOTHROTTLE_TARGET_CONCURRENCY is 0: give a number above 0")
    return Politeness(
        delay=number(settings, "DOWNLOAD_DELAY"),
        jitter=_jitter(settings),
        concurrency=max(1, int(number(settings, "CONCURRENT_REQUESTS_PER_DOMAIN"))),
        adaptive=settings.getbool("AUTOTHROTTLE_ENABLED"),
        start_delay=number(settings, "AUTOTHROTTLE_START_DELAY"),
        max_delay=number(settings, "AUTOTHROTTLE_MAX_DELAY"),
        target_concurrency=target,
        hosts=dict(_slots(settings)),
        robots=settings.getbool("ROBOTSTXT_OBEY"),
        user_agent=settings.get("ROBOTSTXT_USER_AGENT") or settings["USER_AGENT"],
        own=frozenset(_hosts(settings, "TOPICCRAWL_OWN_HOSTS")),
    )


def _hosts(settings: BaseSettings, name: str) -> Iterator[str]:
    """Yield the hosts that a setting lists."""
    for text in settings.getlist(name):
        host = host_named(text)
        if not host:
            raise SettingError(f"{name}: {text!r} is no host: write news.example.com, without port")
        yield host


def limits_of(settings: BaseSettings) -> Limits:
    """Return the bounds that the operator set."""
    retries = int(number(settings, "RETRY_TIMES")) if settings.getbool("RETRY_ENABLED") else 0
    return Limits(
        max_depth=int(number(settings, "DEPTH_LIMIT")),
        max_host_pages=int(number(settings, "TOPICCRAWL_HOST_PAGES")),
        max_attempts=retries + 1,
        max_queued=int(number(settings, "TOPICCRAWL_MAX_QUEUED")),
        max_known=int(number(settings, "TOPICCRAWL_MAX_KNOWN")),
        seen_error=_seen_error(settings),
    )


def _seen_error(settings: BaseSettings) -> float:
    error = number(settings, "TOPICCRAWL_SEEN_ERROR")
    if not LEAST_ERROR <= error <= MOST_ERROR:
        message = f"TOPICCRAWL_SEEN_ERROR is {error:g}: give a share from 0.000001 to 0.1"
        raise SettingError(message)
    return error


def retry_rules(settings: BaseSettings) -> Retry:
    """Return the waiting times of failed URLs."""
    return Retry(
        number(settings, "TOPICCRAWL_RETRY_DELAY"), number(settings, "TOPICCRAWL_RETRY_MAX_DELAY")
    )


def traps_of(settings: BaseSettings) -> TrapRules | None:
    """Return the trap rules' thresholds, or None where they are off."""
    if not settings.getbool("TOPICCRAWL_TRAPS_ENABLED"):
        return None
    return TrapRules(
        max_length=settings.getint("URLLENGTH_LIMIT"),
        max_slashes=settings.getint("TOPICCRAWL_TRAP_SLASHES"),
    )


def topic_rules(topic: Topic) -> HostRules:
    """Return a topic's rules of hosts and URLs."""
    urls = UrlRules(topic.include, topic.exclude)
    return HostRules(topic.allowed_hosts, topic.denied_hosts, urls)


def hosts_of(spider: Spider | None) -> HostRules:
    """Return the rules of allowed hosts: the topic's, else ``allowed_domains``."""
    topic = getattr(spider, "topic", None)
    if topic is None:
        return HostRules(getattr(spider, "allowed_domains", None) or (), ())
    return topic_rules(topic)


def share_of(settings: BaseSettings) -> tuple[int, int] | None:
    """Return the lanes' share (``"3:1"``), or None for the strategy's own."""
    text = settings.get("TOPICCRAWL_LANE_SHARE")
    if not text:
        return None
    prior, _, normal = str(text).partition(":")
    if prior.isdigit() and normal.isdigit() and int(prior) + int(normal) > 0:
        return int(prior), int(normal)
    msg = f"TOPICCRAWL_LANE_SHARE is {text!r}: write two whole numbers, for example 1:1 or 9:1"
    raise SettingError(msg)


def number(settings: BaseSettings, name: str) -> float:
    """Return a setting that is a number not below 0.

    Raises:
        SettingError: If it is not such a number.
    """
    value = settings.get(name)
    try:
        result = float(value)
    except (TypeError, ValueError):
        result = -1.0
    if not 0 <= result < float("inf"):
        msg = f"{name} is {value!r}: give a number, 0 or larger"
        raise SettingError(msg)
    return result


def _jitter(settings: BaseSettings) -> float:
    """Return the jitter as a share of the delay; Scrapy once called it RANDOMIZE_DOWNLOAD_DELAY."""
    older = settings.getpriority("RANDOMIZE_DOWNLOAD_DELAY") or 0
    if older > (settings.getpriority("DOWNLOAD_DELAY_JITTER") or 0):
        return 0.5 if settings.getbool("RANDOMIZE_DOWNLOAD_DELAY") else 0.0
    return number(settings, "DOWNLOAD_DELAY_JITTER")


def _slots(settings: BaseSettings) -> Iterator[tuple[str, tuple[float | None, int | None]]]:
    """Yield delays and concurrencies by host; slots with names that are no hosts match none."""
    for name, slot in settings.getdict("DOWNLOAD_SLOTS").items():
        yield host_named(name) or name, (slot.get("delay"), slot.get("concurrency"))
