"""Archive of fetched pages: WARC files (ISO 28500), each with a CDXJ index.

A file is named ``*.warc.gz.open`` while it is written; the suffix is removed when it is complete
and indexed. The next process repairs and indexes the file of a killed process. Each record is
compressed separately. Bodies are stored after decoding of Content-Encoding.
"""

from __future__ import annotations

import io
import logging
import sys
from collections import Counter, OrderedDict
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from http.client import responses
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import brotli
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from topiccrawl import __version__
from topiccrawl.addons.warc import warc
from topiccrawl.errors import ConfigurationError, StorageError, translated
from topiccrawl.messages import message
from topiccrawl.storage import files

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

logger = logging.getLogger(__name__)

SIZE = 1_000_000_000
"""Size in bytes at which a file is closed and a new one is opened; common for WARC files."""

MAX_DIGESTS = 100_000
"""Maximum number of digests of bodies in memory, for revisit records; about 300 bytes each."""

_DROPPED = frozenset({"content-encoding", "transfer-encoding", "content-length"})
_URL = "WARC-Target-URI"
_NOT_MODIFIED = 304
_DECODERS = {"br": brotli.decompress, "zstd": zstd.decompress}
_SERVER_NOT_MODIFIED = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"
_INFO = {"software": f"topiccrawl {__version__}", "format": "WARC File Format 1.0"}
_CREDENTIALS = frozenset({"authorization", "proxy-authorization"})

Headers = tuple[tuple[str, str], ...]


