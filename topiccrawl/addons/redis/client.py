"""Clients of the Redis server that the settings name (setting names of scrapy-redis)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import redis
import redis.asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

from topiccrawl.errors import SettingError
from topiccrawl.storage.redisaddress import redis_url

if TYPE_CHECKING:
    from collections.abc import Mapping

TIMEOUT = 5.0
"""Seconds that Redis may take to answer."""
_NOT_OURS = frozenset({"redis_cls", "encoding", "decode_responses", "retry_on_timeout", "url"})


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
    given = settings.get("REDIS_PARAMS") or {}
    given = json.loads(given) if isinstance(given, str) else dict(given)
    known = {name: value for name, value in given.items() if name not in _NOT_OURS}
    params = {
        "socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT, **known, "retry": retry,
    }  # fmt: skip
    url = redis_url(settings) or given.get("url")
    if url:
        try:
            return kind.from_url(url, **params)
        except ValueError:
            # neither the error nor its cause: they may quote a password that holds a slash
            raise SettingError(
                "REDIS_URL cannot be used: write redis://USER:PASSWORD@HOST:PORT/DATABASE, in user"
                " and password percent-encoded what is no letter or digit"
            ) from None
    for name, param in (("REDIS_HOST", "host"), ("REDIS_PORT", "port"), ("REDIS_DB", "db")):
        if settings.get(name) is not None:
            params[param] = settings.get(name)
    return kind(**params)
