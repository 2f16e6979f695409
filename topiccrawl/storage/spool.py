"""File for articles while the store is away: synced when written, read again at the next start.

One line per article: a checksum, a blank, the article as JSON. Each process appends to its own
file and keeps it locked. Files of dead processes are taken over by the next one that starts.
"""

from __future__ import annotations

import json
import logging
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING
from uuid import uuid4

from topiccrawl.errors import StorageError
from topiccrawl.model import Article
from topiccrawl.storage import files

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

logger = logging.getLogger(__name__)

LIMIT = 1 << 30
"""Maximum size of a spool file in bytes; about 300,000 articles."""

SUFFIX = ".jsonl"

REFUSED = "refused.txt"
"""Name of the file of articles that the store refuses while it accepts others."""


class Spool:
    """Articles on disk, first in, first out. Blocking: call it from a thread.

    Args:
        folder: Folder of the files of all processes; created with the first article.
        limit: Maximum size of this process's file in bytes.
    """

    def __init__(self, folder: str | Path, *, limit: int = LIMIT) -> None:
        self.folder = Path(folder)
        self.waiting = 0
        self._limit = limit
        self._file: IO[bytes] | None = None
        self._begin = 0  # offset of the first article that waits
        self._end = self._damaged = 0  # offset where ``first`` ended, and its damaged lines
        self._adopted: list[IO[bytes]] = []

    def open(self) -> None:
        """Take over the files of dead processes, and retry refused articles.

        Raises:
            StorageError: A file cannot be read.
        """
        with suppress(FileNotFoundError):
            (self.folder / REFUSED).rename(self.folder / f"{uuid4().hex}{SUFFIX}")
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            try:
                file = path.open("r+b")
            except OSError as error:
                raise StorageError(
                    "{path}: cannot be read: {error}; see its rights", path=path, error=error
                ) from error
            if not files.locked(file):
                file.close()
                continue
            self._adopted.append(file)
            self.waiting += sum(1 for _ in file)
            file.seek(0)

    def append(self, articles: Iterable[Article]) -> None:
        """Append articles; after the return they survive kill -9 and power cuts.

        Raises:
            StorageError: None of them was added.
        """
        lines = [_line(article) for article in articles]
        try:
            file = self._opened()
            size = os.fstat(file.fileno()).st_size
            if size + sum(map(len, lines)) > self._limit:
                raise StorageError(
                    "{name}: full; bring the database back, or make room", name=file.name
                )
            files.append(file.fileno(), b"".join(lines), size, sync=True)
        except OSError as error:
            raise StorageError(
                "{folder}: cannot write: {error}; make room on the disk",
                folder=self.folder,
                error=error,
            ) from error
        self.waiting += len(lines)

    def first(self, number: int) -> list[Article]:
        """Return the articles that wait longest; damaged lines are skipped and logged."""
        file = self._oldest()
        if file is None:
            return []
        if file is self._file:
            file.seek(self._begin)
        begin = file.tell()
        found: list[Article] = []
        damaged = 0
        while len(found) < number and (line := file.readline()):
            article = _read(line, file.name)
            if article is None:
                damaged += 1
            else:
                found.append(article)
        self._end, self._damaged = file.tell(), damaged
        file.seek(begin)
        if not found:
            self.waiting -= damaged
            self._done(file)
            return self.first(number)
        return found

    def drop(self, articles: Sequence[Article]) -> None:
        """Drop the articles that ``first`` returned: they are stored."""
        file = self._oldest()
        if file is None:
            return
        self.waiting -= len(articles) + self._damaged
        if file is self._file:
            self._begin = self._end
        file.seek(self._end)
        if self._end >= os.fstat(file.fileno()).st_size:
            self._done(file)

    def refuse(self, article: Article, reason: str) -> None:
        """Put aside an article that the store refuses; the next ``open`` retries it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / REFUSED
        with open(path, "ab", opener=files.opened_private) as file:
            file.write(_line(article))
            file.flush()
            os.fsync(file.fileno())
        logger.error("%s was put aside in %s: %s", article.url, path, reason)

    def close(self) -> None:
        """Leave waiting articles for the next start. Idempotent."""
        adopted, self._adopted = self._adopted, []
        for file in adopted:
            _keep_rest(file, file.tell())
        if self._file is not None:
            _keep_rest(self._file, self._begin)
            self._file = None
        self._begin = self.waiting = 0

    def _oldest(self) -> IO[bytes] | None:
        return self._adopted[0] if self._adopted else self._file

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.folder / f"{uuid4().hex}{SUFFIX}"
            self._file = open(path, "x+b", opener=files.opened_private)  # noqa: SIM115
            files.locked(self._file)
            files.sync_folder(self.folder)
            self._begin = 0
        return self._file

    def _done(self, file: IO[bytes]) -> None:
        Path(file.name).unlink(missing_ok=True)
        file.close()
        if file is self._file:
            self._file, self._begin = None, 0
        else:
            self._adopted.remove(file)


def _keep_rest(file: IO[bytes], begin: int) -> None:
    """Close a file; delete it if no article is left (saving one twice is harmless)."""
    if begin >= os.fstat(file.fileno()).st_size:
        Path(file.name).unlink(missing_ok=True)
    file.close()


def _line(article: Article) -> bytes:
    text = json.dumps(article.to_dict(), separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _read(line: bytes, name: str) -> Article | None:
    sum_, _, text = line.rstrip(b"\n").partition(b" ")
    if sum_ != b"%08x" % zlib.crc32(text):  # cut off by a kill before it was acknowledged
        logger.warning("%s: a damaged line of %d bytes was left out", name, len(line))
        return None
    return Article.from_dict(json.loads(text))
