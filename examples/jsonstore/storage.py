"""Storage factory, and documents by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from examples.jsonstore.articles import JsonListing, JsonStore
from examples.jsonstore.journal import Journal
from topiccrawl.dedup.index import CAPACITY
from topiccrawl.storage.documents import Span, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topiccrawl.dedup import DuplicateDetector
    from topiccrawl.storage.documents import Document, DocumentKind, Where


class JsonStorage:
    """See ``topiccrawl.storage.contract.Storage``.

    Args:
        folder: TOPICCRAWL_DATA_DIR.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Create the storage of the data folder in the settings."""
        return cls(settings["TOPICCRAWL_DATA_DIR"])

    @property
    def place(self) -> str:
        """Path of the file."""
        return str(Journal(self.folder).path)

    def exists(self) -> bool:
        """Return whether anything was stored."""
        return Journal(self.folder).path.exists()

    def articles(
        self, method: DuplicateDetector | None = None, capacity: int = CAPACITY
    ) -> JsonStore:
        """Return the store of articles."""
        return JsonStore(self.folder, method=method, capacity=capacity)

    def listing(self) -> JsonListing:
        """Return lists of the stored articles."""
        return JsonListing(self.folder)

    def documents(self, *kinds: DocumentKind) -> JsonDocuments:  # noqa: ARG002 - one way for all kinds
        """Return documents by name."""
        return JsonDocuments(self.folder)


class JsonDocuments:
    """See ``topiccrawl.storage.documents.Documents``: a table of the journal for each kind."""

    def __init__(self, folder: Path) -> None:
        self._journal = Journal(folder)

    async def open(self) -> None:
        """Read the file, if there is one."""
        await self._journal.read(lambda: None)

    async def close(self) -> None:
        """Do nothing, as no file is open between two calls."""

    async def put(self, documents: Mapping[DocumentKind, Sequence[Mapping[str, Any]]]) -> None:
        """Insert or replace documents in one transaction."""
        rows = [(kind, kind.packed(one)) for kind, some in documents.items() for one in some]

        def work() -> None:
            for kind, row in rows:
                self._journal.put(kind.name, _key([row[name] for name in kind.keys]), row)

        if rows:
            await self._journal.write(work)

    async def get(self, kind: DocumentKind, keys: Sequence[Sequence[Any]]) -> list[Document]:
        """Return the documents of keys."""
        names = [_key([plain(value) for value in key]) for key in keys]
        table = self._journal.table

        def work() -> list[Document]:
            rows = table(kind.name)
            return [kind.unpacked(rows[name]) for name in names if name in rows]

        return await self._journal.read(work)

    async def find(
        self, kind: DocumentKind, where: Where, *, order: Sequence[str] = (),
        after: Sequence[Any] = (), limit: int = 0, fields: Sequence[str] = (),
    ) -> list[Document]:  # fmt: skip
        """Return the documents that meet a condition, sorted."""

        def place(row: Document) -> list[Any]:
            return [row[name] for name in order]

        def work() -> list[Document]:
            rows = [row for row in self._journal.table(kind.name).values() if _meets(row, where)]
            behind = [row for row in rows if not after or place(row) > [*map(plain, after)]]
            some = sorted(behind, key=place)[: limit or None]
            return [kind.unpacked({n: row[n] for n in fields or kind.fields}) for row in some]

        return await self._journal.read(work)

    async def count(self, kind: DocumentKind, where: Where) -> int:
        """Return the number of documents that meet a condition."""
        return len(await self.find(kind, where))

    async def delete(self, kind: DocumentKind, *where: Where) -> int:
        """Delete the documents that meet any of the conditions."""

        def work() -> int:
            rows = self._journal.table(kind.name).items()
            deleted = [key for key, row in rows if any(_meets(row, one) for one in where)]
            for key in deleted:
                self._journal.put(kind.name, key, None)
            return len(deleted)

        return await self._journal.write(work)


def _key(values: Sequence[Any]) -> str:
    return json.dumps(values)


def _meets(row: Mapping[str, Any], where: Where) -> bool:
    return all(
        value.low <= row[name] < value.high
        if isinstance(value, Span)
        else row[name] == plain(value)
        for name, value in where.items()
    )
