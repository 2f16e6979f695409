"""Write buffer of page states: grouped writes, and buffering while the store is unavailable."""

from __future__ import annotations

import asyncio
import logging
from collections import ChainMap
from contextlib import suppress
from typing import TYPE_CHECKING

from topiccrawl.errors import StorageAwayError, StorageError
from topiccrawl.storage.spooling import CLOSE_SECONDS, RETRY_SECONDS, backoff_delays

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from topiccrawl.storage.pages import Pages, PageState

logger = logging.getLogger(__name__)

FAILURES = 3
"""Consecutive failed writes after which the crawl ends: a full disk stays full, and without states
the same pages would be requested again and again."""

MAX_WAITING = 100_000
"""Maximum number of states in memory while the store is unavailable; beyond it, the oldest are
dropped."""


class PageBuffer:
    """Writes states in groups; reads return unwritten states first.

    While a group is written, or the store is away, further states wait for the next group. If the
    process is killed before a state is written, the page is visited again as if for the first time.

    Args:
        pages: Store of the states.
        patience: Seconds for which ``save`` waits for a store that is unavailable.
        end: Called after ``FAILURES`` writes have failed, to end the crawl.
    """

    def __init__(
        self,
        pages: Pages,
        *,
        patience: float = RETRY_SECONDS,
        end: Callable[[], None] = lambda: None,
    ) -> None:
        self.pages = pages
        self._patience = patience
        self._end = end
        self._failures = 0
        self._waiting: dict[tuple[str, str], PageState] = {}
        self._writing: dict[tuple[str, str], PageState] = {}
        self._lock = asyncio.Lock()
        self._next: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._reported = False

    async def save(self, state: PageState) -> None:
        """Write a state; return when it is written, or after ``patience`` seconds.

        Raises:
            StorageError: If the store refused the state permanently.
        """
        self._waiting[(state.owner, state.url)] = state
        while len(self._waiting) > MAX_WAITING:
            del self._waiting[next(iter(self._waiting))]
        if self._next is None:
            self._next = asyncio.create_task(self._write())
            self._tasks.add(self._next)
            self._next.add_done_callback(self._ended)
        try:
            await asyncio.wait_for(asyncio.shield(self._next), self._patience)
        except TimeoutError:
            if not self._reported:  # once per outage, not for each page
                self._reported = True
                logger.warning("Page states wait until the store is available")

    async def get(self, owner: str, urls: Sequence[str]) -> dict[str, PageState]:
        """See ``Pages.get``."""
        unwritten = ChainMap(self._waiting, self._writing)
        found = {url: unwritten[owner, url] for url in urls if (owner, url) in unwritten}
        asked = [url for url in urls if url not in found]
        return found | await self.pages.get(owner, asked) if asked else found

    async def find(self, owner: str, urls: Sequence[str]) -> dict[str, PageState]:
        """Return the result of ``get``; wait for the store until ``stop_waiting`` is called."""
        again = backoff_delays()
        while True:
            try:
                return await self.get(owner, urls)
            except StorageAwayError:
                if self._stopping.is_set():
                    raise
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stopping.wait(), next(again))

    def stop_waiting(self) -> None:
        """Stop waiting for a store that is unavailable."""
        self._stopping.set()

    async def close(self) -> None:
        """Write the unwritten states; they are lost if the store is away for ``CLOSE_SECONDS``."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=CLOSE_SECONDS)
            if late:
                lost = len(self._waiting.keys() | self._writing.keys())
                logger.error("%d page states are lost: store unavailable", lost)
            for task in late:
                task.cancel()
        await self.pages.close()

    async def _write(self) -> None:
        """Write the waiting states after those before them; retry while the store is away."""
        async with self._lock:
            self._next = None
            self._writing, self._waiting = self._waiting, {}
            try:
                for wait in backoff_delays():
                    with suppress(StorageAwayError):
                        await self.pages.save(list(self._writing.values()))
                        break
                    await asyncio.sleep(wait)
            except StorageError as error:
                logger.error("Page states are lost: %s", error)  # noqa: TRY400
                self._failures += 1
                if self._failures == FAILURES:
                    logger.critical("The crawl ends, visits cannot be recorded")
                    self._end()
                raise
            finally:
                self._writing = {}
            self._reported, self._failures = False, 0

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, as there may be no caller
