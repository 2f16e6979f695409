"""Embedded storage in one SQLite file, without a server.

The duplicate index is stored in two tables and searched in RAM. ``sketches`` has the keys of each
stored article, written in the transaction that saves the article. The inverted index, from keys to
articles, is in RAM. A saving transaction excludes all other writers and first reads the rows that
other processes added, so that a second process that saves the same text finds the first article.
Rows are only appended, never searched by key: each random key would read one page from disk.
"""

from __future__ import annotations

import asyncio
import json
import logging
from array import array
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from topiccrawl.dedup.contract import linked
from topiccrawl.dedup.factory import index_of
from topiccrawl.dedup.index import CAPACITY
from topiccrawl.dedup.verified import VerifiedShingles
from topiccrawl.errors import StorageAwayError
from topiccrawl.storage import rows
from topiccrawl.storage.contract import Fate, Listed, Saved, StoryChain
from topiccrawl.storage.database import FILE, RETRY_SECONDS, Database, waiting
from topiccrawl.storage.merge import fate_of, replaces, reprint_by, version_of
from topiccrawl.storage.selection import ALL, Selection
from topiccrawl.storage.sqlite_documents import SqliteDocuments
from topiccrawl.text.normal import clean

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from topiccrawl.dedup import DuplicateDetector, Match
    from topiccrawl.model import Article
    from topiccrawl.storage.contract import ArticleStore, Listing, Story, Version
    from topiccrawl.storage.documents import DocumentKind

logger = logging.getLogger(__name__)

PAGE = 200
"""Number of articles per read."""

_LISTED = """
    SELECT a.id, a.url, a.title, a.site, a.published, a.fetched_at, t.score, t.terms,
           (SELECT count(*) FROM reprints r WHERE r.article_id = a.id)
    FROM article_topics t JOIN articles a ON a.id = t.article_id
    WHERE t.topic = ?
"""
_CHAINED = """
    AND a.id IN (SELECT r.article_id FROM reprints r JOIN article_topics u
                 ON u.article_id = r.article_id AND u.topic = ?
                 GROUP BY r.article_id ORDER BY count(*) DESC, r.article_id DESC LIMIT ?)
"""
_CHUNK = 100_000
"""Number of rows per read."""
_ROWS = "SELECT seq, article_id, keys FROM sketches WHERE"
_REBUILT = (
    "The index of duplicates is rebuilt for %s, as its keys are those of %s: all crawls of a store"
    " need the same TOPICCRAWL_DUPLICATES"
)
_Row = tuple[int, int, bytes]
"""Row of ``sketches``: sequence number, article id, keys."""


