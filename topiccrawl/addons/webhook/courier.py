"""Tells a receiver what waits in the outbox, one story after the other, beside the crawl."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from typing_extensions import override

from topiccrawl.addons.webhook.message import message
from topiccrawl.addons.webhook.outbox import Outbox
from topiccrawl.addons.webhook.receiver import Receiver
from topiccrawl.errors import StorageError
from topiccrawl.storage import files
from topiccrawl.storage.contract import StoreListener

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from topiccrawl.addons.webhook.receiver import Answer
    from topiccrawl.model import Article
    from topiccrawl.storage.contract import Saved, Store

logger = logging.getLogger(__name__)

EVERY = 0.5
"""Seconds between two looks into the outbox."""

BATCH = 50
"""Stories taken from it at once."""

FIRST_WAIT, LONGEST_WAIT = 1.0, 300.0
"""Seconds before a story is tried again: doubled from the one to the other."""

ATTEMPTS = 12
"""How often one story may be refused, while others are taken, before it is left alone."""

PARTING = 5.0
"""Seconds that a crawl waits at its end for what is still to be told."""

WHOLE = 600.0
"""Seconds that a story waits for its next page before it is told as it is."""

LOCK = "webhook.lock"


def courier_of(
    settings: Mapping[str, Any], store: Store, count: Callable[[str], None]
) -> Courier | None:
    """Build what TOPICCRAWL_WEBHOOK asks for; None where it is empty.

    Args:
        settings: TOPICCRAWL_WEBHOOK and its secret may be in the environment, too.
        store: Where articles stay.
        count: Adds 1 to the stat of a name.

    Raises:
        SettingError: The address or the secret cannot be used.
    """
    url, secret = (
        str(settings.get(name) or os.environ.get(name) or "")
        for name in ("TOPICCRAWL_WEBHOOK", "TOPICCRAWL_WEBHOOK_SECRET")
    )
    folder = Path(settings["TOPICCRAWL_DATA_DIR"])
    return Courier(folder, store, Receiver(url, secret), count=count) if url else None


class Courier(StoreListener):
    """Sends new stories, each once; a receiver that is slow or away delays no crawl.

    Of several crawls over one folder, one at a time tells, the stories of all.

    Args:
        folder: TOPICCRAWL_DATA_DIR.
        store: Where articles are read again when they are sent.
        receiver: Who is told.
        count: Adds 1 to a stat: ``topiccrawl/webhook/`` and ``told``, ``failed``, ``refused``.
        parting: See ``PARTING``.
        first_wait: See ``FIRST_WAIT``.
    """

    def __init__(
        self,
        folder: Path,
        store: Store,
        receiver: Receiver,
        *,
        count: Callable[[str], None] = lambda _: None,
        parting: float = PARTING,
        first_wait: float = FIRST_WAIT,
    ) -> None:
        self.outbox = Outbox(folder, store)
        self._folder = folder
        self._store = store
        self._receiver = receiver
        self._count = count
        self._parting = parting
        self._first_wait = first_wait
        self._failures = 0  # in a row, that are the receiver's and no message's
        self._pause_until = 0.0
        self._lock: IO[bytes] | None = None
        self._ending = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._thread: ThreadPoolExecutor | None = None

    @override
    async def open(self) -> None:
        """Begin to tell what waits.

        Raises:
            StorageError: The outbox cannot be used.
        """
        await self.outbox.open()
        self._ending.clear()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="webhook")
        self._task = asyncio.create_task(self._tell_on())

    @override
    async def close(self) -> None:
        """Tell what can be told in a few seconds; the rest waits for the next crawl."""
        self._ending.set()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=self._parting)
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None
            if left := await self.outbox.waiting():
                logger.warning("%d stories wait to be told: the next crawl does", left)
        if self._thread is not None:
            self._thread.submit(self._receiver.close)
            self._thread.shutdown(wait=False)
            self._thread = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None
        await self.outbox.close()

    @override
    async def article_storing(self, articles: Sequence[Article]) -> None:
        await self.outbox.enter(articles)

    @override
    async def article_stored(self, articles: Sequence[Article], saved: Sequence[Saved]) -> None:
        await self.outbox.decide(saved)

    @override
    async def article_continues(self, url: str) -> None:
        """Keep a story back that is about to be saved: its next page follows."""
        self.outbox.hold(url, time.time() + WHOLE)

    @override
    async def article_complete(self, url: str) -> None:
        """Send a story that was kept back; others are sent as they are saved.

        Raises:
            StorageError: It waits for its time.
        """
        await self.outbox.release(url)

    async def _tell_on(self) -> None:
        """Tell until the crawl ends and nothing is due."""
        while True:
            told = False
            try:
                if self._alone():
                    told = await self._tell_due()
            except StorageError as error:
                logger.warning("Nobody is told of new stories now: %s", error)
            if told:
                continue
            if not self._ending.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._ending.wait(), EVERY)
            elif 0.0 < (left := self._pause_until - time.monotonic()) < self._parting:
                await asyncio.sleep(left)
            else:
                return

    async def _tell_due(self) -> bool:
        """Tell what is due; whether there was something, and the receiver is there."""
        if time.monotonic() < self._pause_until:
            return False
        due = await self.outbox.due(time.time(), BATCH)
        for url, attempts in due:
            story = await self._store.get(url)
            if story is None or story.article.url != url:  # taken down since
                await self.outbox.told(url)
            elif not await self._tell(story.article, attempts):
                return False
        return bool(due)

    async def _tell(self, article: Article, attempts: int) -> bool:
        """Tell one story; whether the receiver is there."""
        sent = message(article)
        post, loop = self._receiver.post, asyncio.get_running_loop()
        answer = await loop.run_in_executor(self._thread, post, sent, time.time())
        if answer.taken:
            self._failures = 0
            await self.outbox.told(article.url)
            self._count("topiccrawl/webhook/told")
            return True
        self._count("topiccrawl/webhook/failed")
        if answer.refused:
            await self._refused(article.url, attempts + 1, answer)
            return True
        self._failures += 1
        wait = max(self._wait(self._failures), answer.wait)
        self._pause_until = time.monotonic() + wait
        why = f"{answer.status} {answer.reason}".removeprefix("0 ")
        logger.warning("%s is told later, in %.0f s: %s", self._receiver.host, wait, why)
        return False

    async def _refused(self, url: str, attempts: int, answer: Answer) -> None:
        why = f"{answer.status} {answer.reason}"
        if attempts < ATTEMPTS:
            logger.warning("%s refuses %s: %s", self._receiver.host, url, why)
            await self.outbox.later(url, time.time() + self._wait(attempts))
        else:
            logger.error("%s refused %s %d times: %s", self._receiver.host, url, attempts, why)
            await self.outbox.give_up(url)
            self._count("topiccrawl/webhook/refused")

    def _wait(self, failures: int) -> float:
        return min(LONGEST_WAIT, self._first_wait * 2.0 ** min(failures - 1, 20))

    def _alone(self) -> bool:
        """Whether this process is the one that tells; the lock goes with it."""
        if self._lock is None:
            file = (self._folder / LOCK).open("ab")
            if not files.locked(file):
                file.close()
                return False
            self._lock = file
        return True
