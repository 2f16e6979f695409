"""Journal of tables: JSON lines in a file, with all values in memory."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from topiccrawl.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import FileIO
    from pathlib import Path

T = TypeVar("T")

FILE = "store.jsonl"


class Journal:
    """Tables of JSON values by key, shared by the processes of one machine.

    A line is a transaction: a list of ``[table, key, value]``; the value is null if the key was
    deleted. It is written and synced while the file is locked. The next transaction removes the
    incomplete line of a killed process. As this is an example, the file only grows.

    Args:
        folder: Folder of the file; the first transaction creates both.
        changed: Called with table and key of each change in order, also by other processes.
    """

    def __init__(
        self, folder: Path, changed: Callable[[str, str], None] = lambda _table, _key: None
    ) -> None:
        self.path = folder / FILE
        self.tables: dict[str, dict[str, Any]] = {}
        self._changed = changed
        self._read = 0
        self._new: list[tuple[str, str, Any]] = []
        self._lock = threading.Lock()

    def table(self, name: str) -> dict[str, Any]:
        """Return a table, which must be changed by ``put`` only."""
        return self.tables.setdefault(name, {})

    def put(self, table: str, key: str, value: Any) -> None:  # noqa: ANN401 - any JSON value
        """Set a value, or delete it with None; call it in ``write`` only."""
        self._new.append((table, key, value))
        self._apply(table, key, value)

    async def read(self, work: Callable[[], T]) -> T:
        """Return the result of a function that reads the current tables."""
        return await asyncio.to_thread(self._run, work, write=False)

    async def write(self, work: Callable[[], T]) -> T:
        """Return the result of a function that changes tables, after its changes are synced.

        Raises:
            StorageError: If the disk fails; then no change is stored.
        """
        return await asyncio.to_thread(self._run, work, write=True)

    def _run(self, work: Callable[[], T], *, write: bool) -> T:
        with self._lock:
            try:
                if not write:
                    if self.path.exists():
                        with self.path.open("rb", buffering=0) as file:
                            self._refresh(file)
                    return work()
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("ab+", buffering=0) as file:
                    fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
                    return self._write(file, work)
            except OSError as error:
                raise StorageError(f"{self.path}: {error}") from error

    def _write(self, file: FileIO, work: Callable[[], T]) -> T:
        self._refresh(file)
        file.truncate(self._read)
        try:
            result = work()
            self._append(file)
        except BaseException:
            file.truncate(self._read)
            self.tables, self._read = {}, 0  # so that the file is read again
            raise
        finally:
            self._new = []
        return result

    def _append(self, file: FileIO) -> None:
        if not self._new:
            return
        line = f"{json.dumps(self._new)}\n".encode()
        if file.write(line) != len(line):
            raise StorageError(f"{self.path}: the disk is full")
        os.fsync(file.fileno())
        self._read += len(line)

    def _refresh(self, file: FileIO) -> None:
        """Read the lines that were added since the last call."""
        file.seek(self._read)
        for line in file.readall().splitlines(keepends=True):
            if not line.endswith(b"\n"):
                return
            for change in json.loads(line):
                self._apply(*change)
            self._read += len(line)

    def _apply(self, table: str, key: str, value: Any) -> None:  # noqa: ANN401
        if value is None:
            self.table(table).pop(key, None)
        else:
            self.table(table)[key] = value
        self._changed(table, key)
