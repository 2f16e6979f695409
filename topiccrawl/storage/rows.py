"""SQL of the embedded store: articles, versions, topics and reprints.

All functions run inside a transaction of the caller.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from topiccrawl.model import Article
from topiccrawl.storage.contract import Reprint, Story, Version

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence

TEXTS = (
    "url", "title", "body", "final_url", "canonical_url", "site", "published", "source",
    "author", "language", "follows", "event",
)  # fmt: skip
PLAIN = ("fetched_at", "depth", "digest", "noarchive", "encoding")
"""Fields of an article that are stored unchanged."""
COLUMNS = (*TEXTS, "images", *PLAIN)
"""Columns of ``articles`` in table order, except the id."""

OF_TOPIC = "id IN (SELECT article_id FROM article_topics WHERE topic = :topic)"
"""Condition for articles of a topic."""

_SELECT = f"SELECT id, {', '.join(COLUMNS)} FROM articles"  # noqa: S608 - constant names
_COMPARED = "SELECT id, url, title, body, site, published, digest FROM articles"
_INSERT = (
    f"INSERT INTO articles ({', '.join(COLUMNS)}) "  # noqa: S608 - constant names
    f"VALUES ({', '.join('?' * len(COLUMNS))})"
)
_REPRINTS = f"SELECT {', '.join(Reprint._fields)} FROM reprints"  # noqa: S608 - constant names
_UPDATE = f"UPDATE articles SET {', '.join(f'{c} = ?' for c in COLUMNS)} WHERE id = ?"  # noqa: S608


def clean(text: str) -> str:
    r"""Return the text with "?" for characters that UTF-8 cannot encode (lone surrogates).

    >>> clean("a\ud800")
    'a?'
    """
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


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


def latest(connection: sqlite3.Connection, topic: str, limit: int, offset: int) -> list[Article]:
    """Return articles of a topic ("" for all), the last stored first; no limit if 0."""
    where = OF_TOPIC if topic else "1"
    values = {"topic": topic, "size": limit or -1, "offset": offset}
    return [article for _, article in select_page(connection, where, values, topic)]


def select_page(
    connection: sqlite3.Connection, where: str, values: Mapping[str, Any], topic: str
) -> list[tuple[int, Article]]:
    """Return ids and articles that match, last stored first: ``size`` rows from ``offset``."""
    query = f"{_SELECT} WHERE {where} ORDER BY id DESC LIMIT :size OFFSET :offset"
    found = connection.execute(query, values).fetchall()
    return [(row[0], _article(connection, row, topic)) for row in found]


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
    connection.executemany(
        f"{'REPLACE' if replace else 'INSERT OR IGNORE'} INTO article_topics VALUES (?, ?, ?, ?)",  # noqa: S608
        ((article_id, clean(topic), score, terms) for topic, score in article.topics.items()),
    )


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
    connection.execute(
        "INSERT INTO reprints (url, site, title, published, seen_at, similarity, reason, "
        "article_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (url) DO UPDATE SET "
        "site = excluded.site, title = excluded.title, published = excluded.published, "
        "seen_at = excluded.seen_at, similarity = excluded.similarity, "
        "reason = excluded.reason, article_id = excluded.article_id",
        (*(clean(v) if isinstance(v, str) else v for v in reprint), article_id),
    )


def drop_reprint(connection: sqlite3.Connection, url: str) -> None:
    """Delete the reprint of a URL."""
    connection.execute("DELETE FROM reprints WHERE url = ?", (clean(url),))


def reprints(connection: sqlite3.Connection, article_id: int) -> tuple[Reprint, ...]:
    """Return the reprints of a story in the order of first recording."""
    rows = connection.execute(f"{_REPRINTS} WHERE article_id = ? ORDER BY id", (article_id,))
    return tuple(map(Reprint._make, rows))


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Return the numbers of articles, reprints and articles per topic."""
    query = (
        "SELECT 'articles', count(*) FROM articles UNION ALL "
        "SELECT 'reprints', count(*) FROM reprints UNION ALL "
        "SELECT 'topic/' || topic, count(*) FROM article_topics GROUP BY topic"
    )
    return dict(connection.execute(query).fetchall())


def _compared(row: Sequence[Any]) -> Article:
    url, title, body, site, published, digest = row
    return Article(url, title, body, site=site, published=published, digest=digest)


def _values(article: Article) -> tuple[Any, ...]:
    return (
        *(clean(getattr(article, name)) for name in TEXTS),
        clean(json.dumps(article.images, ensure_ascii=False)),
        *(getattr(article, name) for name in PLAIN),
    )


def _article(connection: sqlite3.Connection, row: tuple[Any, ...], topic: str) -> Article:
    query = "SELECT topic, score, terms FROM article_topics WHERE article_id = ?"
    topics = sorted(connection.execute(query, row[:1]).fetchall(), key=lambda t: (-t[1], t[0]))
    shown = next((t for t in topics if t[0] == topic), topics[0] if topics else None)
    values = dict(zip(COLUMNS, row[1:], strict=True))
    values["images"] = json.loads(values["images"])
    values["noarchive"] = bool(values["noarchive"])
    values["topics"] = {name: score for name, score, _ in topics}
    values["terms"] = [] if shown is None else json.loads(shown[2])
    return Article.from_dict(values)
