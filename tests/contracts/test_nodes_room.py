"""Tests of a crawl state that is larger than one transaction: it is written in pieces."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.contracts.conftest import QUICK
from tests.contracts.strategies import Plain
from topiccrawl.addons.redis.crawl import read
from topiccrawl.frontier import store
from topiccrawl.frontier.contract import Limits, Seed
from topiccrawl.frontier.seen import NAME, Filter

if TYPE_CHECKING:
    from tests.contracts.conftest import Crew

BUCKETS, FILTERS, BYTES = 12, 4, 256 << 10


@pytest.fixture
def filled(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> Crew:
    """A crawl in Redis with 12 MB of filters, and room for 3 MB in a transaction."""
    node = crew.join()
    node.push([Seed(f"http://h{n}.cn/") for n in range(400)])
    crew.settle()
    data = Filter(bytearray(BYTES), 9).pack()
    for bucket in [b for b in range(256) if crew.client.exists(f"{node.base}rows:{b}")][:BUCKETS]:
        for place in range(FILTERS):
            crew.client.hset(f"{node.base}seen:{bucket}", NAME.pack(bucket, place), data)
    node.close()
    crew.nodes.clear()
    monkeypatch.setattr(store, "MAP_START", 3 << 20)
    monkeypatch.setattr(store, "MAP_ROOM", 3 << 20)
    return crew


def test_node_loads_a_state_larger_than_a_transaction(filled: Crew) -> None:
    node = filled.join(QUICK, Limits())
    assert node.counts()["prior"] == 400
    assert sum(map(len, node.local.seen._chains.values())) == BUCKETS * FILTERS


def test_reader_loads_a_state_larger_than_a_transaction(filled: Crew) -> None:
    with closing(read(filled.client, "crew", Plain())) as view:
        assert view.counts()["prior"] == 400
