"""Learned knowledge of sites, and user marks of pages: JSON values by site and key."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Self

from topiccrawl.errors import StateError
from topiccrawl.links.urls import host_of
from topiccrawl.model import Mark
from topiccrawl.storage.documents import DocumentKind, DocumentStore
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.selection import site_names

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

    from topiccrawl.storage.contract import Storage

SITES = DocumentKind(
    "sites", ("site", "key", "value", "changed_at"), key=2, nested=frozenset({"value"})
)

MARKS = "marks of "
"""Prefix of the name under which marks of a topic are stored."""
CHANGED = "marks changed"
"""Name under which the times of the last marks are stored, by topic."""
PAGES = "pages of "
"""Prefix of the name under which the page sample of a topic is stored."""


class Sites(DocumentStore):
    """JSON values by site and key (``patterns``, ``frame`` ...); each package owns its keys.

    Args:
        storage: Storage of the values.
    """

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage.documents(SITES))

    async def get(self, site: str) -> dict[str, Any]:
        """Return all values of a site, by key."""
        found = await self._documents.find(SITES, {"site": site})
        return {one["key"]: one["value"] for one in found}

    async def known(self, site: str, key: str) -> dict[str, Any]:
        """Return all values of a site, by key.

        Raises:
            StateError: It has no value for ``key``.
        """
        found = await self.get(site)
        if key not in found:
            raise StateError(
                "nothing is stored about the site {site}: `show` lists the known sites", site=site
            )
        return found

    async def sites(self, key: str) -> list[str]:
        """Return the sites that have a value for a key, in order of name."""
        found = await self._documents.find(SITES, {"key": key}, order=("site",), fields=("site",))
        return [one["site"] for one in found]

    async def put(self, site: str, values: Mapping[str, Any]) -> None:
        """Store the values of these keys; other keys are unchanged.

        Raises:
            TypeError: A value is not JSON serializable; nothing was stored.
            StorageError: See ``Documents.put``.
        """
        same = {"site": site, "changed_at": time.time()}
        new = [{**same, "key": key, "value": value} for key, value in values.items()]
        await self._documents.put({SITES: new})

    async def forget(self, names: Sequence[str]) -> None:
        """Delete marks of URLs or ``site:HOST``, and all samples, which may have their text."""
        targets = set(names)

        def is_gone(site: str, key: str) -> bool:
            marked = {key, *site_names(host_of(key))} if site.startswith(MARKS) else set[str]()
            return site.startswith(PAGES) or not targets.isdisjoint(marked)

        found = await self._documents.find(SITES, {}, fields=("site", "key"))
        gone = [one for one in found if is_gone(one["site"], one["key"])]
        await self._documents.delete(SITES, *gone)


class MarkStore:
    """Marks of one topic and a sample of its scored pages, stored as JSON values.

    Nodes with a shared store share both. Errors are those of ``Sites``.

    Args:
        sites: Store of the values, opened.
        topic: Name of the topic.
    """

    def __init__(self, sites: Sites, topic: str) -> None:
        self._sites = sites
        self._topic = topic
        self._marks = f"{MARKS}{topic}"
        self._pages = f"{PAGES}{topic}"

    @classmethod
    @asynccontextmanager
    async def opened(cls, settings: Mapping[str, Any], topic: str) -> AsyncIterator[Self]:
        """Open the store that the settings name, and close it at the end of a block."""
        async with Sites(storage_of(settings)) as sites:
            yield cls(sites, topic)

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
