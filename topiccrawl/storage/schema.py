"""Schema of the embedded store, as migration steps.

A change of the schema is a new step at the end; released steps are not edited. Document kinds
(``topiccrawl.storage.documents``) create their own tables and indexes.
``PRAGMA user_version`` is the number of applied steps. The table ``migrations`` has the time and
program version of each.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from topiccrawl import __version__
from topiccrawl.errors import StateVersionError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

APPLICATION_ID = 0x746F7069
"""Application id ("topi"), by which databases of other programs are rejected."""

STEPS: tuple[str, ...] = (
    """
    CREATE TABLE migrations (
        version INTEGER PRIMARY KEY, program TEXT NOT NULL, applied_at REAL NOT NULL
    )
    """,
    *("",) * 5,  # versions that were never released
    """
    CREATE TABLE articles (
        id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, title TEXT NOT NULL, body TEXT NOT NULL,
        final_url TEXT NOT NULL, canonical_url TEXT NOT NULL, site TEXT NOT NULL,
        published TEXT NOT NULL, source TEXT NOT NULL, author TEXT NOT NULL,
        language TEXT NOT NULL, images TEXT NOT NULL, fetched_at REAL NOT NULL,
        depth INTEGER NOT NULL, digest TEXT NOT NULL, noarchive INTEGER NOT NULL,
        encoding TEXT NOT NULL
    );
    CREATE TABLE article_topics (
        article_id INTEGER NOT NULL REFERENCES articles (id) ON DELETE CASCADE,
        topic TEXT NOT NULL, score REAL NOT NULL, terms TEXT NOT NULL,
        PRIMARY KEY (article_id, topic)
    ) WITHOUT ROWID;
    CREATE INDEX topic_articles ON article_topics (topic, article_id);
    CREATE TABLE reprints (
        id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE,
        article_id INTEGER NOT NULL REFERENCES articles (id) ON DELETE CASCADE,
        site TEXT NOT NULL, title TEXT NOT NULL, published TEXT NOT NULL,
        seen_at REAL NOT NULL, similarity REAL NOT NULL, reason TEXT NOT NULL
    );
    CREATE INDEX article_reprints ON reprints (article_id);
    CREATE TABLE crawls (
        id INTEGER PRIMARY KEY, topic TEXT NOT NULL, frontier TEXT NOT NULL,
        started REAL NOT NULL, finished REAL, reason TEXT NOT NULL
    );
    CREATE TABLE topic_changes (
        topic TEXT NOT NULL, frontier TEXT NOT NULL, number INTEGER NOT NULL, at REAL NOT NULL,
        method TEXT NOT NULL, reason TEXT NOT NULL, pages INTEGER NOT NULL, own TEXT NOT NULL,
        terms TEXT NOT NULL, lower_limit REAL, upper_limit REAL
    );
    CREATE TABLE sketches (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        article_id INTEGER NOT NULL UNIQUE REFERENCES articles (id) ON DELETE CASCADE,
        keys BLOB NOT NULL
    );
    CREATE TABLE boilerplate (seq INTEGER PRIMARY KEY AUTOINCREMENT, mark INTEGER NOT NULL UNIQUE);
    CREATE TABLE properties (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE VIRTUAL TABLE words USING fts5 (held, content = '', columnsize = 0, detail = none);
    CREATE TABLE unsearched (
        article_id INTEGER PRIMARY KEY REFERENCES articles (id) ON DELETE CASCADE
    );
    CREATE TABLE tombstones (name TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID;
    CREATE TABLE versions (
        article_id INTEGER NOT NULL REFERENCES articles (id) ON DELETE CASCADE,
        number INTEGER NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL,
        published TEXT NOT NULL, digest TEXT NOT NULL, fetched_at REAL NOT NULL,
        replaced_at REAL NOT NULL, PRIMARY KEY (article_id, number)
    ) WITHOUT ROWID;
    """,
    # before, this schema had the tables and indexes of document kinds
    """
    DELETE FROM topic_changes WHERE rowid NOT IN (
        SELECT max(rowid) FROM topic_changes GROUP BY topic, frontier, number, at
    );
    DROP INDEX IF EXISTS changes_of_topic;
    CREATE UNIQUE INDEX topic_changes_key ON topic_changes (topic, frontier, number, at);
    DROP INDEX IF EXISTS pages_due;
    DROP INDEX IF EXISTS pages_seen;
    DROP INDEX IF EXISTS pages_changed;
    DROP INDEX IF EXISTS pages_gone;
    DROP INDEX IF EXISTS seeds_staged;
    DROP INDEX IF EXISTS seeds_outcome;
    DROP INDEX IF EXISTS records_seen;
    DROP INDEX IF EXISTS records_of_seed;
    """,
    """
    ALTER TABLE articles ADD COLUMN follows TEXT NOT NULL DEFAULT '';
    ALTER TABLE articles ADD COLUMN event TEXT NOT NULL DEFAULT '';
    """,
    "ALTER TABLE articles ADD COLUMN stored_at REAL NOT NULL DEFAULT 0",
)
"""SQL of each step, in order; statements end in ";". The schema's version is the step count."""


def migrate(connection: sqlite3.Connection, path: str, steps: Sequence[str] = STEPS) -> None:
    """Migrate a database to the current schema, all steps in one transaction.

    Raises:
        StateVersionError: A newer version or another program wrote it.
    """
    if _version(connection, path, steps) == len(steps):
        return
    connection.execute("BEGIN IMMEDIATE")
    # another process may have migrated while this one waited for the lock
    for version in range(_version(connection, path, steps), len(steps)):
        for statement in filter(str.strip, steps[version].split(";")):
            connection.execute(statement)
        applied = (version + 1, __version__, time.time())
        connection.execute("INSERT INTO migrations VALUES (?, ?, ?)", applied)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(steps)}")
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection, path: str, steps: Sequence[str]) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if owner != APPLICATION_ID and (tables or version):
        raise StateVersionError(
            "{path}: a database of another program; move it away or choose "
            "another TOPICCRAWL_DATA_DIR",
            path=path,
        )
    if version > len(steps):
        raise StateVersionError(
            "{path}: schema version {version}, this program supports up to {steps}; "
            "update topiccrawl, or choose another TOPICCRAWL_DATA_DIR",
            path=path,
            version=version,
            steps=len(steps),
        )
    return int(version)
