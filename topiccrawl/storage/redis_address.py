"""Address of the Redis server, from settings or environment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def redis_url(settings: Mapping[str, Any]) -> str:
    """Return the setting REDIS_URL, or the environment variable, or "".

    An empty REDIS_URL, or REDIS_HOST, takes precedence over the environment.

    >>> redis_url({"REDIS_URL": "redis://a.test"}), redis_url({"REDIS_URL": ""})
    ('redis://a.test', '')
    """
    given = settings.get("REDIS_URL")
    if given is None and not settings.get("REDIS_HOST"):
        given = os.environ.get("REDIS_URL")
    return str(given or "")


def in_redis(settings: Mapping[str, Any]) -> bool:
    """Return whether the frontier is in Redis, that is, a server is configured."""
    return bool(redis_url(settings) or settings.get("REDIS_HOST"))
