"""SQL of the embedded store: articles, versions, topics, reprints, search and removal.

All functions run inside a transaction of the caller. Words are indexed by searches, not when
articles are stored, so that crawls have no cost. A search first indexes the articles stored since
the last search; those that it cannot index now are read.
"""

from __future__ import annotations

import json
import logging
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from topiccrawl.model import Article
from topiccrawl.storage.contract import Reprint, Story, Version
from topiccrawl.storage.merge import COMPARED, LISTS, STORED, is_part, stored_values
from topiccrawl.storage.selection import Selection, names_of, words_of
from topiccrawl.text.normal import clean

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

logger = logging.getLogger(__name__)

LAST = 1 << 62
"""Upper bound of the ids of articles."""

BATCH = 500
"""Number of articles indexed per transaction; small, since crawls wait for its lock."""

_OF_SITE = "(site = :site OR substr(site, -length(:site) - 1) = '.' || :site)"
_SEARCHED = "SELECT max(CAST(value AS INTEGER)) FROM properties WHERE name = 'searched'"
_UNINDEXED = (
    f"SELECT id FROM articles WHERE id > ifnull(({_SEARCHED}), 0)"  # noqa: S608 - constant
    " UNION ALL SELECT article_id FROM unsearched"
)
_OF_WORDS = (
    "id IN (SELECT rowid FROM words WHERE words MATCH :words "  # noqa: S608 - constant
    f"UNION ALL {_UNINDEXED})"
)

_SELECT = f"SELECT id, {', '.join(STORED)} FROM articles"  # noqa: S608 - constant names
_COMPARED = f"SELECT id, {', '.join(COMPARED)} FROM articles"  # noqa: S608 - constant names
_WRITTEN = (*STORED, "stored_at")
_INSERT = (
    f"INSERT INTO articles ({', '.join(_WRITTEN)}) "  # noqa: S608 - constant names
    f"VALUES ({', '.join('?' * len(_WRITTEN))})"
)
_REPRINTS = f"SELECT {', '.join(Reprint._fields)} FROM reprints"  # noqa: S608 - constant names
_REPRINT = (*Reprint._fields, "article_id")
_SET_REPRINT = (
    f"INSERT INTO reprints ({', '.join(_REPRINT)}) "  # noqa: S608 - constant names
    f"VALUES ({', '.join('?' * len(_REPRINT))}) ON CONFLICT (url) DO UPDATE "
    f"SET {', '.join(f'{name} = excluded.{name}' for name in _REPRINT)}"
)
_UPDATE = f"UPDATE articles SET {', '.join(f'{c} = ?' for c in _WRITTEN)} WHERE id = ?"  # noqa: S608


def insert(connection: sqlite3.Connection, article: Article) -> int:
    """Insert an article and return its row id."""
    return int(connection.execute(_INSERT, _values(article)).lastrowid or 0)


def update(connection: sqlite3.Connection, article_id: int, article: Article) -> None:
    """Replace the row of an article."""
    connection.execute(_UPDATE, (*_values(article), article_id))


def find(connection: sqlite3.Connection, url: str) -> tuple[int, Article] | None:
    """Return row id and article of a URL, or None."""
    row = connection.execute(f"{_SELECT} WHERE url = ?", (clean(url),)).fetchone()
    return None if row is None else (row[0], _article(connection, row, ""))


def story(connection: sqlite3.Connection, url: str) -> Story | None:
    """Return the story stored under a URL, or reprinted by it, or None."""
    own = "SELECT id FROM articles WHERE url = :url"
    other = "SELECT article_id FROM reprints WHERE url = :url"
    query = f"{_SELECT} WHERE id = coalesce(({own}), ({other}))"
    row = connection.execute(query, {"url": clean(url)}).fetchone()
    return row and Story(_article(connection, row, ""), reprints(connection, row[0]))


def keep_version(connection: sqlite3.Connection, article_id: int, version: Version) -> None:
    """Store a version of an article."""
    connection.execute(
        "INSERT INTO versions SELECT ?, 1 + count(*), ?, ?, ?, ?, ?, ? FROM versions"
        " WHERE article_id = ?",
        (article_id, *version, article_id),
    )


def versions(connection: sqlite3.Connection, url: str) -> list[Version]:
    """Return earlier texts of an article, oldest first."""
    rows = connection.execute(
        f"SELECT {', '.join(f'versions.{name}' for name in Version._fields)} FROM versions"  # noqa: S608
        " JOIN articles ON articles.id = article_id WHERE url = ? ORDER BY number",
        (clean(url),),
    )
    return list(map(Version._make, rows))


