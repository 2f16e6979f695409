"""Background task that sends the stories of the outbox to a receiver, one after the other."""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from typing_extensions import override

from topiccrawl.addons.webhook.message import Message, headers, key_of, message
from topiccrawl.addons.webhook.outbox import Outbox
from topiccrawl.errors import SettingError, StorageError
from topiccrawl.storage import files
from topiccrawl.storage.contract import ArticleStore, Saved, StoreListener

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from topiccrawl.model import Article

logger = logging.getLogger(__name__)

EVERY = 0.5
"""Seconds between two reads of the outbox."""

BATCH = 50
"""Stories read from the outbox at once."""

FIRST_WAIT, LONGEST_WAIT = 1.0, 300.0
"""Seconds before a retry: the first wait, doubled each time up to the longest."""

ATTEMPTS = 12
"""Refusals of one story, while others are accepted, after which it is no longer sent."""

PARTING = 5.0
"""Seconds that a crawl waits at its end for stories still to be sent."""

WHOLE = 600.0
"""Seconds that a story waits for its next page before it is sent as it is."""

LOCK = "webhook.lock"

TIMEOUT = 10.0
"""Seconds that a receiver may take to connect, and between two bytes of its answer."""

READ = 65_536
"""Bytes of a response that are read, so that the connection can be used again."""

BRIEFLY = frozenset({408, 425, 429})
"""Temporary refusals that are not caused by the message."""

SUCCESS, REDIRECT, REFUSED, BROKEN = 200, 300, 400, 500


def sender_of(
    settings: Mapping[str, Any], store: ArticleStore, count: Callable[[str], None]
) -> WebhookSender | None:
    """Build the sender for TOPICCRAWL_WEBHOOK; None if it is empty.

    Args:
        settings: TOPICCRAWL_WEBHOOK and its secret may be in the environment, too.
        store: Store of the articles.
        count: Adds 1 to the stat of this name.

    Raises:
        SettingError: The address or the secret cannot be used.
    """
    url, secret = (
        str(settings.get(name) or os.environ.get(name) or "")
        for name in ("TOPICCRAWL_WEBHOOK", "TOPICCRAWL_WEBHOOK_SECRET")
    )
    folder = Path(settings["TOPICCRAWL_DATA_DIR"])
    return WebhookSender(folder, store, Receiver(url, secret), count=count) if url else None


class WebhookSender(StoreListener):
    """Sender of new stories, each once; a slow or unreachable receiver delays no crawl.

    Of several crawls over one folder, one at a time sends the stories of all.

    Args:
        folder: TOPICCRAWL_DATA_DIR.
        store: Store from which articles are read again when they are sent.
        receiver: Receiver of the messages.
        count: Adds 1 to a stat: ``topiccrawl/webhook/`` and ``sent``, ``failed``, ``refused``.
        parting: See ``PARTING``.
        first_wait: See ``FIRST_WAIT``.
    """

    def __init__(
        self,
        folder: Path,
        store: ArticleStore,
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
        """Start sending the stories that wait.

        Raises:
            StorageError: The outbox cannot be used.
        """
        await self.outbox.open()
        self._ending.clear()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="webhook")
        self._task = asyncio.create_task(self._send_on())

    @override
    async def close(self) -> None:
        """Send stories for a few seconds more; the rest waits for the next crawl."""
        self._ending.set()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=self._parting)
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None
            if left := await self.outbox.waiting():
                logger.warning("%d stories wait to be sent: the next crawl sends them", left)
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
        """Hold back a story that is about to be saved: its next page follows."""
        self.outbox.hold(url, time.time() + WHOLE)

    @override
    async def article_complete(self, url: str) -> None:
        """Send a story that was held back; others are sent when they are saved.

        Raises:
            StorageError: The story is sent when its hold ends.
        """
        await self.outbox.release(url)

    async def _send_on(self) -> None:
        """Send stories until the crawl ends and none is due."""
        while True:
            sent = False
            try:
                if self._alone():
                    sent = await self._send_due()
            except StorageError as error:
                logger.warning("Webhook deliveries paused: %s", error)
            if sent:
                continue
            if not self._ending.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._ending.wait(), EVERY)
            elif 0.0 < (left := self._pause_until - time.monotonic()) < self._parting:
                await asyncio.sleep(left)
            else:
                return

    async def _send_due(self) -> bool:
        """Send the stories that are due; return False if none was or the receiver is away."""
        if time.monotonic() < self._pause_until:
            return False
        due = await self.outbox.due(time.time(), BATCH)
        for url, attempts in due:
            story = await self._store.get(url)
            if story is None or story.article.url != url:  # taken down since
                await self.outbox.mark_sent(url)
            elif not await self._send_story(story.article, attempts):
                return False
        return bool(due)

    async def _send_story(self, article: Article, attempts: int) -> bool:
        """Send one story; return False if the receiver is unavailable."""
        sent = message(article)
        post, loop = self._receiver.post, asyncio.get_running_loop()
        answer = await loop.run_in_executor(self._thread, post, sent, time.time())
        if answer.taken:
            self._failures = 0
            await self.outbox.mark_sent(article.url)
            self._count("topiccrawl/webhook/sent")
            return True
        self._count("topiccrawl/webhook/failed")
        if answer.refused:
            await self._refused(article.url, attempts + 1, answer)
            return True
        self._failures += 1
        wait = max(self._wait(self._failures), answer.wait)
        self._pause_until = time.monotonic() + wait
        why = f"{answer.status} {answer.reason}".removeprefix("0 ")
        logger.warning("Delivery to %s retried in %.0f s: %s", self._receiver.host, wait, why)
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
        """Return whether this process holds the lock of the sender; its end releases the lock."""
        if self._lock is None:
            file = (self._folder / LOCK).open("ab")
            if not files.try_lock(file):
                file.close()
                return False
            self._lock = file
        return True


