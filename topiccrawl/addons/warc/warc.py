"""WARC files on disk and their indexes; files are completed and rewritten crash-safely.

The list ``forgotten.txt`` is in the archive's folder. A running crawl applies it from its next page
on. It removes pages that it has written already when it completes the file.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
import shutil
import zlib
from contextlib import contextmanager, suppress
from posixpath import normpath
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from topiccrawl.errors import StorageError, translated
from topiccrawl.links.urls import canonical, host_of
from topiccrawl.messages import message
from topiccrawl.storage import files
from topiccrawl.storage.selection import site_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

logger = logging.getLogger(__name__)

FILE = "forgotten.txt"
"""List of forgotten names in the folder of the archive."""

OPEN = ".open"
"""Suffix of the name of a file that is being written."""

ENDING = ".warc.gz"
INDEXED = frozenset({"response", "revisit"})
MAGIC = b"\x1f\x8b"
"""First bytes of a file compressed with gzip."""
_GZIP = 31  # zlib: gzip with the largest window
_CHUNK_BYTES = 16_384
_FORMER = b' {"url": '  # JSON of indexes with former keys has blanks
_PORTS = {"http": 80, "https": 443}
_UNESCAPED = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_WWW = re.compile(r"^www\d*\.")


DAMAGE = (ArchiveLoadFailed, EOFError, AttributeError, TypeError, ValueError, zlib.error)
"""Errors that warcio raises on a truncated or damaged file."""


def parts(file: IO[bytes]) -> Iterator[tuple[Any, int, int]]:
    """Yield the records of a file in order, each read to its end; stop at the first damage.

    Each record has its byte range in the file: the offsets of its begin and of its end.
    """
    file.seek(0)
    records = ArchiveIterator(file)
    end = 0
    try:
        for record in records:
            record.raw_stream.read()
            begin, end = end, records.get_record_offset() + records.get_record_length()
            yield record, begin, end
    except DAMAGE:
        return


def intact_end(file: IO[bytes]) -> int:
    """Return the offset at which the last complete record ends.

    Each record is compressed separately and has its own checksum. After a kill or a power cut,
    the bytes behind it can be truncated, zeros, or anything else.
    """
    file.seek(0)
    end, at, unused = 0, 0, b""
    decompressor = zlib.decompressobj(_GZIP)
    while data := unused or file.read(_CHUNK_BYTES):
        try:
            decompressor.decompress(data)
        except zlib.error:
            break
        unused = decompressor.unused_data
        at += len(data) - len(unused)
        if decompressor.eof:
            end, decompressor = at, zlib.decompressobj(_GZIP)
    return end


def complete(file: IO[bytes], path: Path) -> Path:
    """Truncate an incomplete record, write the index, sync and rename; return the final path.

    Raises:
        OSError: If the disk fails; the file then keeps the suffix ``OPEN``.
    """
    final = path.with_name(path.name.removesuffix(OPEN))
    file.truncate(intact_end(file))
    file.flush()
    os.fsync(file.fileno())
    _write_index(file, final)
    path.rename(final)
    return final


def restore_index(path: Path) -> None:
    """Write the index of a complete file if it is missing after a kill; renew former keys."""
    if index_of(path).exists():
        with suppress(ValueError, KeyError):  # the index is damaged
            _renew_keys(path)
            return
    with path.open("rb") as file:
        _write_index(file, path)


def _renew_keys(path: Path) -> None:
    """Write an index with former keys again, from its own entries."""
    with index_of(path).open("rb") as file:
        if _FORMER in (first := file.readline()):
            parted = (line.decode().split(" ", 2) for line in (first, *file))
            _write_lines(path, [_line(at, json.loads(entry)) for _, at, entry in parted])


def erase(path: Path, forgotten: Forgotten) -> int:
    """Remove forgotten pages from a complete file and its index; return the number of records.

    All other bytes stay the same, also those after damage. At any time there is either the old
    file or the new one, possibly without its index (see ``restore_index``). A file without
    remaining records is deleted.

    Raises:
        OSError: If the disk fails; the file is then unchanged.
    """
    kept: list[tuple[int, int]] = []
    kinds: set[str] = set()
    removed: set[str] = set()
    number = end = 0
    with path.open("rb") as file:
        for record, begin, end in parts(file):
            if _is_forgotten(record, forgotten, removed):
                number += 1
                removed.add(record.rec_headers.get_header("WARC-Record-ID"))
            else:
                kept.append((begin, end))
                kinds.add(record.rec_type)
    if not number:
        return 0
    if kinds <= {"warcinfo"}:
        index_of(path).unlink(missing_ok=True)
        path.unlink()
    else:
        with rewritten(path) as new, path.open("rb") as old:
            for start, stop in kept:
                old.seek(start)
                new.write(old.read(stop - start))
            old.seek(end)
            shutil.copyfileobj(old, new)
            new.flush()
            os.fsync(new.fileno())  # the index goes when the new file is safe
            index_of(path).unlink(missing_ok=True)
        restore_index(path)
    files.sync_folder(path.parent)
    return number


def _is_forgotten(record: Any, forgotten: Forgotten, removed: set[str]) -> bool:  # noqa: ANN401 - warcio's
    """Return whether a record is of a forgotten page, or the request of a removed record."""
    header = record.rec_headers.get_header
    named = (header("WARC-Target-URI"), header("WARC-Refers-To-Target-URI"))
    return header("WARC-Concurrent-To", "") in removed or any(u in forgotten for u in named if u)


def index_of(path: Path) -> Path:
    """Return the path of the index of a complete file."""
    return path.with_name(path.name.removesuffix(ENDING) + ".cdxj")


def surt(url: str) -> str:
    """Return the index key (SURT) of a URL, by which pywb and other tools look up its page.

    Hosts are sorted by their domain. Letter case, a slash at the end, doubled slashes and needless
    escapes do not count.

    >>> surt("http://www.News.example.com:80/A/?b=2&a=1")
    'com,example,news)/a?a=1&b=2'
    """
    split = urlsplit(url)
    host = ",".join(reversed(_WWW.sub("", split.hostname or "").split(".")))
    port = f":{split.port}" if split.port not in {None, _PORTS.get(split.scheme)} else ""
    pairs = sorted(_plain(split.query).split("&"), key=lambda pair: pair.partition("="))
    path = normpath(f"/{_plain(split.path).lstrip('/')}")
    return f"{host}{port}){path}" + (f"?{'&'.join(pairs)}" if split.query else "")


def _plain(text: str) -> str:
    """Return a part of a URL in lower case, with escapes only where they are needed."""
    data, before = unquote_to_bytes(text), b""
    while data != before:
        data, before = unquote_to_bytes(data), data
    return quote_from_bytes(data, _UNESCAPED).lower()


def _write_index(file: IO[bytes], path: Path) -> None:
    """Write the CDXJ index of a file with this final path."""
    lines: list[str] = []
    for record, begin, end in parts(file):
        if record.rec_type in INDEXED and record.http_headers is not None:
            if record.http_headers.get_statuscode() == "304":
                continue  # it has no body to replay; an earlier capture is replayed
            try:
                lines.append(_cdxj(record, begin, end - begin, path.name))
            except (TypeError, ValueError) as error:  # no or an invalid URL
                logger.warning("%s: record at byte %d is not indexed: %s", path, begin, error)
    _write_lines(path, lines)


def _write_lines(path: Path, lines: list[str]) -> None:
    with rewritten(index_of(path)) as index:
        index.write("".join(sorted(lines)).encode())


@contextmanager
def rewritten(path: Path) -> Iterator[IO[bytes]]:
    """Yield a new file that replaces a file atomically at the end of the block."""
    with files.replacing(path) as new, new.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


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
    return _line(re.sub(r"\D", "", header("WARC-Date"))[:14], entry)


def _line(at: str, entry: dict[str, str]) -> str:
    return f"{surt(entry['url'])} {at} {json.dumps(entry, separators=(',', ':'))}\n"


class Removed(NamedTuple):
    """Counts of a removal.

    Attributes:
        records: Number of removed records.
        files: Number of files from which records were removed.
        open: Number of incomplete files, whose records are removed when a crawl completes them.
    """

    records: int
    files: int
    open: int


class Forgotten:
    """Forgotten names: URLs, or ``site:HOST`` for a host and its subdomains.

    Args:
        folder: Folder of the archive.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._read: tuple[int, int] = (0, 0)
        self._names: set[str] = set()

    def __contains__(self, url: str) -> bool:
        """Return whether a page is on the list; URLs are compared in canonical form."""
        name = _canonical(url)
        return bool(self) and not self._names.isdisjoint((name, *site_names(host_of(name))))

    def __bool__(self) -> bool:
        self._refresh()
        return bool(self._names)

    def add(self, names: Iterable[str]) -> None:
        """Add names; the file is synced.

        Raises:
            OSError: If the folder cannot be written.
        """
        data = "".join(f"{name}\n" for name in names).encode()
        with self._path.open("ab") as file:
            files.append(file.fileno(), data, sync=True)
        files.sync_folder(self._path.parent)

    def _refresh(self) -> None:
        """Read the list again if the file changed."""
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            return
        if (stat.st_mtime_ns, stat.st_size) != self._read:
            names = self._path.read_text("utf-8").splitlines()
            self._names = {
                name.lower() if name.startswith("site:") else _canonical(name) for name in names
            }
            self._read = (stat.st_mtime_ns, stat.st_size)


def forget(folder: Path, names: Iterable[str]) -> Removed:
    """Add names to the list and remove their pages from all complete files.

    Revisit records of other URLs that refer to the body of a removed page are also removed.

    Raises:
        StorageError: If the disk fails; the call can be repeated.
    """
    text = message(
        "{folder}: cannot be rewritten: {error}; repair that, then run the command again"
    )
    with translated(StorageError, text, folder=folder):
        forgotten = Forgotten(folder)
        forgotten.add(names)
        with (folder / FILE).open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # one command at a time rewrites files
            complete = sorted(folder.glob(f"*{ENDING}"))
            removed = [erase(path, forgotten) for path in complete]
        open_files = list(folder.glob(f"*{ENDING}{OPEN}"))
    return Removed(sum(removed), sum(map(bool, removed)), len(open_files))


def _canonical(url: str) -> str:
    return canonical(url) or url