class SqliteStorage:
    """``Storage`` in one SQLite file.

    Args:
        folder: TOPICCRAWL_DATA_DIR.
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / FILE

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self | None:
        """See ``Storage.from_settings``; never None."""
        return cls(settings["TOPICCRAWL_DATA_DIR"])

    @property
    def place(self) -> str:
        """See ``Storage.place``."""
        return str(self.path)

    def exists(self) -> bool:
        """See ``Storage.exists``."""
        return self.path.exists()

    def articles(
        self, method: DuplicateDetector | None = None, capacity: int = CAPACITY
    ) -> ArticleStore:
        """See ``Storage.articles``."""
        return SqliteStore(self.path, method=method, capacity=capacity)

    def listing(self) -> Listing:
        """See ``Storage.listing``."""
        return SqliteStore(self.path)

    def documents(self, *kinds: DocumentKind) -> SqliteDocuments:
        """See ``Storage.documents``."""
        return SqliteDocuments(self.path, kinds)


class SqliteStore:
    """``ArticleStore`` and ``Listing`` in one SQLite file, shared by the processes of one machine.

    Args:
        path: Path of the file, or its folder (TOPICCRAWL_DATA_DIR).
        method: Method of duplicate detection; ``VerifiedShingles`` if None.
        capacity: Number of newest articles that a new one is compared with; 200 bytes of RAM each.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        method: DuplicateDetector | None = None,
        capacity: int = CAPACITY,
    ) -> None:
        path = Path(path)
        self.path = path if path.suffix == ".sqlite" else path / FILE
        self._database = Database(self.path)
        self._stories = StoryIndex(method or VerifiedShingles(), capacity)

    async def open(self) -> None:
        """See ``ArticleStore.open``."""
        await asyncio.to_thread(self._database.open)
        self._database.require_writable()

    async def close(self) -> None:
        """See ``ArticleStore.close``."""
        await asyncio.to_thread(self._database.close)

    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        """See ``ArticleStore.save``."""
        return await self._database.write(lambda connection: self._save_all(connection, articles))

    async def get(self, url: str) -> Story | None:
        """See ``ArticleStore.get``."""
        return await self._database.read(lambda c: rows.story(c, url))

    async def versions(self, url: str) -> list[Version]:
        """See ``ArticleStore.versions``."""
        return await self._database.read(lambda c: rows.versions(c, url))

    async def select(self, selection: Selection = ALL) -> AsyncGenerator[Article, None]:
        """See ``ArticleStore.select``."""
        new = len(selection.indexed)
        with suppress(StorageAwayError):  # another process writes: the rest is read without index
            while new and await self._database.read(rows.has_unindexed):
                await self._database.read(waiting(RETRY_SECONDS))
                new = await self._database.write(rows.index_words)
        below = rows.LAST
        while below:
            work = partial(rows.select, selection=selection, below=below, size=PAGE)
            found, below = await self._database.read(work)
            for article in found:
                yield article

    async def forget(self, names: Sequence[str], now: float) -> int:
        """See ``ArticleStore.forget``."""
        return await self._database.write(lambda c: rows.forget(c, names, now))

    async def expire(self, topic: str, before: float) -> int:
        """See ``ArticleStore.expire``."""
        return await self._database.write(lambda c: rows.expire(c, topic, before))

    async def page(self, topic: str, limit: int, offset: int) -> tuple[int, list[Listed]]:
        """See ``Listing.page``."""

        def work(connection: sqlite3.Connection) -> tuple[int, list[Listed]]:
            query = "SELECT count(*) FROM article_topics WHERE topic = ?"
            (total,) = connection.execute(query, (topic,)).fetchone()
            query = f"{_LISTED} ORDER BY t.article_id DESC LIMIT ? OFFSET ?"
            found = connection.execute(query, (topic, limit, offset))
            return total, [_listed(row) for row in found]

        return await self._database.read_existing(work, missing=(0, []))

    async def chains(self, topic: str, most: int) -> list[StoryChain]:
        """See ``Listing.chains``."""

        def work(connection: sqlite3.Connection) -> list[StoryChain]:
            found = connection.execute(_LISTED + _CHAINED, (topic, topic, most)).fetchall()
            chains = [StoryChain(_listed(row), rows.reprints(connection, row[0])) for row in found]
            return sorted(chains, key=lambda chain: -len(chain.reprints))

        return await self._database.read_existing(work, missing=[])

    def _save_all(self, connection: sqlite3.Connection, articles: Sequence[Article]) -> list[Saved]:
        self._stories.refresh(connection)
        return [
            Saved(article.url, Fate.FORGOTTEN, article.url)
            if rows.is_forgotten(connection, article)
            else self._save(connection, article)
            for article in articles
        ]

    def _save(self, connection: sqlite3.Connection, article: Article) -> Saved:
        keys, found = self._stories.look_up(connection, article)
        article, match = linked(article, found)
        if match is not None:
            return _save_reprint(connection, article, match)
        rows.drop_reprint(connection, article.url)
        article_id, known = rows.find(connection, article.url) or (0, None)
        if known is None:
            article_id, fate = rows.insert(connection, article), Fate.NEW
            self._stories.learn(connection, article)
        else:
            fate = fate_of(known, article)
            if replaces(known, article):
                version = version_of(known, article.fetched_at)
                rows.keep_version(connection, article_id, version)
            rows.update(connection, article_id, article)
        if fate is Fate.UPDATED:
            rows.mark_unindexed(connection, article_id)
        rows.add_topics(connection, article_id, article, replace=True)
        if known is None or known.digest != article.digest:
            self._stories.index(connection, article_id, keys)
        return Saved(article.url, fate, article.url, follows=article.follows)


