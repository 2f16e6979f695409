"""Checks of the Redis server for tasks and shared crawls."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from topiccrawl.errors import ConfigurationError
from topiccrawl.messages import localize, tr
from topiccrawl.scheduler.findings import Finding, fail, ok, warn
from topiccrawl.storage.redis_address import in_redis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redis import Redis
    from scrapy.settings import BaseSettings


MAX_CLOCK_OFFSET = 2.0
"""Maximum difference between the clocks of this machine and the server, seconds."""
MIN_VERSION = (7, 0)
"""Oldest version of Redis that supports the commands and scripts."""


def examine(settings: BaseSettings) -> Iterator[Finding]:
    """Check that Redis responds, persists its data, and has the same time."""
    if not in_redis(settings):
        text = tr("not used (REDIS_URL is not set): one machine, state in the data folder")
        yield ok("redis", text)
        return
    from redis.exceptions import NoPermissionError, RedisError  # noqa: PLC0415

    from topiccrawl.addons.redis.client import client_of  # noqa: PLC0415
    from topiccrawl.addons.redis.transport import address  # noqa: PLC0415

    try:
        client = client_of(settings)
    except ConfigurationError as error:
        yield fail("redis", localize(error), tr("correct REDIS_URL"))
        return
    try:
        if client.info("cluster").get("cluster_enabled"):
            text = tr("{address}: is a server of a Redis Cluster", address=address(client))
            yield fail("redis", text, tr("use a single Redis or Valkey server"))
            return
        client.set("topiccrawl:doctor", "")  # needs write rights and free memory
        client.delete("topiccrawl:doctor")
        yield from _answers(client, address(client))
    except NoPermissionError as error:
        remedy = tr("give the user the rights in docs/multi-node.md")
        yield fail("redis", f"{address(client)}: {error}", remedy)
    except RedisError as error:
        remedy = tr(
            "start it, allow this machine to connect (bind), give it enough memory, or correct"
            " the user and password in REDIS_URL"
        )
        yield fail("redis", f"{address(client)}: {error}", remedy)
    finally:
        client.close()


def _answers(client: Redis, name: str) -> Iterator[Finding]:
    began = time.time()
    seconds, micros = client.time()
    ended = time.time()
    info = client.info()
    found = str(info.get("redis_version", "0"))
    took = (ended - began) * 1000
    text = tr("{name}: version {found}, responds in {ms:.1f} ms", name=name, found=found, ms=took)
    if tuple(int(part) for part in found.split(".")[:2]) < MIN_VERSION:
        yield fail("redis", text, tr("use Redis 7 or newer, or Valkey"))
    else:
        yield ok("redis", text)
    offset = seconds + micros / 1e6 - (began + ended) / 2
    if abs(offset) > MAX_CLOCK_OFFSET:
        remedy = tr("synchronize both clocks (timedatectl set-ntp true): nodes use that of Redis")
        text = tr("the clock of Redis differs by {offset:+.1f} s", offset=offset)
        yield warn("clock", text, remedy)
    yield from _persistence(client, info)


def _persistence(client: Redis, info: dict[str, object]) -> Iterator[Finding]:
    """Check the persistence of the server: append-only file, eviction policy."""
    from topiccrawl.addons.redis.transport import eviction_policy  # noqa: PLC0415

    if not info.get("aof_enabled"):
        remedy = tr(
            "set appendonly yes; a crash of Redis loses all changes since its last snapshot"
        )
        yield warn("redis", tr("writes no append-only file"), remedy)
    if policy := eviction_policy(info):
        remedy = tr("set maxmemory-policy noeviction: the keys of a crawl must not be evicted")
        yield fail("redis", tr("maxmemory-policy is {policy}", policy=policy), remedy)
    keys = client.dbsize()
    used = info.get("used_memory_human", "?")
    yield ok("redis", tr("{keys} keys, {memory} of memory", keys=keys, memory=used))
