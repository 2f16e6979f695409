"""Removal of pages from the archive: a list of forgotten names, and files rewritten without them.

The list ``forgotten.txt`` is stored in the archive's folder. A crawl that writes there applies it
from its next page on. It removes what it wrote before when it completes the file.
"""

from __future__ import annotations

import fcntl
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from topiccrawl.addons.warc import warc
from topiccrawl.errors import StorageError
from topiccrawl.links.urls import canonical
from topiccrawl.storage import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

FILE = "forgotten.txt"
SITE = "site:"


class Erased(NamedTuple):
    """Counts of a removal.

    Attributes:
        records: Records removed.
        files: Files they were removed from.
        open: Files not complete yet; the crawl that completes them removes the records then.
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
        self._urls: set[str] = set()
        self._sites: tuple[str, ...] = ()

    def __contains__(self, url: str) -> bool:
        """Return whether the list covers a page; URLs are compared in canonical form."""
        self._refresh()
        if not self._urls and not self._sites:
            return False
        host = (urlsplit(url).hostname or "").lower()
        return _one(url) in self._urls or f".{host}".endswith(self._sites)

    def __bool__(self) -> bool:
        self._refresh()
        return bool(self._urls or self._sites)

    def add(self, names: Iterable[str]) -> None:
        """Add names permanently; the file is synced.

        Raises:
            OSError: The folder cannot be written.
        """
        data = "".join(f"{name}\n" for name in names).encode()
        with self._path.open("ab") as file:
            file.seek(0, 2)
            files.append(file.fileno(), data, file.tell(), sync=True)
        files.sync_folder(self._path.parent)

    def _refresh(self) -> None:
        """Read the list again if the file changed."""
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            return
        if (stat.st_mtime_ns, stat.st_size) != self._read:
            names = self._path.read_text("utf-8").splitlines()
            self._sites = tuple(
                f".{name.removeprefix(SITE).lower()}" for name in names if name.startswith(SITE)
            )
            self._urls = {_one(name) for name in names if not name.startswith(SITE)}
            self._read = (stat.st_mtime_ns, stat.st_size)


def forget(folder: Path, names: Iterable[str]) -> Erased:
    """Add names to the list and remove their pages from all complete files.

    Revisit records of other URLs that refer to the body of a removed page are removed, too.

    Raises:
        StorageError: Repeat the call; it is idempotent.
    """
    try:
        forgotten = Forgotten(folder)
        forgotten.add(names)
        with _alone(folder):
            complete = sorted(folder.glob(f"*{warc.ENDING}"))
            gone = [erase(path, forgotten) for path in complete]
        still = list(folder.glob(f"*{warc.ENDING}{warc.OPEN}"))
    except OSError as error:
        raise StorageError(
            "{folder}: cannot be rewritten: {error}; say it again then", folder=folder, error=error
        ) from error
    return Erased(sum(gone), sum(map(bool, gone)), len(still))


def erase(path: Path, forgotten: Forgotten) -> int:
    """Remove forgotten pages from one complete file and return the number of records removed.

    Raises:
        OSError: The file is unchanged.
    """
    with path.open("rb") as file:
        unwanted = _unwanted(forgotten)
        if not any(unwanted(record) for record, _, _ in warc.parts(file)):
            return 0
    return warc.without(path, _unwanted(forgotten))


def _unwanted(forgotten: Forgotten) -> Callable[[Any], bool]:
    """Return a predicate for a file's records in order; it also matches removed pages' requests."""
    gone: set[str] = set()

    def matches(record: Any) -> bool:  # noqa: ANN401 - warcio's
        header = record.rec_headers.get_header
        named = (header("WARC-Target-URI"), header("WARC-Refers-To-Target-URI"))
        unwanted = header("WARC-Concurrent-To") in gone or any(u in forgotten for u in named if u)
        if unwanted:
            gone.add(header("WARC-Record-ID"))
        return unwanted

    return matches


def _one(url: str) -> str:
    return canonical(url) or url


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lock the archive, so that one command at a time rewrites files."""
    with (folder / FILE).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
