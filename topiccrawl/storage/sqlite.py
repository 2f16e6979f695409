"""Embedded storage in one SQLite file, without a server."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from topiccrawl.dedup.contract import linked
from topiccrawl.dedup.index import CAPACITY
from topiccrawl.dedup.verified import VerifiedShingles
from topiccrawl.storage import rows
from topiccrawl.storage.contract import Fate, Saved
from topiccrawl.storage.database import FILE, Database
from topiccrawl.storage.listing import SqliteListing
from topiccrawl.storage.merge import fate_of, replaces, reprint_by, version_of
from topiccrawl.storage.selection import ALL, Selection
from topiccrawl.storage.sqlite_documents import SqliteDocuments
from topiccrawl.storage.stories import StoryIndex

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from topiccrawl.dedup import DuplicateDetector, Match
    from topiccrawl.model import Article
    from topiccrawl.storage.contract import ArticleStore, Story, Version
    from topiccrawl.storage.documents import DocumentKind


PAGE = 200
"""Number of articles per read."""


class SqliteStorage:
    """``Storage`` in one SQLite file.

    Args:
        folder: TOPICCRAWL_DATA_DIR.
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / FILE

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self | None:
        """See ``Storage.from_settings``; never None."""
        return cls(settings["TOPICCRAWL_DATA_DIR"])

    @property
    def place(self) -> str:
        """See ``Storage.place``."""
        return str(self.path)

    def exists(self) -> bool:
        """See ``Storage.exists``."""
        return self.path.exists()

    def articles(
        self, method: DuplicateDetector | None = None, capacity: int = CAPACITY
    ) -> ArticleStore:
        """See ``Storage.articles``."""
        return SqliteStore(self.path, method=method, capacity=capacity)

    def listing(self) -> SqliteListing:
        """See ``Storage.listing``."""
        return SqliteListing(self.path)

    def documents(self, *kinds: DocumentKind) -> SqliteDocuments:
        """See ``Storage.documents``."""
        return SqliteDocuments(self.path, kinds)


class SqliteStore:
    """``ArticleStore`` in one SQLite file, shared by any number of processes of one machine.

    Args:
        path: Path of the file, or its folder (TOPICCRAWL_DATA_DIR).
        method: Method of duplicate detection; ``VerifiedShingles`` if None.
        capacity: Number of newest articles that a new one is compared with; 200 bytes of RAM each.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        method: DuplicateDetector | None = None,
        capacity: int = CAPACITY,
    ) -> None:
        path = Path(path)
        self.path = path if path.suffix == ".sqlite" else path / FILE
        self._database = Database(self.path)
        self._stories = StoryIndex(method or VerifiedShingles(), capacity)

    async def open(self) -> None:
        """See ``ArticleStore.open``."""
        await asyncio.to_thread(self._database.open)
        await self._database.write(self._stories.open)

    async def close(self) -> None:
        """See ``ArticleStore.close``."""
        await asyncio.to_thread(self._database.close)

    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        """See ``ArticleStore.save``."""
        return await self._database.write(lambda connection: self._save_all(connection, articles))

    async def get(self, url: str) -> Story | None:
        """See ``ArticleStore.get``."""
        return await self._database.read(lambda c: rows.story(c, url))

    async def versions(self, url: str) -> list[Version]:
        """See ``ArticleStore.versions``."""
        return await self._database.read(lambda c: rows.versions(c, url))

    async def articles(self, topic: str = "", *, limit: int = 0, offset: int = 0) -> list[Article]:
        """See ``ArticleStore.articles``."""
        return await self._database.read(lambda c: rows.latest(c, topic, limit, offset))

    async def select(self, selection: Selection = ALL) -> AsyncGenerator[Article, None]:
        """See ``ArticleStore.select``."""
        new = len(selection.words)
        while new:
            new = await self._database.write(rows.index_words)
        below = rows.LAST
        while below:
            work = partial(rows.select, selection=selection, below=below, size=PAGE)
            found, below = await self._database.read(work)
            for article in found:
                yield article

    async def forget(self, names: Sequence[str], now: float) -> int:
        """See ``ArticleStore.forget``."""
        return await self._database.write(lambda c: rows.forget(c, names, now))

    async def expire(self, topic: str, before: float) -> int:
        """See ``ArticleStore.expire``."""
        return await self._database.write(lambda c: rows.expire(c, topic, before))

    async def counts(self) -> dict[str, int]:
        """See ``ArticleStore.counts``."""
        return await self._database.read(rows.counts)

    def _save_all(self, connection: sqlite3.Connection, articles: Sequence[Article]) -> list[Saved]:
        self._stories.refresh(connection)
        return [
            Saved(article.url, Fate.FORGOTTEN, article.url)
            if rows.is_forgotten(connection, article)
            else self._save(connection, article)
            for article in articles
        ]

    def _save(self, connection: sqlite3.Connection, article: Article) -> Saved:
        keys, found = self._stories.look_up(connection, article)
        article, match = linked(article, found)
        if match is not None:
            return _save_reprint(connection, article, match)
        rows.drop_reprint(connection, article.url)
        article_id, known = rows.find(connection, article.url) or (0, None)
        if known is None:
            article_id, fate = rows.insert(connection, article), Fate.NEW
            self._stories.learn(connection, article)
        else:
            fate = fate_of(known, article)
            if replaces(known, article):
                version = version_of(known, article.fetched_at)
                rows.keep_version(connection, article_id, version)
            rows.update(connection, article_id, article)
        if fate is Fate.UPDATED:
            rows.mark_unindexed(connection, article_id)
        rows.add_topics(connection, article_id, article, replace=True)
        if known is None or known.digest != article.digest:
            self._stories.index(connection, article_id, keys)
        return Saved(article.url, fate, article.url, follows=article.follows)


def _save_reprint(connection: sqlite3.Connection, article: Article, match: Match) -> Saved:
    found = rows.find(connection, match.url)
    if found is None:
        raise LookupError(f"{match.url} was judged a duplicate's representative but is not stored")
    rows.set_reprint(connection, found[0], reprint_by(article, match))
    rows.add_topics(connection, found[0], article)
    return Saved(article.url, Fate.REPRINT, match.url, match.similarity, match.reason)
