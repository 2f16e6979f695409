"""Documents by name: what features store besides the articles, behind one small interface.

A feature describes its documents by a ``DocumentKind`` and reads and writes plain values; a storage
implements ``Documents`` once, for all of them.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from topiccrawl.storage.rows import clean

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    Document = dict[str, Any]
    Where = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class DocumentKind:
    """A kind of documents; make one object of it, at the top of a module.

    Attributes:
        name: Name of its table or collection.
        fields: Names of all fields, the key's first.
        key: Number of fields that identify a document.
        nested: Fields with lists and mappings; the others have text, numbers or None.
        indexes: Fields of each index besides the key's.
    """

    name: str
    fields: tuple[str, ...]
    key: int
    nested: frozenset[str] = frozenset()
    indexes: tuple[tuple[str, ...], ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the fields that identify a document."""
        return self.fields[: self.key]

    def packed(self, document: Mapping[str, Any]) -> Document:
        """Return a document as flat values: nested ones as JSON, text that UTF-8 can encode.

        Raises:
            TypeError: A value cannot be written as JSON.
        """
        return {
            name: plain(dumped(document[name]) if name in self.nested else document[name])
            for name in self.fields
        }

    def unpacked(self, values: Mapping[str, Any]) -> Document:
        """Return the document of flat values; missing fields stay missing."""
        return {
            name: json.loads(value)
            if name in self.nested and isinstance(value := values[name], str)
            else values[name]
            for name in self.fields
            if name in values
        }


class Span(NamedTuple):
    """Condition on a number: at least ``low``, less than ``high``."""

    low: float = -math.inf
    high: float = math.inf


class Documents(Protocol):
    """Documents of some kinds. No call blocks the event loop; all but ``close`` raise StorageError.

    A condition (``Where``) maps fields to values or to a ``Span``; all of them must hold.
    """

    async def open(self) -> None:
        """Open the storage; errors are those of ``Store.open``. Reading creates no files."""
        ...

    async def close(self) -> None:
        """Close the storage. Idempotent; it can be opened again."""
        ...

    async def put(self, documents: Mapping[DocumentKind, Sequence[Mapping[str, Any]]]) -> None:
        """Insert documents or replace those of the same key, in order.

        After the return they survive kill -9. Repeat a call that raised: a storage with
        transactions has kept nothing of it, another one the first part.
        """
        ...

    async def get(self, kind: DocumentKind, keys: Sequence[Sequence[Any]]) -> list[Document]:
        """Return the documents of those keys that are stored."""
        ...

    async def find(
        self, kind: DocumentKind, where: Where, *, order: Sequence[str] = (),
        after: Sequence[Any] = (), limit: int = 0, fields: Sequence[str] = (),
    ) -> list[Document]:  # fmt: skip
        """Return the documents that meet a condition.

        Args:
            kind: Their kind.
            where: The condition.
            order: Fields to sort by, ascending.
            after: Values of these fields behind which the list begins; () for all.
            limit: Maximum number; all if 0.
            fields: Fields that are needed; all if ().
        """
        ...

    async def count(self, kind: DocumentKind, where: Where) -> int:
        """Return the number of documents that meet a condition."""
        ...

    async def delete(self, kind: DocumentKind, *where: Where) -> int:
        """Delete the documents that meet any of the conditions; return their number."""
        ...


async def pages(
    documents: Documents, kind: DocumentKind, where: Where, order: Sequence[str], *,
    fields: Sequence[str] = (), size: int = 200,
) -> AsyncIterator[list[Document]]:  # fmt: skip
    """Yield all documents that meet a condition, some at a time.

    Args:
        documents: Where they are stored.
        kind: Their kind.
        where: The condition.
        order: Fields to sort by; together they differ for any two documents.
        fields: As for ``Documents.find``; those of ``order`` among them.
        size: Number of documents read at once.
    """
    after: tuple[Any, ...] = ()
    while True:
        found = await documents.find(
            kind, where, order=order, after=after, limit=size, fields=fields
        )
        if found:
            yield found
        if len(found) < size:
            return
        after = tuple(found[-1][name] for name in order)


class DocumentStore:
    """Base class of what a feature stores as documents; ``async with`` opens and closes it.

    Args:
        documents: Of the kinds that the class needs.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def open(self) -> None:
        """Open the storage; errors are those of ``Store.open``."""
        await self._documents.open()

    async def close(self) -> None:
        """Close the storage. Idempotent."""
        await self._documents.close()

    async def __aenter__(self) -> Self:
        try:
            await self.open()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def grouped(keys: Sequence[Sequence[Any]]) -> dict[tuple[Any, ...], list[Any]]:
    """Return the last values of keys by the values before them, as an index is searched.

    >>> grouped([("足球", "http://a.test/"), ("足球", "http://b.test/")])
    {('足球',): ['http://a.test/', 'http://b.test/']}
    """
    found: dict[tuple[Any, ...], list[Any]] = {}
    for *first, last in keys:
        found.setdefault(tuple(map(plain, first)), []).append(plain(last))
    return found


def dumped(value: object) -> str:
    """Return compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def plain(value: Any) -> Any:  # noqa: ANN401 - any flat value of a document
    """Return a value as storages write and compare it: text without lone surrogates."""
    return clean(str(value)) if isinstance(value, str) else value
