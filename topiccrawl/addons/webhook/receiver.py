"""HTTP transport of messages to a receiver. Blocking: call it from a thread."""

from __future__ import annotations

import ssl
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from topiccrawl.addons.webhook.message import headers, key_of
from topiccrawl.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.parse import SplitResult

    from topiccrawl.addons.webhook.message import Message

TIMEOUT = 10.0
"""Seconds that a receiver may take to connect, and between two bytes of its answer."""

READ = 65_536
"""Bytes of a response that are read, so that the connection can be used again."""

BRIEFLY = frozenset({408, 425, 429})
"""Temporary refusals that are not caused by the message."""

SUCCESS, REDIRECT, REFUSED, BROKEN = 200, 300, 400, 500


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
        f"TOPICCRAWL_WEBHOOK is {url!r}: give an address such as https://example.com/news"
    )
