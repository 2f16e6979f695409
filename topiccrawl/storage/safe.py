"""Saving to a store that may be away: articles wait in memory, then on disk; the crawl slows."""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from topiccrawl.errors import StorageAwayError, StorageError
from topiccrawl.storage.contract import ArticleStore, Fate, Saved, StoreListener

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from topiccrawl.model import Article
    from topiccrawl.storage.spool import Spool

T = TypeVar("T")

logger = logging.getLogger(__name__)

PATIENCE = 5.0
"""Seconds that articles wait in memory for a store that is away before they go to disk."""

STARTING = 30.0
"""Seconds that a crawl waits for its store at its start; a failover takes about ten."""

FIRST_WAIT = 0.1
LONGEST_WAIT = 5.0
"""Seconds between two attempts: the first wait, doubled each time up to the longest."""

PAUSE = 0.5
"""Seconds that each group pauses on its way to disk, so that the crawl slows: 200 articles/s."""

PARTING = 20.0
"""Seconds that a crawl at its end still stores articles from disk; the next crawl continues."""

REPLAYED = 50
"""Number of articles stored together when the store is back."""


class SafeStore:
    """Saver of articles to a store that may be away; it also calls the store's listeners.

    Order is kept: while articles wait on disk, newer ones wait behind them. Articles that wait when
    the crawl ends are stored by the next crawl that uses the folder. Only ``StorageAwayError`` is
    retried; any other error is raised to the caller.

    Args:
        store: Store of the articles.
        spool: Spool of waiting articles on disk.
        listeners: Called around each save, in order.
        patience: See ``PATIENCE``.
        starting: See ``STARTING``.
        clock: Monotonic clock, seconds.

    Attributes:
        away: True if the store did not answer the last call.
    """

    def __init__(
        self,
        store: ArticleStore,
        spool: Spool,
        listeners: Sequence[StoreListener] = (),
        *,
        patience: float = PATIENCE,
        starting: float = STARTING,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.store = store
        self.spool = spool
        self.listeners = listeners
        self.away = False
        self._patience = patience
        self._starting = starting
        self._clock = clock
        self._turn = asyncio.Lock()
        self._replaying: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()
        self._last = math.inf  # until when a replay goes on

    async def open(self) -> None:
        """See ``ArticleStore.open``; articles that an earlier crawl left on disk are stored first.

        A closed store can be opened again.

        Raises:
            StorageAwayError: The store did not come back in time.
        """
        self._ending.clear()
        self._last = math.inf
        await self._patiently(self.store.open, self._starting)
        try:
            for listener in self.listeners:
                await listener.open()
            await asyncio.to_thread(self.spool.open)
            if self.spool.waiting:
                logger.info("%d articles wait in %s", self.spool.waiting, self.spool.folder)
            await self._drain_first()
        except BaseException:
            await self._close()
            raise
        self._replay_later()

    async def close(self) -> None:
        """See ``ArticleStore.close``."""
        self._last = self._clock() + PARTING
        self._ending.set()
        if self._replaying is not None:
            await self._replaying
        if self.spool.waiting:
            where = self.spool.folder
            logger.warning("%d articles wait in %s for the next crawl", self.spool.waiting, where)
        await asyncio.to_thread(self.spool.close)
        await self._close()

    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        """See ``ArticleStore.save``; SPOOLED if the articles are on disk until the store is back.

        Raises:
            StorageError: Neither the store nor the disk accepted them.
        """
        async with self._turn:
            if not self.spool.waiting:
                try:
                    return await self._patiently(lambda: self._save(articles), self._patience)
                except StorageAwayError as error:
                    logger.error("Articles go to %s: %s", self.spool.folder, error)  # noqa: TRY400
            await asyncio.to_thread(self.spool.append, articles)
            self._replay_later()
            await asyncio.sleep(PAUSE)
        return [Saved(article.url, Fate.SPOOLED, article.url) for article in articles]

    async def _close(self) -> None:
        for listener in self.listeners:
            await listener.close()
        await self.store.close()

    async def _save(self, articles: Sequence[Article]) -> list[Saved]:
        """Save articles and call the listeners, before and after."""
        for listener in self.listeners:
            await listener.article_storing(articles)
        saved = await self.store.save(articles)
        for listener in self.listeners:
            await listener.article_stored(articles, saved)
        return saved

    async def _patiently(self, work: Callable[[], Awaitable[T]], patience: float) -> T:
        """Return the result of the work, retried for up to ``patience`` seconds."""
        end = self._clock() + patience
        for wait in waits():
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
        raise AssertionError  # waits never end

    def _replay_later(self) -> None:
        if self.spool.waiting and self._replaying is None:
            self._replaying = asyncio.create_task(self._replay())

    async def _replay(self) -> None:
        """Store the articles on disk as soon as the store is back."""
        for wait in waits():
            try:
                await self._drain()
            except StorageError as error:
                if not isinstance(error, StorageAwayError):
                    logger.error("Articles stay in %s: %s", self.spool.folder, error)  # noqa: TRY400
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._ending.wait(), wait)
            else:
                self.away = False
                logger.info("%d articles wait in %s", self.spool.waiting, self.spool.folder)
                break
            if self._ending.is_set():
                break
        self._replaying = None

    async def _drain_first(self) -> None:
        """Store articles that an earlier crawl left; those not stored yet keep waiting."""
        try:
            await self._drain()
        except StorageError as error:
            logger.error("Articles stay in %s: %s", self.spool.folder, error)  # noqa: TRY400

    async def _drain(self) -> None:
        """Store all articles on disk, oldest first."""
        while self.spool.waiting and self._clock() < self._last:
            async with self._turn:
                waiting = await asyncio.to_thread(self.spool.first, REPLAYED)
                if waiting:
                    await self._store(waiting)
                    await asyncio.to_thread(self.spool.drop, waiting)

    async def _store(self, waiting: Sequence[Article]) -> None:
        """Store articles unless a newer copy is stored.

        Articles that the store refuses while it accepts others are put aside.

        Raises:
            StorageError: It accepts none of them: the cause is the store, not the articles.
        """
        new = [article for article in waiting if not await self._newer(article)]
        try:
            await self._save(new)
        except StorageAwayError:
            raise
        except StorageError:
            refused = [(one, error) for one in new if (error := await self._refusal(one))]
            if len(refused) == len(new):
                raise
            for article, error in refused:
                await asyncio.to_thread(self.spool.refuse, article, str(error))

    async def _refusal(self, article: Article) -> StorageError | None:
        """Save one article; return the store's error, or None if it is stored."""
        try:
            await self._save([article])
        except StorageAwayError:
            raise
        except StorageError as error:
            return error
        return None

    async def _newer(self, article: Article) -> bool:
        story = await self.store.get(article.url)
        return (
            story is not None
            and story.article.url == article.url
            and story.article.fetched_at > article.fetched_at
        )


def waits() -> Iterator[float]:
    """Yield seconds between attempts, endlessly: doubled each time and randomized."""
    chance = random.SystemRandom()
    wait = FIRST_WAIT
    while True:
        yield wait * chance.uniform(0.5, 1.0)
        wait = min(LONGEST_WAIT, 2 * wait)
