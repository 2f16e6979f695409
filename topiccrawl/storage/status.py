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
