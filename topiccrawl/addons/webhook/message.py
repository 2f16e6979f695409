"""Webhook messages: JSON, signed according to https://www.standardwebhooks.com.

Receivers may use any library for that specification; docs/webhook.md shows a check without one.
"""

from __future__ import annotations

import base64
import hmac
import json
from binascii import Error as Base64Error
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import xxhash

from topiccrawl.errors import SettingError
from topiccrawl.storage.tables import displayed_values

if TYPE_CHECKING:
    from topiccrawl.model import Article

PREFIX = "whsec_"
"""Prefix of a secret in base64."""

MESSAGE_TYPE = "article.new"
"""Type of the messages; docs/schemas/message.json is their JSON Schema."""

MIN_SECRET_BYTES = 16
"""Minimum length of a secret in bytes."""


class Message(NamedTuple):
    """Message about one story.

    Attributes:
        name: Id, which is the same for all attempts, so that receivers can detect duplicates.
        body: JSON.
    """

    name: str
    body: bytes


def message(article: Article) -> Message:
    """Return the message for a new article, without its text if the page forbids copies.

    >>> from topiccrawl.model import Article
    >>> sent = message(Article("http://a.test/1", "题", "文", fetched_at=0.0))
    >>> json.loads(sent.body)["type"], json.loads(sent.body)["timestamp"]
    ('article.new', '1970-01-01T00:00:00+00:00')
    """
    at = datetime.fromtimestamp(article.fetched_at, UTC).isoformat()
    content = {"type": MESSAGE_TYPE, "timestamp": at, "data": displayed_values(article)}
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    return Message(f"msg_{xxhash.xxh128_hexdigest(article.url.encode())}", body)


def key_of(secret: str) -> bytes:
    """Return the key of a secret: decoded base64 after ``whsec_``, or the secret's own bytes.

    Raises:
        SettingError: If the secret is missing, too short, or not valid base64.

    >>> key_of("whsec_AAECAwQFBgcICQoLDA0ODw==")[-1], len(key_of("0123456789abcdef"))
    (15, 16)
    """
    try:
        coded = secret.startswith(PREFIX)
        key = base64.b64decode(secret[len(PREFIX) :], validate=True) if coded else secret.encode()
    except Base64Error as error:
        raise SettingError("TOPICCRAWL_WEBHOOK_SECRET: text after whsec_ is not base64") from error
    if len(key) < MIN_SECRET_BYTES:
        raise SettingError(
            "TOPICCRAWL_WEBHOOK needs TOPICCRAWL_WEBHOOK_SECRET with "
            "at least {shortest} bytes, as a setting or in the environment: "
            "openssl rand -hex 32",
            shortest=MIN_SECRET_BYTES,
        )
    return key


def headers(sent: Message, key: bytes, now: float) -> dict[str, str]:
    """Return the headers of a message sent at ``now``, seconds since the epoch.

    The signature is the HMAC-SHA256 of name, time and body, joined by full stops.

    >>> headers(Message("msg_1", b"{}"), b"k" * 16, 1.9)["webhook-timestamp"]
    '1'
    """
    stamp = str(int(now))
    signed = f"{sent.name}.{stamp}.".encode() + sent.body
    signature = base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
    return {
        "Content-Type": "application/json; charset=utf-8",
        "User-Agent": "topiccrawl",
        "webhook-id": sent.name,
        "webhook-timestamp": stamp,
        "webhook-signature": f"v1,{signature}",
    }
