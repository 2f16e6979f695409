"""Spool: files for articles while the store is unavailable, synced on each write.

Each line has a checksum, a space and an article as JSON. Each process appends to its own locked
file. The next process that starts takes over the files of dead processes.
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

from topiccrawl.errors import StorageError, translated
from topiccrawl.messages import message
from topiccrawl.model import Article
from topiccrawl.storage import files

if TYPE_CHECKING:
    from collections.abc import Iterable

logger = logging.getLogger(__name__)

LIMIT = 1 << 30
"""Maximum size of a spool file in bytes; about 300,000 articles."""

SUFFIX = ".jsonl"

_READ = message("{path}: cannot be read: {error}; check its permissions")
_WRITE = message("{folder}: cannot write: {error}; free disk space")

REFUSED = "refused.txt"
"""Name of the file for articles that the store rejects while it accepts others."""


class Spool:
    """FIFO queue of articles on disk. Calls block: use a thread.

    Args:
        folder: Folder of the files of all processes; created with the first article.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.waiting = 0
        self._file: IO[bytes] | None = None  # the file of this process
        self._files: list[IO[bytes]] = []  # each at its first queued article, oldest first
        self._peeked = (0, 0)  # offset after ``peek``, and the number of its lines

    def open(self) -> None:
        """Take over the files of dead processes, and queue rejected articles again.

        Raises:
            StorageError: A file cannot be read.
        """
        with suppress(FileNotFoundError):
            (self.folder / REFUSED).rename(self.folder / f"{uuid4().hex}{SUFFIX}")
        with translated(StorageError, _READ, path=self.folder):
            for file in files.adopt(self.folder, SUFFIX):
                self._files.append(file)
                self.waiting += sum(1 for _ in file)
                file.seek(0)

    def append(self, articles: Iterable[Article]) -> None:
        """Append articles; after the call returns, they survive kill -9 and power cuts.

        Raises:
            StorageError: None of the articles was appended.
        """
        lines = [_encode_line(article) for article in articles]
        with translated(StorageError, _WRITE, folder=self.folder):
            file = self._own_file()
            size = os.fstat(file.fileno()).st_size
            if size + sum(map(len, lines)) > LIMIT:
                raise StorageError(
                    "{name}: the spool is full; make the database available again", name=file.name
                )
            files.append(file.fileno(), b"".join(lines), sync=True)
        self.waiting += len(lines)

    def peek(self, number: int) -> list[Article]:
        """Return the oldest articles and keep them; damaged lines are skipped and logged."""
        if not self._files:
            return []
        file = self._files[0]
        begin = file.tell()
        found: list[Article] = []
        lines = 0
        while len(found) < number and (line := file.readline()):
            lines += 1
            if (article := _decode_line(line, file.name)) is not None:
                found.append(article)
        self._peeked = (file.tell(), lines)
        file.seek(begin)
        if not found:
            self.drop()
            return self.peek(number)
        return found

    def drop(self) -> None:
        """Remove the articles that ``peek`` returned, after they were stored."""
        file = self._files[0]
        end, lines = self._peeked
        self.waiting -= lines
        file.seek(end)
        if end >= os.fstat(file.fileno()).st_size:
            self._remove(file)

    def refuse(self, article: Article, reason: str) -> None:
        """Copy an article that the store rejects to a file; the next ``open`` queues it again.

        Raises:
            StorageError: The file cannot be written.
        """
        path = self.folder / REFUSED
        with translated(StorageError, _WRITE, folder=self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            with open(path, "ab", opener=files.private_opener) as file:
                files.append(file.fileno(), _encode_line(article), sync=True)
        logger.error("%s was rejected by the store and moved to %s: %s", article.url, path, reason)

    def close(self) -> None:
        """Close the files; queued articles are kept for the next start. Idempotent."""
        for file in self._files:
            if file.tell() >= os.fstat(file.fileno()).st_size:
                Path(file.name).unlink(missing_ok=True)  # saving an article twice is harmless
            file.close()
        self._file, self._files, self.waiting = None, [], 0

    def _own_file(self) -> IO[bytes]:
        if self._file is None:
            self._file = files.create(self.folder, SUFFIX)
            files.sync_folder(self.folder)
            self._files.append(self._file)
        return self._file

    def _remove(self, file: IO[bytes]) -> None:
        Path(file.name).unlink(missing_ok=True)
        file.close()
        self._files.remove(file)
        if file is self._file:
            self._file = None


def _encode_line(article: Article) -> bytes:
    text = json.dumps(article.to_dict(), separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _decode_line(line: bytes, name: str) -> Article | None:
    sum_, _, text = line.rstrip(b"\n").partition(b" ")
    if sum_ != b"%08x" % zlib.crc32(text):  # truncated by a kill before the append returned
        logger.warning("%s: skipped a damaged line of %d bytes", name, len(line))
        return None
    return Article.from_dict(json.loads(text))
