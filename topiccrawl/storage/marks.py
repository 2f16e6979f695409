"""Marks of topics, and samples of the pages that their crawls judged."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from topiccrawl.model import Mark
from topiccrawl.storage.choice import opened, storage_of
from topiccrawl.storage.sites import CHANGED, MARKS, PAGES, Sites

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager


class MarkStore:
    """Marks of one topic and a sample of its judged pages, in a store of JSON values.

    Nodes with a shared store share both. Errors are those of the store.

    Args:
        sites: The store, opened by ``open``.
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
        """Open the store that the settings name, and close it in the end."""
        return opened(cls(Sites(storage_of(settings)), topic))

    async def open(self) -> None:
        """Open the store."""
        await self._sites.open()

    async def close(self) -> None:
        """Close the store."""
        await self._sites.close()

    async def marks(self) -> list[Mark]:
        """Return the marks, one for each URL."""
        found = await self._sites.get(self._marks)
        marks = [Mark(**value) for value in found.values()]
        return [mark for mark in marks if mark.wanted is not None]

    async def mark(self, marks: Iterable[Mark]) -> None:
        """Store marks, each in place of an earlier one of its URL; ``wanted`` None removes it."""
        await self._sites.put(self._marks, {mark.url: mark._asdict() for mark in marks})
        await self._sites.put(CHANGED, {self._topic: time.time()})

    async def changed(self) -> float:
        """Return when marks were last stored, seconds since the epoch; 0.0 if never."""
        return float((await self._sites.get(CHANGED)).get(self._topic, 0.0))

    async def pages(self) -> tuple[int, list[Mark]]:
        """Return the number of pages that the sample was drawn from, and the sample."""
        found = (await self._sites.get(self._pages)).get("sample", {"seen": 0, "pages": []})
        return found["seen"], [Mark(**value) for value in found["pages"]]

    async def put_pages(self, seen: int, pages: Sequence[Mark]) -> None:
        """Store a sample in place of the earlier one."""
        value = {"seen": seen, "pages": [page._asdict() for page in pages]}
        await self._sites.put(self._pages, {"sample": value})
