"""A batch is sent, and its answer heard later: Redis has it, once, whatever happens in between."""

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
    """A node that sent some URLs and has heard nothing yet."""
    node = crew.join()
    node.push([Seed(url) for url in URLS])
    node._write()
    assert node._transport._sent is not None
    return node


def rows(crew: Crew, node: SharedFrontier) -> int:
    return sum(crew.client.hlen(name) for name in crew.client.keys(f"{node.base}rows:*"))


def test_a_commit_returns_when_redis_has_all(crew: Crew) -> None:
    node = sent(crew)
    node.commit()
    assert node._transport._sent is None
    assert rows(crew, node) == len(URLS)


def test_what_a_node_sent_before_it_was_killed_is_there(crew: Crew) -> None:
    node = sent(crew)
    crew.kill(node)
    other = crew.join()
    other.settle()
    assert sorted(lease.url for lease in other.pop(99)) == sorted(URLS)


def test_a_server_that_does_not_know_the_script_is_told_it(crew: Crew) -> None:
    node = crew.join()
    crew.client.script_flush()
    node.push([Seed(url) for url in URLS])
    node._write()
    node.commit()
    assert rows(crew, node) == len(URLS)


def test_a_batch_whose_connection_broke_is_sent_again_and_counts_once(crew: Crew) -> None:
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