class Answer(NamedTuple):
    """Response of a receiver to a message.

    Attributes:
        status: HTTP status; 0 if there was no response.
        reason: Reason of a refusal or failure, for people.
        wait: Seconds that the receiver asked to wait (Retry-After), else 0.
    """

    status: int
    reason: str = ""
    wait: float = 0.0

    @property
    def taken(self) -> bool:
        """True if the message was accepted."""
        return SUCCESS <= self.status < REDIRECT

    @property
    def refused(self) -> bool:
        """True if this message was refused while another one might be accepted.

        >>> Answer(400).refused, Answer(429).refused, Answer(503).refused, Answer(0).refused
        (True, False, False, False)
        """
        return REFUSED <= self.status < BROKEN and self.status not in BRIEFLY


class Receiver:
    """Sender of messages over one connection, reopened when it breaks. Follows no redirect.

    Args:
        url: ``https://...`` or ``http://...``.
        secret: Secret that signs the messages; see ``key_of``.
        timeout: See ``TIMEOUT``.

    Raises:
        SettingError: The address or the secret cannot be used.
    """

    def __init__(self, url: str, secret: str, *, timeout: float = TIMEOUT) -> None:
        parts, self._port = _parsed(url)
        self._key = key_of(secret)
        self.host = str(parts.hostname)
        self._secure = parts.scheme == "https"
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._timeout = timeout
        self._connection: HTTPConnection | None = None

    def post(self, sent: Message, now: float) -> Answer:
        """Sign and post a message; never raises for errors of the receiver.

        Args:
            sent: Message to send.
            now: Seconds since the epoch.
        """
        kept = self._connection is not None
        signed = headers(sent, self._key, now)
        answer = self._post(sent.body, signed)
        if kept and not answer.status:  # it closed the connection meanwhile
            answer = self._post(sent.body, signed)
        return answer

    def close(self) -> None:
        """Close the connection. Idempotent."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _post(self, body: bytes, signed: Mapping[str, str]) -> Answer:
        connection = self._connection = self._connection or self._connected()
        try:
            connection.request("POST", self._path, body, dict(signed))
            response = connection.getresponse()
            response.read(READ)
            if not response.isclosed():
                self.close()
        except (OSError, HTTPException, ValueError) as error:
            self.close()
            return Answer(0, str(error) or type(error).__name__)
        wait = response.headers.get("Retry-After", "")
        seconds = float(wait) if wait.isascii() and wait.isdigit() else 0.0
        return Answer(response.status, response.reason, seconds)

    def _connected(self) -> HTTPConnection:
        if self._secure:
            context = ssl.create_default_context()
            return HTTPSConnection(self.host, self._port, timeout=self._timeout, context=context)
        return HTTPConnection(self.host, self._port, timeout=self._timeout)


def _parsed(url: str) -> tuple[SplitResult, int | None]:
    with suppress(ValueError):  # a port that is none
        parts = urlsplit(url)
        if parts.scheme in {"http", "https"} and parts.hostname:
            return parts, parts.port
    raise SettingError(
        "TOPICCRAWL_WEBHOOK is {url!r}: give an address such as https://example.com/news", url=url
    )
