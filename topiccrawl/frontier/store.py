"""The folder of an embedded frontier: one LMDB environment, locked and versioned.

Durability. A commit is LMDB's own: it flushes the pages it wrote, then writes the root that refers
to them (``metasync=False``: the root itself is flushed with the next commit). Committed changes
survive ``kill -9``; a power cut leaves a whole frontier, as of the last commit or the one before.
A commit takes as long as the flush of the disk, so changes are grouped by size and age (see
``embedded``). ``sync="never"`` flushes nothing: ``kill -9`` loses no more, but a power cut may
leave a folder that cannot be read. It is for tests, and for copies that are never opened again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import lmdb

from topiccrawl.errors import StateError, StateLockedError, StateVersionError, StorageError
from topiccrawl.frontier.rows import KEY_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topiccrawl.links.strategies.contract import LinkStrategy

Sync = Literal["commit", "never"]
Item = tuple[bytes, bytes]
Feed = Callable[[str, Iterable[tuple[bytes, bytes | None]]], None]
"""Listener to all changes: name of a table, keys and values (None: deleted)."""

FORMAT = 7
MIGRATIONS: dict[int, Callable[[lmdb.Environment], None]] = {}
"""Functions that migrate a format to the next one, in place; other formats are refused."""
ABOUT, OWNER = "about", "owner"
MAP_START = 1 << 30
MAP_ROOM = 256 << 20
"""Bytes one transaction may add before the map is checked again; the map is address space only."""
LINK_ROOM = 32 << 10
"""Most bytes that a link may write: its host, its unit and their groups are new."""
FILES = ("data.mdb", "lock.mdb", "begun", "safe", "safe.new", "urls-*.log", "hosts-*.log")
"""Files that a frontier of this format, or of an earlier one, may have in its folder."""
LEASED = b"leased"
MAX_KEY = 500
"""Most bytes of a key; LMDB takes no more than 511."""
BATCH = 500
TABLES = ("ids", "rows", "links", "due", "hosts", "units", "groups", "robots", "seen")


class Store:
    """Open tables of one frontier, with one transaction that is always open.

    Attributes:
        readonly: Whether it is opened for reading only, while another process may write.
        is_open: Whether it was not closed yet.
        txn: The open transaction; replaced at every commit.
        feed: Listener to changes of URLs, links, robots.txt files, filters and leases, or None.
        ids: Key to the number of a URL's arrival.
        rows: Number to key and row; see ``rows``.
        links: Key of a page to the packed keys of its links that were counted.
        due: Time and key of delayed URLs.
        hosts: Number to clock, statistics and name of a host.
        units: Host and unit number to origin and groups.
        groups: Host and place inside it to the name of a group that no unit has.
        robots: Origin to its robots.txt.
        seen: Filters of evicted keys; see ``seen``.
        meta: Format, strategy, counters, progress.

    Raises:
        StateLockedError: Another process writes here.
        StateVersionError: Written by another format.
        StorageError: The folder cannot be written or read.
    """

    ids: lmdb._Database
    rows: lmdb._Database
    links: lmdb._Database
    due: lmdb._Database
    hosts: lmdb._Database
    units: lmdb._Database
    groups: lmdb._Database
    robots: lmdb._Database
    seen: lmdb._Database

    def __init__(self, path: str | Path, *, readonly: bool = False, sync: Sync = "commit") -> None:
        self.path = Path(path)
        self.readonly = readonly
        self.is_open = True
        self.feed: Feed | None = None
        self._readers = 0
        self._lock = None if readonly else _FolderLock(self.path)
        try:
            self.env = self._environment(sync)
        except (lmdb.Error, OSError) as error:
            self._unlock()
            raise StorageError(f"{self.path}: cannot open the frontier: {error}") from error
        try:
            self._open_tables()
        except (StateVersionError, lmdb.Error) as error:
            self._release()
            if isinstance(error, StateVersionError):
                raise
            raise StorageError(f"{self.path}: cannot open the frontier: {error}") from error

    def _environment(self, sync: Sync) -> lmdb.Environment:
        data = self.path / "data.mdb"
        size = data.stat().st_size if data.exists() else 0
        return lmdb.open(
            str(self.path), map_size=max(MAP_START, 2 * size + MAP_ROOM), max_dbs=len(TABLES) + 1,
            readahead=False, meminit=False, sync=sync == "commit", metasync=False,
            readonly=self.readonly, create=not self.readonly,
        )  # fmt: skip

    def _open_tables(self) -> None:
        env = self.env
        if not self.readonly:
            env.reader_check()
        self.meta = env.open_db(b"meta", create=not self.readonly)
        _check_format(self.path, env, self.meta, readonly=self.readonly)
        for name in TABLES:
            setattr(self, name, env.open_db(name.encode(), create=not self.readonly))
        self.txn = env.begin(write=not self.readonly)

    # -- transactions ------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read from the last commit of the writing process on, unless a reading is in progress."""
        if self.readonly and not self._readers:
            self.txn.abort()
            self._begin()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Stay at one commit within the context, where another process writes."""
        self._readers += 1
        try:
            yield
        finally:
            self._readers -= 1

    def commit(self, room: int = 0) -> None:
        """Make all puts durable, and go on in a new transaction with room for ``room`` links."""
        self.txn.commit()
        info = self.env.info()
        size, least = info["map_size"], max(MAP_ROOM, room * LINK_ROOM)
        if size - (info["last_pgno"] + 1) * self.env.stat()["psize"] < least:
            self.env.set_mapsize(2 * size + least)
        self._begin()

    def _begin(self) -> None:
        self.txn = self.env.begin(write=not self.readonly)

    def close(self) -> None:
        """Close without committing; idempotent."""
        if self.is_open:
            self.txn.abort()
            self._release()

    def _release(self) -> None:
        self.env.close()
        self._unlock()

    def _unlock(self) -> None:
        self.is_open = False
        if self._lock is not None:
            self._lock.release()

    # -- tables ------------------------------------------------------------------------------------

    def load(self, name: str) -> object:
        """Return a value of the meta table, or None."""
        data = self.txn.get(name.encode(), None, self.meta)
        return None if data is None else json.loads(data)

    def save(self, name: str, value: object) -> None:
        """Store a JSON value in the meta table."""
        data = json.dumps(value, ensure_ascii=False).encode()
        self.txn.put(name.encode(), data, db=self.meta)

    def items(
        self, table: lmdb._Database, prefix: bytes = b"", after: bytes = b"", size: int = BATCH
    ) -> Iterator[Item]:
        """Yield items with a key prefix, behind a key; commits may come between pieces."""
        start = after + b"\0" if after else prefix
        while True:
            cursor: lmdb.Cursor[bytes] = self.txn.cursor(table)
            found = cursor.set_range(start) if start else cursor.first()
            piece: list[Item] = []
            while found and len(piece) < size and cursor.key().startswith(prefix):
                piece.append(cursor.item())
                found = cursor.next()
            yield from piece
            if len(piece) < size:
                return
            start = piece[-1][0] + b"\0"

    def get_many(self, table: lmdb._Database, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the values of existing keys; looked up in order, which is quicker."""
        cursor: lmdb.Cursor[bytes] = self.txn.cursor(table)
        return dict(cursor.getmulti(sorted(keys)))

    def put_many(self, table: lmdb._Database, items: Iterable[Item]) -> None:
        """Store values, written in the order of their keys."""
        self.txn.cursor(table).putmulti(sorted(items))

    def robots_of(self, origin: str) -> bytes:
        """Return the stored robots.txt of an origin, b"" where there is none."""
        return self.txn.get(origin_key(origin), b"", self.robots) or b""

    def put_robots(self, origin: bytes, answer: bytes) -> None:
        """Store the robots.txt of an origin (see ``origin_key``)."""
        self.txn.put(origin, answer, db=self.robots)
        self.follow("robots", ((origin, answer),))

    def put_filter(self, name: bytes, data: bytes) -> None:
        """Store a filter of evicted URLs."""
        self.txn.put(name, data, db=self.seen)
        self.follow("seen", ((name, data),))

    def leased(self) -> list[bytes]:
        """Return the keys of leased pages, as of the last commit."""
        packed = self.txn.get(LEASED, b"", self.meta) or b""
        return [packed[at : at + KEY_BYTES] for at in range(0, len(packed), KEY_BYTES)]

    def follow(self, table: str, items: Iterable[tuple[bytes, bytes | None]]) -> None:
        """Report changes to the feed, if there is one."""
        if self.feed is not None:
            self.feed(table, items)

    # -- strategy and owner ------------------------------------------------------------------------

    def check(self, strategy: LinkStrategy) -> None:
        """Refuse state of another strategy; a new folder records this strategy.

        Raises:
            StateVersionError: It is of another.
        """
        wanted = {"format": FORMAT, "strategy": strategy.name, "fields": list(strategy.fields)}
        found = self.load(ABOUT)
        if found is None and not self.readonly:
            self.save(ABOUT, wanted)
        elif found != wanted:
            raise StateVersionError(
                f"{self.path}: holds a frontier of {found}, this crawl needs {wanted};"
                " start over with -a fresh=1, or name another folder with -s TOPICCRAWL_DATA_DIR=…"
            )

    def claim(self, owner: str) -> None:
        """Refuse state of another owner; "" claims nothing.

        Raises:
            StateError: It has another owner.
        """
        known = self.load(OWNER)
        if owner and known is None:
            self.save(OWNER, owner)
        elif owner and known != owner:
            raise StateError(
                f"{self.path}: holds the frontier of {known!r}, this crawl is for {owner!r};"
                " start over with -a fresh=1, or name another JOBDIR"
            )


