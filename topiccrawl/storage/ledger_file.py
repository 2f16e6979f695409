"""Ledger in a file of the data folder, shared by all processes of one machine."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from topiccrawl.errors import StorageAwayError
from topiccrawl.storage.files import touch_private

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeVar

    from topiccrawl.storage.ledger import Key, Rows

    T = TypeVar("T")

FILE = "tasks.sqlite"
BUSY_SECONDS = 10.0
"""Seconds that a call waits for writes of other processes, which take milliseconds."""
_TABLE = (
    "CREATE TABLE IF NOT EXISTS ledger"
    " (kind TEXT, name TEXT, text TEXT NOT NULL, PRIMARY KEY (kind, name)) WITHOUT ROWID"
)


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
        return await self._call(lambda connection: _row(connection, (kind, name)))

    async def read(self, *kinds: str) -> Rows:
        """See ``Ledger.read``."""
        rows: Rows = {kind: {} for kind in kinds}
        if self.path.exists():
            for kind, name, text in await self._call(lambda connection: _rows(connection, kinds)):
                rows[kind][name] = text
        return rows

    async def swap(self, before: Mapping[Key, str | None], after: Mapping[Key, str | None]) -> bool:
        """See ``Ledger.swap``."""
        return await self._call(lambda connection: _compare_and_swap(connection, before, after))

    async def now(self) -> float:
        """Return the time of the machine, seconds since the epoch."""
        return time.time()

    async def close(self) -> None:
        """Do nothing: no connection is held open."""

    async def _call(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.to_thread(self._work, work)

    def _work(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            touch_private(self.path)
            with closing(sqlite3.connect(self.path, timeout=BUSY_SECONDS)) as connection:
                connection.isolation_level = None
                connection.execute(_TABLE)
                return work(connection)
        except (sqlite3.Error, OSError) as error:
            raise StorageAwayError(
                "{path}: cannot be used ({error}): see that its folder can be written",
                path=self.path,
                error=error,
            ) from error


def _row(connection: sqlite3.Connection, key: Key) -> str | None:
    query = "SELECT text FROM ledger WHERE kind = ? AND name = ?"
    found = connection.execute(query, key).fetchone()
    return None if found is None else str(found[0])


def _rows(connection: sqlite3.Connection, kinds: Iterable[str]) -> list[tuple[str, str, str]]:
    names = list(kinds)
    marks = ",".join("?" * len(names))
    query = f"SELECT kind, name, text FROM ledger WHERE kind IN ({marks})"  # noqa: S608 - marks
    return connection.execute(query, names).fetchall()


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
