"""WARC files on disk, each with its index; completed and replaced so that a kill damages none."""

from __future__ import annotations

import json
import os
import re
import shutil
import zlib
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from topiccrawl.storage import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

OPEN = ".open"
"""Suffix of the name of a file that is being written."""

ENDING = ".warc.gz"
INDEXED = frozenset({"response", "revisit"})
_GZIP = 31  # zlib: gzip with the largest window
_PIECE = 16_384
_WWW = re.compile(r"^www\d*\.")


DAMAGE = (ArchiveLoadFailed, EOFError, AttributeError, TypeError, ValueError, zlib.error)
"""Errors that warcio raises on a truncated or damaged file."""


class ArchivePart(NamedTuple):
    """A record and its byte range in the file, ``begin`` to ``end``; compressed by itself."""

    record: Any
    begin: int
    end: int


def parts(file: IO[bytes]) -> Iterator[ArchivePart]:
    """Yield the records of a file in order, each read to its end; stop at detected damage."""
    file.seek(0)
    records = ArchiveIterator(file)
    end = 0
    try:
        for record in records:
            record.content_stream().read()
            begin, end = end, records.get_record_offset() + records.get_record_length()
            yield ArchivePart(record, begin, end)
    except DAMAGE:
        return


def whole(file: IO[bytes]) -> int:
    """Return the offset where the last whole record ends.

    Each record is compressed by itself and has its own checksum. What a kill or a power cut left
    after it may be truncated, zeros, or anything.
    """
    file.seek(0)
    end, at, rest = 0, 0, b""
    unpacked = zlib.decompressobj(_GZIP)
    while data := rest or file.read(_PIECE):
        try:
            unpacked.decompress(data)
        except zlib.error:
            break
        rest = unpacked.unused_data
        at += len(data) - len(rest)
        if unpacked.eof:
            end, unpacked = at, zlib.decompressobj(_GZIP)
    return end


def complete(file: IO[bytes], path: Path) -> Path:
    """Cut off a torn record, write the index, sync, rename the file, and return its final path.

    Raises:
        OSError: The file keeps the suffix ``OPEN``.
    """
    final = path.with_name(path.name.removesuffix(OPEN))
    file.truncate(whole(file))
    file.flush()
    os.fsync(file.fileno())
    put(index_of(final), _index(file, final.name))
    path.rename(final)
    return final


def mend(path: Path) -> None:
    """Write the index of a complete file if a kill left it without one."""
    if not index_of(path).exists():
        with path.open("rb") as file:
            put(index_of(path), _index(file, path.name))


def without(path: Path, unwanted: Callable[[Any], bool]) -> int:
    """Rewrite a file and its index without some records; return the number removed.

    All other bytes stay the same, also those after damage. At any moment there is the old file, or
    the new one, or the new one without its index (see ``mend``). A file without records left is
    deleted.

    Raises:
        OSError: The file is unchanged.
    """
    gone = 0
    new = path.with_name(f".{path.name}.new")
    try:
        with path.open("rb") as old, new.open("w+b") as kept:
            left = last = 0
            with path.open("rb") as copied:
                for record, begin, last in parts(old):
                    if unwanted(record):
                        gone += 1
                        continue
                    left += record.rec_type != "warcinfo"
                    copied.seek(begin)
                    kept.write(copied.read(last - begin))
                copied.seek(last)
                shutil.copyfileobj(copied, kept)
            kept.flush()
            os.fsync(kept.fileno())
            index = _index(kept, path.name) if gone else b""
        if gone:
            index_of(path).unlink(missing_ok=True)
            if left:
                new.rename(path)
                put(index_of(path), index)
            else:
                path.unlink()
            files.sync_folder(path.parent)
    finally:
        new.unlink(missing_ok=True)
    return gone


def index_of(path: Path) -> Path:
    """Return the path of the index of a complete file."""
    return path.with_name(path.name.removesuffix(ENDING) + ".cdxj")


def surt(url: str) -> str:
    """Return a URL as an index key, so that hosts sort with their domain.

    >>> surt("http://www.News.example.com:80/A?b=2&a=1")
    'com,example,news)/a?a=1&b=2'
    """
    split = urlsplit(url.lower())
    host = _WWW.sub("", split.hostname or "")
    port = f":{split.port}" if split.port not in {None, 80, 443} else ""
    query = "&".join(sorted(split.query.split("&"))) if split.query else ""
    name = ",".join(reversed(host.split("."))) + port
    return f"{name}){split.path or '/'}" + (f"?{query}" if query else "")


def _index(file: IO[bytes], name: str) -> bytes:
    """Return the CDXJ index of a file."""
    lines: list[str] = []
    for record, begin, end in parts(file):
        if record.rec_type in INDEXED and record.http_headers is not None:
            if record.http_headers.get_statuscode() == "304":
                continue  # it has no body to replay; an earlier capture is replayed
            lines.append(_cdxj(record, begin, end - begin, name))
    return "".join(sorted(lines)).encode()


def put(path: Path, data: bytes) -> None:
    """Write a file atomically."""
    new = path.with_name(f".{path.name}.new")
    try:
        with new.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.rename(path)
    finally:
        new.unlink(missing_ok=True)


def _cdxj(record: Any, offset: int, length: int, name: str) -> str:  # noqa: ANN401 - warcio's
    header = record.rec_headers.get_header
    kind = record.http_headers.get_header("Content-Type") or ""
    entry = {
        "url": header("WARC-Target-URI"),
        "mime": "warc/revisit" if record.rec_type == "revisit" else kind.partition(";")[0].strip(),
        "status": record.http_headers.get_statuscode(),
        "digest": header("WARC-Payload-Digest"),
        "length": str(length),
        "offset": str(offset),
        "filename": name,
    }
    stamp = re.sub(r"\D", "", header("WARC-Date"))[:14]
    return f"{surt(entry['url'])} {stamp} {json.dumps(entry)}\n"
