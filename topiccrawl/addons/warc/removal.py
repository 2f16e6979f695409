"""Removal of pages from the archive: a list of forgotten names, and rewriting of the files.

The list ``forgotten.txt`` is in the archive's folder. A running crawl applies it from its next page
on. It removes pages that it has written already when it completes the file.
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
        self._urls: set[str] = set()
        self._sites: tuple[str, ...] = ()

    def __contains__(self, url: str) -> bool:
        """Return whether a page is on the list; URLs are compared in canonical form."""
        self._refresh()
        if not self._urls and not self._sites:
            return False
        host = (urlsplit(url).hostname or "").lower()
        return _canonical(url) in self._urls or f".{host}".endswith(self._sites)

    def __bool__(self) -> bool:
        self._refresh()
        return bool(self._urls or self._sites)

    def add(self, names: Iterable[str]) -> None:
        """Add names; the file is synced.

        Raises:
            OSError: If the folder cannot be written.
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
            self._urls = {_canonical(name) for name in names if not name.startswith(SITE)}
            self._read = (stat.st_mtime_ns, stat.st_size)


def forget(folder: Path, names: Iterable[str]) -> Removed:
    """Add names to the list and remove their pages from all complete files.

    Revisit records of other URLs that refer to the body of a removed page are also removed.

    Raises:
        StorageError: If the disk fails; the call can be repeated.
    """
    try:
        forgotten = Forgotten(folder)
        forgotten.add(names)
        with _locked(folder):
            complete = sorted(folder.glob(f"*{warc.ENDING}"))
            removed = [erase(path, forgotten) for path in complete]
        open_files = list(folder.glob(f"*{warc.ENDING}{warc.OPEN}"))
    except OSError as error:
        raise StorageError(
            "{folder}: cannot be rewritten: {error}; repair that, then run the command again",
            folder=folder,
            error=error,
        ) from error
    return Removed(sum(removed), sum(map(bool, removed)), len(open_files))


def erase(path: Path, forgotten: Forgotten) -> int:
    """Remove forgotten pages from a complete file and return the number of removed records.

    Raises:
        OSError: If the disk fails; the file is then unchanged.
    """
    return warc.remove_records(path, _unwanted(forgotten))


def _unwanted(forgotten: Forgotten) -> Callable[[Any], bool]:
    """Return a predicate for a file's records in order; it also matches requests of such pages."""
    removed: set[str] = set()

    def matches(record: Any) -> bool:  # noqa: ANN401 - warcio's
        header = record.rec_headers.get_header
        named = (header("WARC-Target-URI"), header("WARC-Refers-To-Target-URI"))
        unwanted = header("WARC-Concurrent-To") in removed or any(
            u in forgotten for u in named if u
        )
        if unwanted:
            removed.add(header("WARC-Record-ID"))
        return unwanted

    return matches


def _canonical(url: str) -> str:
    return canonical(url) or url


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock the archive, so that one command at a time rewrites files."""
    with (folder / FILE).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
