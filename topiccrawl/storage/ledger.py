"""Protocol ``Ledger``: shared state of tasks, turns, workers and operator orders.

The state is rows of JSON text, identified by kind and name. Processes change it by compare-and-swap
of several rows: either all changes are written, or none if a row that was read has changed since.
The ledger is stored in Redis or in a file; code that changes the state needs no database.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

Key = tuple[str, str]
"""Kind and name of a row."""
Rows = dict[str, dict[str, str]]
"""Texts of rows by kind and name."""

SLOWEST, FASTEST = 0.01, 10.0
"""Bounds of ``CrawlOrder.speed``."""


class Ledger(Protocol):
    """Rows of text that several processes share.

    Raises (all methods):
        StorageAwayError: The ledger is unavailable; the call may succeed later.
    """

    async def get(self, kind: str, name: str) -> str | None:
        """Return the text of a row, or None."""
        ...

    async def read(self, *kinds: str) -> Rows:
        """Return a consistent snapshot of all rows of these kinds."""
        ...

    async def swap(self, before: Mapping[Key, str | None], after: Mapping[Key, str | None]) -> bool:
        """Write ``after`` if all rows equal ``before``; return whether. None means no row."""
        ...

    async def now(self) -> float:
        """Return the time of the shared clock, seconds since the epoch."""
        ...

    async def close(self) -> None:
        """Close connections. Idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class CrawlOrder:
    """Operator order for a crawl, or for all crawls of a task.

    Attributes:
        paused: True to fetch nothing.
        speed: Divisor of the delays between requests to a host, in [``SLOWEST``, ``FASTEST``]. The
            crawl-delay of robots.txt and Retry-After still apply.
        cancelled: Time of the cancellation, seconds since the epoch; 0 if not cancelled. Crawls
            started later are not affected.
        urls: Start URLs that the crawl has not queued yet.
        worker: Worker assigned to this site of a task; "" for any.
    """

    paused: bool = False
    speed: float = 1.0
    cancelled: float = 0.0
    urls: tuple[str, ...] = ()
    worker: str = ""
