"""Duplicate index of the embedded store: stored in two tables, searched in RAM.

``sketches`` has the keys of each stored article, written in the transaction that saves the article.
The inverted index, from keys to articles, is in RAM. A saving transaction excludes all other
writers and first reads the rows that other processes added, so that a second process that saves the
same text finds the first article. Rows are only appended, never searched by key: each random key
would read one page from disk.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from topiccrawl.dedup.factory import index_of
from topiccrawl.dedup.index import CAPACITY
from topiccrawl.storage import rows

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from topiccrawl.dedup import DuplicateDetector, Match
    from topiccrawl.model import Article

_CHUNK = 100_000
"""Number of rows per read."""

_ROWS = "SELECT seq, article_id, keys FROM sketches WHERE"

_Row = tuple[int, int, bytes]
"""Row of ``sketches``: sequence number, article id, keys."""


class StoryIndex:
    """Index for detecting reprints; calls run inside a transaction of the caller.

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

    def open(self, connection: sqlite3.Connection) -> None:
        """Load the index; rebuild it from the texts if another method created the keys."""
        query = "SELECT value FROM properties WHERE name = 'duplicates'"
        row = connection.execute(query).fetchone()
        if row is None or row[0] != self._method.scheme:
            self._rebuild(connection)
        self.refresh(connection)

    def refresh(self, connection: sqlite3.Connection) -> None:
        """Read the rows that other processes added since the last read."""
        if self._last is not None:
            row = connection.execute(f"{_ROWS} seq = ?", self._last[:1]).fetchone()
            if row != self._last:
                self._reset()  # a transaction was rolled back after its rows were indexed
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
        known = rows.compared(connection, self._index.find(keys), rows.clean(article.url))
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
