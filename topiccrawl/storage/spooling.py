"""Saving of articles: in groups, with retries, and to disk while the store is unavailable."""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from topiccrawl.errors import StorageAwayError, StorageError, StorageRefusedError
from topiccrawl.storage.contract import ArticleStore, Fate, Saved, StoreListener

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from topiccrawl.model import Article
    from topiccrawl.storage.spool import Spool

    Save = Callable[[Sequence[Article]], Awaitable[list[Saved]]]

T = TypeVar("T")

logger = logging.getLogger(__name__)

SIZE = 100
"""Maximum number of articles of a transaction."""

AGE = 0.05
"""Maximum number of seconds an article waits for others to share its transaction."""

RETRY_SECONDS = 5.0
"""Seconds for which a save is retried before its articles are spooled to disk."""

OPEN_SECONDS = 30.0
"""Seconds for which opening is retried; a failover takes about ten."""

MIN_DELAY = 0.1
MAX_DELAY = 5.0
"""Delays between attempts in seconds: first and maximum; doubled after each attempt."""

PAUSE = 0.5
"""Seconds of delay per spooled group, which limits the crawl to 200 articles/s."""

CLOSE_SECONDS = 20.0
"""Seconds for which spooled articles are still stored on close; the next crawl continues."""

REPLAY_BATCH = 50
"""Number of spooled articles per transaction."""


