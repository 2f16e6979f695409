"""Group commit: many callers share one transaction, each gets its own result."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from topiccrawl.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from topiccrawl.model import Article
    from topiccrawl.storage.contract import Saved

    Save = Callable[[Sequence[Article]], Awaitable[list[Saved]]]

SIZE = 100
"""Maximum number of articles of a transaction."""

AGE = 0.05
"""Maximum number of seconds an article waits for others to share its transaction."""


class GroupCommit:
    """Group commit of the articles of concurrent callers.

    A group is saved when it is full or its first article has waited ``age`` seconds, whichever
    comes first. A timer, not the next article, ends the wait, so that a crawl that closes with
    a few items in flight never hangs.

    Args:
        save: ``Store.save``.
        size: Maximum number of articles of a group.
        age: Maximum number of seconds a group waits.
    """

    def __init__(self, save: Save, *, size: int = SIZE, age: float = AGE) -> None:
        self._save = save
        self._size = size
        self._age = age
        self._open: _Group | None = None
        self._running: set[asyncio.Task[list[Saved]]] = set()

    async def save(self, article: Article) -> Saved:
        """Save an article with its group; return its fate after the commit.

        Raises:
            StorageError: Nothing of the group was stored.
        """
        group = self._open or self._begin()
        place = len(group.articles)
        group.articles.append(article)
        if len(group.articles) >= self._size:
            self._end(group)
        try:
            saved = await asyncio.shield(group.task)  # cancelling one caller must fail no other
        except StorageError as error:
            # callers share the task's error: each gets its own, or tracebacks pile up on one
            raise StorageError(str(error)) from error
        return saved[place]

    async def close(self) -> None:
        """Save waiting articles now; their callers get the errors. Idempotent."""
        if self._open is not None:
            self._end(self._open)
        await asyncio.gather(*self._running, return_exceptions=True)

    def _begin(self) -> _Group:
        group = self._open = _Group()
        group.task = asyncio.create_task(self._commit(group))
        self._running.add(group.task)
        group.task.add_done_callback(self._running.discard)
        return group

    def _end(self, group: _Group) -> None:
        group.full.set()
        if self._open is group:
            self._open = None

    async def _commit(self, group: _Group) -> list[Saved]:
        try:
            async with asyncio.timeout(self._age):
                await group.full.wait()
        except TimeoutError:
            self._end(group)
        return await self._save(group.articles)


class _Group:
    """Articles that share a transaction."""

    __slots__ = ("articles", "full", "task")

    task: asyncio.Task[list[Saved]]

    def __init__(self) -> None:
        self.articles: list[Article] = []
        self.full = asyncio.Event()
