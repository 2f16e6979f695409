"""Backup of a data folder while crawls run, and its restoration.

Frontiers are copied first, then plain files, then the SQLite files, ``store.sqlite`` before the
others: a page is finished in a frontier only when its articles are stored, and a spooled article
leaves the spool only when it is stored. So whatever a copied frontier has finished is in the copied
store; pages that were settled in between are fetched again, and their articles are known.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
import zlib
from contextlib import closing, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

import lmdb
from packaging.version import InvalidVersion, Version

from topiccrawl import __version__
from topiccrawl.errors import ConfigurationError, StateError, StateVersionError, StorageError
from topiccrawl.storage.files import touch_private
from topiccrawl.storage.formats import completed
from topiccrawl.storage.lmdb_files import require_whole

if sys.version_info >= (3, 14):
    import tarfile

    from compression.zstd import ZstdError
else:  # Scrapy brings it
    from backports.zstd import ZstdError, tarfile

if TYPE_CHECKING:
    from collections.abc import Iterator

MODES: dict[str, Literal["w", "w:gz", "w:zst"]] = {
    ".tar": "w",
    ".tar.gz": "w:gz",
    ".tgz": "w:gz",
    ".tar.zst": "w:zst",
}
"""Modes of writing a backup, by the ending of its name."""
VERSION = "VERSION"
"""File of a data folder, and of a frontier's, with the newest topiccrawl that crawled with it."""
LMDB = "data.mdb"
_LEFT_OUT = frozenset({"LOCK", "lock.mdb", "begun"})
"""Files that mean something to running processes only."""
_ENDINGS = (".lock", ".part", ".sqlite-wal", ".sqlite-shm", ".sqlite-journal", ".cache")


def backup(folder: Path, file: Path, hosts: str) -> int:
    """Write a data folder into a tar file; return the number of files in it.

    Args:
        folder: The data folder; crawls may run on it.
        file: The tar file; its suffix names the compression.
        hosts: Name of the folder with the clocks of this machine's processes, which is left out.

    Raises:
        ConfigurationError: The file cannot be written, or has another suffix.
        StateError: The folder does not exist.
        StorageError: A file cannot be read.
    """
    mode = next((MODES[ending] for ending in MODES if file.name.endswith(ending)), None)
    if mode is None:
        raise ConfigurationError(
            "{file}: name a file that ends in {choices}", file=file, choices=", ".join(MODES)
        )
    if not folder.is_dir():
        raise StateError(
            "{folder}: no such data folder; name another: TOPICCRAWL_DATA_DIR", folder=folder
        )
    names = sorted(_files(folder, hosts, file), key=_turn)
    with completed(file) as part:
        touch_private(part)
        with tarfile.open(part, mode) as tar:
            return sum(_add(tar, folder, name, file.parent) for name in names)


