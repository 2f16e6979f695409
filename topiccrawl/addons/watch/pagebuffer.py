"""Write buffer of page states: grouped writes, and buffering while the store is unavailable."""

from __future__ import annotations

import asyncio
import logging
from collections import ChainMap
from contextlib import suppress
from typing import TYPE_CHECKING

from topiccrawl.errors import StorageAwayError, StorageError
from topiccrawl.storage.spooling import RETRY_SECONDS, backoff_delays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.storage.pages import Pages, PageState

logger = logging.getLogger(__name__)

GROUP_SECONDS = 0.05
"""Seconds for which a state waits for others to share a transaction."""

MAX_WAITING = 100_000
"""Maximum number of states in memory while the store is unavailable; beyond it, the oldest are
dropped."""


class PageBuffer:
    """Writes states in groups; reads return unwritten states first.

    If the process is killed before a state is written, the page is visited again as if for the
    first time.

    Args:
        pages: Store of the states.
        age: See ``GROUP_SECONDS``.
        patience: Seconds for which ``save`` waits for a store that is unavailable.
    """

    def __init__(
        self, pages: Pages, *, age: float = GROUP_SECONDS, patience: float = RETRY_SECONDS
    ) -> None:
        self.pages = pages
        self._age = age
        self._patience = patience
        self._waiting: dict[tuple[str, str], PageState] = {}
        self._writing: dict[tuple[str, str], PageState] = {}
        self._written: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
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
        if self._written is None:
            self._written = asyncio.get_running_loop().create_future()
        written = self._written
        if self._task is None:
            self._task = asyncio.create_task(self._write())
        try:
            await asyncio.wait_for(asyncio.shield(written), self._patience)
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
        """Try to write the unwritten states; they are lost if the store is unavailable."""
        if self._task is not None:
            self._age = 0.0
            _, late = await asyncio.wait([self._task], timeout=self._patience)
            for task in late:
                logger.error("%d page states are lost: store unavailable", len(self._waiting))
                task.cancel()
        await self.pages.close()

    async def _write(self) -> None:
        """Write groups until all states are written."""
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
                again, self._reported = backoff_delays(), False
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
        written.exception()  # retrieved, as there may be no caller