def _save_reprint(connection: sqlite3.Connection, article: Article, match: Match) -> Saved:
    found = rows.find(connection, match.url)
    if found is None:
        raise LookupError(f"{match.url} was judged a duplicate's representative but is not stored")
    rows.drop_part(connection, article, found[0])
    rows.set_reprint(connection, found[0], reprint_by(article, match))
    rows.add_topics(connection, found[0], article)
    return Saved(article.url, Fate.REPRINT, match.url, match.similarity, match.reason)


def _listed(row: tuple[Any, ...]) -> Listed:
    _, *plain, terms, reprinted = row
    found = tuple((term, share) for term, share in json.loads(terms))
    return Listed._make((*plain, found, reprinted))


class StoryIndex:
    """Index for detecting reprints, loaded by the first save: readers do not need it.

    Calls run inside a transaction of the caller.

    Args:
        method: Method of duplicate detection.
        capacity: Number of newest articles indexed in RAM.
    """

    def __init__(self, method: DuplicateDetector, capacity: int = CAPACITY) -> None:
        self._method = method
        self._capacity = capacity
        self._index = index_of(method, capacity)
        self._last: _Row | None = None
        self._marks_seen = 0

    def refresh(self, connection: sqlite3.Connection) -> None:
        """Read the rows added since the last read; rebuild those of another method from texts."""
        if self._last is not None:
            row = connection.execute(f"{_ROWS} seq = ?", self._last[:1]).fetchone()
            if row != self._last:
                self._reset()  # a transaction was rolled back after its rows were indexed
        if self._last is None:
            query = "SELECT value FROM properties WHERE name = 'duplicates'"
            found = connection.execute(query).fetchone()
            if found != (self._method.scheme,):
                if found:
                    logger.warning(_REBUILT, self._method.scheme, *found)
                self._rebuild(connection)
        query = "SELECT seq, mark FROM boilerplate WHERE seq > ? ORDER BY seq"
        marks = connection.execute(query, (self._marks_seen,)).fetchall()
        if marks:
            self._marks_seen = marks[-1][0]
            self._method.know(mark for _, mark in marks)
        seen = self._last[0] if self._last else 0
        newest = "article_id > (SELECT max(article_id) FROM sketches) - ?"
        query = f"{_ROWS} seq > ? AND {newest} ORDER BY seq"
        cursor = connection.execute(query, (seen, self._capacity))
        while new := cursor.fetchmany(_CHUNK):
            self._last = new[-1]
            self._index.load([row[1:] for row in new])

    def look_up(
        self, connection: sqlite3.Connection, article: Article
    ) -> tuple[Sequence[int], Match | None]:
        """Return the keys of an article and, if it is a reprint, the match with its story."""
        keys = self._method.keys(article)
        known = rows.compared(connection, self._index.find(keys), clean(article.url))
        return keys, self._method.judge(article, known)

    def index(self, connection: sqlite3.Connection, article_id: int, keys: Sequence[int]) -> None:
        """Index an article under these keys, replacing earlier ones."""
        data = array("I", keys).tobytes()
        query = "INSERT OR REPLACE INTO sketches (article_id, keys) VALUES (?, ?)"
        seq = connection.execute(query, (article_id, data)).lastrowid or 0
        self._last = (seq, article_id, data)
        self._index.add(article_id, keys)

    def learn(self, connection: sqlite3.Connection, article: Article) -> None:
        """Learn repeated lines of the site from a new article."""
        marks = self._method.learn(article)
        query = "INSERT OR IGNORE INTO boilerplate (mark) VALUES (?)"
        connection.executemany(query, ((mark,) for mark in marks))

    def _reset(self) -> None:
        self._index = index_of(self._method, self._capacity)
        self._last = None
        self._marks_seen = 0

    def _rebuild(self, connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM sketches")
        connection.execute("DELETE FROM boilerplate")
        self._reset()
        for article_id, article in rows.all_compared(connection):
            self.learn(connection, article)
            self.index(connection, article_id, self._method.keys(article))
        self._reset()
        query = "INSERT OR REPLACE INTO properties VALUES ('duplicates', ?)"
        connection.execute(query, (self._method.scheme,))
