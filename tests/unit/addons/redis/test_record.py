"""What a node tells Redis of its rows: all that changed, each as it is."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, ClassVar

import pytest

from benchmarks.frontier_web import Largest, Web
from topiccrawl.addons.redis.record import RecordingStore
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.addons.redis.record import RecordingUrls

RUDE = Politeness(delay=0.0, jitter=0.0, adaptive=False, robots=False, concurrency=1_000)
ENDINGS = (
    Outcome(Ending.CRAWLED, relevance=0.5), Outcome(Ending.ERROR, "http-404"),
    Outcome(Ending.LATER, "timeout"), Outcome(Ending.RELEASED),
)  # fmt: skip


class Recorded(EmbeddedFrontier):
    """An embedded frontier that notes what changes."""

    store_type: ClassVar = RecordingStore
    _store: RecordingStore

    @property
    def urls(self) -> RecordingUrls:
        return self._store.urls


def crawl(frontier: Recorded, web: Web, pages: int) -> None:
    """Pages with links in all words, which end in any way."""
    for _ in range(pages):
        offers = [
            offer._replace(anchor="锚" * web.rng.randrange(3), context="\0" * web.rng.randrange(2))
            for offer in web.page()
        ]
        for lease in frontier.pop():
            frontier.finish(lease, web.rng.choice(ENDINGS), offers)


def rows(urls: RecordingUrls) -> dict[bytes, bytes]:
    return {urls.key(number): urls.get(number) for number in urls.numbers().tolist()}


@pytest.mark.parametrize("seed", range(3))
def test_what_is_told_makes_the_rows_before_those_of_now(tmp_path: Path, seed: int) -> None:
    web, rng = Web(9, seed), random.Random(seed)  # noqa: S311
    frontier = Recorded(tmp_path, Largest(), RUDE, Limits(max_known=150))
    urls = frontier.urls
    frontier.push([Seed(web.url(number), 0.5) for number in range(9)])
    web.made = 9
    known: dict[bytes, bytes] = {}
    for _ in range(8):
        crawl(frontier, web, rng.randrange(5))
        if known and rng.random() < 0.5:
            frontier.forget(web.url(rng.randrange(web.made)))
        if rng.random() < 0.7:
            frontier.commit()
        for bucket, key, row in urls.changes():
            assert bucket == key[0]
            if row is None:
                known.pop(key, None)
            else:
                known[key] = row
        assert known == rows(urls)
        assert not list(urls.changes())
    frontier.close()
