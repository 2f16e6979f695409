"""Ledger: shared state of tasks, turns, workers and operator orders.

The state is rows of JSON text, identified by kind and name. Processes change it by compare-and-swap
of several rows: either all changes are written, or none if a row that was read has changed since.
The ledger is stored in Redis, or in a file that all processes of one machine share.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from topiccrawl.errors import StorageAwayError
from topiccrawl.messages import message
from topiccrawl.storage.files import touch_private, translated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    T = TypeVar("T")

Key = tuple[str, str]
"""Kind and name of a row."""
Rows = dict[str, dict[str, str]]
"""Texts of rows by kind and name."""

FILE = "tasks.sqlite"
BUSY_SECONDS = 10.0
"""Seconds that a call waits for writes of other processes, which take milliseconds."""
_TABLE = (
    "CREATE TABLE IF NOT EXISTS ledger"
    " (kind TEXT, name TEXT, text TEXT NOT NULL, PRIMARY KEY (kind, name)) WITHOUT ROWID"
)

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


class LocalLedger:
    """``Ledger`` in a SQLite file. Calls run in a thread and never block the event loop.

    Args:
        folder: TOPICCRAWL_DATA_DIR; the first write creates the file.
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / FILE

    async def get(self, kind: str, name: str) -> str | None:
        """See ``Ledger.get``."""
        if not self.path.exists():
            return None
        return await self._call(lambda c: _row(c, (kind, name)))

    async def read(self, *kinds: str) -> Rows:
        """See ``Ledger.read``."""
        rows: Rows = {kind: {} for kind in kinds}
        if self.path.exists():
            marks = ",".join("?" * len(kinds))
            query = f"SELECT * FROM ledger WHERE kind IN ({marks})"  # noqa: S608 - marks
            for kind, name, text in await self._call(lambda c: c.execute(query, kinds).fetchall()):
                rows[kind][name] = text
        return rows

    async def swap(self, before: Mapping[Key, str | None], after: Mapping[Key, str | None]) -> bool:
        """See ``Ledger.swap``."""
        return await self._call(lambda c: _compare_and_swap(c, before, after))

    async def now(self) -> float:
        """Return the time of the machine, seconds since the epoch."""
        return time.time()

    async def close(self) -> None:
        """Do nothing: no connection is held open."""

    async def _call(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.to_thread(self._work, work)

    def _work(self, work: Callable[[sqlite3.Connection], T]) -> T:
        text = message("{path}: cannot be used ({error}): see that its folder can be written")
        with translated(StorageAwayError, text, (sqlite3.Error, OSError), path=self.path):
            touch_private(self.path)
            with closing(sqlite3.connect(self.path, timeout=BUSY_SECONDS)) as connection:
                connection.isolation_level = None
                connection.execute(_TABLE)
                return work(connection)


def _row(connection: sqlite3.Connection, key: Key) -> str | None:
    query = "SELECT text FROM ledger WHERE kind = ? AND name = ?"
    found = connection.execute(query, key).fetchone()
    return None if found is None else str(found[0])


def _compare_and_swap(
    connection: sqlite3.Connection,
    before: Mapping[Key, str | None],
    after: Mapping[Key, str | None],
) -> bool:
    connection.execute("BEGIN IMMEDIATE")
    same = all(_row(connection, key) == text for key, text in before.items())
    if same:
        for (kind, name), text in after.items():
            if text is None:
                connection.execute("DELETE FROM ledger WHERE kind = ? AND name = ?", (kind, name))
            else:
                connection.execute("REPLACE INTO ledger VALUES (?, ?, ?)", (kind, name, text))
    connection.execute("COMMIT")
    return same
