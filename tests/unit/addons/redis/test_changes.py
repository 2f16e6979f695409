"""Tests of the changed rows that a node reports to Redis."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from benchmarks.frontier_web import Largest, Web
from topiccrawl.addons.redis.changes import Changes
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier

if TYPE_CHECKING:
    from pathlib import Path

NO_DELAY = Politeness(delay=0.0, jitter=0.0, adaptive=False, robots=False, concurrency=1_000)
ENDINGS = (
    Outcome(Ending.CRAWLED, relevance=0.5), Outcome(Ending.ERROR, "http-404"),
    Outcome(Ending.LATER, "timeout"), Outcome(Ending.RELEASED),
)  # fmt: skip
MINE = [True] * 256


def crawl(frontier: EmbeddedFrontier, web: Web, pages: int) -> None:
    """Crawl pages with random link texts and outcomes."""
    for _ in range(pages):
        offers = [
            offer._replace(anchor="锚" * web.rng.randrange(3), context="\0" * web.rng.randrange(2))
            for offer in web.page()
        ]
        for lease in frontier.pop():
            frontier.finish(lease, web.rng.choice(ENDINGS), offers)


def rows(frontier: EmbeddedFrontier) -> dict[bytes, bytes]:
    return {key: row for _, key, row in frontier.urls.in_order()}


@pytest.mark.parametrize("seed", range(3))
def test_reported_changes_reproduce_the_rows(tmp_path: Path, seed: int) -> None:
    web, rng = Web(9, seed), random.Random(seed)  # noqa: S311
    frontier = EmbeddedFrontier(tmp_path, Largest(), NO_DELAY, Limits(max_known=150), sync="never")
    frontier.store.feed = changes = Changes()
    frontier.push([Seed(web.url(number), 0.5) for number in range(9)])
    web.made = 9
    known: dict[bytes, bytes] = {}
    for _ in range(8):
        crawl(frontier, web, rng.randrange(5))
        if known and rng.random() < 0.5:
            frontier.forget(web.url(rng.randrange(web.made)))
        if rng.random() < 0.7:
            frontier.commit()
        parts = changes.take(1, MINE)
        for bucket, flat in parts.get("rows", {}).items():
            assert {key[0] for key in flat[::2]} == {bucket}
            known.update(zip(flat[::2], flat[1::2], strict=True))
        for bucket, keys in parts.get("gone_rows", {}).items():
            assert {key[0] for key in keys} == {bucket}
            for key in keys:
                known.pop(key, None)
        assert known == rows(frontier)
        assert "rows" not in changes.take(1, MINE)
    frontier.close()
