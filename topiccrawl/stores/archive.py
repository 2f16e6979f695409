"""What was fetched, as WARC files (ISO 28500) with a CDXJ index beside each.

A file is named ``*.warc.gz.open`` while it is written and loses the suffix when it is complete and
indexed; one that a killed process left is mended and indexed by the next. Records are compressed
one by one. Bodies are kept as they are after Content-Encoding is undone.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import re
from collections import OrderedDict
from datetime import UTC, datetime
from http.client import responses
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from topiccrawl import __version__
from topiccrawl.errors import ConfigurationError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SIZE = 1_000_000_000
"""Bytes from which a file is closed and the next one begun; the usual size of WARC files."""

REMEMBERED = 100_000
"""Bodies known by their digest, for revisit records; about 300 bytes each."""

OPEN = ".open"
_WWW = re.compile(r"^www\d*\.")
_DROPPED = frozenset({"content-encoding", "transfer-encoding", "content-length"})
_SECRET = frozenset({"authorization", "proxy-authorization"})

Headers = tuple[tuple[str, str], ...]


class Exchange(NamedTuple):
    """A request and its answer.

    Attributes:
        url: What was asked for.
        at: When it was answered, seconds since the epoch.
        method: Of the request.
        asked: Headers of the request.
        status: HTTP status of the answer.
        headers: Of the answer.
        body: Of the answer, as it is after Content-Encoding is undone.
        sent: Body of the request.
    """

    url: str
    at: float
    method: str
    asked: Headers
    status: int
    headers: Headers
    body: bytes
    sent: bytes = b""


class Archive:
    """Writes exchanges into WARC files. Blocking: call it from one thread at a time.

    Args:
        folder: Where the files lie; created.
        size: See ``SIZE``.
    """

    def __init__(self, folder: str | Path, *, size: int = SIZE) -> None:
        self.folder = Path(folder)
        self._size = size
        self._file: IO[bytes] | None = None
        self._writer: WARCWriter | None = None
        self._known: OrderedDict[str, tuple[str, str]] = OrderedDict()

    def open(self) -> None:
        """Complete what a killed process left.

        Raises:
            StorageError: The folder cannot be written.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for path in sorted(self.folder.glob(f"*.warc.gz{OPEN}")):
                with path.open("r+b") as file:
                    if _locked(file):
                        _complete(file, path)
        except OSError as error:
            raise StorageError(f"{self.folder}: cannot be written: {error}") from error

    def write(self, exchange: Exchange) -> None:
        """Append the records of an exchange; a body that is known makes a revisit record.

        Raises:
            StorageError: The disk failed.
        """
        try:
            writer, file = self._opened(exchange.at)
            for record in self._records(writer, exchange):
                writer.write_record(record)
            file.flush()
            if file.tell() >= self._size:
                self.close()
        except OSError as error:
            raise StorageError(f"{self.folder}: cannot be written: {error}") from error

    def close(self) -> None:
        """Complete and index the file that is open. Twice equals once."""
        file, self._file, self._writer = self._file, None, None
        if file is not None:
            _complete(file, Path(file.name))
            file.close()

    def _records(self, writer: WARCWriter, exchange: Exchange) -> Sequence[Any]:
        answer = self._answer(writer, exchange)
        dated = {
            "WARC-Date": _date(exchange.at),
            "WARC-Concurrent-To": answer.rec_headers.get_header("WARC-Record-ID"),
        }
        parts = urlsplit(exchange.url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        asked = [(k, v) for k, v in exchange.asked if k.lower() not in _SECRET]
        head = StatusAndHeaders(
            f"{exchange.method} {target} HTTP/1.1",
            [("Host", parts.netloc), *asked],
            is_http_request=True,
        )
        request = writer.create_warc_record(
            exchange.url,
            "request",
            payload=io.BytesIO(exchange.sent),
            length=len(exchange.sent),
            http_headers=head,
            warc_headers_dict=dated,
        )
        return (answer, request)

    def _answer(self, writer: WARCWriter, exchange: Exchange) -> Any:  # noqa: ANN401 - warcio's
        """A response record, or a revisit record where the body is known."""
        date = _date(exchange.at)
        lines = [(k, v) for k, v in exchange.headers if k.lower() not in _DROPPED]
        lines.append(("Content-Length", str(len(exchange.body))))
        reason = responses.get(exchange.status, "")
        head = StatusAndHeaders(f"{exchange.status} {reason}", lines, protocol="HTTP/1.1")
        answer = writer.create_warc_record(
            exchange.url,
            "response",
            payload=io.BytesIO(exchange.body),
            length=len(exchange.body),
            http_headers=head,
            warc_headers_dict={"WARC-Date": date},
        )
        digest = str(answer.rec_headers.get_header("WARC-Payload-Digest"))
        known = self._known.get(digest) if exchange.body else None
        if known is not None:
            dated = {"WARC-Date": date}
            return writer.create_revisit_record(exchange.url, digest, *known, head, dated)
        self._known[digest] = (exchange.url, date)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return answer

    def _opened(self, at: float) -> tuple[WARCWriter, IO[bytes]]:
        if self._file is None or self._writer is None:
            stamp = datetime.fromtimestamp(at, UTC).strftime("%Y%m%d%H%M%S")
            name = f"topiccrawl-{stamp}-{uuid4().hex[:8]}.warc.gz"
            self._file = (self.folder / f"{name}{OPEN}").open("x+b")
            _locked(self._file)
            self._writer = WARCWriter(self._file, gzip=True)
            info = {"software": f"topiccrawl {__version__}", "format": "WARC File Format 1.0"}
            self._writer.write_record(self._writer.create_warcinfo_record(name, info))
        return self._writer, self._file


def exchanges(path: Path) -> Iterator[Exchange]:
    """The answers of a WARC file, of whatever program, in their order; revisits are left out.

    Raises:
        ConfigurationError: It is no WARC file, or damaged.
    """
    try:
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type == "response" and record.http_headers is not None:
                    yield _exchange(record)
    except (OSError, ArchiveLoadFailed) as error:
        raise ConfigurationError(f"{path}: cannot be read as WARC: {error}") from error


def surt(url: str) -> str:
    """A URL as the key of an index: hosts sort with their domain.

    >>> surt("http://www.News.example.com:80/A?b=2&a=1")
    'com,example,news)/a?a=1&b=2'
    """
    parts = urlsplit(url.lower())
    host = _WWW.sub("", parts.hostname or "")
    port = f":{parts.port}" if parts.port not in {None, 80, 443} else ""
    query = "&".join(sorted(parts.query.split("&"))) if parts.query else ""
    name = ",".join(reversed(host.split("."))) + port
    return f"{name}){parts.path or '/'}" + (f"?{query}" if query else "")


def _exchange(record: Any) -> Exchange:  # noqa: ANN401 - warcio has no types
    head = record.http_headers
    date = record.rec_headers.get_header("WARC-Date")
    at = datetime.fromisoformat(date).timestamp()
    lines = tuple((k, v) for k, v in head.headers if k.lower() not in _DROPPED)
    url = record.rec_headers.get_header("WARC-Target-URI")
    status = int(head.get_statuscode() or 0)
    return Exchange(url, at, "GET", (), status, lines, record.content_stream().read())


def _complete(file: IO[bytes], path: Path) -> None:
    """Cut off a torn record, write the index, sync, and give the file its name."""
    file.seek(0)
    lines: list[str] = []
    name, begin, end = path.name.removesuffix(OPEN), 0, 0
    records = ArchiveIterator(file)
    try:
        for record in records:
            record.content_stream().read()
            begin, end = end, 0
            end = records.get_record_offset() + records.get_record_length()
            if record.rec_type in {"response", "revisit"}:
                lines.append(_cdxj(record, begin, end - begin, name))
    except (ArchiveLoadFailed, EOFError, OSError):
        end = end or begin
    file.truncate(end)
    file.flush()
    os.fsync(file.fileno())
    index = path.with_name(name.removesuffix(".warc.gz") + ".cdxj")
    index.write_text("".join(sorted(lines)), "utf-8")
    path.rename(path.with_name(name))


def _cdxj(record: Any, offset: int, length: int, name: str) -> str:  # noqa: ANN401
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


def _date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _locked(file: IO[bytes]) -> bool:
    """Whether the file is ours; the lock goes with the process."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
