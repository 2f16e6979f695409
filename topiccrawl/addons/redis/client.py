"""Clients of the Redis server of the settings, which are read as by scrapy-redis."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import redis
import redis.asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry
from scrapy.settings import BaseSettings
from scrapy_redis.connection import get_redis

from topiccrawl.errors import SettingError
from topiccrawl.storage.redis_address import redis_url

if TYPE_CHECKING:
    from collections.abc import Mapping

_PATH = re.compile(r"/?[0-9]*/?")
"""Path of a URL of a server, which is the number of the database."""
_SERVER = (("REDIS_HOST", "host", str), ("REDIS_PORT", "port", int), ("REDIS_DB", "db", int))
"""Settings, their parameters of a client, and types."""
TIMEOUT = 5.0
"""Timeout of connections and commands in seconds."""
_IGNORED = frozenset({"encoding", "decode_responses", "retry_on_timeout"})
"""Parameters of REDIS_PARAMS that are ignored, since they would change the data of our scripts."""


def client_of(settings: Mapping[str, Any]) -> redis.Redis:
    """Return a client of the server of the settings.

    Raises:
        SettingError: If the settings of the server cannot be used.
    """
    return _create(redis.Redis, settings, Retry(NoBackoff(), 0))  # type: ignore[no-any-return]


def async_client_of(settings: Mapping[str, Any]) -> redis.asyncio.Redis:
    """Return an asynchronous client of the server of the settings.

    Raises:
        SettingError: If the settings of the server cannot be used.
    """
    client: redis.asyncio.Redis = _create(redis.asyncio.Redis, settings, AsyncRetry(NoBackoff(), 0))
    return client


def _create(kind: Any, settings: Mapping[str, Any], retry: object) -> Any:  # noqa: ANN401 - either client
    try:
        given = BaseSettings({"REDIS_PARAMS": settings.get("REDIS_PARAMS")}).getdict("REDIS_PARAMS")
        for name, param, of in _SERVER:
            if settings.get(name) is not None:
                given[param] = of(settings[name])
    except (ValueError, TypeError):  # the value may have a password
        raise SettingError(
            "REDIS_PARAMS must be a JSON object, REDIS_PORT and REDIS_DB numbers"
        ) from None
    url = redis_url(settings)
    if url:
        given["url"] = url
    known = {name: value for name, value in given.items() if name not in _IGNORED}
    times = {"socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT}
    try:
        if not _PATH.fullmatch(urlsplit(url).path) and not url.startswith("unix:"):
            raise ValueError  # redis-py would use database 0  # noqa: TRY301
        return get_redis(**{**times, **known, "redis_cls": kind, "retry": retry})
    except ValueError:
        # without the error and its cause, which may quote a password that contains a slash
        raise SettingError(
            "REDIS_URL cannot be used: write "
            "redis://USER:PASSWORD@HOST:PORT/DATABASE with a number as "
            "DATABASE, and percent-encode special characters in user and password"
        ) from None
