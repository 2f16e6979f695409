"""Receiver of the messages: an HTTP server of the user."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientSession, ClientTimeout

from topiccrawl.addons.webhook.outbox import Message, headers, key_of
from topiccrawl.errors import SettingError

TIMEOUT = 10.0
"""Timeout of the connection, and between two bytes of the response, in seconds."""

TEMPORARY = frozenset({408, 425, 429})
"""Client error statuses that are temporary and not caused by the message."""

SUCCESS, REDIRECT, REFUSED, BROKEN = 200, 300, 400, 500


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
        self.host = _host(url)
        self._url = url
        self._key = key_of(secret)
        self._timeout = ClientTimeout(sock_connect=timeout, sock_read=timeout)
        self._session: ClientSession | None = None

    async def post(self, sent: Message, now: float) -> Response:
        """Sign and post a message; errors of the receiver are not raised.

        Args:
            sent: Message to send.
            now: Current time, seconds since the epoch.
        """
        session = self._session = self._session or ClientSession(timeout=self._timeout)
        signed = headers(sent, self._key, now)
        try:
            async with session.post(
                self._url, data=sent.body, headers=signed, allow_redirects=False
            ) as response:
                wait = response.headers.get("Retry-After", "")
                seconds = float(wait) if wait.isascii() and wait.isdigit() else 0.0
                return Response(response.status, response.reason or "", seconds)
        except (ClientError, OSError, ValueError) as error:  # also timeouts
            return Response(0, str(error) or type(error).__name__)

    async def close(self) -> None:
        """Close the connection. Idempotent."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()


def _host(url: str) -> str:
    """Return the host of a receiver.

    Raises:
        SettingError: If the URL is invalid.
    """
    with suppress(ValueError):  # invalid port
        parts = urlsplit(url)
        if parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0:
            return parts.hostname
    raise SettingError(
        "TOPICCRAWL_WEBHOOK is {url!r}: set it to a URL such as https://example.com/news", url=url
    )
