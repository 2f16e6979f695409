"""Tests of batches whose answer is pending or lost: each is applied once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.waiting import until
from topiccrawl.errors import StorageError
from topiccrawl.frontier.contract import Seed

if TYPE_CHECKING:
    from tests.contracts.conftest import Crew
    from topiccrawl.addons.redis.frontier import SharedFrontier

URLS = [f"http://h{n % 7}.cn/{n}" for n in range(21)]


def sent(crew: Crew) -> SharedFrontier:
    """Node that sent some URLs and has received no answer yet."""
    node = crew.join()
    node.push([Seed(url) for url in URLS])
    node._write()
    assert node._transport._sent is not None
    return node


def rows(crew: Crew, node: SharedFrontier) -> int:
    return sum(crew.client.hlen(name) for name in crew.client.keys(f"{node.base}rows:*"))


def test_commit_returns_when_redis_has_all_rows(crew: Crew) -> None:
    node = sent(crew)
    node.commit()
    assert node._transport._sent is None
    assert rows(crew, node) == len(URLS)


def test_urls_sent_before_a_kill_are_stored(crew: Crew) -> None:
    node = sent(crew)
    crew.kill(node)
    other = crew.join()
    other.settle()
    assert sorted(lease.url for lease in other.pop(99)) == sorted(URLS)


def test_script_unknown_to_the_server_is_loaded(crew: Crew) -> None:
    node = crew.join()
    crew.client.script_flush()
    node.push([Seed(url) for url in URLS])
    node._write()
    node.commit()
    assert rows(crew, node) == len(URLS)


def test_batch_of_a_broken_connection_counts_once(crew: Crew) -> None:
    node = sent(crew)
    until(lambda: rows(crew, node) == len(URLS))
    on_its_way = node._transport._sent
    assert on_its_way is not None
    on_its_way.connection._sock.close()  # type: ignore[attr-defined]
    with pytest.raises(StorageError, match="Redis failed"):
        node.commit()
    node.push([Seed("http://h8.cn/")])
    node.settle()
    assert (node.counts()["known"], rows(crew, node)) == (len(URLS) + 1, len(URLS) + 1)
    assert not node.counts().get("fenced", 0)
