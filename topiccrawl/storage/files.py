"""Appending, locking and syncing of plain files, shared by spool, archive and webhook."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    _Opener = Callable[[str, int], int]

PRIVATE = 0o600
"""Mode of private files, such as stored pages, cookies and requests."""
_SCRATCH = f".{32 * '[0-9a-f]'}.part"
"""Names of locked temporary folders."""


def private_opener(path: str, flags: int) -> int:
    """Open a file, creating it with mode ``PRIVATE``; an ``opener`` for ``open``."""
    return os.open(path, flags, PRIVATE)


def try_lock(file: IO[bytes]) -> bool:
    """Lock a file without waiting; return whether it worked. The lock ends with the process."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def create(
    folder: Path, suffix: str, prefix: str = "", *, opener: _Opener | None = private_opener
) -> IO[bytes]:
    """Create and lock a file with a unique name, by default a private one, and its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    while True:
        file = open(folder / f"{prefix}{uuid4().hex}{suffix}", "x+b", opener=opener)  # noqa: SIM115
        if _own(file):
            return file
        file.close()  # another process adopted it before it was locked


def adopt(folder: Path, suffix: str) -> Iterator[IO[bytes]]:
    """Open and lock the files that processes which have ended left, in order of name."""
    for path in sorted(folder.glob(f"*{suffix}")):
        if (file := adopt_file(path)) is not None:
            yield file


def adopt_file(path: Path) -> IO[bytes] | None:
    """Open and lock a file; return None if another process uses or has removed it."""
    with suppress(FileNotFoundError):
        file = path.open("r+b")
        if _own(file):
            return file
        file.close()
    return None


def _own(file: IO[bytes]) -> bool:
    """Lock a file; return False if another process has locked, removed or renamed it."""
    return try_lock(file) and Path(file.name).exists()


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path; its file replaces ``path`` at the end, and is deleted on errors."""
    with scratch(path.parent) as folder:  # others may write the same path
        yield (part := folder / path.name)
        part.replace(path)


def is_temporary(name: str) -> bool:
    """Return whether a folder has the name of a temporary one."""
    return name.startswith(".") and name.endswith(".part")


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """Yield a new private folder in a folder, and delete it at the end.

    It is locked until then. First, those that killed processes left are deleted.
    """
    for left in folder.glob(_SCRATCH):
        with suppress(OSError), _locked(left):
            shutil.rmtree(left)
    with ExitStack() as used:
        path = Path(tempfile.mkdtemp(".part", ".", folder))
        with suppress(OSError):  # a file system without locks of folders, such as NFS
            used.enter_context(_locked(path))
            path = path.rename(folder / f".{uuid4().hex}.part")
        used.callback(shutil.rmtree, path, ignore_errors=True)
        yield path


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder without waiting; raise BlockingIOError if another process has locked it."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def append(handle: int, data: bytes, *, sync: bool = False) -> None:
    """Append data to a file; after an error the file is unchanged.

    Args:
        handle: File descriptor.
        data: Bytes to append.
        sync: Call fsync, so that the data survives a power cut.

    Raises:
        OSError: Nothing was appended.
    """
    size = at = os.fstat(handle).st_size
    try:
        while at < size + len(data):
            at += os.pwrite(handle, memoryview(data)[at - size :], at)
        if sync:
            os.fsync(handle)
    except OSError:
        os.ftruncate(handle, size)
        raise


def touch_private(path: Path) -> None:
    """Create a file with mode ``PRIVATE``, and its folders; do nothing if it exists.

    Databases use the mode of the file for their write-ahead logs as well. An existing file is not
    opened: closing it would release all POSIX locks of this process on it, and SQLite would delete
    the write-ahead log of a store in use.

    Raises:
        OSError: The file cannot be created.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE))


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that new file names survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
