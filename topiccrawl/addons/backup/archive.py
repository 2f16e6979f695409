"""Backup of a data folder, also while crawls run, and restore.

Frontiers are copied first, then plain files, then the SQLite files, beginning with
``store.sqlite``. A page is settled in a frontier only after its articles are stored, and a spooled
article is removed from the spool only after it is stored. So the copied store has the articles of
all pages that the copied frontier has settled. Pages settled later are fetched again after a
restore, and their articles are stored already.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import sys
import tempfile
import zlib
from contextlib import closing, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

import lmdb

from topiccrawl.errors import ConfigurationError, StateError, StorageError, translated
from topiccrawl.messages import NameList, message
from topiccrawl.storage.files import is_temporary, private_opener, replacing, touch_private
from topiccrawl.storage.formats import atomic_output
from topiccrawl.storage.lmdb_files import require_complete
from topiccrawl.storage.version import check_version

if sys.version_info >= (3, 14):
    import tarfile

    from compression.zstd import CompressionParameter, ZstdError
else:  # Scrapy brings it
    from backports.zstd import CompressionParameter, ZstdError, tarfile

if TYPE_CHECKING:
    from collections.abc import Iterator

MODES: dict[str, Literal["w", "w:gz", "w:zst"]] = {
    ".tar": "w",
    ".tar.gz": "w:gz",
    ".tgz": "w:gz",
    ".tar.zst": "w:zst",
}
"""Tar modes by file suffix."""
_OPTIONS: dict[str, Any] = {"w:zst": {"options": {CompressionParameter.checksum_flag: 1}}}
"""Options of tar modes: a checksum, which gzip always has."""
LMDB = "data.mdb"
_RESCUED = "lost+found"
"""Folder of a file system, which only root can read, in a data folder that is a whole volume."""
_EXCLUDED = frozenset({"LOCK", "lock.mdb", "begun"})
"""Files that only running processes need."""
_EXCLUDED_SUFFIXES = (
    ".lock", ".part", ".sqlite-wal", ".sqlite-shm", ".sqlite-journal", ".cache", *MODES,
)  # fmt: skip
"""Suffixes of files that only running processes need, and of backups."""


def backup(folder: Path, file: Path, hosts: str) -> int:
    """Back up a data folder to a tar file; return the number of files.

    Args:
        folder: Data folder; crawls may be running.
        file: Tar file; its suffix determines the compression.
        hosts: Name of the folder with host clocks of this machine, which is excluded.

    Raises:
        ConfigurationError: The file cannot be written, or its suffix is unknown.
        StateError: The folder does not exist.
        StorageError: A file cannot be read.
    """
    mode = next((MODES[ending] for ending in MODES if file.name.endswith(ending)), None)
    if mode is None:
        raise ConfigurationError(
            "{file}: unknown suffix; choose one of {choices}", file=file, choices=NameList(MODES)
        )
    if not folder.is_dir():
        raise StateError("{folder}: no such data folder; set TOPICCRAWL_DATA_DIR", folder=folder)
    names = sorted(_files(folder, hosts), key=_backup_order)
    with atomic_output(file) as part:
        touch_private(part)
        with tarfile.open(part, mode, **_OPTIONS.get(mode, {})) as tar:
            return sum(_add_file(tar, folder, name, part.parent) for name in names)


def restore(file: Path, folder: Path) -> int:
    """Restore a backup into a new or empty data folder; return the number of files.

    The folder is created when all files are extracted. After an error, nothing is left.

    Raises:
        ConfigurationError: The file is not a backup, or the folder is not empty.
        StateVersionError: A newer version of topiccrawl wrote the backup.
        StorageError: The folder cannot be written.
    """
    target = folder.absolute()
    text = message("{folder}: cannot be written: {strerror}")
    with translated(StorageError, text, folder=folder):
        if folder.exists() and any(folder.iterdir()):
            raise ConfigurationError(
                "{folder} is not empty: set TOPICCRAWL_DATA_DIR to a new folder", folder=folder
            )
        target.parent.mkdir(parents=True, exist_ok=True)
    failed = message("{file}: cannot be restored to {folder}: {error}")
    damaged = message("{file}: not a backup, or damaged: {error}")
    causes = (EOFError, gzip.BadGzipFile, tarfile.TarError, ZstdError, zlib.error)
    with (
        translated(StorageError, failed, file=file, folder=folder),
        translated(ConfigurationError, damaged, causes, file=file),
        replacing(target) as part,
    ):
        part.mkdir(0o700)
        with file.open("rb") as source, tarfile.open(fileobj=source) as tar:
            number = sum(_extract(tar, member, part) for member in tar)
            _require_end(tar)
        check_version(part, name=str(file))
    return number


def _files(folder: Path, hosts: str) -> Iterator[str]:
    """Yield the paths of the files to copy, relative to the folder; links are followed, once."""
    root, known = folder.resolve(), set[Path]()

    def enters(path: Path) -> bool:
        target = path.resolve()
        if not path.is_symlink():
            return True
        if target in known or target.is_relative_to(root) or root.is_relative_to(target):
            return False  # copied by its own name, or without end
        known.add(target)
        return True

    for place, folders, names in os.walk(folder, onerror=_report, followlinks=True):
        if Path(place) == folder:
            folders[:] = [name for name in folders if name not in (hosts, _RESCUED)]
        folders[:] = [n for n in folders if not is_temporary(n) and enters(Path(place, n))]
        for name in names:
            if name not in _EXCLUDED and not name.endswith(_EXCLUDED_SUFFIXES):
                yield Path(place, name).relative_to(folder).as_posix()


def _report(error: OSError) -> None:
    """Raise the error of a folder, unless it was deleted in the meantime.

    Raises:
        StorageError: The folder cannot be read.
    """
    if not isinstance(error, FileNotFoundError):
        raise StorageError(
            "{source}: cannot be copied: {error}", source=error.filename, error=error
        )


def _backup_order(name: str) -> tuple[int, str]:
    """Return the sort key of a file; the module docstring explains the order."""
    return (0 if name.endswith(f"/{LMDB}") else 2 if name.endswith(".sqlite") else 1), name


def _add_file(tar: tarfile.TarFile, folder: Path, name: str, scratch: Path) -> int:
    """Add a file, or a snapshot of a database; return 0 if it was deleted in the meantime."""
    source = folder / name
    text = message("{source}: cannot be copied: {error}")
    with (
        suppress(FileNotFoundError),
        translated(StorageError, text, (lmdb.Error, sqlite3.Error), source=source),
        _snapshot(source, scratch) as path,
        path.open("rb") as file,
    ):
        tar.addfile(tar.gettarinfo(arcname=name, fileobj=file), file)
        return 1
    return 0


@contextmanager
def _snapshot(source: Path, scratch: Path) -> Iterator[Path]:
    """Yield a consistent copy of a database, or the file itself if it is not a database."""
    if source.name != LMDB and source.suffix != ".sqlite":
        yield source
        return
    with tempfile.TemporaryDirectory(dir=scratch) as temporary:
        copy = Path(temporary, source.name)
        if source.name == LMDB:
            require_complete(source.parent)
            with lmdb.open(os.fsencode(source.parent), readonly=True, readahead=False) as env:
                env.copy(temporary, compact=True)
        else:
            uri = f"{source.absolute().as_uri()}?mode=rw"
            with (
                closing(sqlite3.connect(uri, uri=True)) as one,
                closing(sqlite3.connect(copy)) as other,
            ):
                one.backup(other)
        yield copy


def _extract(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> int:
    """Extract a regular file to a folder.

    Raises:
        ConfigurationError: It is a link or device, or its path leads out of the folder.
    """
    parts = PurePosixPath(member.name).parts
    if not member.isreg() or not parts or ".." in parts or parts[0] == "/" or "\\" in member.name:
        raise ConfigurationError(
            "{name!r} is not a regular file of a data folder: not a backup", name=member.name
        )
    path = folder.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    source = tar.extractfile(member)
    assert source is not None  # noqa: S101 - never None for a regular file
    with source, open(path, "xb", opener=private_opener) as target:
        shutil.copyfileobj(source, target)
    return 1


def _require_end(tar: tarfile.TarFile) -> None:
    """Read what follows the last member: zeros, and in compressed files a checksum.

    Raises:
        tarfile.ReadError: The archive ends early, or a header in it is damaged.
    """
    blocks = iter(lambda: tar.fileobj.read(tarfile.RECORDSIZE), b"")
    if set(map(any, blocks)) != {False}:
        raise tarfile.ReadError("no end of archive after its last file")
