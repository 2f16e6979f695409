"""Examination of the Redis server that tasks and shared crawls use."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from topiccrawl.errors import ConfigurationError
from topiccrawl.scheduler.findings import Finding, fail, ok, warn
from topiccrawl.storage.redisaddress import in_redis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redis import Redis
    from scrapy.settings import BaseSettings


APART = 2.0
"""Seconds by which this machine's clock may differ from the server's."""
OLDEST = (7, 0)
"""Oldest version of Redis that has the commands and scripts used here."""


def examine(settings: BaseSettings) -> Iterator[Finding]:
    """Check that Redis answers, keeps what it stores, and has the same time."""
    if in_redis(settings):
        yield from _connected(settings)
    else:
        yield ok("redis", "not used (REDIS_URL is not set): one machine, state in its folder")


def _connected(settings: BaseSettings) -> Iterator[Finding]:
    """Examine the server; only now is the client imported."""
    from redis.exceptions import RedisError  # noqa: PLC0415

    from topiccrawl.addons.redis.client import client_of  # noqa: PLC0415
    from topiccrawl.addons.redis.transport import address  # noqa: PLC0415

    try:
        client = client_of(settings)
    except ConfigurationError as error:
        yield fail("redis", str(error), "correct REDIS_URL")
        return
    try:
        yield from _answers(client, address(client))
    except RedisError as error:
        remedy = "start it, let this machine in (bind, requirepass), or correct REDIS_URL"
        yield fail("redis", f"{address(client)}: {error}", remedy)
    finally:
        client.close()


def _answers(client: Redis, name: str) -> Iterator[Finding]:
    began = time.time()
    seconds, micros = client.time()
    ended = time.time()
    info = client.info()
    found = str(info.get("redis_version", "0"))
    text = f"{name}: version {found}, answers in {(ended - began) * 1000:.1f} ms"
    if tuple(int(part) for part in found.split(".")[:2]) < OLDEST:
        yield fail("redis", text, "use Redis 7 or newer, or Valkey")
    else:
        yield ok("redis", text)
    off = seconds + micros / 1e6 - (began + ended) / 2
    if abs(off) > APART:
        remedy = "nodes go by Redis' clock, articles by this one: set both (timedatectl set-ntp)"
        yield warn("clock", f"Redis is {off:+.1f} s from this machine", remedy)
    yield from _kept(client, info)


def _kept(client: Redis, info: dict[str, object]) -> Iterator[Finding]:
    """Check whether the server keeps what is written: append-only file, eviction policy."""
    if not info.get("aof_enabled"):
        remedy = "appendonly yes, or a crash of Redis loses the crawl since its last snapshot"
        yield warn("redis", "writes no append-only file", remedy)
    policy = str(info.get("maxmemory_policy", "noeviction"))
    if policy != "noeviction" and info.get("maxmemory"):
        remedy = "maxmemory-policy noeviction: a crawl's keys must not be thrown away"
        yield fail("redis", f"maxmemory-policy is {policy}", remedy)
    keys = client.dbsize()
    yield ok("redis", f"{keys} keys, {info.get('used_memory_human', '?')} of memory")
