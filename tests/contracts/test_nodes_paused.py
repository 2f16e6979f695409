"""Tests of a Redis that is paused, or loses the registration of nodes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from topiccrawl.addons.redis.transport import run_blocking
from topiccrawl.frontier.contract import Seed

if TYPE_CHECKING:
    import pytest

    from tests.contracts.conftest import Crew
    from topiccrawl.addons.redis.frontier import SharedFrontier


def exchange(node: SharedFrontier) -> None:
    run_blocking(node._client, node.membership.exchange(look=True, patient=False))


def test_nodes_do_not_time_out_each_other_after_a_pause_of_redis(crew: Crew) -> None:
    one, other = crew.join(), crew.join()
    crew.settle()
    late = (time.time() - 1) * 1000.0  # all batches waited for the server
    base = "{topiccrawl:crew}:nodes"
    crew.client.zadd(base, {str(node.membership.epoch): late for node in (one, other)})
    exchange(one)
    exchange(other)
    assert one.membership.epoch > 0
    assert other.membership.epoch > 0, "it was not timed out by the first one"


def test_buckets_of_unregistered_nodes_are_taken(
    crew: Crew, caplog: pytest.LogCaptureFixture
) -> None:
    one, other = crew.join(), crew.join()
    one.push([Seed(f"http://h{n}.cn/") for n in range(20)])
    crew.settle()
    crew.client.delete("{topiccrawl:crew}:nodes")  # as by an eviction policy
    crew.settle()
    crew.settle()
    assert sum(sum(node.local.queues.sizes()) for node in (one, other)) == 20
    assert "Redis has lost the registration of nodes" in caplog.text
