"""Messages about stories, and the outbox of those that are not sent yet.

Messages are JSON, signed according to https://www.standardwebhooks.com. Receivers may use any
library for that specification; docs/webhook.md shows a check without one. The outbox is a file of
its own and crash-safe.

Before articles are saved, those that are not in the store are added with the state *intended*.
After they are saved, their state is *waiting*. After they are sent, only a key remains. If the
process is killed in between, the next start recovers: an intended story that is stored was new.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
from binascii import Error as Base64Error
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import xxhash

from topiccrawl.errors import SettingError
from topiccrawl.storage.contract import ArticleStore, Fate, Saved
from topiccrawl.storage.database import Database
from topiccrawl.storage.tables import displayed_values

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from pathlib import Path

    from topiccrawl.model import Article

PREFIX = "whsec_"
"""Prefix of a secret in base64."""

MESSAGE_TYPE = "article.new"
"""Type of the messages; docs/schemas/message.json is their JSON Schema."""

MIN_SECRET_BYTES = 16
"""Minimum length of a secret in bytes."""

FILE = "webhook.sqlite"
"""Name of the file inside TOPICCRAWL_DATA_DIR."""
STORED = frozenset({Fate.NEW, Fate.UPDATED, Fate.UNCHANGED})
INTENDED, WAITING, REFUSED = range(3)
STEPS = (
    """
    CREATE TABLE migrations (
        version INTEGER PRIMARY KEY, program TEXT NOT NULL, applied_at REAL NOT NULL
    );
    CREATE TABLE stories (
        number INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE,
        state INTEGER NOT NULL, attempts INTEGER NOT NULL, due REAL NOT NULL
    );
    CREATE INDEX stories_due ON stories (state, due, number);
    CREATE TABLE told (key INTEGER PRIMARY KEY);
    """,
)
_SET_STATE = "UPDATE stories SET state = ? WHERE url = ? AND state < ?"
_SET_DUE = "UPDATE stories SET due = ? WHERE url = ? AND attempts = 0"
_INTEND = (
    "INSERT OR IGNORE INTO stories SELECT NULL, ?, ?, 0, 0 "
    "WHERE NOT EXISTS (SELECT 1 FROM told WHERE key = ?)"
)
"""Adds a story, unless it was sent before."""


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


class Outbox:
    """New stories of a data folder that are not sent yet.

    Args:
        folder: TOPICCRAWL_DATA_DIR.
        store: Store of the articles.
    """

    def __init__(self, folder: Path, store: ArticleStore) -> None:
        self._database = Database(folder / FILE, steps=STEPS)
        self._store = store
        self._holds: dict[str, float] = {}

    async def open(self) -> None:
        """Open the file and recover the stories that a killed process saved but did not queue.

        Stories that were refused too often are retried, as the receiver may have been repaired.

        Raises:
            StorageError: If the file cannot be used.
        """
        await asyncio.to_thread(self._database.open)
        intended = await self._rows("SELECT url FROM stories WHERE state = ?", INTENDED)
        stored = [url for (url,) in intended if await self._is_stored(url)]
        await self._change(_SET_STATE, [(WAITING, url, WAITING) for url in stored])
        retry = "UPDATE stories SET state = ?, attempts = 0, due = 0 WHERE state = ?"
        await self._change(retry, [(WAITING, REFUSED)])
        holds = "SELECT url, due FROM stories WHERE attempts = 0 AND due > 0"
        self._holds = dict(await self._rows(holds))

    async def close(self) -> None:
        """Close the file. Idempotent."""
        await asyncio.to_thread(self._database.close)

    async def add(self, articles: Sequence[Article]) -> None:
        """Add the new ones of the articles before they are saved.

        Raises:
            StorageError: If the file or the store fails; the call can be repeated.
        """
        urls = list(dict.fromkeys(article.url for article in articles))
        known = await asyncio.gather(*map(self._is_stored, urls))
        new = [url for url, is_known in zip(urls, known, strict=True) if not is_known]
        await self._change(_INTEND, [(url, INTENDED, _key(url)) for url in new])
        held = [url for url in urls if url in self._holds]
        await self._change(_SET_DUE, [(self._holds[url], url) for url in held])

    async def decide(self, saved: Sequence[Saved]) -> None:
        """Queue the added stories that were saved; drop reprints.

        Raises:
            StorageError: If the file fails; the call can be repeated.
        """
        fates = {one.url: one.fate for one in saved}
        stored = {url for url, fate in fates.items() if fate in STORED}
        await self._change(_SET_STATE, [(WAITING, url, WAITING) for url in stored])
        drop = "DELETE FROM stories WHERE url = ? AND state = ?"
        await self._change(drop, [(url, INTENDED) for url in fates.keys() - stored])

    def hold(self, url: str, until: float) -> None:
        """Delay a story of several pages, from its next ``add`` on.

        The delay ends with ``release``, or at the time ``until``, in seconds since the epoch.
        """
        self._holds[url] = until

    async def release(self, url: str) -> None:
        """End the delay of a story, as all its pages are fetched."""
        if self._holds.pop(url, None) is not None:
            await self._change(_SET_DUE, [(0.0, url)])

    async def due(self, now: float, limit: int) -> list[tuple[str, int]]:
        """Return URLs and numbers of attempts of the stories to send, longest waiting first."""
        query = (
            "SELECT url, attempts FROM stories WHERE state = ? AND due <= ? "
            "ORDER BY due, number LIMIT ?"
        )
        return await self._rows(query, WAITING, now, limit)

    async def mark_sent(self, url: str) -> None:
        """Record that a story was delivered or deleted, so that it is never sent again."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR IGNORE INTO told VALUES (?)", (_key(url),))
            connection.execute("DELETE FROM stories WHERE url = ?", (url,))

        await self._database.write(work)

    async def retry_at(self, url: str, due: float) -> None:
        """Record a failed delivery, to be retried at ``due`` or later."""
        query = "UPDATE stories SET attempts = attempts + 1, due = ? WHERE url = ?"
        await self._change(query, [(due, url)])

    async def give_up(self, url: str) -> None:
        """Stop sending a story that was refused too often, until the next start."""
        await self._change(_SET_STATE, [(REFUSED, url, REFUSED)])

    async def waiting(self) -> int:
        """Return the number of stories that wait to be sent."""
        ((number,),) = await self._rows("SELECT COUNT(*) FROM stories WHERE state = ?", WAITING)
        return int(number)

    async def _is_stored(self, url: str) -> bool:
        return await self._store.get(url) is not None

    async def _rows(self, query: str, *values: object) -> list[Any]:
        return await self._database.read(lambda c: c.execute(query, values).fetchall())

    async def _change(self, query: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Run a statement for each row of values, in one transaction."""
        if rows:
            await self._database.write(lambda c: c.executemany(query, rows))


def _key(url: str) -> int:
    """Return a URL's hash as a SQLite integer; expect one collision in a billion stories."""
    return xxhash.xxh64_intdigest(url.encode()) - (1 << 63)