def origin_key(origin: str) -> bytes:
    """Return the key of an origin's robots.txt."""
    return origin.encode(errors="replace")[:MAX_KEY]


def _check_format(
    path: Path, env: lmdb.Environment, meta: lmdb._Database, *, readonly: bool
) -> None:
    """Migrate a frontier of an earlier version, or refuse it, before its tables are opened."""
    with env.begin() as txn:
        about = txn.get(ABOUT.encode(), None, meta)
    known = {} if about is None else json.loads(about)
    found = known.get("format", FORMAT)
    while found in MIGRATIONS and not readonly:
        MIGRATIONS[found](env)
        found += 1
        with env.begin(write=True) as txn:
            txn.put(ABOUT.encode(), json.dumps({**known, "format": found}).encode(), db=meta)
    if found != FORMAT:
        raise StateVersionError(
            f"{path}: written in format {found}, this version has {FORMAT}:"
            " start over with -a fresh=1, or carry it over: `scrapy frontier export` with the"
            " version that wrote it, `scrapy frontier import` with this one"
        )


def strategy_of(path: str | Path) -> str:
    """Return the name of an existing frontier's strategy.

    Raises:
        StorageError: There is no frontier.
    """
    store = Store(path, readonly=True)
    try:
        about = store.load(ABOUT)
    finally:
        store.close()
    return str(about["strategy"]) if isinstance(about, dict) else ""


def discard(path: str | Path) -> None:
    """Delete a frontier that no process uses; do nothing where there is none.

    Raises:
        StateLockedError: A crawl uses it.
        StorageError: It cannot be deleted.
    """
    folder = Path(path)
    if not folder.exists():
        return
    lock = _FolderLock(folder)
    try:
        for pattern in FILES:
            for file in folder.glob(pattern):
                file.unlink()
    except OSError as error:
        message = f"{folder}: cannot delete the frontier: {error}"
        raise StorageError(message) from error
    finally:
        lock.release()


class _FolderLock:
    """Lock of a folder for this process; the only place that needs a system call beside LMDB."""

    def __init__(self, path: Path) -> None:
        import fcntl  # noqa: PLC0415 - not on every system

        try:
            path.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(path / "LOCK", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            message = f"{path}: cannot write the frontier here: {error}"
            raise StorageError(message) from error
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._handle)
            message = f"{path}: another crawl uses it; stop that one, or name another folder"
            raise StateLockedError(message) from error

    def release(self) -> None:
        """Unlock; idempotent."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
