"""Recorded pages: a collection and its pages, each read once.

A collection (``*.web.jsonl``, gzipped or not) has one JSON object a line: ``url``; ``status``
(200); ``type`` (``text/html; charset=utf-8``); ``headers``; ``body`` (text) or ``body64`` (base64
of the bytes); ``label`` and ``categories``, where the subject of the page is known. Files with
the endings of ``TOPICCRAWL_COLLECTIONS`` (WARC) are collections as well.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import gzip
import json
import logging
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from topiccrawl import settings as project
from topiccrawl.errors import ConfigurationError
from topiccrawl.extract.readers import ReaderError
from topiccrawl.extract.reading import RawPage, StandardReader
from topiccrawl.links.urls import canonical
from topiccrawl.scheduler.hooks import loaded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from topiccrawl.extract.readers import Readers
    from topiccrawl.extract.reading import LocalReader
    from topiccrawl.model import Page

logger = logging.getLogger(__name__)

DEFAULT_TYPE = "text/html; charset=utf-8"
OK = 200
_TEXTUAL = ("text/", "html", "xml", "json", "javascript")
_REDIRECTS = range(300, 400)
_AHEAD = 16
"""Pages that are read at once."""


def key(url: str) -> str:
    """Identity of a recorded page: host, path and query; http and https are the same page.

    >>> key("https://A.test"), key("http://a.test/x?y=1#z")
    ('a.test/', 'a.test/x?y=1')
    """
    parts = urlsplit(url)
    return f"{parts.netloc.lower()}{parts.path or '/'}" + (f"?{parts.query}" if parts.query else "")


class Recorded(NamedTuple):
    """One recorded answer.

    Attributes:
        url: Its URL, as recorded.
        status: HTTP status.
        headers: Names and values, Content-Type among them.
        body: Bytes as served.
        marks: Labels of what the page is about; may be empty.
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    marks: tuple[str, ...] = ()

    def header(self, name: str) -> list[str]:
        """Values of a header; its name in any case."""
        return [value for known, value in self.headers if known.lower() == name.lower()]

    @property
    def target(self) -> str | None:
        """Canonical target of a redirect; None where it is none."""
        places = self.header("Location") if self.status in _REDIRECTS else []
        return canonical(places[0], self.url) if places else None

    @property
    def raw(self) -> RawPage:
        """The answer as readers of pages take it."""
        kind = next(iter(self.header("Content-Type")), DEFAULT_TYPE)
        is_text = any(part in kind.lower() for part in _TEXTUAL)
        tags = tuple(self.header("X-Robots-Tag"))
        return RawPage(self.body, canonical(self.url) or self.url, kind, tags, is_text)


class RecordedWeb:
    """A collection, by key of the URL.

    Args:
        pages: Recorded answers; of two under one key the later counts.
    """

    def __init__(self, pages: Iterable[Recorded]) -> None:
        self.pages = {key(page.url): page for page in pages}
        self._read: dict[str, Page | None] = {}
        self._reader = StandardReader()

    @classmethod
    def read(
        cls, path: Path, others: Mapping[str, str] = project.TOPICCRAWL_COLLECTIONS
    ) -> RecordedWeb:
        """Return the collection in a file.

        Args:
            path: The file.
            others: Readers of other files by the endings of their names, as in
                ``TOPICCRAWL_COLLECTIONS``.

        Raises:
            ConfigurationError: If it cannot be read; names file, line and remedy.
        """
        for ending, reader in others.items():
            if path.name.endswith(ending):
                answers = loaded("TOPICCRAWL_COLLECTIONS", reader)(path)
                return cls(Recorded(a.url, a.status, a.headers, a.body) for a in answers)
        return cls(_read(path))

    def get(self, url: str) -> Recorded | None:
        """The recorded answer to a URL, or None."""
        return self.pages.get(key(url))

    def page(self, name: str) -> Page | None:
        """The page under a key, read as a crawl reads it; None where it is no text.

        It is read at the first call; after that only its text and links are held.
        """
        if name not in self._read:
            read = self._reader.read(self.pages[name].raw)
            self._read[name] = read and read.page
        return self._read[name]

    async def read_all(self, readers: Readers | LocalReader) -> None:
        """Read all pages ahead; one that ends its reader counts as no text, with a warning."""
        room = asyncio.Semaphore(_AHEAD)
        async with asyncio.TaskGroup() as group:
            for name, recorded in self.pages.items():
                await room.acquire()
                task = group.create_task(self._read_one(name, recorded, readers))
                task.add_done_callback(lambda _: room.release())

    async def _read_one(
        self, name: str, recorded: Recorded, readers: Readers | LocalReader
    ) -> None:
        try:
            read = await readers.read(recorded.raw) if recorded.status == OK else None
        except ReaderError as error:
            logger.warning("%s", error)
            read = None
        self._read[name] = read and read.page

    def relevant(self, subjects: Sequence[str]) -> frozenset[str]:
        """Keys of the pages that bear one of these labels or one below it (``sport.football``)."""
        return frozenset(
            name
            for name, page in self.pages.items()
            if any(m == s or m.startswith(f"{s}.") for m in page.marks for s in subjects)
        )


def _read(path: Path) -> Iterator[Recorded]:
    number = 0
    try:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                number += 1
                yield _recorded(json.loads(line))
    except FileNotFoundError as error:
        raise ConfigurationError(
            "{path}: no such collection; give a *.web.jsonl.gz file", path=path
        ) from error
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigurationError(
            "{path}: cannot be read: {error}", path=path, error=error
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, LookupError) as error:
        raise ConfigurationError(
            "{path}, line {number}: no recorded page ({name}: {error}); a "
            "line is one JSON object with url, and body or body64",
            path=path,
            number=number,
            name=type(error).__name__,
            error=error,
        ) from error


def _recorded(page: dict[str, Any]) -> Recorded:
    kind = page.get("type", DEFAULT_TYPE)
    categories = (mark.removeprefix("subject.") for mark in page.get("categories", ()))
    marks = tuple(filter(None, (page.get("label"), *categories)))
    headers = (("Content-Type", kind), *page.get("headers", {}).items())
    return Recorded(page["url"], page.get("status", OK), headers, _body(page, kind), marks)


def _body(page: dict[str, Any], kind: str) -> bytes:
    if "body64" in page:
        try:
            return base64.b64decode(page["body64"], validate=True)
        except binascii.Error as error:
            raise ValueError(f"body64 of {page['url']} is no base64") from error
    charset = kind.partition("charset=")[2] or "utf-8"
    body: bytes = page.get("body", "").encode(charset, "xmlcharrefreplace")
    return body
