"""User marks of pages by topic, and samples of the pages that crawls scored."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from topiccrawl.model import Mark
from topiccrawl.storage.factory import opened, storage_of
from topiccrawl.storage.sites import CHANGED, MARKS, PAGES, Sites

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager


class MarkStore:
    """Marks of one topic and a sample of its scored pages, stored as JSON values.

    Nodes with a shared store share both. Errors are those of ``Sites``.

    Args:
        sites: Store of the values; ``open`` opens it.
        topic: Name of the topic.
    """

    def __init__(self, sites: Sites, topic: str) -> None:
        self._sites = sites
        self._topic = topic
        self._marks = f"{MARKS}{topic}"
        self._pages = f"{PAGES}{topic}"

    @classmethod
    def opened(
        cls, settings: Mapping[str, Any], topic: str
    ) -> AbstractAsyncContextManager[MarkStore]:
        """Open the store that the settings name, and close it at the end of a block."""
        return opened(cls(Sites(storage_of(settings)), topic))

    async def open(self) -> None:
        """Open the store."""
        await self._sites.open()

    async def close(self) -> None:
        """Close the store."""
        await self._sites.close()

    async def marks(self) -> list[Mark]:
        """Return the marks, one per URL."""
        found = await self._sites.get(self._marks)
        marks = [Mark(**value) for value in found.values()]
        return [mark for mark in marks if mark.wanted is not None]

    async def mark(self, marks: Iterable[Mark]) -> None:
        """Store marks, replacing earlier marks of their URLs; ``wanted=None`` removes a mark."""
        await self._sites.put(self._marks, {mark.url: mark._asdict() for mark in marks})
        await self._sites.put(CHANGED, {self._topic: time.time()})

    async def changed(self) -> float:
        """Return the time of the last change of marks, seconds since the epoch; 0.0 if none."""
        return float((await self._sites.get(CHANGED)).get(self._topic, 0.0))

    async def pages(self) -> tuple[int, list[Mark]]:
        """Return the number of pages that were sampled from, and the sample."""
        found = (await self._sites.get(self._pages)).get("sample", {"seen": 0, "pages": []})
        return found["seen"], [Mark(**value) for value in found["pages"]]

    async def put_pages(self, seen: int, pages: Sequence[Mark]) -> None:
        """Store a sample, replacing the earlier one."""
        value = {"seen": seen, "pages": [page._asdict() for page in pages]}
        await self._sites.put(self._pages, {"sample": value})
