"""Learnt knowledge of sites: values by key, stored with the articles."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from topiccrawl.links.urls import host_of
from topiccrawl.storage.documents import DocumentKind, DocumentStore
from topiccrawl.storage.selection import site_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from topiccrawl.storage.contract import Storage

SITES = DocumentKind(
    "sites", ("site", "key", "value", "changed_at"), key=2, nested=frozenset({"value"})
)

MARKS = "marks of "
"""Before a topic's name: its marks, by URL (``storage.marks``)."""
CHANGED = "marks changed"
"""Name of the times of topics' last marks."""
PAGES = "pages of "
"""Before a topic's name: the sample of its judged pages."""


class Sites(DocumentStore):
    """JSON values by site and key (``patterns``, ``frame`` ...); each package owns its keys.

    Args:
        storage: Where they are stored.
        now: Clock, seconds since the epoch.
    """

    def __init__(self, storage: Storage, *, now: Callable[[], float] = time.time) -> None:
        super().__init__(storage.documents(SITES))
        self._now = now

    async def get(self, site: str) -> dict[str, Any]:
        """Return all values of a site, by key; empty if there are none."""
        found = await self._documents.find(SITES, {"site": site})
        return {one["key"]: one["value"] for one in found}

    async def sites(self, key: str) -> list[str]:
        """Return the sites that have a value under a key, by name."""
        found = await self._documents.find(SITES, {"key": key}, order=("site",), fields=("site",))
        return [one["site"] for one in found]

    async def put(self, site: str, values: Mapping[str, Any]) -> None:
        """Replace the values of these keys; others stay.

        Raises:
            TypeError: A value cannot be written as JSON; nothing was stored.
            StorageError: See ``Documents.put``.
        """
        now = self._now()
        new = [
            {"site": site, "key": key, "value": value, "changed_at": now}
            for key, value in values.items()
        ]
        await self._documents.put({SITES: new})

    async def forget(self, names: Sequence[str]) -> None:
        """Delete marks of names, URLs or ``site:HOST``, and all samples: they may hold its text."""
        meant = set(names)
        found = await self._documents.find(SITES, {}, fields=("site", "key"))
        gone = [
            one
            for one in found
            if one["site"].startswith(PAGES)
            or (
                one["site"].startswith(MARKS)
                and not meant.isdisjoint((one["key"], *site_names(host_of(one["key"]))))
            )
        ]
        await self._documents.delete(SITES, *gone)
