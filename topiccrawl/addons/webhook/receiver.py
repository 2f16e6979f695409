"""Receiver of the messages: an HTTP server of the user."""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

from aiohttp import (
    ClientError,
    ClientOSError,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    ServerDisconnectedError,
)
from yarl import URL

from topiccrawl.addons.webhook.outbox import Message, headers, key_of
from topiccrawl.errors import SettingError
from topiccrawl.storage.rows import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

TIMEOUT = 10.0
"""Timeout of the connection, and between two bytes of the response, in seconds."""

TOTAL = 6
"""Maximum duration of a request in timeouts: a receiver may stop reading a large message."""

MAX_LINE = 65_536
"""Maximum length of a header of the response in bytes."""

TEMPORARY = frozenset({408, 425, 429})
"""Client error statuses that are temporary and not caused by the message."""

SUCCESS, REDIRECT, REFUSED, BROKEN = 200, 300, 400, 500
_URL = re.compile(r"https?://[^\s']+")


class Response(NamedTuple):
    """Response of a receiver to a message.

    Attributes:
        status: HTTP status; 0 if there was no response.
        reason: Reason of a refusal or failure, for display.
        wait: Seconds to wait by the Retry-After header, or 0.
    """

    status: int
    reason: str = ""
    wait: float = 0.0

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
    """Posts messages over a connection that is kept open. Follows no redirects.

    Args:
        url: ``https://...`` or ``http://...``.
        secret: Secret that signs the messages; see ``key_of``.
        timeout: See ``TIMEOUT``.

    Raises:
        SettingError: If the address or the secret is invalid.
    """

    def __init__(self, url: str, secret: str, *, timeout: float = TIMEOUT) -> None:
        self._url = _parsed(url)
        self.host = str(self._url.host)
        self._key = key_of(secret)
        self._timeout = ClientTimeout(
            total=TOTAL * timeout, sock_connect=timeout, sock_read=timeout
        )
        self._session: ClientSession | None = None

    async def post(self, sent: Message, now: float) -> Response:
        """Sign and post a message; errors of the receiver are not raised.

        Args:
            sent: Message to send.
            now: Current time, seconds since the epoch.
        """
        signed = headers(sent, self._key, now)
        try:
            try:
                return await self._post(sent.body, signed)
            except (ClientOSError, ServerDisconnectedError):  # it closed an idle connection
                return await self._post(sent.body, signed)
        except (ClientError, OSError, ValueError) as error:  # also timeouts
            reason = _URL.sub(self.host, str(error))  # a URL may contain a password
            return Response(0, reason or type(error).__name__)

    async def _post(self, body: bytes, signed: Mapping[str, str]) -> Response:
        session = self._session = self._session or ClientSession(
            timeout=self._timeout, cookie_jar=DummyCookieJar(),
            max_line_size=MAX_LINE, max_field_size=MAX_LINE,
        )  # fmt: skip
        async with session.post(
            self._url, data=BytesIO(body), headers=signed, allow_redirects=False
        ) as response:
            wait = response.headers.get("Retry-After", "")
            seconds = float(wait) if wait.isascii() and wait.isdigit() else 0.0
            return Response(response.status, clean(response.reason or ""), seconds)

    async def close(self) -> None:
        """Close the connection. Idempotent."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()


def _parsed(text: str) -> URL:
    """Return the URL of a receiver; its escapes, which may be signed, stay as they are.

    Raises:
        SettingError: If the URL is invalid.
    """
    try:
        url = URL(text, encoded=text.isascii())
        if url.scheme in {"http", "https"} and url.host and url.port:
            return url
    except ValueError:  # such as an invalid port
        pass
    raise SettingError(
        "TOPICCRAWL_WEBHOOK is {url!r}: set it to a URL such as https://example.com/news", url=text
    )