class Exchange(NamedTuple):
    """A request and its response.

    Attributes:
        url: URL of the request.
        at: Time of the response, seconds since the epoch.
        method: Method of the request.
        asked: Headers of the request.
        status: HTTP status of the response.
        headers: Headers of the response.
        body: Body of the response after decoding of Content-Encoding.
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
    """Writes exchanges to WARC files. Calls block; use it from one thread at a time.

    Args:
        folder: Folder of the files; created if missing.
        size: See ``SIZE``.
    """

    def __init__(self, folder: str | Path, *, size: int = SIZE) -> None:
        self.folder = Path(folder)
        self._limit = size
        self._file: IO[bytes] | None = None
        self._size = 0
        self._digests: OrderedDict[str, tuple[str, str]] = OrderedDict()
        self._forgotten = warc.Forgotten(self.folder)

    def open(self) -> None:
        """Create the folder and complete the files of killed processes.

        A file that cannot be completed is logged, and left for the next crawl.

        Raises:
            StorageError: If the folder cannot be created.
        """
        with self._storage_errors():
            self.folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(self.folder.glob(f"*{warc.ENDING}{warc.OPEN}")):
            with _logged(path):
                self._complete_left(path)
        for path in sorted(self.folder.glob(f"*{warc.ENDING}")):
            with _logged(path):
                warc.restore_index(path)

    def write(self, exchange: Exchange) -> bool:
        """Append the records of an exchange, with a revisit record for a body archived before.

        Returns:
            True if the exchange was written, False if its URL or site was forgotten.

        Raises:
            StorageError: If the disk fails; the file then ends with its last complete exchange.
        """
        with self._storage_errors():
            if exchange.url in self._forgotten:
                return False
            file = self._open_file(exchange.at)
            new = io.BytesIO()
            writer = WARCWriter(new, gzip=True)
            if not self._size:
                name = Path(file.name).name.removesuffix(warc.OPEN)
                writer.write_record(writer.create_warcinfo_record(name, _INFO))
            response = self._response_record(writer, exchange)
            writer.write_record(response)
            writer.write_record(_request_record(writer, exchange, response))
            files.append(file.fileno(), new.getvalue())
            self._size += len(new.getvalue())
            self._remember(response, exchange)
            if self._size >= self._limit:
                self.close()
        return True

    def close(self) -> None:
        """Complete and index the open file. Idempotent.

        Raises:
            StorageError: If the disk fails; the next crawl completes the file.
        """
        file, self._file, self._size = self._file, None, 0
        if file is not None:
            with self._storage_errors(), file:
                self._complete(file, Path(file.name))

    def _complete_left(self, path: Path) -> None:
        """Complete the file of a killed process."""
        if (file := files.adopt_file(path)) is not None:
            with file:
                self._complete(file, path)

    def _complete(self, file: IO[bytes], path: Path) -> None:
        final = warc.complete(file, path)
        if self._forgotten:
            warc.erase(final, self._forgotten)

    def _storage_errors(self) -> AbstractContextManager[None]:
        text = message("{folder}: cannot be written: {error}")
        return translated(StorageError, text, folder=self.folder)

    def _response_record(self, writer: WARCWriter, exchange: Exchange) -> Any:  # noqa: ANN401 - warcio's
        """Return a response record, or a revisit record if the body was archived before."""
        dated = {"WARC-Date": _date(exchange.at)}
        lines = [(k, v) for k, v in exchange.headers if k.lower() not in _DROPPED]
        lines.append(("Content-Length", str(len(exchange.body))))
        reason = responses.get(exchange.status, "")
        head = StatusAndHeaders(f"{exchange.status} {reason}", lines, protocol="HTTP/1.1")
        if exchange.status == _NOT_MODIFIED:
            profile = {**dated, "WARC-Profile": _SERVER_NOT_MODIFIED}
            return writer.create_warc_record(
                exchange.url, "revisit", http_headers=head, warc_headers_dict=profile
            )
        response = writer.create_warc_record(
            exchange.url, "response", io.BytesIO(exchange.body), len(exchange.body),
            http_headers=head, warc_headers_dict=dated,
        )  # fmt: skip
        digest = str(response.rec_headers.get_header("WARC-Payload-Digest"))
        known = self._digests.get(digest) if exchange.body else None
        if known is not None and known[0] not in self._forgotten:
            return writer.create_revisit_record(exchange.url, digest, *known, head, dated)
        return response

    def _remember(self, response: Any, exchange: Exchange) -> None:  # noqa: ANN401 - warcio's
        """Keep the digest of an archived body."""
        if response.rec_type == "response":
            digest = str(response.rec_headers.get_header("WARC-Payload-Digest"))
            self._digests[digest] = (exchange.url, _date(exchange.at))
            if len(self._digests) > MAX_DIGESTS:
                self._digests.popitem(last=False)

    def _open_file(self, at: float) -> IO[bytes]:
        if self._file is None:
            stamp = datetime.fromtimestamp(at, UTC).strftime("%Y%m%d%H%M%S")
            self._file = files.create(
                self.folder, f"{warc.ENDING}{warc.OPEN}", f"topiccrawl-{stamp}-", opener=None
            )
        return self._file


@contextmanager
def _logged(path: Path) -> Iterator[None]:
    """Log an error of a file of an earlier crawl."""
    try:
        yield
    except OSError as error:
        logger.error(  # noqa: TRY400 - it names cause and remedy
            "%s is not completed: %s; allow reading and writing it, or free disk space: the next"
            " crawl completes it", path, error,
        )  # fmt: skip


def _request_record(writer: WARCWriter, exchange: Exchange, response: Any) -> Any:  # noqa: ANN401 - warcio's
    parts = urlsplit(exchange.url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    asked = [(k, v) for k, v in exchange.asked if k.lower() not in _CREDENTIALS]
    lines = [("Host", parts.netloc), *asked]
    first = f"{exchange.method} {target} HTTP/1.1"
    head = StatusAndHeaders(first, lines, is_http_request=True)
    identifier = response.rec_headers.get_header("WARC-Record-ID")
    named = {"WARC-Date": _date(exchange.at), "WARC-Concurrent-To": identifier}
    return writer.create_warc_record(
        exchange.url, "request", io.BytesIO(exchange.sent), len(exchange.sent),
        http_headers=head, warc_headers_dict=named,
    )  # fmt: skip


class LatestPages:
    """Latest response of each URL in WARC files, in the order of the files.

    The files are read once for the offsets of their records. Bodies are read on access. That of a
    revisit is in an earlier record with the same digest; without that record, it is skipped. Its
    headers are its own, as those of redirects with one body differ.

    Args:
        paths: WARC files of any program.

    Attributes:
        by_file: Number of URLs whose latest response is in each file.

    Raises:
        ConfigurationError: If a file is not a WARC file or is damaged.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._places: dict[str, tuple[float, _Place, _Place]] = {}
        bodies: dict[tuple[str, int], _Place] = {}
        for path in paths:
            with _readable(path):
                for record, own in _records(path):
                    if (facts := _facts(record)) is None:
                        continue
                    url, at, status = facts
                    body = record.rec_headers.get_header("WARC-Payload-Digest", url), status
                    if record.rec_type == "response":
                        bodies[body] = own
                    known = self._places.get(url, (0.0,))[0]
                    if at >= known and body in bodies:
                        self._places.pop(url, None)
                        self._places[url] = at, own, bodies[body]
        self.by_file = Counter(stored.path for _, _, stored in self._places.values())

    def of(self, path: Path) -> Iterator[str]:
        """Yield the URLs whose latest response is in a file, in the order of its records."""
        return (url for url, (_, _, stored) in self._places.items() if stored.path == path)

    def get(self, url: str) -> Exchange | None:
        """Return the latest response of a URL, or None."""
        if url not in self._places:
            return None
        at, own, stored = self._places[url]
        with _record_at(stored) as record:
            found = exchange_of(record)
        if found is None or own == stored:
            return found and found._replace(url=url, at=at)
        with _record_at(own) as record:
            headers = _headers(record)
        return found._replace(url=url, at=at, headers=headers or found.headers)


