"""Search, removal and expiry of articles in the embedded store.

Words are indexed by searches, not when articles are stored, so that crawls have no cost. A search
first indexes the articles stored since the last search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topiccrawl.storage import rows
from topiccrawl.storage.selection import Selection, names_of, words_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from topiccrawl.model import Article

LAST = 1 << 62
"""Upper bound of the ids of articles."""

BATCH = 500
"""Number of articles indexed per transaction; small, since crawls wait for its lock."""

_OF_SITE = "(site = :site OR substr(site, -length(:site) - 1) = '.' || :site)"
_OF_WORDS = "id IN (SELECT rowid FROM words WHERE words MATCH :words)"


def select_page(
    connection: sqlite3.Connection, selection: Selection, below: int, size: int
) -> tuple[list[Article], int]:
    """Return the next articles of a selection, the last stored first, and the last id read.

    Args:
        connection: Connection inside a transaction.
        selection: Conditions on the articles.
        below: Exclusive upper bound of the ids; ``LAST`` for the first page.
        size: Number of articles to read; fewer may be returned. The last id is 0 at the end.
    """
    values: dict[str, Any] = {"below": below, "size": size, "offset": 0}
    values |= {"topic": rows.clean(selection.topic), "site": selection.site}
    values |= {"since": selection.since, "before": selection.before}
    values["words"] = " AND ".join(f'"{word}"' for word in selection.words)
    conditions = {
        rows.OF_TOPIC: selection.topic,
        _OF_SITE: selection.site,
        "published >= :since": selection.since,
        "published < :before AND published <> ''": selection.until,
        _OF_WORDS: selection.words,
    }
    where = " AND ".join(["id < :below", *(sql for sql, asked in conditions.items() if asked)])
    found = rows.select_page(connection, where, values, selection.topic)
    wanted = set(selection.words)
    kept = [
        article
        for _, article in found
        # the index may still contain words of an earlier text
        if not wanted or wanted.issubset(words_of(article.title, article.body))
    ]
    return kept, found[-1][0] if found else 0


def index_words(connection: sqlite3.Connection) -> int:
    """Index the words of up to ``BATCH`` new and changed articles each; return their number."""
    query = "SELECT max(CAST(value AS INTEGER)) FROM properties WHERE name = 'searched'"
    last = connection.execute(query).fetchone()[0] or 0
    query = "SELECT id, title, body FROM articles WHERE id > ? ORDER BY id LIMIT ?"
    new = connection.execute(query, (last, BATCH)).fetchall()
    if new:
        query = "INSERT OR REPLACE INTO properties VALUES ('searched', ?)"
        connection.execute(query, (str(new[-1][0]),))
    changed = connection.execute(
        "SELECT id, title, body FROM articles JOIN unsearched ON article_id = id LIMIT ?", (BATCH,)
    ).fetchall()
    for article_id, title, body in (*new, *changed):
        words = " ".join(words_of(title, body))
        connection.execute("INSERT INTO words (rowid, held) VALUES (?, ?)", (article_id, words))
    done = [(article_id,) for article_id, _, _ in changed]
    connection.executemany("DELETE FROM unsearched WHERE article_id = ?", done)
    return len(new) + len(changed)


def forget(connection: sqlite3.Connection, names: Sequence[str], now: float) -> int:
    """Delete articles and reprints of URLs or ``site:HOST`` for good; return their number."""
    gone = 0
    for name in map(rows.clean, names):
        connection.execute("INSERT OR IGNORE INTO tombstones VALUES (?, ?)", (name, now))
        site = name.removeprefix("site:") if name.startswith("site:") else None
        named = "site = :name OR substr(site, -length(:name) - 1) = '.' || :name"
        where = named if site else "url = :name OR final_url = :name OR canonical_url = :name"
        reprints = named if site else "url = :name"
        for table, condition in (("articles", where), ("reprints", reprints)):
            query = f"DELETE FROM {table} WHERE {condition}"  # noqa: S608 - constant names
            gone += connection.execute(query, {"name": site or name}).rowcount
    _index_below_newest(connection)
    return gone


def expire(connection: sqlite3.Connection, topic: str, before: float) -> int:
    """Remove a topic from its articles fetched before a time; return their number.

    Articles without another topic are deleted.
    """
    of_topic = "topic = ? AND article_id IN (SELECT id FROM articles WHERE fetched_at < ?)"
    query = f"DELETE FROM article_topics WHERE {of_topic}"  # noqa: S608 - constant
    gone = connection.execute(query, (rows.clean(topic), before)).rowcount
    bare = "id NOT IN (SELECT article_id FROM article_topics) AND fetched_at < ?"
    connection.execute(f"DELETE FROM articles WHERE {bare}", (before,))  # noqa: S608 - constant
    _index_below_newest(connection)
    return gone


def _index_below_newest(connection: sqlite3.Connection) -> None:
    """Lower the last indexed id to the newest id, since SQLite may reuse deleted ids."""
    newest = "(SELECT coalesce(max(id), 0) FROM articles)"
    connection.execute(
        f"UPDATE properties SET value = {newest} "  # noqa: S608 - constant
        f"WHERE name = 'searched' AND CAST(value AS INTEGER) > {newest}"
    )


class Tombstones:
    """Names removed for good, as seen by one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        (self._any,) = connection.execute("SELECT EXISTS (SELECT 1 FROM tombstones)").fetchone()

    def cover(self, article: Article) -> bool:
        """Return whether a URL or the site of the article was removed for good."""
        if not self._any:
            return False
        names = names_of(article)
        marks = ", ".join("?" * len(names))
        query = f"SELECT 1 FROM tombstones WHERE name IN ({marks})"  # noqa: S608 - marks
        return self._connection.execute(query, names).fetchone() is not None
