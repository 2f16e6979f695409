"""Clients of the Redis server that the settings name, read as scrapy-redis reads them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import redis
import redis.asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from scrapy.settings import BaseSettings
from scrapy_redis.connection import get_redis

from topiccrawl.errors import SettingError, StorageAwayError
from topiccrawl.storage.redis_address import redis_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TIMEOUT = 5.0
"""Seconds that Redis may take to answer."""
_NOT_OURS = frozenset({"encoding", "decode_responses", "retry_on_timeout"})
"""Parameters that would change what our scripts read and write."""


def client_of(settings: Mapping[str, Any]) -> redis.Redis:
    """Return a client of the server that the settings name.

    Raises:
        SettingError: If they name none that can be used.
    """
    client: redis.Redis = _made(redis.Redis, settings, Retry(NoBackoff(), 0))
    return client


def async_client_of(settings: Mapping[str, Any]) -> redis.asyncio.Redis:
    """Return the same for the event loop; raises as ``client_of``."""
    client: redis.asyncio.Redis = _made(redis.asyncio.Redis, settings, AsyncRetry(NoBackoff(), 0))
    return client


def _made(kind: Any, settings: Mapping[str, Any], retry: object) -> Any:  # noqa: ANN401 - either client
    given = BaseSettings({"REDIS_PARAMS": settings.get("REDIS_PARAMS")}).getdict("REDIS_PARAMS")
    for name, param in (("REDIS_HOST", "host"), ("REDIS_PORT", "port"), ("REDIS_DB", "db")):
        if settings.get(name) is not None:
            given[param] = settings.get(name)
    if url := redis_url(settings):
        given["url"] = url
    known = {name: value for name, value in given.items() if name not in _NOT_OURS}
    times = {"socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT}
    try:
        return get_redis(**{**times, **known, "redis_cls": kind, "retry": retry})
    except ValueError:
        # neither the error nor its cause: they may quote a password that holds a slash
        raise SettingError(
            "REDIS_URL cannot be used: write "
            "redis://USER:PASSWORD@HOST:PORT/DATABASE, in user and password "
            "percent-encoded what is no letter or digit"
        ) from None


@contextmanager
def translated(text: str) -> Iterator[None]:
    """Raise errors of Redis as StorageAwayError with a message, a template of ``error``."""
    try:
        yield
    except RedisError as error:
        raise StorageAwayError(text, error=error) from error
