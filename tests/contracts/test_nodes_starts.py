"""Tests of start URLs in Redis: each is used once, even if a node dies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.contracts.conftest import Crew
    from topiccrawl.addons.redis.frontier import SharedFrontier
    from topiccrawl.addons.redis.transport import Call


def starts(node: SharedFrontier, most: int = 2) -> list[bytes]:
    return node.run(node.membership.starts("topic:start_urls", most))


@pytest.mark.parametrize("kind", ["list", "set", "zset"])
def test_start_urls_are_used_once_and_survive_their_node(crew: Crew, kind: str) -> None:
    for url in ("http://a.cn/", "http://b.cn/", "http://c.cn/"):
        if kind == "list":
            crew.client.rpush("topic:start_urls", url)
        elif kind == "set":
            crew.client.sadd("topic:start_urls", url)
        else:
            crew.client.zadd("topic:start_urls", {url: 1.0})
    one = crew.join()
    taken = starts(one)
    assert len(taken) == 2
    crew.kill(one)
    two = crew.join()
    two.settle()
    assert sorted(starts(two)) == sorted(taken), "what the dead node had comes first"
    two.settle()
    assert sorted([*starts(two), *taken]) == [b"http://a.cn/", b"http://b.cn/", b"http://c.cn/"]
    two.settle()
    assert starts(two) == []


def put_starts(crew: Crew, *names: str) -> None:
    crew.client.rpush("topic:start_urls", *(f"http://{name}.cn/" for name in names))


def late_starts(node: SharedFrontier) -> Call:
    """Call for start URLs that Redis has not read; its connection is closed."""
    steps = node.membership.starts("topic:start_urls", 2)
    call = next(steps)
    steps.close()
    return call


def test_start_urls_of_a_late_call_are_not_lost(crew: Crew) -> None:
    put_starts(crew, "a", "b", "c")
    node = crew.join()
    late = late_starts(node)
    first = starts(node, 1)
    late.on(crew.client)  # leases another one; the answer is lost
    node.settle()  # confirms the first
    assert (first, starts(node)) == ([b"http://a.cn/"], [b"http://b.cn/", b"http://c.cn/"])
    node.settle()
    assert starts(node) == []
    assert not crew.client.exists("topic:start_urls", f"{node.base}starts:{node.membership.epoch}")


def test_start_urls_of_a_dead_nodes_call_go_to_the_next_node(crew: Crew) -> None:
    put_starts(crew, "a", "b")
    one = crew.join()
    late = late_starts(one)
    crew.kill(one)
    two = crew.join()
    crew.settle()
    late.on(crew.client)
    assert starts(two) == [b"http://a.cn/", b"http://b.cn/"]


def test_repeated_batch_confirms_start_urls_once(crew: Crew) -> None:
    put_starts(crew, "a", "b", "c")
    node = crew.join()
    assert len(starts(node)) == 2
    steps = node.membership.exchange(look=False)
    batch = next(steps)
    steps.close()
    batch.on(crew.client)  # Redis applied it; the answer is lost
    late_starts(node).on(crew.client)
    node.settle()  # sends it again
    batch.on(crew.client)
    assert starts(node) == [b"http://c.cn/"]


def test_timed_out_node_gets_its_start_urls_again(crew: Crew) -> None:
    put_starts(crew, "a", "b")
    one, two = crew.join(), crew.join()
    assert len(starts(one)) == 2
    crew.time_out(one)
    crew.settle(two)
    one.settle()  # is refused, and joins again
    assert starts(one) == [b"http://a.cn/", b"http://b.cn/"]