class _Place(NamedTuple):
    """Place of a record."""

    path: Path
    offset: int


@contextmanager
def _record_at(place: _Place) -> Iterator[Any]:
    with _readable(place.path), place.path.open("rb") as file:
        file.seek(place.offset)
        yield next(ArchiveIterator(file), None)


def _records(path: Path) -> Iterator[tuple[Any, _Place]]:
    """Yield the records of a file with their places.

    warcio treats damage inside a record as the end of the file, so it is checked here. A
    compressed record has a checksum: if it matches, only its Content-Length can be wrong.

    Raises:
        EOFError: If a record is truncated or damaged.
        ConfigurationError: If it is a ZIP file.
    """
    with path.open("rb") as file:
        magic = file.read(2)
        if magic == b"PK":
            raise ConfigurationError(
                "{path}: a ZIP file (WACZ): unpack it and read archive/*.warc.gz", path=path
            )
        compressed = magic == warc.MAGIC
        if compressed and warc.intact_end(file) < path.stat().st_size:
            raise EOFError
        file.seek(0)
        records = ArchiveIterator(file)
        for record in records:
            yield record, _Place(path, records.offset)
            records.read_to_end()
            if not compressed and getattr(record.raw_stream, "limit", 0) > 0:
                raise EOFError


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn the errors of a file that cannot be read into a ConfigurationError."""
    try:
        yield
    except (OSError, *warc.DAMAGE) as error:
        torn = isinstance(error, OSError | ArchiveLoadFailed)
        why = error if torn else message("it is truncated or damaged")
        raise ConfigurationError(
            "{path}: cannot be read as WARC: {why}", path=path, why=why
        ) from error


def _facts(record: Any) -> tuple[str, float, int] | None:  # noqa: ANN401 - warcio has no types
    """Return URL, time and status of a response or revisit; None for other and invalid records."""
    if record.rec_type not in warc.INDEXED or record.http_headers is None:
        return None
    url, date = map(record.rec_headers.get_header, (_URL, "WARC-Date"))
    status = record.http_headers.get_statuscode() or "0"
    try:
        urlsplit(url)
        return url, datetime.fromisoformat(date).timestamp(), int(status)
    except (TypeError, ValueError) as error:
        logger.warning("%s: record skipped: date %r, status %r: %s", url, date, status, error)
        return None


def exchange_of(record: Any) -> Exchange | None:  # noqa: ANN401 - warcio has no types
    """Return the exchange of a response without its request; None for other records."""
    if (facts := _facts(record)) is None or record.rec_type != "response":
        return None
    url, at, status = facts
    return Exchange(url, at, "GET", (), status, _headers(record), _body(record))


def _headers(record: Any) -> Headers:  # noqa: ANN401 - warcio has no types
    return tuple((k, v) for k, v in record.http_headers.headers if k.lower() not in _DROPPED)


def _body(record: Any) -> bytes:  # noqa: ANN401 - warcio has no types
    """Return the decoded body of a response; the stored one if it is not encoded as stated."""
    head = record.http_headers
    encoding = (head.get_header("Content-Encoding") or "").strip().lower()
    if encoding not in _DECODERS:
        return bytes(record.content_stream().read())
    head.remove_header("Content-Encoding")  # warcio cannot decode it
    body = bytes(record.content_stream().read())
    try:
        return bytes(_DECODERS[encoding](body))
    except (brotli.error, zstd.ZstdError):
        logger.warning("%s: the body is not %s", record.rec_headers.get_header(_URL), encoding)
        return body


def _date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
