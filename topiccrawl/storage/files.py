"""Appending, locking and syncing of plain files, shared by spool, archive and webhook."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


PRIVATE = 0o600
"""Mode of files with pages of private crawls, cookies, stored requests."""


def locked(file: IO[bytes]) -> bool:
    """Lock the file without waiting; return whether it worked. The lock ends with the process."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def append(handle: int, data: bytes, size: int, *, sync: bool = False) -> None:
    """Append data to a file; on failure the file is as before.

    Args:
        handle: File descriptor.
        data: Bytes to append.
        size: Size of the file in bytes.
        sync: Sync the file, so that the data survives a power cut.

    Raises:
        OSError: Nothing was added.
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


def opened_private(path: str, flags: int) -> int:
    """Open a file; a new one is for its owner alone: an ``opener`` of ``open``."""
    return os.open(path, flags, PRIVATE)


def touch_private(path: Path) -> None:
    """Create a file for its owner alone, and its folders; do nothing where there is one.

    Databases give the files beside it (write-ahead logs) the same mode. A file that is there is
    not opened: to close it would end all locks that this process has on it, as POSIX has it, and
    SQLite's write-ahead log would be deleted under a store in use.

    Raises:
        OSError: It cannot be created.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE))


def sync_folder(folder: Path) -> None:
    """Make names in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
