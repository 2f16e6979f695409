"""Rarer searches for cyclic garbage: a crawl keeps much and makes hardly any.

At Python's own threshold of 700 new objects they took 7 % of a crawl's processor time; readers have
a threshold of their own. None in EXTENSIONS instead of the order leaves the process as it is.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, ClassVar, Self

from scrapy import signals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

RARELY = 10_000
"""New objects after which the collector of a crawl's process looks for cyclic garbage."""


class RareCollections:
    """Sets the first threshold of Python's collector while an engine of the process runs."""

    _running: ClassVar[int] = 0
    _before: ClassVar[tuple[int, int, int]]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension, connected to the crawler's signals."""
        collections = cls()
        crawler.signals.connect(collections.start, signals.engine_started)
        crawler.signals.connect(collections.stop, signals.engine_stopped)
        return collections

    def start(self) -> None:
        """Search rarely, and never in what exists by now."""
        if not RareCollections._running:
            RareCollections._before = gc.get_threshold()
            gc.collect()
            gc.freeze()
            gc.set_threshold(RARELY, *RareCollections._before[1:])
        RareCollections._running += 1

    def stop(self) -> None:
        """Restore what was set before, once no engine runs."""
        RareCollections._running -= 1
        if not RareCollections._running:
            gc.set_threshold(*RareCollections._before)
            gc.unfreeze()
