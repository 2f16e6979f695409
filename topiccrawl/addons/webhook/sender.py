"""Background task that sends the stories of the outbox to a receiver, one at a time."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from typing_extensions import override

from topiccrawl.addons.webhook.outbox import Message, Outbox, headers, key_of, message
from topiccrawl.errors import SettingError, StorageError
from topiccrawl.frontier.politeness import RETRY_AFTER_MAX, retry_seconds
from topiccrawl.messages import escaped
from topiccrawl.storage import files
from topiccrawl.storage.contract import ArticleStore, Saved, StoreListener

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from topiccrawl.model import Article

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.5
"""Seconds between two reads of the outbox."""

BATCH = 50
"""Stories read from the outbox at once."""

MIN_WAIT, MAX_WAIT = 1.0, 300.0
"""Seconds before a retry: the wait after the first failure, doubled each time up to the maximum."""

MAX_ATTEMPTS = 12
"""Refusals of one story, while others are accepted, after which it is not sent any longer."""

CLOSE_SECONDS = 5.0
"""Seconds for which a crawl continues to send stories at its end."""

HOLD_SECONDS = 600.0
"""Seconds for which a story of several pages waits for its next page before it is sent."""

LOCK = "webhook.lock"

TIMEOUT = 10.0
"""Timeout of the connection, and between two bytes of the response, in seconds."""

MAX_RESPONSE_BYTES = 65_536
"""Number of bytes read of a response, so that the connection can be reused."""

TEMPORARY = frozenset({408, 425, 429})
"""Client error statuses that are temporary and not caused by the message."""

SUCCESS, REDIRECT, REFUSED, BROKEN = 200, 300, 400, 500


def sender_of(
    settings: Mapping[str, Any], store: ArticleStore, count: Callable[[str], None]
) -> WebhookSender | None:
    """Build the sender for TOPICCRAWL_WEBHOOK; None if it is empty.

    Args:
        settings: Settings; TOPICCRAWL_WEBHOOK and its secret may also be in the environment.
        store: Store of the articles.
        count: Increments the stat of this name.

    Raises:
        SettingError: If the address or the secret is invalid.
    """
    url, secret = (
        str(settings.get(name) or os.environ.get(name) or "")
        for name in ("TOPICCRAWL_WEBHOOK", "TOPICCRAWL_WEBHOOK_SECRET")
    )
    folder = Path(settings["TOPICCRAWL_DATA_DIR"])
    return WebhookSender(folder, store, Receiver(url, secret), count=count) if url else None


class WebhookSender(StoreListener):
    """Sends each new story once; a slow or unreachable receiver does not delay the crawl.

    If several crawls use one folder, one of them sends the stories of all.

    Args:
        folder: TOPICCRAWL_DATA_DIR.
        store: Store from which articles are read when they are sent.
        receiver: Receiver of the messages.
        count: Increments a stat: ``topiccrawl/webhook/`` with ``sent``, ``failed`` or ``refused``.
        close_seconds: See ``CLOSE_SECONDS``.
        first_wait: See ``MIN_WAIT``.
    """

    def __init__(
        self,
        folder: Path,
        store: ArticleStore,
        receiver: Receiver,
        *,
        count: Callable[[str], None] = lambda _: None,
        close_seconds: float = CLOSE_SECONDS,
        first_wait: float = MIN_WAIT,
    ) -> None:
        self.outbox = Outbox(folder, store)
        self._folder = folder
        self._store = store
        self._receiver = receiver
        self._count = count
        self._close_seconds = close_seconds
        self._first_wait = first_wait
        self._failures = 0  # consecutive failures of the receiver
        self._pause_until = 0.0
        self._lock: IO[bytes] | None = None
        self._ending = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._thread: ThreadPoolExecutor | None = None

    @override
    async def open(self) -> None:
        """Start sending the waiting stories.

        Raises:
            StorageError: If the outbox cannot be used.
        """
        await self.outbox.open()
        self._ending.clear()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="webhook")
        self._task = asyncio.create_task(self._run())

    @override
    async def close(self) -> None:
        """Send stories for a few more seconds; the next crawl sends the remaining ones."""
        self._ending.set()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=self._close_seconds)
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None
            if left := await self.outbox.waiting():
                logger.warning("%d stories are not sent yet; the next crawl sends them", left)
        if self._thread is not None:
            self._receiver.close()
            self._thread.shutdown(wait=False)
            self._thread = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None
        await self.outbox.close()

    @override
    async def article_storing(self, articles: Sequence[Article]) -> None:
        await self.outbox.add(articles)

    @override
    async def article_stored(self, articles: Sequence[Article], saved: Sequence[Saved]) -> None:
        await self.outbox.decide(saved)

    @override
    async def article_continues(self, url: str) -> None:
        """Delay a story that will be saved, as its next page is not fetched yet."""
        self.outbox.hold(url, time.time() + HOLD_SECONDS)

    @override
    async def article_complete(self, url: str) -> None:
        """End the delay of a story; stories without a delay are sent after they are saved.

        Raises:
            StorageError: If the outbox fails; the story is then sent when its delay ends.
        """
        await self.outbox.release(url)

    async def _run(self) -> None:
        """Send stories until the crawl ends and none is due."""
        while True:
            sent = False
            try:
                if self._has_lock():
                    sent = await self._send_due()
            except StorageError as error:
                logger.warning("Webhook deliveries paused: %s", error)
            if sent:
                continue
            if not self._ending.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._ending.wait(), POLL_SECONDS)
            elif 0.0 < (left := self._pause_until - time.monotonic()) < self._close_seconds:
                await asyncio.sleep(left)
            else:
                return

    async def _send_due(self) -> bool:
        """Send due stories; return False if none was due or the receiver is unavailable."""
        if time.monotonic() < self._pause_until:
            return False
        due = await self.outbox.due(time.time(), BATCH)
        for url, attempts in due:
            story = await self._store.get(url)
            if story is None or story.article.url != url:  # deleted since
                await self.outbox.mark_sent(url)
            elif not await self._send_story(story.article, attempts):
                return False
        return bool(due)

    async def _send_story(self, article: Article, attempts: int) -> bool:
        """Send one story; return False if the receiver is unavailable."""
        sent = message(article)
        post, loop = self._receiver.post, asyncio.get_running_loop()
        response = await loop.run_in_executor(self._thread, post, sent, time.time())
        if response.accepted:
            self._failures = 0
            await self.outbox.mark_sent(article.url)
            self._count("topiccrawl/webhook/sent")
            return True
        self._count("topiccrawl/webhook/failed")
        if response.refused:
            await self._refused(article.url, attempts + 1, response)
            return True
        self._failures += 1
        wait = max(self._wait(self._failures), response.wait)
        self._pause_until = time.monotonic() + wait
        host = self._receiver.host
        logger.warning("Delivery to %s retried in %.0f s: %s", host, wait, response.shown)
        return False

    async def _refused(self, url: str, attempts: int, response: Response) -> None:
        host = self._receiver.host
        if attempts < MAX_ATTEMPTS:
            logger.warning("%s refuses %s: %s", host, url, response.shown)
            await self.outbox.retry_at(url, time.time() + self._wait(attempts))
        else:
            logger.error("%s refused %s %d times: %s", host, url, attempts, response.shown)
            await self.outbox.give_up(url)
            self._count("topiccrawl/webhook/refused")

    def _wait(self, failures: int) -> float:
        return min(MAX_WAIT, self._first_wait * 2.0 ** min(failures - 1, 20))

    def _has_lock(self) -> bool:
        """Acquire the lock of the sender; return whether this process holds it."""
        if self._lock is None:
            file = (self._folder / LOCK).open("ab")
            if files.try_lock(file):
                self._lock = file
            else:
                file.close()
        return self._lock is not None


class Response(NamedTuple):
    """Response of a receiver to a message.

    Attributes:
        status: HTTP status; 0 if there was no response.
        reason: Reason of a refusal or failure.
        wait: Seconds to wait by the Retry-After header, at most ``RETRY_AFTER_MAX``, or 0.
    """

    status: int
    reason: str = ""
    wait: float = 0.0

    @property
    def shown(self) -> str:
        """Status, if any, and reason, safe for a log."""
        return escaped(f"{self.status} {self.reason}".removeprefix("0 "))

    @property
    def accepted(self) -> bool:
        """True if the message was accepted."""
        return SUCCESS <= self.status < REDIRECT

    @property
    def refused(self) -> bool:
        """True if this message was refused, though another one may be accepted.

        >>> Response(400).refused, Response(429).refused, Response(503).refused, Response(0).refused
        (True, False, False, False)
        """
        return REFUSED <= self.status < BROKEN and self.status not in TEMPORARY


class Receiver:
    """Posts messages over one connection, which is reopened after an error. Follows no redirects.

    Args:
        url: ``https://...`` or ``http://...``.
        secret: Secret that signs the messages; see ``key_of``.
        timeout: See ``TIMEOUT``.

    Raises:
        SettingError: If the address or the secret is invalid.
    """

    def __init__(self, url: str, secret: str, *, timeout: float = TIMEOUT) -> None:
        parts, self._port = _parsed(url)
        self._key = key_of(secret)
        self.host = str(parts.hostname)
        self._secure = parts.scheme == "https"
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._timeout = timeout
        self._connection: HTTPConnection | None = None
        self._closed = False
        self._socket: socket.socket | None = None

    def post(self, sent: Message, now: float) -> Response:
        """Sign and post a message; errors of the receiver are not raised.

        Args:
            sent: Message to send.
            now: Current time, seconds since the epoch.
        """
        reused = self._connection is not None
        signed = headers(sent, self._key, now)
        response = self._post(sent.body, signed)
        lost = reused and not response.status  # the receiver had closed the connection
        if lost and not self._closed:
            response = self._post(sent.body, signed)
        return response

    def close(self) -> None:
        """End a request in another thread, whose process could not exit, and close. Idempotent."""
        self._closed = True
        if (used := self._socket) is not None:
            with suppress(OSError):  # not connected any more
                used.shutdown(socket.SHUT_RDWR)
        self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _post(self, body: bytes, signed: Mapping[str, str]) -> Response:
        connection = self._connection = self._connection or self._connect()
        try:
            connection.request("POST", self._path, body, dict(signed))
            self._socket = connection.sock  # getresponse() forgets it if the server will close
            response = connection.getresponse()
            response.read(MAX_RESPONSE_BYTES)
            if not response.isclosed():
                self._disconnect()
        except (OSError, HTTPException, ValueError) as error:
            self._disconnect()
            return Response(0, str(error) or type(error).__name__)
        wait = retry_seconds(response.headers.get("Retry-After", ""), time.time()) or 0.0
        return Response(response.status, response.reason, min(wait, RETRY_AFTER_MAX))

    def _connect(self) -> HTTPConnection:
        if self._secure:
            context = ssl.create_default_context()
            return HTTPSConnection(self.host, self._port, timeout=self._timeout, context=context)
        return HTTPConnection(self.host, self._port, timeout=self._timeout)


def _parsed(url: str) -> tuple[SplitResult, int | None]:
    with suppress(ValueError):  # invalid port
        parts = urlsplit(url)
        if parts.scheme in {"http", "https"} and parts.hostname:
            return parts, parts.port
    raise SettingError(
        "TOPICCRAWL_WEBHOOK is {url!r}: set it to a URL such as https://example.com/news", url=url
    )
