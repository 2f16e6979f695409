"""The contract of the state of tasks and orders to crawls: ``Ledger``.

State is rows of text (JSON), identified by a kind and a name. A process reads rows, decides, and
swaps them: either all of its changes are made, or none if a row it relied on has changed meanwhile.
So one small interface, in Redis or in a file, stores tasks, turns, workers and orders. All code
that decides is ordinary code without a database.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

Key = tuple[str, str]
"""Kind and name of a row."""
Rows = dict[str, dict[str, str]]
"""Text by name, by kind."""

SLOWEST, FASTEST = 0.01, 10.0
"""Bounds of ``CrawlOrder.speed``."""


class Ledger(Protocol):
    """Rows of text that several processes share.

    Raises (all methods):
        StorageAwayError: It cannot be reached now; the same call may succeed later.
    """

    async def get(self, kind: str, name: str) -> str | None:
        """Return one row, or None."""
        ...

    async def read(self, *kinds: str) -> Rows:
        """Return a consistent snapshot of all rows of some kinds."""
        ...

    async def swap(self, before: Mapping[Key, str | None], after: Mapping[Key, str | None]) -> bool:
        """Write ``after`` if all rows equal ``before``; return whether. None means no row."""
        ...

    async def now(self) -> float:
        """Return seconds since the epoch, by one clock for all processes."""
        ...

    async def close(self) -> None:
        """Close connections. Idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class CrawlOrder:
    """The operator's order for a crawl, or for all crawls of a task.

    Attributes:
        paused: Nothing is fetched while it is set.
        speed: Delays between requests to a host are divided by this. The crawl-delay of robots.txt
            and a server's Retry-After still apply. In [``SLOWEST``, ``FASTEST``].
        cancelled: Time of the cancellation, seconds since the epoch; 0 for none. It does not
            concern crawls that began later.
        urls: Start URLs that the crawl has not taken yet.
        worker: Worker that should crawl this site of a task; "": any.
    """

    paused: bool = False
    speed: float = 1.0
    cancelled: float = 0.0
    urls: tuple[str, ...] = ()
    worker: str = ""
