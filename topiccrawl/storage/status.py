"""What a page is made of: a source answers, a crawl that runs or what crawls left.

A *state* is a dict of sections, plain JSON values:

    control   name (of orders), paused, speed
    run       id, node, topic, strategy, frontier, began, seconds, finished, reason, version
    totals    pages, relevant, articles, duplicates ..., recent (harvest rate of the last pages)
    queues    prior, normal, leased, crawled, error, known
    errors    reason to number
    waiting   reason (see ``waiting``), seconds, detail
    hosts     states (state to number), list (see ``frontier.census``)
    terms     changes, own (terms), now (term and weight)
    latest    articles as they came
    series    every (seconds), points (see ``figures.Point``)
    nodes     run, totals, waiting and live of each node
    crawls    frontier, topic and live nodes of each crawl that can be shown

and what is asked for rarely:

    chains    stories that were republished most, with who did
    learnt    terms of the last change besides the user's own
    changes   how the topic changed (see ``storage.changes``)
    patterns  sites' URL patterns
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from topiccrawl.storage.listing import Listed

State = dict[str, Any]
"""Sections by name."""

EMPTY: State = {
    "run": {
        "id": "", "node": "", "topic": "topiccrawl", "strategy": "", "frontier": "", "began": 0.0,
        "seconds": 0.0, "finished": 0.0, "reason": "", "version": "",
    },
    "totals": {"pages": 0, "relevant": 0, "articles": 0, "duplicates": 0, "recent": 0.0},
    "queues": {"prior": 0, "normal": 0, "leased": 0, "crawled": 0, "error": 0, "known": 0},
    "errors": {},
    "waiting": {"reason": "", "seconds": 0.0, "detail": ""},
    "hosts": {"states": {}, "list": []},
    "terms": {"changes": 0, "own": [], "now": []},
    "latest": [],
    "series": {"every": 1.0, "points": []},
    "nodes": [],
}  # fmt: skip
"""The state where no crawl is known."""


class Source(Protocol):
    """Answers what a page shows; ``crawl`` names a frontier's place, "" the crawl begun last.

    Raises (all methods):
        StorageError: What is asked for cannot be read.
    """

    async def state(self, crawl: str) -> State:
        """All sections, as they are now."""
        ...

    async def states(self) -> list[State]:
        """The states of all crawls that run."""
        ...

    async def articles(self, crawl: str, offset: int, limit: int) -> tuple[int, list[Listed]]:
        """How many articles are stored, and some of them, those stored last first."""
        ...

    async def more(self, crawl: str) -> State:
        """What changes slowly and is asked for rarely: chains, changes, patterns."""
        ...
