"""Changes of topics during their crawls: every change, and the state learnt for the last one."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from topiccrawl.storage.database import FILE, Database

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping


class TopicChange(NamedTuple):
    """One change of a topic.

    Attributes:
        topic: The topic's name.
        frontier: Folder of the frontier whose crawl changed it.
        number: Number among the changes of that topic and frontier, from 1.
        at: Time of the change, seconds since the epoch.
        method: Learning method.
        reason: Reason in words.
        pages: Pages the crawl had fetched.
        own: The user's terms and weights at that time.
        terms: All terms and weights from then on.
        lower_limit: Page relevance from which a page is relevant; None: unchanged.
        upper_limit: The upper limit; None: unchanged.
    """

    topic: str
    frontier: str
    number: int
    at: float
    method: str
    reason: str
    pages: int
    own: dict[str, float]
    terms: dict[str, float]
    lower_limit: float | None = None
    upper_limit: float | None = None


class ChangeLog:
    """The changes of all topics of a data folder.

    Blocking: call it from a thread if an event loop runs. Every call opens the store's file itself;
    errors are those of ``Store.open``.

    Args:
        folder: TOPICCRAWL_DATA_DIR.
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / FILE

    def add(self, change: TopicChange, state: Mapping[str, Any]) -> None:
        """Store a change, and the state learnt until then in place of the earlier one.

        Raises:
            StorageError: Neither was stored.
        """
        values = (*change[:7], _json(change.own), _json(change.terms), *change[9:])
        learnt = (change.topic, change.frontier, _json(state))

        def work(connection: sqlite3.Connection) -> None:
            marks = ", ".join("?" * len(values))
            connection.execute(f"INSERT INTO topic_changes VALUES ({marks})", values)  # noqa: S608
            connection.execute("INSERT OR REPLACE INTO topic_learnt VALUES (?, ?, ?)", learnt)

        with self._database() as database:
            database.call(work)

    def all(self, topic: str = "", frontier: str = "") -> list[TopicChange]:
        """Return all changes (of a topic, of a frontier), oldest first; creates no file."""
        if not self.path.exists():
            return []
        query = (
            "SELECT * FROM topic_changes WHERE (topic = ?1 OR ?1 = '') "
            "AND (frontier = ?2 OR ?2 = '') ORDER BY rowid"
        )
        with self._database() as database:
            rows = database.call(lambda c: c.execute(query, (topic, frontier)).fetchall())
        return [_change(row) for row in rows]

    def last(self, topic: str, frontier: str) -> tuple[TopicChange, dict[str, Any]] | None:
        """Return the last change of a topic and frontier with the learnt state, or None."""
        changes = self.all(topic, frontier)
        if not changes:
            return None
        query = "SELECT state FROM topic_learnt WHERE topic = ? AND frontier = ?"
        with self._database() as database:
            row = database.call(lambda c: c.execute(query, (topic, frontier)).fetchone())
        return changes[-1], json.loads(row[0])

    def forget(self, topic: str, frontier: str) -> None:
        """Drop the learnt state; a crawl that starts over uses the user's terms.

        The changes themselves are kept under the frontier's folder with ``#`` behind it.
        """
        if not self.path.exists():
            return

        def work(connection: sqlite3.Connection) -> None:
            past = "UPDATE topic_changes SET frontier = frontier || '#'"
            connection.execute(f"{past} WHERE topic = ? AND frontier = ?", (topic, frontier))
            query = "DELETE FROM topic_learnt WHERE topic = ? AND frontier = ?"
            connection.execute(query, (topic, frontier))

        with self._database() as database:
            database.call(work)

    @contextmanager
    def _database(self) -> Iterator[Database]:
        database = Database(self.path)
        database.open()
        try:
            yield database
        finally:
            database.close()


def _change(row: tuple[Any, ...]) -> TopicChange:
    *values, own, terms, lower_limit, upper_limit = row
    made = (*values, json.loads(own), json.loads(terms), lower_limit, upper_limit)
    return TopicChange._make(made)


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
