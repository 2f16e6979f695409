"""Plain files that are appended to, locked and synced: what spool, archive and webhook share."""

from __future__ import annotations

import fcntl
import os
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def locked(file: IO[bytes]) -> bool:
    """Whether the file is ours; the lock goes with the process."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def append(handle: int, data: bytes, size: int, *, sync: bool = False) -> None:
    """Put data at the end of a file of that size; where that fails, the file is as before.

    Args:
        handle: Of the file.
        data: What is added.
        size: Bytes of the file.
        sync: Whether it survives a power cut when this returns.

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


def sync_folder(folder: Path) -> None:
    """Make names in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
