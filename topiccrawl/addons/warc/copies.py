"""Archived copies of pages: look-up in the indexes, and display without scripts."""

from __future__ import annotations

import io
import json
import re
from bisect import bisect_left
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from aiohttp import web
from warcio.archiveiterator import ArchiveIterator

from topiccrawl.addons.warc.archive import Exchange, exchange_of
from topiccrawl.addons.warc.warc import DAMAGE, ENDING, surt
from topiccrawl.links.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"
"""Content-Security-Policy of a copy: no scripts and requests, and an opaque origin."""
_DIGEST = "WARC-Payload-Digest"
_PAGE = re.compile(r"text/html(\s*;\s*charset=\"?[\w.:-]{1,40}\"?)?\s*", re.IGNORECASE)


class Copy(NamedTuple):
    """A record of a page in a complete file.

    Attributes:
        at: Time of the response, ``20260131120000``.
        path: File of the record.
        offset: Offset of the record in bytes.
        length: Size of the record in bytes.
    """

    at: str
    path: Path
    offset: int
    length: int


def copies(folder: Path, url: str) -> list[Copy]:
    """Return the copies of a URL in complete files, newest first."""
    wanted, found = canonical(url), []
    for index in folder.glob("*.cdxj"):
        with index.open("rb") as file:
            for line in _lines(file, f"{surt(url)} ".encode()):
                _, at, text = line.decode().split(" ", 2)
                entry = json.loads(text)
                path = index.with_name(index.stem + ENDING)
                if canonical(entry["url"]) == wanted and entry["status"] == "200":
                    found.append(Copy(at, path, int(entry["offset"]), int(entry["length"])))
    return sorted(found, reverse=True)


def _lines(file: IO[bytes], prefix: bytes) -> Iterator[bytes]:
    """Yield the lines of a sorted file that start with a prefix."""

    def line_from(place: int) -> bytes:
        """Return the first line that starts at an offset or behind it."""
        file.seek(max(0, place - 1))
        if place:
            file.readline()
        return file.readline() or b"\xff"

    size = file.seek(0, io.SEEK_END)
    line = line_from(bisect_left(range(size), prefix, key=line_from))
    while line.startswith(prefix):
        yield line
        line = file.readline()


def read(folder: Path, copy: Copy) -> Exchange | None:
    """Return the exchange of a copy; None if it cannot be read."""
    record = _record(copy)
    if record is None or record.rec_type != "revisit":
        return None if record is None else exchange_of(record)
    digest = record.rec_headers.get_header(_DIGEST)
    for one in copies(folder, record.rec_headers.get_header("WARC-Refers-To-Target-URI") or ""):
        first = _record(one)  # its body was the same
        is_it = first is not None and first.rec_type == "response"
        if is_it and first.rec_headers.get_header(_DIGEST) == digest:
            return exchange_of(first)
    return None


def _record(copy: Copy) -> Any:  # noqa: ANN401 - warcio has no types
    """Return the record of a copy; None if its file is missing or damaged."""
    try:
        with copy.path.open("rb") as file:
            file.seek(copy.offset)
            return next(iter(ArchiveIterator(io.BytesIO(file.read(copy.length)))))
    except (OSError, StopIteration, *DAMAGE):
        return None


def shown(folder: Path, copy: Copy) -> web.Response:
    """Return an archived page; other media types are sent as downloads."""
    exchange = read(folder, copy)
    if exchange is None:
        raise web.HTTPNotFound(text="the archived copy cannot be read\n")
    kinds = [value for name, value in exchange.headers if name.lower() == "content-type"]
    page = _PAGE.fullmatch(kinds[0].strip()) if kinds else None
    headers = {"Content-Security-Policy": POLICY, "Content-Type": "application/octet-stream"}
    headers |= {"Content-Type": page[0]} if page else {"Content-Disposition": "attachment"}
    return web.Response(body=exchange.body, headers=headers)
