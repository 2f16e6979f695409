"""Files of LMDB: creation with private modes, and detection of truncated files.

LMDB maps its data file into memory. If the file is truncated, a read ends the process with SIGBUS.
LMDB knows the number of the last page. An intact file may still be shorter, without unused pages at
its end. Therefore a short file is first read in a subprocess.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import lmdb

from topiccrawl.errors import StorageError, translated
from topiccrawl.messages import message
from topiccrawl.storage.files import touch_private

if TYPE_CHECKING:
    from pathlib import Path

DATA, LOCK = "data.mdb", "lock.mdb"
_SMALLEST = 8_192
"""Minimum size of a data file in bytes: two pages."""
_READ = """
import os, sys, lmdb
folder = os.fsencode(sys.argv[1])
lock = sys.argv[2] == "shared"
with lmdb.open(folder, readonly=True, lock=lock, max_dbs=64) as env, env.begin() as txn:
    for name, _ in txn.cursor():
        with txn.cursor(env.open_db(name, txn, create=False)) as cursor:
            for _, value in cursor:
                len(value) and value[-1]
"""


def create_files(folder: Path) -> None:
    """Create missing files of an environment with private modes, and check existing ones.

    Raises:
        StorageError: The files cannot be created, or the data file is truncated.
    """
    text = message("{folder}: cannot be written: {strerror}")
    no_access = message("{folder}: cannot be written: {strerror}: give this user write access")
    with (
        translated(StorageError, text, folder=folder),
        translated(StorageError, no_access, (PermissionError,), folder=folder),
    ):
        touch_private(folder / DATA)
        touch_private(folder / LOCK)
    require_complete(folder)


def require_complete(folder: Path) -> None:
    """Raise an error if the data file of an environment is truncated; it may be missing.

    Raises:
        StorageError: The file is truncated; the message has the remedy.
    """
    path = folder / DATA
    size = path.stat().st_size if path.is_file() else 0
    if size and size < (needed := _required_size(folder)) and not _is_readable(folder):
        raise StorageError(
            "{path}: is truncated to {size:,} of {needed:,} bytes: "
            "restore the folder from a backup (`topiccrawl restore`), or start "
            "over with -a fresh=1",
            path=path,
            size=size,
            needed=needed,
        )


def _required_size(folder: Path) -> int:
    """Return the file size up to the last page in bytes."""
    try:
        with lmdb.open(os.fsencode(folder), readonly=True, lock=False) as env:
            return int(env.stat()["psize"] * (1 + env.info()["last_pgno"]))
    except lmdb.Error:  # too short, or no file of LMDB, as opening it reports
        return _SMALLEST


def require_readable(folder: Path) -> None:
    """Read all pages of an environment, to which other processes may write.

    Raises:
        StorageError: A page is damaged.
    """
    if not _is_readable(folder, "shared"):
        raise StorageError("{path}: a page is damaged", path=folder / DATA)


def _is_readable(folder: Path, mode: str = "") -> bool:
    """Read all pages in a subprocess, as damage may end the process that reads."""
    command = [sys.executable, "-c", _READ, str(folder), mode]
    return not subprocess.run(command, check=False, capture_output=True).returncode  # noqa: S603
