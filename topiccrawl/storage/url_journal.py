"""Journal of the URLs of stored articles, to detect and refetch articles that a store lost.

SQLite silently drops everything after a damaged frame of its write-ahead log. Each process
therefore appends the URLs of its stored articles to a journal file, and deletes the file after a
clean shutdown. The next crawl checks the URLs of the remaining files against the store.
"""

from __future__ import annotations

import logging
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from topiccrawl.errors import StorageError, translated
from topiccrawl.messages import message
from topiccrawl.storage import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from topiccrawl.storage.contract import ArticleStore

logger = logging.getLogger(__name__)

SUFFIX = ".urls"
MAX_URLS = 10_000
"""Maximum number of URLs checked per file, the last ones; a write-ahead log has some hundred."""


class UrlJournal:
    """Journal of this process, and the journals of crashed processes.

    Args:
        folder: Folder of the journal files.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file: IO[bytes] | None = None
        self._unclaimed: dict[str, None] = {}

    async def recover(self, store: ArticleStore, requeue: Callable[[str], bool]) -> tuple[int, int]:
        """Requeue the URLs in journals of crashed processes that the store does not have.

        The URLs of other crawls are kept.

        Args:
            store: Store of the articles.
            requeue: Queues a URL; returns False if it does not belong to this crawl.

        Returns:
            The numbers of missing and of requeued URLs.

        Raises:
            StorageError: A journal cannot be read or written.
        """
        with translated(
            StorageError, message("{path}: cannot be read: {strerror}"), path=self.folder
        ):
            adopted = list(files.adopt(self.folder, SUFFIX))
            urls = dict.fromkeys(url for file in adopted for url in _read(file))
        missing = [url for url in urls if await store.get(url) is None]
        self._unclaimed = dict.fromkeys(url for url in missing if not requeue(url))
        self.add(self._unclaimed)
        for file in adopted:
            _delete(file)
        return len(missing), len(missing) - len(self._unclaimed)

    def add(self, urls: Iterable[str]) -> None:
        """Append the URLs of stored articles.

        Raises:
            StorageError: The journal cannot be written.
        """
        lines = _lines(urls)
        if not lines:
            return
        text = message("{folder}: cannot be written: {strerror}")
        with translated(StorageError, text, folder=self.folder):
            if self._file is None:
                self._file = files.create(self.folder, SUFFIX)
            self._file.writelines(lines)
            self._file.flush()

    async def prune(self, store: ArticleStore) -> None:
        """Remove the URLs of deleted articles, which are not lost; call it after a deletion."""
        if (file := self._file) is None:
            return
        urls = [url for url in _read(file) if url not in self._unclaimed]
        gone = {url for url in urls if await store.get(url) is None}
        kept = [url for url in _read(file) if url not in gone]  # others were added meanwhile
        self._file = files.create(self.folder, SUFFIX)
        self.add(kept)
        _delete(file)

    def close(self) -> None:
        """Delete the journal after a clean shutdown; missing URLs of other crawls are kept.

        If they cannot be written, the journal stays, and the next crawl reads it.
        """
        file, self._file = self._file, None
        try:
            if self._unclaimed:
                with files.create(self.folder, SUFFIX) as kept:
                    files.append(kept.fileno(), b"".join(_lines(self._unclaimed)))
        except OSError as error:
            logger.error("%s: cannot be written: %s; the next crawl retries", self.folder, error)  # noqa: TRY400
            if file is not None:
                with suppress(OSError):  # bytes that could not be written before
                    file.close()
        else:
            if file is not None:
                _delete(file)


def _delete(file: IO[bytes]) -> None:
    Path(file.name).unlink(missing_ok=True)
    with suppress(OSError):  # lines that could not be written
        file.close()


def _read(file: IO[bytes]) -> list[str]:
    """Return the last URLs of a file, which is then at its end."""
    file.seek(0)
    return [line.decode("utf-8", "replace").rstrip("\n") for line in deque(file, MAX_URLS)]


def _lines(urls: Iterable[str]) -> list[bytes]:
    return [f"{url}\n".encode("utf-8", "replace") for url in urls]
