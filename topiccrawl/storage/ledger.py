"""The contracts of tasks: where their state lies (``Ledger``), and what may be done to a crawl.

State is rows of text (JSON), told by a kind and a name. A process reads them, decides, and swaps
them: all of its changes are made if nothing it relied on has changed meanwhile, else none. So one
small seam, in Redis or in a file, carries tasks, turns, workers and orders, and everything that
decides is ordinary code without a database.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

Key = tuple[str, str]
"""Kind and name of a row."""
Rows = dict[str, dict[str, str]]
"""Kind to name to text."""

SLOWEST, FASTEST = 0.01, 10.0
"""Bounds of ``Order.speed``."""


class Ledger(Protocol):
    """Rows of text that several processes share.

    Raises (all methods):
        StorageAwayError: It cannot be reached now; the same call may succeed later.
    """

    async def get(self, kind: str, name: str) -> str | None:
        """One row, or None."""
        ...

    async def read(self, *kinds: str) -> Rows:
        """All rows of some kinds, as they were at one moment."""
        ...

    async def swap(self, before: Mapping[Key, str | None], after: Mapping[Key, str | None]) -> bool:
        """Write ``after`` if all rows are as ``before`` says; whether that was so. None: no row."""
        ...

    async def now(self) -> float:
        """Seconds since the epoch, the same for all processes."""
        ...

    async def close(self) -> None:
        """Let connections go; twice equals once."""
        ...


@dataclass(frozen=True, slots=True)
class Order:
    """What the operator wants of a crawl, or of all crawls of a task.

    Attributes:
        paused: Nothing is fetched while it holds.
        speed: Delays between requests to a host are divided by this; a robots.txt's crawl-delay
            and a server's Retry-After hold all the same. In [``SLOWEST``, ``FASTEST``].
        cancelled: When it was told to end, seconds since the epoch; 0 never. A crawl that began
            later is not meant.
    """

    paused: bool = False
    speed: float = 1.0
    cancelled: float = 0.0


class Steering(Protocol):
    """Steers crawls by name: a topic's slug, ``task-7``, or ``task-7.a.test`` for one site of it.

    An order is followed by every process that works on the crawl, within a second; it stays until
    it is changed, also over restarts (a cancellation ends only what runs).
    """

    async def order(self, name: str) -> Order:
        """What is wanted of a crawl; the defaults where nothing was said."""
        ...

    async def pause(self, name: str) -> Order:
        """Stop fetching; what is in flight is finished."""
        ...

    async def resume(self, name: str) -> Order:
        """Go on."""
        ...

    async def cancel(self, name: str) -> Order:
        """End what runs now; what was fetched stays, and a new start goes on."""
        ...

    async def speed(self, name: str, factor: float) -> Order:
        """Set the speed.

        Raises:
            SettingError: If it is out of [``SLOWEST``, ``FASTEST``].
        """
        ...
