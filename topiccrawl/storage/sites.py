"""Learnt knowledge of sites: values by key, stored with the articles."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from topiccrawl.links.urls import host_of
from topiccrawl.storage.part import SqlitePart

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

MARKS = "marks of "
"""Before a topic's name: its marks, by URL (``storage.marks``)."""
PAGES = "pages of "
"""Before a topic's name: the sample of its judged pages."""


class SiteKnowledge(SqlitePart):
    """JSON values by site and key (``patterns``, ``frame`` ...); each package owns its keys."""

    async def get(self, site: str) -> dict[str, Any]:
        """Return all values of a site, by key; empty if there are none."""
        query = "SELECT key, value FROM sites WHERE site = ?"
        found = await self._database.read(lambda c: c.execute(query, (site,)).fetchall())
        return {key: json.loads(value) for key, value in found}

    async def sites(self, key: str) -> list[str]:
        """Return the sites that have a value under a key, by name."""
        query = "SELECT site FROM sites WHERE key = ? ORDER BY site"
        found = await self._database.read(lambda c: c.execute(query, (key,)).fetchall())
        return [site for (site,) in found]

    async def put(self, site: str, values: Mapping[str, Any]) -> None:
        """Replace the values of these keys in one transaction; others stay.

        Raises:
            TypeError: A value cannot be written as JSON.
            StorageError: Nothing was stored.
        """
        now = self._now()
        new = [(site, key, json.dumps(value), now) for key, value in values.items()]
        query = "INSERT OR REPLACE INTO sites VALUES (?, ?, ?, ?)"
        await self._database.write(lambda c: c.executemany(query, new))


def covers(name: str, url: str) -> bool:
    """Return whether a name to forget, a URL or ``site:HOST``, is that of a URL.

    >>> covers("site:a.test", "http://b.a.test/1"), covers("site:a.test", "http://ba.test/1")
    (True, False)
    """
    host = name.removeprefix("site:")
    return name == url or (name.startswith("site:") and f".{host_of(url)}".endswith(f".{host}"))


def forget(connection: sqlite3.Connection, name: str) -> None:
    """Delete the marks of a name, and all samples, which may hold its text, in a transaction."""
    found = connection.execute("SELECT site, key FROM sites WHERE site LIKE ?", (f"{MARKS}%",))
    gone = [(site, url) for site, url in found.fetchall() if covers(name, url)]
    connection.executemany("DELETE FROM sites WHERE site = ? AND key = ?", gone)
    connection.execute("DELETE FROM sites WHERE site LIKE ?", (f"{PAGES}%",))
