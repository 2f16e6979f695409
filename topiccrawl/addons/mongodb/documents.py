"""Documents in MongoDB, one collection per kind."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from pymongo import ReplaceOne
from pymongo.errors import OperationFailure

from topiccrawl.addons.mongodb.client import UNAUTHORIZED, Server, ensure_index, migrate
from topiccrawl.storage.documents import Span, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topiccrawl.addons.mongodb.client import Collection
    from topiccrawl.storage.documents import Document, DocumentKind, Where


_BATCH = 100
"""Number of documents in a bulk write; each bulk write has its own timeout."""


class MongoDocuments:
    """Documents in MongoDB; see ``Documents``. Without transactions, which need a replica set.

    Args:
        uri: ``mongodb://...``; its path is the name of the database.
        kinds: Kinds of the documents.
    """

    def __init__(self, uri: str, kinds: Sequence[DocumentKind]) -> None:
        self._server = Server(uri)
        self._kinds = kinds
        self._unwritable: OperationFailure | None = None

    async def open(self) -> None:
        """See ``Documents.open``."""
        self._server.connect()
        await migrate(self._server)
        with self._server.translated("open the store"):
            try:
                for kind in self._kinds:
                    for names in {kind.keys, *(_sorted(kind, one) for one in kind.indexes)}:
                        await ensure_index(self._of(kind), names, unique=names == kind.keys)
            except OperationFailure as error:
                if error.code != UNAUTHORIZED:
                    raise
                self._unwritable = error  # reads work without indexes

    async def close(self) -> None:
        """See ``Documents.close``."""
        await self._server.close()

    async def put(self, documents: Mapping[DocumentKind, Sequence[Mapping[str, Any]]]) -> None:
        """See ``Documents.put``; bulk writes, one kind after the other."""
        rows = {kind: [kind.packed(one) for one in some] for kind, some in documents.items()}
        for kind, some in rows.items():
            writes = [
                ReplaceOne({name: row[name] for name in kind.keys}, row, upsert=True)
                for row in some
            ]
            for start in range(0, len(writes), _BATCH):
                with self._server.translated("write"):
                    if self._unwritable is not None:
                        raise self._unwritable
                    await self._of(kind).bulk_write(writes[start : start + _BATCH], ordered=True)

    async def get(self, kind: DocumentKind, keys: Sequence[Sequence[Any]]) -> list[Document]:
        """See ``Documents.get``."""
        found: list[Document] = []
        *names, name = kind.keys
        by_prefix: defaultdict[tuple[Any, ...], list[Any]] = defaultdict(list)
        for *prefix, last in keys:
            by_prefix[tuple(map(plain, prefix))].append(plain(last))
        for values, some in by_prefix.items():  # one query for each
            which = dict(zip(names, values, strict=True))
            found += await self._found(kind, {**which, name: {"$in": some}})
        return found

    async def find(
        self, kind: DocumentKind, where: Where, *, order: Sequence[str] = (),
        after: Sequence[Any] = (), limit: int = 0, fields: Sequence[str] = (),
    ) -> list[Document]:  # fmt: skip
        """See ``Documents.find``."""
        which = _filter(where)
        if after:
            which = {"$and": [which, {"$or": _after(order, [plain(one) for one in after])}]}
        return await self._found(kind, which, order, limit, fields)

    async def count(self, kind: DocumentKind, where: Where) -> int:
        """See ``Documents.count``."""
        with self._server.translated("read"):
            return await self._of(kind).count_documents(_filter(where))

    async def delete(self, kind: DocumentKind, *where: Where) -> int:
        """See ``Documents.delete``; the conditions are applied one after the other."""
        with self._server.translated("forget"):
            done = [await self._of(kind).delete_many(_filter(one)) for one in where]
        return sum(one.deleted_count for one in done)

    async def _found(
        self, kind: DocumentKind, which: Mapping[str, Any], order: Sequence[str] = (),
        limit: int = 0, fields: Sequence[str] = (),
    ) -> list[Document]:  # fmt: skip
        with self._server.translated("read"):
            cursor = self._of(kind).find(
                which, dict.fromkeys(fields or kind.fields, 1), limit=limit,
                sort=[(name, 1) for name in order] or None,
            )  # fmt: skip
            return [kind.unpacked(one) for one in await cursor.to_list()]

    def _of(self, kind: DocumentKind) -> Collection:
        return self._server.collection(kind.name)


def _sorted(kind: DocumentKind, names: Sequence[str]) -> tuple[str, ...]:
    """Return the fields of an index, with the one that ends the orders of queries.

    MongoDB reads an index in order only if it has all fields of the order; else it sorts all
    documents that match, for each page of a result.
    """
    return tuple(dict.fromkeys((*names, kind.keys[-1])))


def _filter(where: Where) -> dict[str, Any]:
    return {
        name: {"$gte": value.low, "$lt": value.high} if isinstance(value, Span) else plain(value)
        for name, value in where.items()
    }


def _after(order: Sequence[str], after: Sequence[Any]) -> list[dict[str, Any]]:
    """Return alternative conditions of documents after a position in a sort order."""
    pairs = list(zip(order, after, strict=True))
    return [
        {**dict(pairs[:number]), name: {"$gt": value}} for number, (name, value) in enumerate(pairs)
    ]
