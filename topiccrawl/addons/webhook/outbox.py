"""Outbox of stories still to be sent, in its own file: no kill and no power cut loses a story.

Before articles are saved, those not in the store are entered as *intended*. Once they are saved
they *wait*. When they are sent, only a key of them is kept. After a kill in between, the next
start finds them: an intended story that is stored was new.
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

KEPT = frozenset({Fate.NEW, Fate.UPDATED, Fate.UNCHANGED})

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
    """New stories of a data folder that were not sent yet.

    Args:
        folder: TOPICCRAWL_DATA_DIR.
        store: Store of the articles.
    """

    def __init__(self, folder: Path, store: ArticleStore) -> None:
        self._database = Database(folder / FILE, steps=STEPS)
        self._store = store
        self._held: dict[str, float] = {}

    async def open(self) -> None:
        """Open the file; stories that a killed process saved but did not queue wait now.

        Stories that were refused too often are retried: the receiver may have been repaired.

        Raises:
            StorageError: The file cannot be used.
        """
        await asyncio.to_thread(self._database.open)
        left = await self._database.read(lambda c: _urls(c, INTENDED))
        stored = [url for url in left if await self._known(url)]
        await self._database.write(lambda c: _begin(c, stored))
        self._held = dict(await self._database.read(_held))

    async def close(self) -> None:
        """Close the file. Idempotent."""
        await asyncio.to_thread(self._database.close)

    async def enter(self, articles: Sequence[Article]) -> None:
        """Enter the new ones of the articles before they are saved.

        Raises:
            StorageError: Repeat the call; it is idempotent.
        """
        urls = list(dict.fromkeys(article.url for article in articles))
        pending = await self._database.read(lambda c: _pending(c, urls))
        asked = [url for url in urls if url not in pending]
        known = await asyncio.gather(*map(self._known, asked))
        new = [url for url, is_known in zip(asked, known, strict=True) if not is_known]
        if new:
            await self._database.write(lambda c: _intend(c, new))
        if parts := [url for url in urls if url in self._held]:
            await self._database.write(lambda c: _put_off(c, parts, self._held))

    async def decide(self, saved: Sequence[Saved]) -> None:
        """Keep entered stories that were saved; drop reprints.

        Raises:
            StorageError: Repeat the call; it is idempotent.
        """
        fates = {one.url: one.fate for one in saved}
        entered = await self._database.read(lambda c: _pending(c, fates))
        if entered:
            await self._database.write(lambda c: _decide(c, entered, fates))

    def hold(self, url: str, until: float) -> None:
        """Hold back a story, from its next ``enter`` on, until ``release`` or a time at the latest.

        Only its first page is fetched yet; more follow.
        """
        self._held[url] = until

    async def release(self, url: str) -> None:
        """Make a story due that was held back: all its pages are fetched."""
        if self._held.pop(url, None) is not None:
            await self._database.write(lambda c: _put_off(c, [url], {}))

    async def due(self, now: float, limit: int) -> list[tuple[str, int]]:
        """Return the stories to send now, longest waiting first: URL and attempts so far."""
        query = (
            "SELECT url, attempts FROM stories WHERE state = ? AND due <= ? "
            "ORDER BY due, number LIMIT ?"
        )
        rows = (WAITING, now, limit)
        return await self._database.read(lambda c: c.execute(query, rows).fetchall())

    async def mark_sent(self, url: str) -> None:
        """Record that a story was delivered or deleted: it is never sent again."""
        await self._database.write(lambda c: _mark_sent(c, url))

    async def later(self, url: str, due: float) -> None:
        """Record a failed delivery; retry it at ``due`` or later."""
        query = "UPDATE stories SET attempts = attempts + 1, due = ? WHERE url = ?"
        await self._database.write(lambda c: c.execute(query, (due, url)))

    async def give_up(self, url: str) -> None:
        """Stop sending a story that was refused too often; it stays until the next start."""
        await self._database.write(lambda c: _set(c, [url], REFUSED))

    async def waiting(self) -> int:
        """Return the number of stories still to be sent."""
        query = "SELECT COUNT(*) FROM stories WHERE state = ?"
        found = await self._database.read(lambda c: c.execute(query, (WAITING,)).fetchone())
        return int(found[0])

    async def _known(self, url: str) -> bool:
        return await self._store.get(url) is not None


def _begin(connection: sqlite3.Connection, stored: Iterable[str]) -> None:
    _set(connection, stored, WAITING)
    again = "UPDATE stories SET state = ?, attempts = 0, due = 0 WHERE state = ?"
    connection.execute(again, (WAITING, REFUSED))


def _urls(connection: sqlite3.Connection, state: int) -> list[str]:
    rows = connection.execute("SELECT url FROM stories WHERE state = ?", (state,))
    return [url for (url,) in rows]


def _pending(connection: sqlite3.Connection, urls: Iterable[str]) -> set[str]:
    """Return those of the URLs that are intended."""
    query = "SELECT 1 FROM stories WHERE url = ? AND state = ?"
    return {url for url in urls if connection.execute(query, (url, INTENDED)).fetchone()}


def _intend(connection: sqlite3.Connection, urls: Iterable[str]) -> None:
    """Enter stories, unless they were sent before (and deleted or left out since)."""
    query = (
        "INSERT OR IGNORE INTO stories SELECT NULL, ?, ?, 0, 0 "
        "WHERE NOT EXISTS (SELECT 1 FROM told WHERE key = ?)"
    )
    connection.executemany(query, [(url, INTENDED, _key(url)) for url in urls])


def _decide(connection: sqlite3.Connection, urls: Iterable[str], fates: dict[str, Fate]) -> None:
    """Let intended stories wait if they were stored; delete the others, such as reprints."""
    for url in urls:
        if fates[url] in KEPT:
            _set(connection, [url], WAITING)
        else:
            query = "DELETE FROM stories WHERE url = ? AND state = ?"
            connection.execute(query, (url, INTENDED))


def _held(connection: sqlite3.Connection) -> list[tuple[str, float]]:
    """Return the stories held back and the times their holds end; none was sent yet."""
    return connection.execute(
        "SELECT url, due FROM stories WHERE attempts = 0 AND due > 0"
    ).fetchall()


def _put_off(
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
    """Return a URL's hash as a SQLite integer; a billion stories may have one collision."""
    return xxhash.xxh64_intdigest(url.encode()) - (1 << 63)
