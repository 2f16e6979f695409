"""Laws are about what holds, not how fast: machines that are busy must not break them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests import mongo_server
from tests.redis_server import running

if TYPE_CHECKING:
    from collections.abc import Iterator

settings.register_profile("project", deadline=None)
settings.load_profile("project")


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """URL of a Redis server for the tests of this run."""
    with running() as url:
        yield url


@pytest.fixture(scope="session")
def mongo_uri() -> Iterator[str]:
    """URI of a MongoDB server for the tests of this run."""
    with mongo_server.running() as uri:
        yield uri
