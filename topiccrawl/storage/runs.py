"""What runs told last, kept for those who look from outside: one record a run.

A crawl writes its whole state (see ``source``) every few seconds and when it ends, into its data
folder or Redis. The page of ``scrapy dashboard`` and the report are made of these records; one that
has not been told of late is a run that ended or died.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from topiccrawl.errors import StorageError
from topiccrawl.storage.rows import clean
from topiccrawl.storage.status import EMPTY

if TYPE_CHECKING:
    from topiccrawl.storage.status import State

EVERY = 3.0
"""Seconds between two records of a run."""
LOST = 15.0
"""Seconds without a record after which a run that did not say its end counts as dead."""
KEPT = 50
"""Runs that are kept in a folder, those told last."""
FOLDER = "runs"


class Told(NamedTuple):
    """A run's last record.

    Attributes:
        state: What it said.
        age: Seconds since.
    """

    state: State
    age: float

    @property
    def live(self) -> bool:
        """Whether the run goes on, as far as one can know."""
        return self.state["run"]["finished"] is None and self.age < LOST


class Runs(Protocol):
    """Where records are kept."""

    async def put(self, state: State) -> None:
        """Keep a run's record in place of its last one.

        Raises:
            StorageError: It was not kept.
        """
        ...

    async def all(self) -> list[Told]:
        """All records, of the run that began last first.

        Raises:
            StorageError: They cannot be read.
        """
        ...

    async def close(self) -> None:
        """Release what is held."""
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

    async def all(self) -> list[Told]:
        """See ``Runs.all``."""
        return await asyncio.to_thread(self.told)

    async def close(self) -> None:
        """Nothing is held."""

    def told(self) -> list[Told]:
        """The same, for callers outside an event loop; files that did not change are read once."""
        found: dict[Path, tuple[float, State]] = {}
        for path in self.folder.glob("*.json"):
            with suppress(FileNotFoundError):  # it was too old, and is gone
                if path.is_file():
                    found[path] = self._look(path)
        self._read = found
        now = time.time()
        return ordered([Told(state, max(0.0, now - at)) for at, state in found.values()])

    def _look(self, path: Path) -> tuple[float, State]:
        at = path.stat().st_mtime
        known = self._read.get(path)
        if known is not None and known[0] == at:
            return known
        try:
            return at, unpacked(path.read_bytes(), str(path))
        except PermissionError as error:
            raise StorageError(f"{path}: cannot be read: {error.strerror}") from error

    def _write(self, name: str, text: str) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            new = self.folder / f".{name}.{os.getpid()}"
            new.write_text(text, encoding="utf-8")
            new.replace(self.folder / name)
            for old in self._told_last()[:-KEPT]:
                old.unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(f"{self.folder}: cannot be written: {error.strerror}") from error

    def _told_last(self) -> list[Path]:
        """Records, the one told last at the end: a run that goes on stays, however old it is."""
        found: list[tuple[float, Path]] = []
        for path in self.folder.glob("*.json"):
            with suppress(FileNotFoundError):  # another run removed it
                found.append((path.stat().st_mtime, path))
        return [path for _, path in sorted(found)]


def packed(state: State) -> str:
    """A state as JSON text that UTF-8 can carry, whatever the web wrote."""
    return clean(json.dumps(state, ensure_ascii=False, separators=(",", ":")))


def unpacked(text: bytes, where: str) -> State:
    """A state from its JSON.

    Raises:
        StorageError: It is none, or one of another version.
    """
    try:
        state = json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise StorageError(f"{where}: no record of a run ({error}): remove it") from error
    if not isinstance(state, dict) or not all(map(_alike, map(state.get, _WHOLE), _WHOLE.values())):
        raise StorageError(f"{where}: no record of a run of this version: remove it")
    return state


_WHOLE = {name: section for name, section in EMPTY.items() if name != "nodes"}


def _alike(section: object, empty: object) -> bool:
    """Whether a section has what this version's has."""
    if not isinstance(section, dict) or not isinstance(empty, dict):
        return isinstance(section, type(empty))
    return empty.keys() <= section.keys()


def ordered(found: list[Told]) -> list[Told]:
    """Records, of the run that began last first."""
    return sorted(found, key=lambda told: -told.state["run"]["began"])
