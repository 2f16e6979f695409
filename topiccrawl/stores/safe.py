"""A store that may be away: its articles wait in memory, then on disk, and the crawl slows down."""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from topiccrawl.errors import StorageAwayError, StorageError
from topiccrawl.stores.contract import Fate, Saved
from topiccrawl.stores.selection import ALL

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence

    from topiccrawl.news.article import Article
    from topiccrawl.stores.contract import Store, Story, Version
    from topiccrawl.stores.selection import Selection
    from topiccrawl.stores.spool import Spool
    from topiccrawl.webhook.courier import Courier

T = TypeVar("T")

logger = logging.getLogger(__name__)

PATIENCE = 5.0
"""Seconds that articles wait in memory for a store that is away before they go to disk."""

STARTING = 30.0
"""Seconds that a crawl waits for its store at the start; a failover takes about ten."""

FIRST_WAIT = 0.1
LONGEST_WAIT = 5.0
"""Seconds between two attempts: doubled from the one to the other."""

PAUSE = 0.5
"""Seconds that each group pauses on its way to disk, so that the crawl slows: 200 articles/s."""

PARTING = 20.0
"""Seconds that a crawl goes on at its end storing what waits on disk; the next one goes on then."""

REPLAYED = 50
"""Articles that are stored together when the store is back."""


class SafeStore:
    """A ``Store`` whose ``save`` survives the absence of the one behind it.

    Order is kept: while articles wait on disk, newer ones wait behind them. What waits when the
    crawl ends is stored by the next one that uses the folder. ``StorageAwayError`` alone is waited
    for; any other failure goes to the caller as it is.

    Args:
        store: The one behind it.
        spool: Where articles wait on disk.
        patience: See ``PATIENCE``.
        starting: See ``STARTING``.
        clock: Seconds that never go back.
        courier: Tells of new stories, where somebody wants that.

    Attributes:
        away: Whether the store did not answer when it was asked last.
        courier: See above.
    """

    def __init__(
        self,
        store: Store,
        spool: Spool,
        *,
        patience: float = PATIENCE,
        starting: float = STARTING,
        clock: Callable[[], float] = time.monotonic,
        courier: Courier | None = None,
    ) -> None:
        self.store = store
        self.courier = courier
        self._save = courier.save if courier else store.save
        self.spool = spool
        self.away = False
        self._patience = patience
        self._starting = starting
        self._clock = clock
        self._turn = asyncio.Lock()
        self._replaying: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()
        self._last = math.inf  # until when a replay goes on

    async def open(self) -> None:
        """See ``Store.open``; what an earlier crawl left on disk is stored first.

        A closed one can be opened again.

        Raises:
            StorageAwayError: The store did not come back in time.
        """
        self._ending.clear()
        self._last = math.inf
        await self._patiently(self.store.open, self._starting)
        try:
            if self.courier is not None:
                await self.courier.open()
            await asyncio.to_thread(self.spool.open)
            if self.spool.waiting:
                logger.info("%d articles wait in %s", self.spool.waiting, self.spool.folder)
            await self._drain_first()
        except BaseException:
            await self._close()
            raise
        self._replay_later()

    async def close(self) -> None:
        """See ``Store.close``."""
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
        """See ``Store.save``; SPOOLED where they lie on disk until the store is back.

        Raises:
            StorageError: Neither the store nor the disk took them.
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

    async def get(self, url: str) -> Story | None:
        """See ``Store.get``."""
        return await self.store.get(url)

    async def versions(self, url: str) -> list[Version]:
        """See ``Store.versions``."""
        return await self.store.versions(url)

    async def articles(self, topic: str = "", *, limit: int = 0, offset: int = 0) -> list[Article]:
        """See ``Store.articles``."""
        return await self.store.articles(topic, limit=limit, offset=offset)

    def select(self, selection: Selection = ALL) -> AsyncGenerator[Article, None]:
        """See ``Store.select``."""
        return self.store.select(selection)

    async def forget(self, names: Sequence[str], now: float) -> int:
        """See ``Store.forget``."""
        return await self.store.forget(names, now)

    async def expire(self, topic: str, before: float) -> int:
        """See ``Store.expire``."""
        return await self.store.expire(topic, before)

    async def counts(self) -> dict[str, int]:
        """See ``Store.counts``."""
        return await self.store.counts()

    async def _close(self) -> None:
        if self.courier is not None:
            await self.courier.close()
        await self.store.close()

    async def _patiently(self, work: Callable[[], Awaitable[T]], patience: float) -> T:
        """What the work returns, tried again until ``patience`` seconds have passed."""
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
        """Store what waits on disk as soon as the store is back."""
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
        """Store what an earlier crawl left; what cannot be stored yet waits on."""
        try:
            await self._drain()
        except StorageError as error:
            logger.error("Articles stay in %s: %s", self.spool.folder, error)  # noqa: TRY400

    async def _drain(self) -> None:
        """Store all that waits on disk, oldest first."""
        while self.spool.waiting and self._clock() < self._last:
            async with self._turn:
                waiting = await asyncio.to_thread(self.spool.first, REPLAYED)
                if waiting:
                    await self._store(waiting)
                    await asyncio.to_thread(self.spool.drop, waiting)

    async def _store(self, waiting: Sequence[Article]) -> None:
        """Store articles unless a newer copy is stored.

        What the store refuses while it takes others is put aside.

        Raises:
            StorageError: It takes none of them: that is its trouble, not theirs.
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
        """Why the store does not take an article; None where it is stored."""
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
    """Seconds between attempts, without end: doubled each time, and never in step with others."""
    chance = random.SystemRandom()
    wait = FIRST_WAIT
    while True:
        yield wait * chance.uniform(0.5, 1.0)
        wait = min(LONGEST_WAIT, 2 * wait)
