"""State of crawls for pages and reports, from a source: a running crawl or stored records.

A *state* is a dict of sections, plain JSON values:

    control   name (of orders), paused, speed
    run       id, node, topic, strategy, frontier, began, seconds, finished, reason, version
    totals    pages, relevant, hubs, articles, duplicates ..., recent (rate of the last pages)
    queues    prior, normal, leased, crawled, error, known
    errors    reason to number
    waiting   reason (see ``waiting``), seconds, detail
    hosts     states (state to number), list (see ``frontier.view.census``)
    terms     changes, own (terms), now (term and weight)
    latest    articles in order of arrival
    series    every (seconds), points (see ``figures.Point``)
    review    why little came: best pages, terms met and never met, seeds, hosts out of reach
    nodes     run, totals, waiting and live of each node
    crawls    frontier, topic and live nodes of each crawl that can be shown

and sections requested rarely:

    chains    stories with the most reprints, and their reprints
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
    "review": {},
    "nodes": [],
}  # fmt: skip
"""The state if there is no crawl."""


class Source(Protocol):
    """Source of a page's data; ``crawl`` is a frontier's place, "" the crawl that began last.

    Raises (all methods):
        StorageError: The data cannot be read.
    """

    async def state(self, crawl: str) -> State:
        """Return all current sections."""
        ...

    async def states(self) -> list[State]:
        """Return the states of all running crawls."""
        ...

    async def articles(self, crawl: str, offset: int, limit: int) -> tuple[int, list[Listed]]:
        """Return the number of stored articles, and one page of them, the last stored first."""
        ...

    async def more(self, crawl: str) -> State:
        """Return slowly changing sections, requested rarely: chains, changes, patterns."""
        ...
