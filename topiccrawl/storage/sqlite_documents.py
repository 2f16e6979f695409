"""Documents of the embedded store: a table for each kind, a column for each field."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import TYPE_CHECKING, Any, TypeVar

from topiccrawl.storage.database import BUSY_SECONDS, RETRY_SECONDS, Database, waiting
from topiccrawl.storage.documents import Span, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from topiccrawl.storage.database import Work
    from topiccrawl.storage.documents import Document, DocumentKind, Where

T = TypeVar("T")


class SqliteDocuments:
    """``Documents`` in the file of the store; the first write creates the file.

    Args:
        path: Path of the file.
        kinds: Kinds of the documents.
    """

    def __init__(self, path: Path, kinds: Sequence[DocumentKind]) -> None:
        self._kinds = kinds
        self._database = Database(path, prepare=self._prepare)

    async def open(self) -> None:
        """See ``Documents.open``."""
        await self._database.ready()

    async def close(self) -> None:
        """See ``Documents.close``."""
        await asyncio.to_thread(self._database.close)

    async def put(self, documents: Mapping[DocumentKind, Sequence[Mapping[str, Any]]]) -> None:
        """See ``Documents.put``; one transaction."""
        rows = {
            _insert(kind): [tuple(kind.packed(one).values()) for one in batch]
            for kind, batch in documents.items()
            if batch
        }

        def work(connection: sqlite3.Connection) -> None:
            self._create(connection)
            for query, values in rows.items():
                connection.executemany(query, values)

        if rows:
            await self._database.ready(create=True)
            await self._database.write(work)

    async def get(self, kind: DocumentKind, keys: Sequence[Sequence[Any]]) -> list[Document]:
        """See ``Documents.get``."""
        condition = " AND ".join(f"{name} = ?" for name in kind.keys)
        query = f"{_select(kind, kind.fields)} WHERE {condition}"
        distinct = dict.fromkeys(tuple(map(plain, key)) for key in keys)
        rows: list[Any] = await self._read(
            lambda c: [row for key in distinct for row in c.execute(query, key)], []
        )
        return [kind.unpacked(dict(row)) for row in rows]

    async def find(
        self, kind: DocumentKind, where: Where, *, order: Sequence[str] = (),
        after: Sequence[Any] = (), limit: int = 0, fields: Sequence[str] = (),
    ) -> list[Document]:  # fmt: skip
        """See ``Documents.find``."""
        condition, values = _condition(where)
        query = f"{_select(kind, fields or kind.fields)} WHERE {condition}"
        if after:
            query += f" AND ({', '.join(order)}) > ({', '.join('?' * len(after))})"
            values += map(plain, after)
        if order:
            query += f" ORDER BY {', '.join(order)}"
        if limit:
            query += f" LIMIT {int(limit)}"
        rows: list[Any] = await self._read(lambda c: c.execute(query, values).fetchall(), [])
        return [kind.unpacked(dict(row)) for row in rows]

    async def count(self, kind: DocumentKind, where: Where) -> int:
        """See ``Documents.count``."""
        condition, values = _condition(where)
        query = f"SELECT count(*) FROM {kind.name} WHERE {condition}"  # noqa: S608 - names of fields
        number: tuple[int] = await self._read(lambda c: c.execute(query, values).fetchone(), (0,))
        return number[0]

    async def delete(self, kind: DocumentKind, *where: Where) -> int:
        """See ``Documents.delete``; one transaction."""
        conditions = [_condition(one) for one in where]
        delete = f"DELETE FROM {kind.name} WHERE"  # noqa: S608 - name of a kind

        def work(connection: sqlite3.Connection) -> int:
            self._create(connection)
            return sum(connection.execute(f"{delete} {one}", v).rowcount for one, v in conditions)

        return await self._database.write(work) if await self._database.ready() else 0

    async def _read(self, work: Work[T], missing: T) -> T:
        """Run ``work`` on a snapshot; return ``missing`` if there is no file or no table yet."""

        def read(connection: sqlite3.Connection) -> T:
            try:
                return work(connection)
            except sqlite3.OperationalError as error:
                if "no such table" not in str(error):
                    raise
                return missing  # another process writes, so it could not be created

        return await self._database.read_existing(read, missing)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Read rows by name, and create missing tables unless another process writes for long."""
        connection.row_factory = sqlite3.Row
        waiting(RETRY_SECONDS)(connection)
        try:
            self._create(connection)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY":
                raise
        waiting(BUSY_SECONDS)(connection)

    def _create(self, connection: sqlite3.Connection) -> None:
        """Create missing tables and indexes."""
        for kind in self._kinds:
            columns = f"{', '.join(kind.fields)}, PRIMARY KEY ({', '.join(kind.keys)})"
            connection.execute(f"CREATE TABLE IF NOT EXISTS {kind.name} ({columns})")
            for fields in kind.indexes:
                index, on = "_".join((kind.name, *fields)), f"{kind.name} ({', '.join(fields)})"
                connection.execute(f"CREATE INDEX IF NOT EXISTS {index} ON {on}")


def _insert(kind: DocumentKind) -> str:
    marks = ", ".join("?" * len(kind.fields))
    return f"INSERT OR REPLACE INTO {kind.name} ({', '.join(kind.fields)}) VALUES ({marks})"  # noqa: S608


def _select(kind: DocumentKind, fields: Sequence[str]) -> str:
    return f"SELECT {', '.join(fields)} FROM {kind.name}"  # noqa: S608 - names of fields


def _condition(where: Where) -> tuple[str, list[Any]]:
    """Return an SQL condition and its values."""
    parts: list[str] = ["1"]
    values: list[Any] = []
    for name, value in where.items():
        if isinstance(value, Span):
            parts.append(f"{name} >= ? AND {name} < ?")
            values += value
        else:
            parts.append(f"{name} = ?")
            values.append(plain(value))
    return " AND ".join(parts), values