class GroupCommit:
    """Group commit of the articles of concurrent callers.

    A group is saved when it is full or when its first article has waited ``age`` seconds. A timer
    ends the wait, so that a crawl that closes with a few items in flight never hangs. If the store
    refuses an article, each article of the group is saved alone.

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
        self._tasks: set[asyncio.Task[Sequence[Saved | StorageError]]] = set()
        self._saving = asyncio.Lock()

    async def save(self, article: Article) -> Saved:
        """Save an article with its group; return its result after the commit.

        Raises:
            StorageError: The article was not stored.
        """
        group = self._current or self._start_group()
        place = len(group.articles)
        group.articles.append(article)
        if len(group.articles) >= self._size:
            self._current = None
            group.full.set()
        try:
            # cancelling one caller must not fail others
            saved = (await asyncio.shield(group.task))[place]
            if isinstance(saved, StorageError):
                raise saved
        except StorageError as error:
            # a new exception per caller: tracebacks would accumulate on a shared one
            raise StorageError(str(error)) from error
        return saved

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

    async def _commit(self, group: _Group) -> Sequence[Saved | StorageError]:
        with suppress(TimeoutError):
            await asyncio.wait_for(group.full.wait(), self._age)
        if self._current is group:
            self._current = None
        async with self._saving:  # else a later group may overtake articles that are saved alone
            try:
                return await self._save(group.articles)
            except StorageRefusedError:
                if len(group.articles) == 1:
                    raise
            return [await self._save_alone(article) for article in group.articles]

    async def _save_alone(self, article: Article) -> Saved | StorageError:
        try:
            (saved,) = await self._save([article])
        except StorageError as error:
            return error
        return saved


@dataclass(slots=True)
class _Group:
    """Articles that share a transaction."""

    articles: list[Article] = field(default_factory=list)
    full: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[Sequence[Saved | StorageError]] = field(init=False)


class SpoolingStore:
    """Wrapper of a store that may become unavailable; it also calls the store's listeners.

    Articles are stored in order: while the spool is not empty, newer articles are appended to it.
    Articles left in the spool at the end are stored by the next crawl of the folder. Only
    ``StorageAwayError`` is retried; any other error is raised to the caller.

    Args:
        store: Store of the articles.
        spool: Spool on disk.
        listeners: Called before and after each save, in order.
        retry_seconds: See ``RETRY_SECONDS``.
        clock: Monotonic clock, seconds.

    Attributes:
        away: True if the store was unavailable at the last call.
    """

    def __init__(
        self,
        store: ArticleStore,
        spool: Spool,
        listeners: Sequence[StoreListener] = (),
        *,
        retry_seconds: float = RETRY_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.store = store
        self.spool = spool
        self.listeners = listeners
        self.away = False
        self._retry_seconds = retry_seconds
        self._clock = clock
        self._lock = asyncio.Lock()
        self._replay_task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self._replay_until = math.inf  # time at which a replay stops

    async def open(self) -> None:
        """See ``ArticleStore.open``; spooled articles of earlier crawls are stored first.

        A closed store can be opened again.

        Raises:
            StorageAwayError: The store did not become available in time.
        """
        self._closing.clear()
        self._replay_until = math.inf
        await self._retry(self.store.open, OPEN_SECONDS)
        try:
            for listener in self.listeners:
                await listener.open()
            await asyncio.to_thread(self.spool.open)
            if self.spool.waiting:
                logger.info("%d articles are spooled in %s", self.spool.waiting, self.spool.folder)
            try:
                await self._drain()
            except StorageError as error:  # the rest stays in the spool
                logger.error("Articles remain in %s: %s", self.spool.folder, error)  # noqa: TRY400
        except BaseException:
            await self._close()
            raise
        self._start_replay()

    async def close(self) -> None:
        """See ``ArticleStore.close``."""
        self._replay_until = self._clock() + CLOSE_SECONDS
        self._closing.set()
        if self._replay_task is not None:
            await self._replay_task
        if self.spool.waiting:
            where = self.spool.folder
            logger.warning("%d articles remain in %s for the next crawl", self.spool.waiting, where)
        await asyncio.to_thread(self.spool.close)
        await self._close()

    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        """See ``ArticleStore.save``; the fates are SPOOLED if the store is unavailable.

        Raises:
            StorageError: Neither the store nor the spool accepted the articles.
        """
        async with self._lock:
            if not self.spool.waiting:
                try:
                    return await self._retry(lambda: self._save(articles), self._retry_seconds)
                except StorageAwayError as error:
                    logger.error("Articles are spooled to %s: %s", self.spool.folder, error)  # noqa: TRY400
            await asyncio.to_thread(self.spool.append, articles)
            self._start_replay()
            await asyncio.sleep(PAUSE)
        return [Saved(article.url, Fate.SPOOLED, article.url) for article in articles]

    async def _close(self) -> None:
        for listener in self.listeners:
            await listener.close()
        await self.store.close()

    async def _save(self, articles: Sequence[Article]) -> list[Saved]:
        """Save articles, calling the listeners before and after."""
        for listener in self.listeners:
            await listener.article_storing(articles)
        saved = await self.store.save(articles)
        for listener in self.listeners:
            await listener.article_stored(articles, saved)
        return saved

    async def _retry(self, work: Callable[[], Awaitable[T]], retry_seconds: float) -> T:
        """Return the result of ``work``, retried for up to ``retry_seconds``."""
        end = self._clock() + retry_seconds
        for wait in backoff_delays():
            try:
                done = await work()
            except StorageAwayError:
                self.away = True
                if self._clock() + wait > end:
                    raise
            else:
                self.away = False
                return done
            await asyncio.sleep(wait)
        raise AssertionError  # the delays never end

    def _start_replay(self) -> None:
        if self.spool.waiting and self._replay_task is None:
            self._replay_task = asyncio.create_task(self._replay())

    async def _replay(self) -> None:
        """Store spooled articles as soon as the store is available."""
        for wait in backoff_delays():
            try:
                await self._drain()
            except StorageError as error:
                if not isinstance(error, StorageAwayError):
                    logger.error("Articles remain in %s: %s", self.spool.folder, error)  # noqa: TRY400
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._closing.wait(), wait)
            else:
                self.away = False
                logger.info("%d articles are spooled in %s", self.spool.waiting, self.spool.folder)
                break
            if self._closing.is_set():
                break
        self._replay_task = None

    async def _drain(self) -> None:
        """Store all spooled articles, oldest first."""
        while self.spool.waiting and self._clock() < self._replay_until:
            async with self._lock:
                spooled = await asyncio.to_thread(self.spool.peek, REPLAY_BATCH)
                if spooled:
                    await self._store(spooled)
                    await asyncio.to_thread(self.spool.drop)

    async def _store(self, spooled: Sequence[Article]) -> None:
        """Store spooled articles of which no newer copy is stored.

        If the store rejects some but not all articles, the rejected ones are moved to a file.

        Raises:
            StorageError: The store rejected all articles, or a rejected one cannot be moved.
        """
        new = [article for article in spooled if not await self._is_superseded(article)]
        try:
            await self._save(new)
        except StorageAwayError:
            raise
        except StorageError:
            refused: list[tuple[Article, StorageError]] = []
            for article in new:
                try:
                    await self._save([article])
                except StorageAwayError:
                    raise
                except StorageError as error:
                    refused.append((article, error))
            if len(refused) == len(new):
                raise
            for article, reason in refused:
                await asyncio.to_thread(self.spool.refuse, article, str(reason))

    async def _is_superseded(self, article: Article) -> bool:
        story = await self.store.get(article.url)
        return (
            story is not None
            and story.article.url == article.url
            and story.article.fetched_at > article.fetched_at
        )


def backoff_delays() -> Iterator[float]:
    """Yield delays between attempts in seconds, endlessly: exponential back-off with jitter."""
    rng = random.SystemRandom()
    wait = MIN_DELAY
    while True:
        yield wait * rng.uniform(0.5, 1.0)
        wait = min(MAX_DELAY, 2 * wait)
