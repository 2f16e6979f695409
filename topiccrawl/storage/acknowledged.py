"""URLs of stored articles, beside the store: what a damaged store lost is seen and fetched again.

SQLite drops what follows a damaged frame of its write-ahead log, without a word. So each process
appends the URLs of what it stored to a file of its own, and deletes it when it has closed the store
in order. The next crawl looks for the URLs of files that were left.
"""

from __future__ import annotations

import logging
from collections import deque
from pathlib import Path
from typing import IO, TYPE_CHECKING
from uuid import uuid4

from topiccrawl.storage import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from topiccrawl.storage.contract import ArticleStore

logger = logging.getLogger(__name__)

SUFFIX = ".urls"
MOST = 10_000
"""URLs of a file that are looked for, the last ones: a write-ahead log holds some hundred."""


class Acknowledged:
    """The file of one process, and those that others left.

    Args:
        folder: Their folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file: IO[bytes] | None = None
        self._left: dict[str, None] = {}
        self._adopted: list[IO[bytes]] = []

    async def missing(self, store: ArticleStore) -> list[str]:
        """Return the URLs of files that were left which the store does not have."""
        urls: dict[str, None] = {}
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            file = path.open("r+b")
            if not files.locked(file):
                file.close()
                continue
            self._adopted.append(file)
            lines = deque(file, MOST)
            urls |= dict.fromkeys(line.decode("utf-8", "replace").rstrip("\n") for line in lines)
        return [url for url in urls if await store.get(url) is None]

    def settle(self, urls: Iterable[str], again: Callable[[str], bool]) -> int:
        """Fetch URLs again, and keep those of other crawls for these; return the number fetched.

        Args:
            urls: What is missing.
            again: Queues a URL; returns whether this crawl has it.
        """
        left = [url for url in urls if not again(url)]
        self._left = dict.fromkeys(left)
        self.add(left)
        for file in self._adopted:
            Path(file.name).unlink(missing_ok=True)
            file.close()
        self._adopted.clear()
        return len([*urls]) - len(left)

    def add(self, urls: Iterable[str]) -> None:
        """Append URLs that were stored."""
        lines = [f"{url}\n".encode("utf-8", "replace") for url in urls]
        if not lines:
            return
        if self._file is None:
            path = self.folder / f"{uuid4().hex}{SUFFIX}"
            files.touch_private(path)
            self._file = path.open("ab")
            files.locked(self._file)
        self._file.writelines(lines)
        self._file.flush()

    def close(self) -> None:
        """Delete the file: the store is closed in order. What other crawls lost stays."""
        file, self._file = self._file, None
        if file is not None:
            Path(file.name).unlink(missing_ok=True)
            file.close()
        if self._left:
            files.touch_private(path := self.folder / f"{uuid4().hex}{SUFFIX}")
            path.write_text("".join(f"{url}\n" for url in self._left), "utf-8")
