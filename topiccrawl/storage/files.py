"""Appending, locking and syncing of plain files, shared by spool, archive and webhook."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import IO, TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


PRIVATE = 0o600
"""Mode of private files, such as stored pages, cookies and requests."""


def try_lock(file: IO[bytes]) -> bool:
    """Lock a file without waiting; return whether it worked. The lock ends with the process."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def create(folder: Path, suffix: str) -> IO[bytes]:
    """Create and lock a private file with a unique name, and its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    file = open(folder / f"{uuid4().hex}{suffix}", "x+b", opener=private_opener)  # noqa: SIM115
    try_lock(file)
    return file


def adopt(folder: Path, suffix: str) -> Iterator[IO[bytes]]:
    """Open and lock the files that processes which have ended left, in order of name."""
    for path in sorted(folder.glob(f"*{suffix}")):
        file = path.open("r+b")
        if try_lock(file):
            yield file
        else:
            file.close()


def append(handle: int, data: bytes, size: int, *, sync: bool = False) -> None:
    """Append data to a file; after an error the file is unchanged.

    Args:
        handle: File descriptor.
        data: Bytes to append.
        size: Size of the file in bytes.
        sync: Call fsync, so that the data survives a power cut.

    Raises:
        OSError: Nothing was appended.
    """
    at = size
    try:
        while at < size + len(data):
            at += os.pwrite(handle, memoryview(data)[at - size :], at)
        if sync:
            os.fsync(handle)
    except OSError:
        os.ftruncate(handle, size)
        raise


def private_opener(path: str, flags: int) -> int:
    """Open a file, creating it with mode ``PRIVATE``; an ``opener`` for ``open``."""
    return os.open(path, flags, PRIVATE)


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
