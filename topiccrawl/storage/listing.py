"""Paged lists of stored articles without their texts, fast for ten thousand articles."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from topiccrawl.storage.contract import Listed, Listing, StoryChain
from topiccrawl.storage.database import Database
from topiccrawl.storage.rows import reprints

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path


__all__ = ["Listed", "Listing", "SqliteListing", "StoryChain"]

_LISTED = """
    SELECT a.id, a.url, a.title, a.site, a.published, a.fetched_at, t.score, t.terms,
           (SELECT count(*) FROM reprints r WHERE r.article_id = a.id)
    FROM article_topics t JOIN articles a ON a.id = t.article_id
    WHERE t.topic = ?
"""
_CHAINED = """
    AND a.id IN (SELECT r.article_id FROM reprints r JOIN article_topics u
                 ON u.article_id = r.article_id AND u.topic = ?
                 GROUP BY r.article_id ORDER BY count(*) DESC, r.article_id DESC LIMIT ?)
"""


class SqliteListing:
    """``Listing`` of the embedded store.

    Args:
        path: File of the store; a missing file is not created.
    """

    def __init__(self, path: Path) -> None:
        self._database = Database(path)

    async def page(self, topic: str, limit: int, offset: int) -> tuple[int, list[Listed]]:
        """See ``Listing.page``."""
        return await self._database.read_existing(
            lambda c: _page(c, topic, limit, offset), missing=(0, [])
        )

    async def chains(self, topic: str, most: int) -> list[StoryChain]:
        """See ``Listing.chains``."""
        return await self._database.read_existing(lambda c: _chains(c, topic, most), missing=[])

    async def close(self) -> None:
        """See ``Listing.close``."""
        await asyncio.to_thread(self._database.close)


def _page(
    connection: sqlite3.Connection, topic: str, limit: int, offset: int
) -> tuple[int, list[Listed]]:
    query = "SELECT count(*) FROM article_topics WHERE topic = ?"
    (total,) = connection.execute(query, (topic,)).fetchone()
    query = f"{_LISTED} ORDER BY t.article_id DESC LIMIT ? OFFSET ?"
    rows = connection.execute(query, (topic, limit, offset)).fetchall()
    return total, [_listed(row) for row in rows]


def _chains(connection: sqlite3.Connection, topic: str, most: int) -> list[StoryChain]:
    rows = connection.execute(_LISTED + _CHAINED, (topic, topic, most)).fetchall()
    found = [StoryChain(_listed(row), reprints(connection, row[0])) for row in rows]
    return sorted(found, key=lambda chain: -len(chain.reprints))


def _listed(row: tuple[Any, ...]) -> Listed:
    _, *plain, terms, reprinted = row
    found = tuple((term, share) for term, share in json.loads(terms))
    return Listed._make((*plain, found, reprinted))
