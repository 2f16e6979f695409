"""Write buffer of page states: written in groups, kept in memory while the store is away."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from topiccrawl.errors import StorageAwayError, StorageError
from topiccrawl.storage.spooling import RETRY_SECONDS, backoff_delays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.storage.pages import Pages, PageState

logger = logging.getLogger(__name__)

AGE = 0.05
"""Seconds a state waits for others, so that they share a transaction."""

MOST = 100_000
"""States that wait in memory for a store that is away; beyond them the oldest are lost."""


class PageBuffer:
    """Writes states in groups; reads return waiting states first.

    A state is soon written, or waits in memory: a page whose state a killed process had not
    written is visited again as if for the first time.

    Args:
        pages: Store of the states.
        age: See ``AGE``.
        patience: Seconds that ``save`` waits for a store that is away.
    """

    def __init__(self, pages: Pages, *, age: float = AGE, patience: float = RETRY_SECONDS) -> None:
        self.pages = pages
        self._age = age
        self._patience = patience
        self._waiting: dict[tuple[str, str], PageState] = {}
        self._writing: dict[tuple[str, str], PageState] = {}
        self._written: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._parting = asyncio.Event()

    async def save(self, state: PageState) -> None:
        """Keep a state; returns when it is written, or after ``patience`` seconds.

        Raises:
            StorageError: The store refused it for good.
        """
        self._waiting[(state.owner, state.url)] = state
        while len(self._waiting) > MOST:
            del self._waiting[next(iter(self._waiting))]
        if self._written is None:
            self._written = asyncio.get_running_loop().create_future()
        written = self._written
        if self._task is None:
            self._task = asyncio.create_task(self._write())
        try:
            await asyncio.wait_for(asyncio.shield(written), self._patience)
        except TimeoutError:
            logger.warning("%d page states wait for their store", len(self._waiting))

    async def get(self, owner: str, urls: Sequence[str]) -> dict[str, PageState]:
        """See ``Pages.get``."""
        found: dict[str, PageState] = {}
        asked = []
        for url in urls:
            state = self._waiting.get((owner, url)) or self._writing.get((owner, url))
            if state is None:
                asked.append(url)
            else:
                found[url] = state
        return found | await self.pages.get(owner, asked) if asked else found

    async def find(self, owner: str, urls: Sequence[str]) -> dict[str, PageState]:
        """Return the result of ``get``; wait for a store that is away until ``part`` is called."""
        again = backoff_delays()
        while True:
            try:
                return await self.get(owner, urls)
            except StorageAwayError:
                if self._parting.is_set():
                    raise
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._parting.wait(), next(again))

    def part(self) -> None:
        """Stop waiting for a store that is away."""
        self._parting.set()

    async def close(self) -> None:
        """Write the waiting states once; they are lost if the store is away."""
        if self._task is not None:
            self._age = 0.0
            _, late = await asyncio.wait([self._task], timeout=self._patience)
            for task in late:
                logger.error("%d page states are lost: their store is away", len(self._waiting))
                task.cancel()
        await self.pages.close()

    async def _write(self) -> None:
        """Write groups until nothing waits."""
        again = backoff_delays()
        while self._waiting:
            await asyncio.sleep(self._age)
            self._writing, self._waiting = self._waiting, {}
            written, self._written = self._written, None
            try:
                await self.pages.save(list(self._writing.values()))
            except StorageAwayError:
                self._waiting = self._writing | self._waiting
                self._written = written
                await asyncio.sleep(next(again))
            except StorageError as error:
                logger.error("Page states are lost: %s", error)  # noqa: TRY400
                _settle(written, error)
            else:
                again = backoff_delays()
                _settle(written)
            self._writing = {}
        self._task = None


def _settle(written: asyncio.Future[None] | None, error: StorageError | None = None) -> None:
    if written is None or written.done():
        return
    if error is None:
        written.set_result(None)
    else:
        written.set_exception(error)
        written.exception()  # no caller may be left to read it
