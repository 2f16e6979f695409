"""Version of topiccrawl that wrote a data folder, frontier folder or SQLite file."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from topiccrawl import __version__
from topiccrawl.errors import StateVersionError, StorageError, translated
from topiccrawl.messages import message

if TYPE_CHECKING:
    from pathlib import Path

VERSION = "VERSION"
"""File with the newest version of topiccrawl that wrote a data folder or frontier folder."""


def written_by(place: Path) -> str | None:
    """Return the newest version of topiccrawl that wrote a folder or SQLite file, or None."""
    try:
        if not place.is_file():
            return (place / VERSION).read_text("utf-8", errors="replace").strip() or None
        with closing(sqlite3.connect(f"{place.absolute().as_uri()}?mode=ro", uri=True)) as file:
            query = "SELECT program FROM migrations ORDER BY version DESC LIMIT 1"
            return str(file.execute(query).fetchone()[0])
    except (OSError, TypeError, UnicodeDecodeError, sqlite3.Error):
        return None


def check_version(place: Path, name: str = "") -> None:
    """Raise an error if a newer version of topiccrawl wrote a folder or SQLite file.

    Args:
        place: Folder or file.
        name: Name for the error message; "" for the path.

    Raises:
        StateVersionError: A newer version wrote it, or its version is malformed.
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


def write_version(folder: Path) -> None:
    """Write the program version into a data or frontier folder, unless a newer one is recorded."""
    with suppress(StateVersionError, OSError):
        check_version(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / VERSION).write_text(f"{__version__}\n", "utf-8")


def check_pages(path: Path) -> None:
    """Read all pages of an SQLite file.

    Raises:
        StorageError: It cannot be read, or a page is damaged.
    """
    text = message("{path}: cannot be read, or is damaged: {error}")
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with (
        translated(StorageError, text, (sqlite3.Error, UnicodeDecodeError), path=path),
        closing(sqlite3.connect(uri, uri=True)) as file,
    ):
        (found,) = file.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise sqlite3.DatabaseError(found)
