"""Last reported states of runs, for monitoring from outside: one record per run.

A crawl writes its whole state (see ``status``) every few seconds and when it ends, into its data
folder or Redis. ``scrapy dashboard`` and the report are made of these records. A record that was
not updated lately belongs to a run that ended or died.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from topiccrawl.errors import StorageError
from topiccrawl.storage.files import opened_private
from topiccrawl.storage.rows import clean
from topiccrawl.storage.status import EMPTY, State

EVERY = 3.0
"""Seconds between two records of a run."""
LOST = 15.0
"""Seconds without an update after which a run that did not report its end counts as dead."""
KEPT = 50
"""Number of records kept in a folder, those updated last."""
FOLDER = "runs"


class RunReport(NamedTuple):
    """A run's last record.

    Attributes:
        state: Its reported state.
        age: Seconds since the report.
    """

    state: State
    age: float

    @property
    def live(self) -> bool:
        """True if the run has reported no end and its record is fresh."""
        return self.state["run"]["finished"] is None and self.age < LOST


class Runs(Protocol):
    """Storage of the records of runs."""

    async def put(self, state: State) -> None:
        """Store a run's record in place of its last one.

        Raises:
            StorageError: It was not stored.
        """
        ...

    async def all(self) -> list[RunReport]:
        """Return all records, that of the latest run first.

        Raises:
            StorageError: They cannot be read.
        """
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


class LocalRuns:
    """Records as files of a data folder.

    Args:
        folder: TOPICCRAWL_DATA_DIR.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder) / FOLDER
        self._read: dict[Path, tuple[float, State]] = {}

    async def put(self, state: State) -> None:
        """See ``Runs.put``."""
        text = packed(state)
        await asyncio.to_thread(self._write, f"{state['run']['id']}.json", text)

    async def all(self) -> list[RunReport]:
        """See ``Runs.all``."""
        return await asyncio.to_thread(self.reports)

    async def close(self) -> None:
        """Do nothing: no connection is held open."""

    def reports(self) -> list[RunReport]:
        """Return all records, for callers outside an event loop; unchanged files are read once."""
        found: dict[Path, tuple[float, State]] = {}
        for path in self.folder.glob("*.json"):
            with suppress(FileNotFoundError):  # deleted meanwhile by a run, as too old
                if path.is_file():
                    found[path] = self._look(path)
        self._read = found
        now = time.time()
        return ordered([RunReport(state, max(0.0, now - at)) for at, state in found.values()])

    def _look(self, path: Path) -> tuple[float, State]:
        at = path.stat().st_mtime
        known = self._read.get(path)
        if known is not None and known[0] == at:
            return known
        try:
            return at, unpacked(path.read_bytes(), str(path))
        except PermissionError as error:
            raise StorageError(
                "{path}: cannot be read: {strerror}", path=path, strerror=error.strerror
            ) from error

    def _write(self, name: str, text: str) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            new = self.folder / f".{name}.{os.getpid()}"
            with open(new, "w", encoding="utf-8", opener=opened_private) as file:
                file.write(text)
            new.replace(self.folder / name)
            for old in self._oldest_first()[:-KEPT]:
                old.unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(
                "{folder}: cannot be written: {strerror}",
                folder=self.folder,
                strerror=error.strerror,
            ) from error

    def _oldest_first(self) -> list[Path]:
        """Return the records, last updated at the end, so that a long run's record is kept."""
        found: list[tuple[float, Path]] = []
        for path in self.folder.glob("*.json"):
            with suppress(FileNotFoundError):  # another run removed it
                found.append((path.stat().st_mtime, path))
        return [path for _, path in sorted(found)]


def packed(state: State) -> str:
    """Return a state as JSON text that UTF-8 can encode, whatever pages contain."""
    return clean(json.dumps(state, ensure_ascii=False, separators=(",", ":")))


def unpacked(text: bytes, where: str) -> State:
    """Return a state from its JSON.

    Raises:
        StorageError: It is not a state, or it is of another version.
    """
    try:
        state = json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise StorageError(
            "{where}: no record of a run ({error}): remove it", where=where, error=error
        ) from error
    if not isinstance(state, dict) or not all(map(_alike, map(state.get, _WHOLE), _WHOLE.values())):
        raise StorageError("{where}: no record of a run of this version: remove it", where=where)
    return state


_OPTIONAL = {"nodes", "review"}  # of crawls together; since 0.2.0
_WHOLE = {name: section for name, section in EMPTY.items() if name not in _OPTIONAL}


def _alike(section: object, empty: object) -> bool:
    """Return whether a section has the type and keys of this version."""
    if not isinstance(section, dict) or not isinstance(empty, dict):
        return isinstance(section, type(empty))
    return empty.keys() <= section.keys()


def ordered(found: list[RunReport]) -> list[RunReport]:
    """Return the records, that of the latest run first."""
    return sorted(found, key=lambda report: -report.state["run"]["began"])
