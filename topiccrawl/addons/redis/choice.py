"""Choice of the frontier by the settings of Redis; imports no client if Redis is not used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.scheduler.frontiers import Frontiers, LocalFrontiers
from topiccrawl.storage.redis_address import in_redis

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


def frontiers(settings: BaseSettings, place: str = "") -> Frontiers:
    """Return the frontiers in Redis if REDIS_URL or ``place`` names a server, or those in folders.

    Places in the log of crawls have no passwords, so the server of the settings is preferred.
    """
    address = place.startswith(("redis:", "rediss:", "unix:"))
    if address and not in_redis(settings):
        settings = settings.copy()
        settings.set("REDIS_URL", place.partition("#")[0], priority="cmdline")
    if not in_redis(settings) or (place and not address):
        return LocalFrontiers(settings)
    from topiccrawl.addons.redis.crawl import SharedFrontiers  # noqa: PLC0415 - imports the client

    return SharedFrontiers(settings)
