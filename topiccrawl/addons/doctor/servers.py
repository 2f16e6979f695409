"""Checks of the servers that the settings name: they answer and are set up correctly."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from topiccrawl.addons.mongodb.storage import mongodb_uri
from topiccrawl.errors import ConfigurationError, StorageError
from topiccrawl.scheduler.findings import fail, ok, warn
from topiccrawl.storage.redisaddress import in_redis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

    from topiccrawl.scheduler.findings import Finding

APART = 2.0
"""Seconds by which this machine's clock may differ from a server's."""


def redis(settings: BaseSettings) -> Iterator[Finding]:
    """Check that Redis answers, keeps what it stores, and has the same time."""
    try:
        if not in_redis(settings):
            yield ok("redis", "not used (REDIS_URL is not set): one machine, state in its folder")
            return
    except ConfigurationError as error:
        yield fail("redis", str(error), "pip install 'topiccrawl[redis]'")
        return
    from topiccrawl.addons.redis.doctor import examine  # noqa: PLC0415 - an extra

    yield from examine(settings, APART)


def mongodb(settings: BaseSettings) -> Iterator[Finding]:
    """Check that MongoDB answers."""
    try:
        uri = mongodb_uri(settings)
    except ConfigurationError as error:
        yield fail("mongodb", str(error), "pip install 'topiccrawl[mongodb]'")
        return
    if not uri:
        yield ok("mongodb", "not used (MONGODB_URI is not set): articles in store.sqlite")
        return
    from topiccrawl.addons.mongodb.client import blocking, shown  # noqa: PLC0415 - an extra

    began = time.perf_counter()
    try:
        with blocking(uri) as database:
            database.command("ping")
            articles = database["articles"].estimated_document_count()
    except (StorageError, ConfigurationError) as error:
        yield fail("mongodb", str(error), "start it, let this machine in, or correct MONGODB_URI")
        return
    spent = time.perf_counter() - began
    slow = f"{shown(uri)}: answers in {spent * 1000:.0f} ms, {articles} articles"
    if spent > APART:
        yield warn("mongodb", slow, "a store that is far away slows crawls: see docs/storage.md")
    else:
        yield ok("mongodb", slow)
