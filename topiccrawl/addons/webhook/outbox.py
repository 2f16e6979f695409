"""Outbox of stories that are not sent yet, in its own file; crash-safe.

Before articles are saved, those that are not in the store are added with the state *intended*.
After they are saved, their state is *waiting*. After they are sent, only a key remains. If the
process is killed in between, the next start recovers: an intended story that is stored was new.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import xxhash

from topiccrawl.storage.contract import ArticleStore, Fate, Saved
from topiccrawl.storage.database import Database

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from topiccrawl.model import Article

FILE = "webhook.sqlite"
"""Name of the file inside TOPICCRAWL_DATA_DIR."""

STORED = frozenset({Fate.NEW, Fate.UPDATED, Fate.UNCHANGED})

INTENDED, WAITING, REFUSED = range(3)

STEPS = (
    """
    CREATE TABLE migrations (
        version INTEGER PRIMARY KEY, program TEXT NOT NULL, applied_at REAL NOT NULL
    );
    CREATE TABLE stories (
        number INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE,
        state INTEGER NOT NULL, attempts INTEGER NOT NULL, due REAL NOT NULL
    );
    CREATE INDEX stories_due ON stories (state, due, number);
    CREATE TABLE told (key INTEGER PRIMARY KEY);
    """,
)


class Outbox:
    """New stories of a data folder that are not sent yet.

    Args:
        folder: TOPICCRAWL_DATA_DIR.
        store: Store of the articles.
    """

    def __init__(self, folder: Path, store: ArticleStore) -> None:
        self._database = Database(folder / FILE, steps=STEPS)
        self._store = store
        self._holds: dict[str, float] = {}

    async def open(self) -> None:
        """Open the file and recover the stories that a killed process saved but did not queue.

        Stories that were refused too often are retried, as the receiver may have been repaired.

        Raises:
            StorageError: If the file cannot be used.
        """
        await asyncio.to_thread(self._database.open)
        left = await self._database.read(lambda c: _urls(c, INTENDED))
        stored = [url for url in left if await self._is_stored(url)]
        await self._database.write(lambda c: _recover(c, stored))
        self._holds = dict(await self._database.read(_read_holds))

    async def close(self) -> None:
        """Close the file. Idempotent."""
        await asyncio.to_thread(self._database.close)

    async def add(self, articles: Sequence[Article]) -> None:
        """Add the new ones of the articles before they are saved.

        Raises:
            StorageError: If the file or the store fails; the call can be repeated.
        """
        urls = list(dict.fromkeys(article.url for article in articles))
        pending = await self._database.read(lambda c: _pending(c, urls))
        asked = [url for url in urls if url not in pending]
        known = await asyncio.gather(*map(self._is_stored, asked))
        new = [url for url, is_known in zip(asked, known, strict=True) if not is_known]
        if new:
            await self._database.write(lambda c: _intend(c, new))
        if parts := [url for url in urls if url in self._holds]:
            await self._database.write(lambda c: _set_due(c, parts, self._holds))

    async def decide(self, saved: Sequence[Saved]) -> None:
        """Queue the added stories that were saved; drop reprints.

        Raises:
            StorageError: If the file fails; the call can be repeated.
        """
        fates = {one.url: one.fate for one in saved}
        entered = await self._database.read(lambda c: _pending(c, fates))
        if entered:
            await self._database.write(lambda c: _decide(c, entered, fates))

    def hold(self, url: str, until: float) -> None:
        """Delay a story of several pages, from its next ``add`` on.

        The delay ends with ``release``, or at the time ``until``, in seconds since the epoch.
        """
        self._holds[url] = until

    async def release(self, url: str) -> None:
        """End the delay of a story, as all its pages are fetched."""
        if self._holds.pop(url, None) is not None:
            await self._database.write(lambda c: _set_due(c, [url], {}))

    async def due(self, now: float, limit: int) -> list[tuple[str, int]]:
        """Return URLs and numbers of attempts of the stories to send, longest waiting first."""
        query = (
            "SELECT url, attempts FROM stories WHERE state = ? AND due <= ? "
            "ORDER BY due, number LIMIT ?"
        )
        rows = (WAITING, now, limit)
        return await self._database.read(lambda c: c.execute(query, rows).fetchall())

    async def mark_sent(self, url: str) -> None:
        """Record that a story was delivered or deleted, so that it is never sent again."""
        await self._database.write(lambda c: _mark_sent(c, url))

    async def retry_at(self, url: str, due: float) -> None:
        """Record a failed delivery, to be retried at ``due`` or later."""
        query = "UPDATE stories SET attempts = attempts + 1, due = ? WHERE url = ?"
        await self._database.write(lambda c: c.execute(query, (due, url)))

    async def give_up(self, url: str) -> None:
        """Stop sending a story that was refused too often, until the next start."""
        await self._database.write(lambda c: _set(c, [url], REFUSED))

    async def waiting(self) -> int:
        """Return the number of stories that wait to be sent."""
        query = "SELECT COUNT(*) FROM stories WHERE state = ?"
        found = await self._database.read(lambda c: c.execute(query, (WAITING,)).fetchone())
        return int(found[0])

    async def _is_stored(self, url: str) -> bool:
        return await self._store.get(url) is not None


def _recover(connection: sqlite3.Connection, stored: Iterable[str]) -> None:
    _set(connection, stored, WAITING)
    query = "UPDATE stories SET state = ?, attempts = 0, due = 0 WHERE state = ?"
    connection.execute(query, (WAITING, REFUSED))


def _urls(connection: sqlite3.Connection, state: int) -> list[str]:
    rows = connection.execute("SELECT url FROM stories WHERE state = ?", (state,))
    return [url for (url,) in rows]


def _pending(connection: sqlite3.Connection, urls: Iterable[str]) -> set[str]:
    """Return the URLs whose stories are intended."""
    query = "SELECT 1 FROM stories WHERE url = ? AND state = ?"
    return {url for url in urls if connection.execute(query, (url, INTENDED)).fetchone()}


def _intend(connection: sqlite3.Connection, urls: Iterable[str]) -> None:
    """Add stories, unless they were sent before."""
    query = (
        "INSERT OR IGNORE INTO stories SELECT NULL, ?, ?, 0, 0 "
        "WHERE NOT EXISTS (SELECT 1 FROM told WHERE key = ?)"
    )
    connection.executemany(query, [(url, INTENDED, _key(url)) for url in urls])


def _decide(connection: sqlite3.Connection, urls: Iterable[str], fates: dict[str, Fate]) -> None:
    """Queue intended stories that were stored; delete the others, such as reprints."""
    for url in urls:
        if fates[url] in STORED:
            _set(connection, [url], WAITING)
        else:
            query = "DELETE FROM stories WHERE url = ? AND state = ?"
            connection.execute(query, (url, INTENDED))


def _read_holds(connection: sqlite3.Connection) -> list[tuple[str, float]]:
    """Return the delayed stories and the times at which their delays end."""
    return connection.execute(
        "SELECT url, due FROM stories WHERE attempts = 0 AND due > 0"
    ).fetchall()


def _set_due(
    connection: sqlite3.Connection, urls: Iterable[str], until: Mapping[str, float]
) -> None:
    query = "UPDATE stories SET due = ? WHERE url = ? AND attempts = 0"
    connection.executemany(query, [(until.get(url, 0.0), url) for url in urls])


def _set(connection: sqlite3.Connection, urls: Iterable[str], state: int) -> None:
    query = "UPDATE stories SET state = ? WHERE url = ? AND state < ?"
    connection.executemany(query, [(state, url, state) for url in urls])


def _mark_sent(connection: sqlite3.Connection, url: str) -> None:
    connection.execute("INSERT OR IGNORE INTO told VALUES (?)", (_key(url),))
    connection.execute("DELETE FROM stories WHERE url = ?", (url,))


def _key(url: str) -> int:
    """Return a URL's hash as a SQLite integer; expect one collision in a billion stories."""
    return xxhash.xxh64_intdigest(url.encode()) - (1 << 63)
