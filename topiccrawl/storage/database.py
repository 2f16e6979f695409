"""SQLite file accessed from one thread: opening, migration, locking and error messages."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from errno import EACCES
from os.path import samestat
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from topiccrawl.errors import StateVersionError, StorageAwayError, StorageError, translated
from topiccrawl.messages import Message, message
from topiccrawl.storage.files import touch_private
from topiccrawl.storage.schema import STEPS, migrate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import stat_result

    Work = Callable[[sqlite3.Connection], "T"]

T = TypeVar("T")

FILE = "store.sqlite"
"""Name of the file inside TOPICCRAWL_DATA_DIR."""

BUSY_SECONDS = 30.0
"""Seconds that a transaction waits for the lock of another process."""

RETRY_SECONDS = 0.5
"""Seconds that it waits after one that waited in vain: spooled articles are tried every 5 s."""

REMEDIES = {
    "SQLITE_FULL": message("free disk space"),
    "SQLITE_READONLY": message("make the file and its folder writable for this user"),
    "SQLITE_CANTOPEN": message("create the folder and make it writable"),
    "SQLITE_BUSY": message("stop the process that locks it"),
    "SQLITE_CORRUPT": message("restore it from a backup"),
    "SQLITE_IOERR": message("check the disk and its free space"),
}
"""Remedies by primary result code of SQLite."""

_OPEN = message("{path}: cannot open: {error}; {remedy}")
_READ = message("{path}: cannot read: {error}; {remedy}")
_WRITE = message("{path}: cannot write: {error}; {remedy}")


def waiting(seconds: float) -> Work[sqlite3.Cursor]:
    """Return work after which the next transaction waits for a lock for these seconds at most."""
    return lambda connection: connection.execute(f"PRAGMA busy_timeout = {1000 * seconds:.0f}")


class Database:
    """SQLite database in write-ahead mode, shared between processes.

    All work runs in order on a separate thread, so that the event loop never waits for the disk.
    With ``synchronous=FULL``, a committed transaction survives power cuts, not only kill -9. The
    cost is one sync per commit, which group commits share.

    Args:
        path: Path of the file; its folder is created.
        steps: Migration steps; see ``topiccrawl.storage.schema``.
        prepare: Called with each new connection, after the migration.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        steps: Sequence[str] = STEPS,
        prepare: Work[None] = lambda _: None,
    ) -> None:
        self._steps = steps
        self._prepare = prepare
        self._opening = asyncio.Lock()
        self.path = Path(path)
        self._executor: ThreadPoolExecutor | None = None
        self._connection: sqlite3.Connection
        self._stat: stat_result

    def open(self) -> None:
        """Open the file, creating or migrating it. Idempotent.

        Raises:
            StateVersionError: It is not a store, or a newer version wrote it.
            StorageError: It cannot be opened.
        """
        if self._executor is None:
            self._connection = self._connect()
            self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")

    async def ready(self, *, create: bool = False) -> bool:
        """Open the file if it exists or ``create`` is true; return whether it is open."""
        async with self._opening:
            if self._executor is None and (create or self.path.exists()):
                await asyncio.to_thread(self.open)
            return self._executor is not None

    def close(self) -> None:
        """Finish running work and close the file. Idempotent."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.submit(self._connection.close).result()
            executor.shutdown()

    async def read(self, work: Work[T]) -> T:
        """Run ``work`` on a consistent snapshot and return its result.

        Raises:
            StorageError: SQLite failed.
        """
        return await asyncio.wrap_future(self._submit(work, "BEGIN"))

    async def read_existing(self, work: Work[T], missing: T) -> T:
        """Run ``work`` like ``read``; return ``missing`` without creating a file."""
        return await self.read(work) if await self.ready() else missing

    async def write(self, work: Work[T]) -> T:
        """Run ``work`` in a transaction and return its result after the commit.

        Raises:
            StorageError: The transaction was rolled back.
        """
        return await asyncio.wrap_future(self._submit(work, "BEGIN IMMEDIATE"))

    def call(self, work: Work[T], begin: str = "BEGIN IMMEDIATE") -> T:
        """Run ``work`` in a transaction; the blocking form of ``write``, or ``read`` by "BEGIN"."""
        return self._submit(work, begin).result()

    def require_writable(self) -> None:
        """Raise an error if a file of it is read-only; locks of other processes are not waited for.

        Raises:
            StorageError: The file or its write-ahead log is read-only.
        """
        effective = os.access in os.supports_effective_ids
        for path in (self.path, *self.path.parent.glob(f"{self.path.name}-[ws][ah][lm]")):
            if not os.access(path, os.W_OK, effective_ids=effective):
                remedy = REMEDIES["SQLITE_READONLY"]
                raise StorageError(_WRITE, path=path, error=os.strerror(EACCES), remedy=remedy)

    def _submit(self, work: Work[T], begin: str) -> Future[T]:
        if self._executor is None:
            raise StorageError("{path}: the store is closed; open it first", path=self.path)
        return self._executor.submit(self._transact, work, begin)

    def _connect(self) -> sqlite3.Connection:
        named = {"path": self.path, "remedy": REMEDIES["SQLITE_CANTOPEN"]}
        with translated(StorageError, _OPEN, **named), self._translated(_OPEN):
            touch_private(self.path)
            connection = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None,
                check_same_thread=False,
            )  # fmt: skip
            try:
                self._stat = self.path.stat()
                self._write_ahead(connection)
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA foreign_keys = ON")
                migrate(connection, str(self.path), self._steps)
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
        return connection

    def _write_ahead(self, connection: sqlite3.Connection) -> None:
        """Enable write-ahead mode, retrying while another process enables it."""
        end = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > end:
                    raise
                time.sleep(0.01)
            else:
                return

    def _transact(self, work: Work[T], begin: str) -> T:
        connection, writes = self._connection, begin.endswith("IMMEDIATE")
        if writes:
            self._require_file()
        with self._translated(_WRITE if writes else _READ):
            try:
                self._begin(begin)
                result = work(connection)
                if isinstance(result, sqlite3.Cursor):
                    result.close()  # freed in another thread, it would interfere with later work
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        return result

    def _begin(self, begin: str) -> None:
        seconds = BUSY_SECONDS
        try:
            self._connection.execute(begin)
        except sqlite3.OperationalError:
            seconds = RETRY_SECONDS
            raise
        finally:
            if begin == "BEGIN IMMEDIATE":
                waiting(seconds)(self._connection)

    def _require_file(self) -> None:
        """Raise an error if the file was deleted: SQLite would write to the deleted file."""
        text = message("{path}: was deleted or replaced while it was open; start again")
        with translated(StorageError, text, path=self.path):
            if not samestat(self.path.stat(), self._stat):
                raise FileNotFoundError

    @contextmanager
    def _translated(self, text: Message) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # a damaged schema has any bytes
            undecodable = isinstance(error, sqlite3.OperationalError | UnicodeDecodeError)
            name = getattr(error, "sqlite_errorname", "SQLITE_CORRUPT" if undecodable else "")
            if name == "SQLITE_NOTADB":
                raise StateVersionError(
                    "{path}: not a SQLite database; move it away or choose another "
                    "TOPICCRAWL_DATA_DIR",
                    path=self.path,
                ) from error
            code = "_".join(name.split("_")[:2])
            remedy = REMEDIES.get(code, message("see the reason; what was stored before is intact"))
            kind = StorageAwayError if code == "SQLITE_BUSY" else StorageError
            raise kind(text, path=self.path, error=error, remedy=remedy) from error
