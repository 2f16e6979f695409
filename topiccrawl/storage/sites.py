"""Learned knowledge of sites: JSON values by site and key."""

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
"""Prefix of the name under which marks of a topic are stored (``storage.marks``)."""
CHANGED = "marks changed"
"""Name under which the times of the last marks are stored, by topic."""
PAGES = "pages of "
"""Prefix of the name under which the page sample of a topic is stored."""


class Sites(DocumentStore):
    """JSON values by site and key (``patterns``, ``frame`` ...); each package owns its keys.

    Args:
        storage: Storage of the values.
        now: Clock, seconds since the epoch.
    """

    def __init__(self, storage: Storage, *, now: Callable[[], float] = time.time) -> None:
        super().__init__(storage.documents(SITES))
        self._now = now

    async def get(self, site: str) -> dict[str, Any]:
        """Return all values of a site, by key."""
        found = await self._documents.find(SITES, {"site": site})
        return {one["key"]: one["value"] for one in found}

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
        now = self._now()
        new = [
            {"site": site, "key": key, "value": value, "changed_at": now}
            for key, value in values.items()
        ]
        await self._documents.put({SITES: new})

    async def forget(self, names: Sequence[str]) -> None:
        """Delete marks of URLs or ``site:HOST``, and all samples, which may have their text."""
        targets = set(names)
        found = await self._documents.find(SITES, {}, fields=("site", "key"))
        gone = [
            one
            for one in found
            if one["site"].startswith(PAGES)
            or (
                one["site"].startswith(MARKS)
                and not targets.isdisjoint((one["key"], *site_names(host_of(one["key"]))))
            )
        ]
        await self._documents.delete(SITES, *gone)
