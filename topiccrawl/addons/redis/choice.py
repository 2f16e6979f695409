"""Choice of the frontier by the settings of Redis; loads no client where Redis is not used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.scheduler.frontiers import Frontiers, LocalFrontiers
from topiccrawl.storage.redis_address import in_redis

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


def frontiers(settings: BaseSettings, place: str = "") -> Frontiers:
    """Return the frontiers in Redis where REDIS_URL or the place names it, else those in folders.

    The log of crawls has places of both kinds, and no password: the settings' server is preferred.
    """
    address = place.startswith(("redis:", "unix:"))
    if address and not in_redis(settings):
        settings = settings.copy()
        settings.set("REDIS_URL", place.partition("#")[0], priority="cmdline")
    if not in_redis(settings) or (place and not address):
        return LocalFrontiers(settings)
    from topiccrawl.addons.redis.crawl import SharedFrontiers  # noqa: PLC0415 - loaded where it is used

    return SharedFrontiers(settings)
