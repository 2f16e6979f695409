"""Files of LMDB: for their owner alone, and whole before they are mapped.

LMDB maps its file. Where it is shorter than its tree, reading ends the process with SIGBUS. The
newest of its two meta pages has the number of the last page; pages that no tree has may lack at the
end of a whole file, so that a short file is read by another process before it is refused.
"""

from __future__ import annotations

import subprocess
import sys
from struct import Struct
from struct import error as TooShort  # noqa: N812 - an exception
from typing import TYPE_CHECKING

from topiccrawl.errors import StorageError
from topiccrawl.storage.files import touch_private

if TYPE_CHECKING:
    from pathlib import Path

DATA, LOCK = "data.mdb", "lock.mdb"
_META = Struct("<16xII16xI92xQQ")
"""Header of a page, magic, version, size of a page, last page, number of the transaction."""
_MAGIC = 0xBEEFC0DE
_READ = """
import sys, lmdb
with lmdb.open(sys.argv[1], readonly=True, lock=False, max_dbs=64) as env, env.begin() as txn:
    for name, _ in txn.cursor():
        with txn.cursor(env.open_db(name, txn, create=False)) as cursor:
            for _, value in cursor:
                len(value) and value[-1]
"""


def prepare(folder: Path) -> None:
    """Create the files of an environment for their owner alone, where there are none.

    Raises:
        StorageError: They cannot be created, or the data is cut short.
    """
    try:
        touch_private(folder / DATA)
        touch_private(folder / LOCK)
    except OSError as error:
        raise StorageError(
            "{folder}: cannot be written: {strerror}", folder=folder, strerror=error.strerror
        ) from error
    require_whole(folder)


def require_whole(folder: Path) -> None:
    """Refuse an environment whose data is cut short; do nothing where there is none.

    Raises:
        StorageError: It is; the message has the remedy.
    """
    path = folder / DATA
    size = path.stat().st_size if path.is_file() else 0
    if size and size < (needed := _needed(path)) and not _can_be_read(folder):
        raise StorageError(
            "{path}: is cut short, {size:,} of {needed:,} bytes are left: "
            "restore the folder from a backup (`scrapy restore`), or start "
            "over with -a fresh=1",
            path=path,
            size=size,
            needed=needed,
        )


def _needed(path: Path) -> int:
    """Return the bytes of a file up to its last page; 0 where LMDB itself refuses it."""
    with path.open("rb") as file:
        try:
            magic, _, page, last, number = _META.unpack(file.read(_META.size))
            if magic != _MAGIC:
                return 0
            file.seek(page)
            _, _, _, other, newer = _META.unpack(file.read(_META.size))
        except TooShort:
            return 2 * 4096
    return int(page * (1 + (other if newer > number else last)))


def _can_be_read(folder: Path) -> bool:
    command = [sys.executable, "-c", _READ, str(folder)]
    return not subprocess.run(command, check=False, capture_output=True).returncode  # noqa: S603
