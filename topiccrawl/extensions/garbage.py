"""Less frequent cyclic garbage collection: a crawl keeps many objects and creates few cycles.

At Python's default threshold of 700 new objects, collections took 7 % of the processor time of a
crawl. Reader processes set their own threshold. To keep Python's default, set the extension to None
in EXTENSIONS.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, ClassVar, Self

from scrapy import signals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

RARELY = 10_000
"""Number of new objects that start a collection in the process of a crawl."""


class RareCollections:
    """Raise the first threshold of Python's collector while an engine of the process runs."""

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
        """Raise the threshold, and exclude existing objects from collections."""
        if not RareCollections._running:
            RareCollections._before = gc.get_threshold()
            gc.collect()
            gc.freeze()
            gc.set_threshold(RARELY, *RareCollections._before[1:])
        RareCollections._running += 1

    def stop(self) -> None:
        """Restore the previous thresholds when the last engine has stopped."""
        RareCollections._running -= 1
        if not RareCollections._running:
            gc.set_threshold(*RareCollections._before)
            gc.unfreeze()
