"""Tests of pages that kill nodes: each crash counts and delays the next attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.addons.redis.frontier import TTL
from topiccrawl.addons.redis.membership import CRASH_WAIT
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Seed

if TYPE_CHECKING:
    from tests.contracts.conftest import Crew
    from topiccrawl.addons.redis.frontier import SharedFrontier

POISON, GOOD = "http://a.cn/poison", "http://b.cn/good"
WAIT = CRASH_WAIT * TTL
TWICE = Limits(max_crashes=2)


def begin(node: SharedFrontier) -> list[str]:
    """Begin all available pages, without an exchange; return their URLs."""
    leases = node.pop(9)
    for lease in leases:
        node.begin(lease)
    return [lease.url for lease in leases]


def test_a_page_that_kills_every_node_ends_as_an_error(crew: Crew) -> None:
    node = crew.join(limits=TWICE)
    node.push([Seed(POISON), Seed("http://a.cn/good")])
    node.commit()
    for _ in range(2):
        crew.clock += WAIT
        node.begin(node.pop(1)[0])
        crew.kill(node)
        node = crew.join(limits=TWICE)
    assert list(node.iterate("error")) == [(POISON, 1.0, "crash")]
    assert [lease.url for lease in node.pop(9)] == ["http://a.cn/good"]


def test_begun_page_of_a_timed_out_node_waits(crew: Crew) -> None:
    one = crew.join()
    one.push([Seed(POISON), Seed(GOOD)])
    one.commit()
    (lease,) = [lease for lease in one.pop(9) if lease.url == POISON]
    one.begin(lease)
    crew.kill(one)
    two = crew.join()
    assert [lease.url for lease in two.pop(9)] == [GOOD]
    known = two.why(POISON)
    assert known is not None
    assert known.reason == "crash"
    crew.clock += WAIT * 0.9
    assert two.pop(9) == []
    crew.clock += WAIT * 0.1
    assert [lease.url for lease in two.pop(9)] == [POISON]


def test_wait_grows_with_each_crash(crew: Crew) -> None:
    node = crew.join()
    node.push([Seed(POISON)])
    node.commit()
    for times in range(1, 4):
        assert begin(node) == [POISON]
        crew.kill(node)
        node = crew.join()
        crew.clock += WAIT * (times - 0.1)
        assert node.pop(9) == []
        crew.clock += WAIT * 0.1


def test_crash_counts_if_the_node_resumes_before_the_takeover(crew: Crew) -> None:
    one, two = crew.join(limits=Limits(max_crashes=1)), crew.join(limits=Limits(max_crashes=1))
    one.push([Seed(f"http://h{n}.cn/") for n in range(8)])
    crew.settle()
    leases = one.pop(9)
    for lease in leases:
        one.begin(lease)
    crew.time_out(one)
    two._exchange(look=True)  # times the other node out
    for lease in leases:
        one.finish(lease, Outcome(Ending.CRAWLED))
    crew.settle()
    ended = {url for url, _, reason in two.iterate("error") if reason == "crash"}
    ended |= {url for url, _, reason in one.iterate("error") if reason == "crash"}
    assert ended == {lease.url for lease in leases}


def test_resumed_node_keeps_the_mark_of_another_node(crew: Crew) -> None:
    one = crew.join()
    one.push([Seed(POISON)])
    one.commit()
    (lease,) = one.pop(9)
    one.begin(lease)
    crew.time_out(one)
    two = crew.join()
    crew.clock += WAIT
    assert begin(two) == [POISON]
    one._attached = False
    one.finish(lease, Outcome(Ending.CRAWLED))
    one._attached = True
    crew.kill(two)
    crew.settle()
    assert one.counts()["crashes"] == 2
