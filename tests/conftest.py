"""What all tests share: how laws are run, and the servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import laws, mongo_server
from tests.redis_server import running

if TYPE_CHECKING:
    from collections.abc import Iterator

laws.load()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Many more examples where new ones are looked for (``make fuzz``)."""
    if laws.TIMES:
        laws.multiply(items)


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