def mark_unindexed(connection: sqlite3.Connection, article_id: int) -> None:
    """Mark a changed article, so that it is indexed again before the next search."""
    connection.execute("INSERT OR IGNORE INTO unsearched VALUES (?)", (article_id,))


def add_topics(
    connection: sqlite3.Connection, article_id: int, article: Article, *, replace: bool = False
) -> None:
    """Add the topics of an article to a row; older scores are kept unless ``replace`` is true."""
    terms = clean(json.dumps(article.terms, ensure_ascii=False))
    added = connection.executemany(
        f"{'REPLACE' if replace else 'INSERT OR IGNORE'} INTO article_topics VALUES (?, ?, ?, ?)",  # noqa: S608
        ((article_id, clean(topic), score, terms) for topic, score in article.topics.items()),
    )
    if added.rowcount > 0 and not replace:
        query = "UPDATE articles SET stored_at = ? WHERE id = ?"
        connection.execute(query, (time.time(), article_id))


def compared(connection: sqlite3.Connection, ids: Sequence[int], but: str) -> list[Article]:
    """Return the articles of these ids in order, except the article of the URL ``but``.

    Missing ids are skipped. Only the fields for duplicate detection are read.
    """
    query = f"{_COMPARED} WHERE id IN ({', '.join('?' * len(ids))})"
    found = {row[0]: row[1:] for row in connection.execute(query, ids)} if ids else {}
    rows = (found[article_id] for article_id in ids if article_id in found)
    return [_compared(row) for row in rows if row[0] != but]


def all_compared(connection: sqlite3.Connection) -> Iterator[tuple[int, Article]]:
    """Yield ids and articles with the fields for duplicate detection, oldest first."""
    for article_id, *row in connection.execute(f"{_COMPARED} ORDER BY id"):
        yield article_id, _compared(row)


def set_reprint(connection: sqlite3.Connection, article_id: int, reprint: Reprint) -> None:
    """Record a reprint of a story, replacing an earlier record of its URL."""
    values = (clean(value) if isinstance(value, str) else value for value in reprint)
    connection.execute(_SET_REPRINT, (*values, article_id))


def drop_reprint(connection: sqlite3.Connection, url: str) -> None:
    """Delete the reprint of a URL."""
    connection.execute("DELETE FROM reprints WHERE url = ?", (clean(url),))


def drop_part(connection: sqlite3.Connection, article: Article, story_id: int) -> None:
    """Delete the part of an article that the same fetch stored as a story; move its reprints."""
    found = find(connection, article.url)
    if found is None or found[0] == story_id or not is_part(found[1], article):
        return
    move = "UPDATE reprints SET article_id = ? WHERE article_id = ?"
    connection.execute(move, (story_id, found[0]))
    connection.execute("DELETE FROM articles WHERE id = ?", (found[0],))
    _index_below_newest(connection)


def reprints(connection: sqlite3.Connection, article_id: int) -> tuple[Reprint, ...]:
    """Return the reprints of a story in the order of first recording."""
    rows = connection.execute(f"{_REPRINTS} WHERE article_id = ? ORDER BY id", (article_id,))
    return tuple(map(Reprint._make, rows))


def select(
    connection: sqlite3.Connection, selection: Selection, below: int, size: int
) -> tuple[list[Article], int]:
    """Return the next articles of a selection, the last stored first, and the last id read.

    Args:
        connection: Connection inside a transaction.
        selection: Conditions on the articles.
        below: Exclusive upper bound of the ids; ``LAST`` for the first page.
        size: Number of articles to read; fewer may be returned. The last id is 0 at the end.
    """
    values: dict[str, Any] = {"below": below, "size": size}
    values |= {"topic": clean(selection.topic), "site": selection.site}
    values |= {"since": selection.since, "before": selection.before}
    values["stored"] = selection.stored_since
    indexed = selection.indexed
    values["words"] = " AND ".join(f'"{word}"' for word in indexed)
    # in the order of the topic's index: a list of all its articles would be built for each page
    source, key = _SELECT, "id"
    if selection.topic:
        source, key = f"{_SELECT} JOIN article_topics ON article_id = id", "article_id"
    conditions = {
        f"{key} < :below": True,
        "topic = :topic": selection.topic,
        _OF_SITE: selection.site,
        "published >= :since": selection.since,
        "published < :before AND published <> ''": selection.until,
        "max(stored_at, fetched_at) >= :stored": selection.stored_since,
        _OF_WORDS: indexed,
    }
    where = " AND ".join(sql for sql, asked in conditions.items() if asked)
    query = f"{source} WHERE {where} ORDER BY {key} DESC LIMIT :size"
    with _damage_shown(connection):
        found = connection.execute(query, values).fetchall()
        articles = [_article(connection, row, selection.topic) for row in found]
    wanted = set(indexed)
    kept = [
        article
        for article in articles
        # the index may still contain words of an earlier text
        if selection.has_parts(article.title, article.body)
        and (not wanted or wanted.issubset(words_of(article.title, article.body)))
    ]
    return kept, found[-1][0] if found else 0


