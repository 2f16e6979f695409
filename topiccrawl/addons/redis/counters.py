"""Counters of the whole crawl: nodes send differences and receive sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topiccrawl.frontier.hosts import NOTHING
from topiccrawl.links.strategies.contract import GroupStats

if TYPE_CHECKING:
    from topiccrawl.frontier.queues import Queues

OWN = frozenset({"prior", "normal"})
"""Counters per node; all others are summed in Redis."""


class Counters:
    """Counters of a node: the sums of Redis plus the changes that were not sent yet.

    Args:
        queues: Queues with the counters and the statistics of the crawl.
    """

    def __init__(self, queues: Queues) -> None:
        self._tally, self._ready = queues.tally, queues.ready
        self._sent: dict[str, int] = {}
        self._crawl = NOTHING

    def put(self, parts: dict[str, Any]) -> None:
        """Add the differences since the last batch to ``parts``."""
        now = {name: n for name, n in self._tally.items() if name not in OWN}
        grown = {name: n - self._sent.get(name, 0) for name, n in now.items()}
        if tally := {name: n for name, n in grown.items() if n}:
            parts["tally"] = tally
        self._sent = now
        crawl, sent = self._ready.crawl, self._crawl
        if crawl != sent:
            parts["crawl"] = [crawl.pages - sent.pages, crawl.relevance - sent.relevance]
            self._crawl = crawl

    def update(self, tally: list[bytes], pages: int, worth: float) -> None:
        """Apply the sums that Redis sent."""
        for name, text in zip(tally[::2], tally[1::2], strict=True):
            label, total = name.decode(), int(text)
            self._tally[label] += total - self._sent.get(label, 0)
            self._sent[label] = total
        sent, crawl = self._crawl, self._ready.crawl
        if pages != sent.pages:
            more = crawl.relevance + worth - sent.relevance
            self._ready.crawl = GroupStats(crawl.pages + pages - sent.pages, more)
            self._crawl = GroupStats(pages, worth)

    def clear(self) -> None:
        """Set all counters to zero; changes that were not sent are lost."""
        for name in self._tally:
            self._tally[name] = 0
        self._sent.clear()
        self._ready.crawl = self._crawl = NOTHING
