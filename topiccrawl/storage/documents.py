"""Documents: small records of features, such as page states, behind one interface.

A feature describes its documents by a ``DocumentKind`` and reads and writes plain values. A storage
implements ``Documents`` once for all kinds.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from topiccrawl.text.normal import clean

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    Document = dict[str, Any]
    Where = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class DocumentKind:
    """Schema of documents; define one per kind, at module level.

    Attributes:
        name: Name of its table or collection.
        fields: Names of all fields; the key fields come first.
        key: Number of key fields, which identify a document.
        nested: Fields with lists or mappings; other fields have text, numbers or None.
        indexes: Fields of each secondary index.
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
        """Return a document with flat values: nested values as JSON, text without lone surrogates.

        Raises:
            TypeError: A value cannot be written as JSON.
        """
        to_json = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
        return {
            name: plain(to_json(document[name]) if name in self.nested else document[name])
            for name in self.fields
        }

    def unpacked(self, values: Mapping[str, Any]) -> Document:
        """Return the document of ``packed`` values; missing fields stay missing."""
        found = {name: values[name] for name in self.fields if name in values}
        for name in self.nested & found.keys():
            if isinstance(found[name], str):
                found[name] = json.loads(found[name])
        return found


class Span(NamedTuple):
    """Condition on a number: ``low <= number < high``."""

    low: float = -math.inf
    high: float = math.inf


class Documents(Protocol):
    """Store of documents. No call blocks the event loop; all but ``close`` raise StorageError.

    A condition (``Where``) maps field names to values or to a ``Span``; all of them must match.
    """

    async def open(self) -> None:
        """Open the storage; errors are those of ``ArticleStore.open``. Reading creates no files."""

    async def close(self) -> None:
        """Close the storage. Idempotent; it can be opened again."""

    async def put(self, documents: Mapping[DocumentKind, Sequence[Mapping[str, Any]]]) -> None:
        """Insert documents, or replace documents with the same key, in order.

        After the call returns, they survive kill -9. Repeat a call that raised: a storage with
        transactions has stored nothing, another storage may have stored the first documents.
        """

    async def get(self, kind: DocumentKind, keys: Sequence[Sequence[Any]]) -> list[Document]:
        """Return the documents of these keys; missing ones are omitted."""

    async def find(
        self, kind: DocumentKind, where: Where, *, order: Sequence[str] = (),
        after: Sequence[Any] = (), limit: int = 0, fields: Sequence[str] = (),
    ) -> list[Document]:  # fmt: skip
        """Return the documents that match a condition.

        Args:
            kind: Kind of the documents.
            where: Condition.
            order: Fields to sort by, ascending.
            after: Values of the ``order`` fields after which the result starts; () for all.
            limit: Maximum number of documents; 0 for all.
            fields: Fields to return; () for all.
        """

    async def count(self, kind: DocumentKind, where: Where) -> int:
        """Return the number of documents that match a condition."""

    async def delete(self, kind: DocumentKind, *where: Where) -> int:
        """Delete the documents that match any of the conditions; return their number."""


async def pages(
    documents: Documents, kind: DocumentKind, where: Where, order: Sequence[str], *,
    fields: Sequence[str] = (), size: int = 200,
) -> AsyncIterator[list[Document]]:  # fmt: skip
    """Yield all documents that match a condition, in pages (keyset pagination).

    Args:
        documents: Store of the documents.
        kind: Kind of the documents.
        where: Condition.
        order: Fields to sort by; their values must be unique per document.
        fields: Fields to return, including those of ``order``; () for all.
        size: Number of documents per page.
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
        if isinstance(span := where.get(order[0]), Span):  # so that an index skips the read ones
            where = {**where, order[0]: span._replace(low=after[0])}


class DocumentStore:
    """Base class of stores that keep their data as documents; an async context manager.

    Args:
        documents: Store of the kinds that the class needs.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def open(self) -> None:
        """Open the storage; errors are those of ``ArticleStore.open``."""
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


def plain(value: Any) -> Any:  # noqa: ANN401 - any flat value
    """Return a value as it is stored and compared: text without lone surrogates."""
    return clean(str(value)) if isinstance(value, str) else value
