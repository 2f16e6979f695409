"""Tests of eviction on a node that owns a part of the buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contracts.strategies import Plain
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.rows import key_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_KNOWN = 80
URLS = [f"http://a.cn/{n}" for n in range(MAX_KNOWN)]
POLITE = Politeness(delay=0.0, jitter=0.0, adaptive=False, robots=False)
CRAWLED = Outcome(Ending.CRAWLED)


@pytest.fixture
def frontier(tmp_path: Path) -> Iterator[EmbeddedFrontier]:
    """Frontier with ``MAX_KNOWN`` crawled pages of one host."""
    limits = Limits(max_known=MAX_KNOWN, seen_error=1e-6)
    made = EmbeddedFrontier(tmp_path, Plain(), POLITE, limits, sync="never")
    made.push(map(Seed, URLS))
    while leases := made.pop():
        made.finish(leases[0], CRAWLED)
    yield made
    made.close()


def test_rows_of_a_bucket_that_moved_are_not_evicted(frontier: EmbeddedFrontier) -> None:
    eviction, before = frontier.eviction, frontier.counts()
    assert eviction._scan(MAX_KNOWN) == MAX_KNOWN
    eviction.owned = [bucket != key_of(URLS[0])[0] for bucket in range(256)]
    assert eviction._evict_bucket()
    assert frontier.counts() == before