def has_unindexed(connection: sqlite3.Connection) -> bool:
    """Return whether there are new or changed articles whose words are not indexed."""
    return connection.execute(f"{_UNINDEXED} LIMIT 1").fetchone() is not None


def index_words(connection: sqlite3.Connection) -> int:
    """Index the words of up to ``BATCH`` new and changed articles each; return their number."""
    last = connection.execute(_SEARCHED).fetchone()[0] or 0
    query = "SELECT id, title, body FROM articles WHERE id > ? ORDER BY id LIMIT ?"
    with _damage_shown(connection):
        new = connection.execute(query, (last, BATCH)).fetchall()
    if new:
        query = "INSERT OR REPLACE INTO properties VALUES ('searched', ?)"
        connection.execute(query, (str(new[-1][0]),))
    query = "SELECT id, title, body FROM articles JOIN unsearched ON article_id = id LIMIT ?"
    with _damage_shown(connection):
        changed = connection.execute(query, (BATCH,)).fetchall()
    for article_id, title, body in (*new, *changed):
        words = " ".join(words_of(title, body))
        connection.execute("INSERT INTO words (rowid, held) VALUES (?, ?)", (article_id, words))
    done = [(article_id,) for article_id, _, _ in changed]
    connection.executemany("DELETE FROM unsearched WHERE article_id = ?", done)
    return len(new) + len(changed)


@contextmanager
def _damage_shown(connection: sqlite3.Connection) -> Iterator[None]:
    """Read damaged texts with U+FFFD, and log them, so that all other articles can be read."""
    connection.text_factory = _decoded
    try:
        yield
    finally:
        connection.text_factory = str


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        text = "A stored text is damaged (%s): restore the store from a backup: %.80r"
        logger.error(text, error, data)  # noqa: TRY400 - one line for each text
        return data.decode("utf-8", "replace")


def forget(connection: sqlite3.Connection, names: Sequence[str], now: float) -> int:
    """Delete articles and reprints of URLs or ``site:HOST`` for good; return their number."""
    gone = 0
    for name in map(clean, names):
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
    gone = connection.execute(query, (clean(topic), before)).rowcount
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


def is_forgotten(connection: sqlite3.Connection, article: Article) -> bool:
    """Return whether a URL or the site of the article was removed for good."""
    names = names_of(article)
    marks = ", ".join("?" * len(names))
    query = f"SELECT 1 FROM tombstones WHERE name IN ({marks})"  # noqa: S608 - marks
    return connection.execute(query, names).fetchone() is not None


def _compared(row: Sequence[Any]) -> Article:
    return Article(**dict(zip(COMPARED, row, strict=True)))


def _values(article: Article) -> tuple[Any, ...]:
    """Return the values of ``_WRITTEN``."""
    values = {**stored_values(article), "stored_at": time.time()}.items()
    return tuple(json.dumps(v, ensure_ascii=False) if n in LISTS else v for n, v in values)


def _article(connection: sqlite3.Connection, row: tuple[Any, ...], topic: str) -> Article:
    query = "SELECT topic, score, terms FROM article_topics WHERE article_id = ?"
    topics = sorted(connection.execute(query, row[:1]).fetchall(), key=lambda t: (-t[1], t[0]))
    shown = next((t for t in topics if t[0] == topic), topics[0] if topics else None)
    values = dict(zip(STORED, row[1:], strict=True))
    values |= {name: json.loads(values[name]) for name in LISTS}
    values["noarchive"] = bool(values["noarchive"])
    values["topics"] = {name: score for name, score, _ in topics}
    values["terms"] = [] if shown is None else json.loads(shown[2])
    return Article.from_dict(values)
