"""Group commit: concurrent callers share one transaction, and each gets its own result."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
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

    A group is saved when it is full or when its first article has waited ``age`` seconds. A timer
    ends the wait, so that a crawl that closes with a few items in flight never hangs.

    Args:
        save: ``ArticleStore.save``.
        size: Maximum number of articles of a group.
        age: Maximum number of seconds a group waits.
    """

    def __init__(self, save: Save, *, size: int = SIZE, age: float = AGE) -> None:
        self._save = save
        self._size = size
        self._age = age
        self._current: _Group | None = None
        self._tasks: set[asyncio.Task[list[Saved]]] = set()

    async def save(self, article: Article) -> Saved:
        """Save an article with its group; return its result after the commit.

        Raises:
            StorageError: No article of the group was stored.
        """
        group = self._current or self._start_group()
        place = len(group.articles)
        group.articles.append(article)
        if len(group.articles) >= self._size:
            self._current = None
            group.full.set()
        try:
            saved = await asyncio.shield(group.task)  # cancelling one caller must not fail others
        except StorageError as error:
            # a new exception per caller: tracebacks would accumulate on a shared one
            raise StorageError(str(error)) from error
        return saved[place]

    async def close(self) -> None:
        """Save waiting articles now; errors are raised to their callers. Idempotent."""
        if self._current is not None:
            self._current.full.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start_group(self) -> _Group:
        group = self._current = _Group()
        group.task = asyncio.create_task(self._commit(group))
        self._tasks.add(group.task)
        group.task.add_done_callback(self._tasks.discard)
        return group

    async def _commit(self, group: _Group) -> list[Saved]:
        with suppress(TimeoutError):
            await asyncio.wait_for(group.full.wait(), self._age)
        if self._current is group:
            self._current = None
        return await self._save(group.articles)


@dataclass(slots=True)
class _Group:
    """Articles that share a transaction."""

    articles: list[Article] = field(default_factory=list)
    full: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[list[Saved]] = field(init=False)