def restore(file: Path, folder: Path) -> int:
    """Unpack a backup into a data folder that is new or empty; return the number of files.

    The folder appears when all is unpacked; an error leaves nothing.

    Raises:
        ConfigurationError: The file is no backup, or the folder has files.
        StateVersionError: A newer version of topiccrawl wrote the backup.
        StorageError: The folder cannot be written.
    """
    if folder.exists() and any(folder.iterdir()):
        raise ConfigurationError(
            "{folder} is not empty: name a new TOPICCRAWL_DATA_DIR", folder=folder
        )
    made = folder.absolute()
    try:
        made.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=made.parent, prefix=f".{made.name}."))
    except OSError as error:
        raise StorageError(
            "{folder}: cannot be written: {strerror}", folder=folder, strerror=error.strerror
        ) from error
    try:
        with file.open("rb") as source, tarfile.open(fileobj=source) as tar:
            number = sum(_unpack(tar, member, part) for member in tar)
        check_version(part, name=str(file))
        part.replace(made)
    except (EOFError, tarfile.TarError, ZstdError, zlib.error) as error:
        raise ConfigurationError(
            "{file}: no backup, or cut off: {error}", file=file, error=error
        ) from error
    except OSError as error:
        raise StorageError(
            "{file}: cannot be restored to {folder}: {error}", file=file, folder=folder, error=error
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return number


def written_by(place: Path) -> str | None:
    """Return the newest version of topiccrawl that wrote a folder, or a SQLite file's tables.

    None where it is unknown.
    """
    try:
        if not place.is_file():
            return (place / VERSION).read_text("utf-8", errors="replace").strip()
        with closing(sqlite3.connect(f"{place.absolute().as_uri()}?mode=ro", uri=True)) as file:
            query = "SELECT program FROM migrations ORDER BY version DESC LIMIT 1"
            return str(file.execute(query).fetchone()[0])
    except (OSError, TypeError, sqlite3.Error):
        return None


def check_version(place: Path, name: str = "") -> None:
    """Refuse a folder or SQLite file that a newer version of topiccrawl wrote.

    Args:
        place: The folder or file.
        name: Its name in the error; "": its path.

    Raises:
        StateVersionError: It did, or its version cannot be read.
    """
    found = written_by(place)
    try:
        newer = found is not None and Version(found) > Version(__version__)
    except InvalidVersion:
        newer = True
    if newer:
        raise StateVersionError(
            "{name}: written by topiccrawl {found}, this is {version}: install the newer one",
            name=name or place,
            found=found,
            version=__version__,
        )


def sign(folder: Path) -> None:
    """Write this version into a data folder or a frontier's, unless a newer one is there."""
    with suppress(StateVersionError, OSError):
        check_version(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / VERSION).write_text(f"{__version__}\n", "utf-8")


def _files(folder: Path, hosts: str, backup: Path) -> Iterator[str]:
    """Yield the files to copy, relative to the folder."""
    for place, folders, names in os.walk(folder):
        if Path(place) == folder and hosts in folders:
            folders.remove(hosts)
        for name in names:
            path = Path(place, name)
            if name not in _LEFT_OUT and not name.endswith(_ENDINGS) and path != backup:
                yield path.relative_to(folder).as_posix()


def _turn(name: str) -> tuple[int, str]:
    """Return the place of a file in the order that this module's docstring explains."""
    return (0 if name.endswith(f"/{LMDB}") else 2 if name.endswith(".sqlite") else 1), name


def _add(tar: tarfile.TarFile, folder: Path, name: str, room: Path) -> int:
    """Add a file, or a snapshot of it; 0 if it was deleted in the meantime."""
    source = folder / name
    try:
        with _snapshot(source, room) as path, path.open("rb") as file:
            tar.addfile(tar.gettarinfo(arcname=name, fileobj=file), file)
    except FileNotFoundError:
        return 0
    except (lmdb.Error, sqlite3.Error) as error:
        raise StorageError(
            "{source}: cannot be copied: {error}", source=source, error=error
        ) from error
    return 1


@contextmanager
def _snapshot(source: Path, room: Path) -> Iterator[Path]:
    """Yield a consistent copy of a database; other files themselves."""
    if source.name != LMDB and source.suffix != ".sqlite":
        yield source
        return
    with tempfile.TemporaryDirectory(dir=room, prefix=".backup-") as temporary:
        copy = Path(temporary, source.name)
        if source.name == LMDB:
            require_whole(source.parent)
            with lmdb.open(str(source.parent), readonly=True, readahead=False) as env:
                env.copy(temporary, compact=True)
        else:
            with (
                closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True)) as one,
                closing(sqlite3.connect(copy)) as other,
            ):
                one.backup(other)
        yield copy


def _unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> int:
    """Unpack a plain file below a folder; refuse all else.

    Raises:
        ConfigurationError: It is a link, a device or a path that leads elsewhere.
    """
    parts = PurePosixPath(member.name).parts
    if not member.isreg() or not parts or ".." in parts or parts[0] == "/" or "\\" in member.name:
        raise ConfigurationError(
            "{name!r} is no plain file of a data folder: no backup", name=member.name
        )
    path = folder.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    source = tar.extractfile(member)
    assert source is not None  # noqa: S101 - of a plain file there is one
    with source, path.open("xb") as target:
        shutil.copyfileobj(source, target)
    return 1
