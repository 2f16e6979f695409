"""Documents of the embedded store: a table for each kind, a column for each field."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from topiccrawl.storage.database import Database
from topiccrawl.storage.documents import Span, grouped, plain

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from topiccrawl.storage.documents import Document, Kind, Where

_BATCH = 500
"""Keys of one query; SQLite limits the number of its parameters."""


class SqliteDocuments:
    """``Documents`` in the store's file; a file is created by the first write.

    Args:
        path: The file.
        kinds: Kinds of the documents.
    """

    def __init__(self, path: Path, kinds: Sequence[Kind]) -> None:
        self._path = path
        self._kinds = kinds
        self._database: Database | None = None
        self._opening = asyncio.Lock()

    async def open(self) -> None:
        """See ``Documents.open``."""
        await self._opened(create=False)

    async def close(self) -> None:
        """See ``Documents.close``."""
        database, self._database = self._database, None
        if database is not None:
            await asyncio.to_thread(database.close)

    async def put(self, documents: Mapping[Kind, Sequence[Mapping[str, Any]]]) -> None:
        """See ``Documents.put``; one transaction."""
        rows = {
            _insert(kind): [tuple(kind.packed(one).values()) for one in some]
            for kind, some in documents.items()
            if some
        }

        def work(connection: sqlite3.Connection) -> None:
            for query, values in rows.items():
                connection.executemany(query, values)

        if rows:
            database = await self._opened(create=True)
            assert database is not None  # noqa: S101
            await database.write(work)

    async def get(self, kind: Kind, keys: Sequence[Sequence[Any]]) -> list[Document]:
        """See ``Documents.get``."""
        *names, last = kind.keys
        where = " AND ".join([*(f"{name} = ?" for name in names), f"{last} IN"])
        query = f"{_select(kind, kind.fields)} WHERE {where}"

        def work(connection: sqlite3.Connection) -> list[Any]:
            found: list[Any] = []
            for first, values in grouped(keys).items():
                for start in range(0, len(values), _BATCH):
                    some = values[start : start + _BATCH]
                    marks = f"({', '.join('?' * len(some))})"
                    found += connection.execute(f"{query} {marks}", (*first, *some)).fetchall()
            return found

        return _documents(kind, kind.fields, await self._read(work) or [])

    async def find(
        self, kind: Kind, where: Where, *, order: Sequence[str] = (), after: Sequence[Any] = (),
        limit: int = 0, fields: Sequence[str] = (),
    ) -> list[Document]:  # fmt: skip
        """See ``Documents.find``."""
        condition, values = _condition(where)
        named = fields or kind.fields
        query = f"{_select(kind, named)} WHERE {condition}"
        if after:
            query += f" AND ({', '.join(order)}) > ({', '.join('?' * len(after))})"
            values += map(plain, after)
        if order:
            query += f" ORDER BY {', '.join(order)}"
        if limit:
            query += f" LIMIT {int(limit)}"
        rows = await self._read(lambda c: c.execute(query, values).fetchall())
        return _documents(kind, named, rows or [])

    async def count(self, kind: Kind, where: Where) -> int:
        """See ``Documents.count``."""
        condition, values = _condition(where)
        query = f"SELECT count(*) FROM {kind.name} WHERE {condition}"  # noqa: S608 - names of fields
        found = await self._read(lambda c: c.execute(query, values).fetchone())
        return int(found[0]) if found else 0

    async def delete(self, kind: Kind, *where: Where) -> int:
        """See ``Documents.delete``; one transaction."""
        conditions = [_condition(one) for one in where]
        delete = f"DELETE FROM {kind.name} WHERE"  # noqa: S608 - name of a kind
        database = await self._opened(create=False)
        if database is None:
            return 0
        return await database.write(
            lambda c: sum(
                c.execute(f"{delete} {one}", values).rowcount for one, values in conditions
            )
        )

    async def _read(self, work: Any) -> Any:  # noqa: ANN401 - the result of the work
        database = await self._opened(create=False)
        return None if database is None else await database.read(work)

    async def _opened(self, *, create: bool) -> Database | None:
        """Return the open database, None if there is no file yet."""
        async with self._opening:
            if self._database is None and (create or self._path.exists()):
                database = Database(self._path)
                await asyncio.to_thread(database.open)
                self._database = database
                known = await database.read(lambda c: {n for (n,) in c.execute(_NAMES)})
                missing = [sql for kind in self._kinds for sql in _tables(kind, known)]
                if missing:
                    await database.write(lambda c: [c.execute(sql) for sql in missing])
            return self._database


_NAMES = "SELECT name FROM sqlite_master"


def _tables(kind: Kind, known: Collection[str]) -> Iterator[str]:
    """Yield SQL that creates the table and the indexes of a kind, those known left out."""
    if kind.name not in known:
        key = f"PRIMARY KEY ({', '.join(kind.keys)})"
        yield f"CREATE TABLE IF NOT EXISTS {kind.name} ({', '.join(kind.fields)}, {key})"
    for fields in kind.indexes:
        index = f"{kind.name}_{'_'.join(fields)}"
        if index not in known:
            yield f"CREATE INDEX IF NOT EXISTS {index} ON {kind.name} ({', '.join(fields)})"


def _insert(kind: Kind) -> str:
    marks = ", ".join("?" * len(kind.fields))
    return f"INSERT OR REPLACE INTO {kind.name} ({', '.join(kind.fields)}) VALUES ({marks})"  # noqa: S608


def _select(kind: Kind, fields: Sequence[str]) -> str:
    return f"SELECT {', '.join(fields)} FROM {kind.name}"  # noqa: S608 - names of fields


def _condition(where: Where) -> tuple[str, list[Any]]:
    """Return SQL and its values."""
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


def _documents(kind: Kind, fields: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[Document]:
    return [kind.unpacked(dict(zip(fields, row, strict=True))) for row in rows]
