"""Counters of the whole crawl: differences are sent, sums come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topiccrawl.frontier.hosts import NOTHING
from topiccrawl.links.strategies.contract import GroupStats

if TYPE_CHECKING:
    from topiccrawl.frontier.queues import Queues

OWN = frozenset({"prior", "normal"})
"""Counters kept per node; the others are added up in Redis."""


class Counters:
    """Keeps a node's counters equal to Redis' plus what was not sent yet.

    Args:
        queues: Owner of the tally and of the statistics of the crawl.
    """

    def __init__(self, queues: Queues) -> None:
        self._tally, self._ready = queues.tally, queues.ready
        self._sent: dict[str, int] = {}
        self._crawl = NOTHING

    def put(self, parts: dict[str, Any]) -> None:
        """Add the growth since the last batch to ``parts``."""
        now = {name: n for name, n in self._tally.items() if name not in OWN}
        grown = {name: n - self._sent.get(name, 0) for name, n in now.items()}
        if tally := {name: n for name, n in grown.items() if n}:
            parts["tally"] = tally
        self._sent = now
        crawl, sent = self._ready.crawl, self._crawl
        if crawl != sent:
            parts["crawl"] = [crawl.pages - sent.pages, crawl.relevance - sent.relevance]
            self._crawl = crawl

    def hear(self, tally: list[bytes], pages: int, worth: float) -> None:
        """Take over the sums that Redis sent."""
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
        """Set all to zero; what was not sent does not count."""
        for name in self._tally:
            self._tally[name] = 0
        self._sent.clear()
        self._ready.crawl = self._crawl = NOTHING
