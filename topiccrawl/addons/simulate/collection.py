"""Collections of recorded pages.

A collection (``*.web.jsonl``, gzipped or not) has one JSON object per line with these keys:
``url``; ``status`` (200); ``type`` (``text/html; charset=utf-8``); ``headers``; ``body`` (text) or
``body64`` (the bytes in base64); ``label`` and ``categories`` if the subject of the page is known.
Files with the suffixes of ``TOPICCRAWL_COLLECTIONS`` (WARC) are collections as well.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import gzip
import logging
import zlib
from typing import TYPE_CHECKING, Annotated, NamedTuple
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, ValidationError

from topiccrawl import settings as project
from topiccrawl.errors import ConfigurationError, translated
from topiccrawl.extract.readers import ReaderError, Readers
from topiccrawl.extract.reading import LocalReader, RawPage, StandardReader
from topiccrawl.links.urls import canonical
from topiccrawl.messages import message
from topiccrawl.scheduler.hooks import load_component

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from topiccrawl.model import Page

logger = logging.getLogger(__name__)

DEFAULT_TYPE = "text/html; charset=utf-8"
OK = 200
_TEXTUAL = ("text/", "html", "xml", "json", "javascript")
_REDIRECTS = range(300, 400)
_CONCURRENCY = 16
"""Number of pages parsed concurrently."""


def key(url: str) -> str:
    """Return the key of a recorded page: host, path and query, without the scheme.

    >>> key("https://A.test"), key("http://a.test/x?y=1#z")
    ('a.test/', 'a.test/x?y=1')
    """
    parts = urlsplit(url)
    return f"{parts.netloc.lower()}{parts.path or '/'}" + (f"?{parts.query}" if parts.query else "")


class RecordedPage(NamedTuple):
    """A recorded response.

    Attributes:
        url: URL as recorded.
        status: HTTP status.
        headers: Names and values, including Content-Type.
        body: Body as received.
        marks: Labels of the page's subject; may be empty.
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    marks: tuple[str, ...] = ()

    def header(self, name: str) -> list[str]:
        """Return the values of a header; the name is case-insensitive."""
        return [value for known, value in self.headers if known.lower() == name.lower()]

    @property
    def target(self) -> str | None:
        """Canonical target of a redirect; None for other responses."""
        places = self.header("Location") if self.status in _REDIRECTS else []
        return canonical(places[0], self.url) if places else None

    @property
    def raw(self) -> RawPage:
        """The response as input of page readers."""
        kind = next(iter(self.header("Content-Type")), DEFAULT_TYPE)
        is_text = any(part in kind.lower() for part in _TEXTUAL)
        tags = tuple(self.header("X-Robots-Tag"))
        return RawPage(self.body, canonical(self.url) or self.url, kind, tags, is_text)


class RecordedWeb:
    """A collection of recorded pages by key.

    Args:
        pages: Recorded responses; a later one replaces an earlier one with the same key.

    Attributes:
        pages: Recorded responses by key.
        hosts: Hosts of the recorded responses, with their ports.
    """

    def __init__(self, pages: Iterable[RecordedPage]) -> None:
        self.pages = {key(page.url): page for page in pages}
        self.hosts = {name.partition("/")[0] for name in self.pages}
        self._read: dict[str, Page | None] = {}
        self._reader = StandardReader()

    @classmethod
    def read(
        cls, path: Path, readers: Mapping[str, str] = project.TOPICCRAWL_COLLECTIONS
    ) -> RecordedWeb:
        """Read a collection from a file.

        Args:
            path: The file.
            readers: Readers of other file formats by the suffix of the name, as in
                ``TOPICCRAWL_COLLECTIONS``.

        Raises:
            ConfigurationError: If the file cannot be read; with file, line and remedy.
        """
        for ending, reader in readers.items():
            if path.name.endswith(ending):
                answers = load_component("TOPICCRAWL_COLLECTIONS", reader)(path)
                return cls(RecordedPage(a.url, a.status, a.headers, a.body) for a in answers)
        return cls(_read(path))

    def get(self, url: str) -> RecordedPage | None:
        """Return the recorded response for a URL, or None."""
        return self.pages.get(key(url))

    def page(self, name: str) -> Page | None:
        """Return the parsed page with this key, or None if it is not text.

        The page is parsed at the first call; then only its text and links are cached.
        """
        if name not in self._read:
            read = self._reader.read(self.pages[name].raw)
            self._read[name] = read and read.page
        return self._read[name]

    async def read_all(self, readers: Readers | LocalReader) -> None:
        """Parse all pages in advance; a page that crashes its reader is logged and is None."""
        waiting = iter(self.pages.items())

        async def read_waiting() -> None:
            for name, recorded in waiting:
                try:
                    read = await readers.read(recorded.raw) if recorded.status == OK else None
                except ReaderError as error:
                    logger.warning("%s", error)
                    read = None
                self._read[name] = read and read.page

        async with asyncio.TaskGroup() as group:
            for _ in range(_CONCURRENCY):
                group.create_task(read_waiting())

    def relevant(self, subjects: Sequence[str]) -> frozenset[str]:
        """Return the keys of pages with one of the labels or a sublabel (``sport.football``)."""
        return frozenset(
            name
            for name, page in self.pages.items()
            if any(m == s or m.startswith(f"{s}.") for m in page.marks for s in subjects)
        )


def _read(path: Path) -> Iterator[RecordedPage]:
    number = 0
    missing = message("{path}: no such collection; pass a *.web.jsonl.gz file")
    damaged = message("{path}: cannot be read: {error}")
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with (
            translated(ConfigurationError, damaged, (OSError, EOFError, zlib.error), path=path),
            translated(ConfigurationError, missing, (FileNotFoundError,), path=path),
            opener(path, "rt", encoding="utf-8-sig") as lines,
        ):
            for number, line in enumerate(lines, 1):  # noqa: B007 - for the error
                if line.strip():
                    yield _Line.model_validate_json(line).page()
    except (ValueError, LookupError) as error:
        name, why = type(error).__name__, str(error)
        if isinstance(error, ValidationError):
            first, *_ = error.errors(include_url=False)
            name, why = ".".join(map(str, first["loc"])) or name, first["msg"]
        raise ConfigurationError(
            "{path}, line {number}: not a recorded page ({name}: {error}); each "
            "line must be a JSON object with url, and body or body64",
            path=path,
            number=number,
            name=name,
            error=why,
        ) from error


class _Line(BaseModel):
    """One line of a collection; the module docstring describes it."""

    url: str
    status: int = OK
    type: str = DEFAULT_TYPE
    headers: dict[str, Annotated[str, Field(coerce_numbers_to_str=True)]] = {}
    body: str = ""
    body64: str | None = None
    label: str | None = None
    categories: tuple[str, ...] = ()

    def page(self) -> RecordedPage:
        """Return the page.

        Raises:
            ValueError: If the URL or the body is invalid.
            LookupError: If the charset of the type is unknown.
        """
        key(self.url)
        marks = (self.label, *(mark.removeprefix("subject.") for mark in self.categories))
        headers = (("Content-Type", self.type), *self.headers.items())
        return RecordedPage(
            self.url, self.status, headers, self._bytes(), tuple(filter(None, marks))
        )

    def _bytes(self) -> bytes:
        if self.body64 is None:
            charset = self.type.partition("charset=")[2] or "utf-8"
            return self.body.encode(charset, "xmlcharrefreplace")
        try:
            return base64.b64decode(self.body64, validate=True)
        except binascii.Error as error:
            raise ValueError(f"body64 of {self.url} is not base64") from error
