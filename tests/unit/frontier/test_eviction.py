"""Evicting records on a node that has a part of the crawl: its rows only."""

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

MOST = 80
URLS = [f"http://a.cn/{n}" for n in range(MOST)]
POLITE = Politeness(delay=0.0, jitter=0.0, adaptive=False, robots=False)
CRAWLED = Outcome(Ending.CRAWLED)


@pytest.fixture
def frontier(tmp_path: Path) -> Iterator[EmbeddedFrontier]:
    """As many pages of one host are crawled as may be known."""
    limits = Limits(max_known=MOST, seen_error=1e-6)
    made = EmbeddedFrontier(tmp_path, Plain(), POLITE, limits, sync="never")
    made.push(map(Seed, URLS))
    while leases := made.pop():
        made.finish(leases[0], CRAWLED)
    yield made
    made.close()


def test_what_was_found_before_it_became_anothers_stays(frontier: EmbeddedFrontier) -> None:
    eviction, before = frontier.eviction, frontier.counts()
    assert eviction._scan(MOST) == MOST
    eviction.owned = [bucket != key_of(URLS[0])[0] for bucket in range(256)]
    assert eviction._evict_bucket()
    assert frontier.counts() == before
