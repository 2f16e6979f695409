"""Store of an embedded frontier: one LMDB environment in a folder, locked and versioned.

Changes are kept in RAM, where reads find them first, until a commit writes them. A separate thread
begins and ends LMDB's write transactions, since LMDB binds a transaction to its thread. The caller
waits while the changes are put (milliseconds), not while the disk is flushed. One commit is in
progress at a time.

Durability: a commit is LMDB's own. It flushes the pages it wrote, then writes the root that refers
to them (``metasync=False``: the root itself is flushed with the next commit). Completed commits
survive ``kill -9``. After a power failure the frontier is complete as of the last completed commit
or the one before. Without a flush in each commit (``sync="never"``) the disk may write a root
before its pages, and a power failure may leave an unreadable folder; this mode is for tests and
copies that are never opened again.
"""

from __future__ import annotations

import json
import os
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import chain, islice, takewhile
from os.path import samestat
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

import lmdb

from topiccrawl.errors import (
    StateError,
    StateLockedError,
    StateVersionError,
    StorageError,
    translated,
)
from topiccrawl.messages import message

if TYPE_CHECKING:
    from topiccrawl.links.strategies.contract import LinkStrategy

Sync = Literal["commit", "never"]
Changes = dict[str, dict[bytes, bytes | None]]
Feed = Callable[[str, Iterable[tuple[bytes, bytes | None]]], None]
"""Change feed: called with the name of a table, and keys and values (None: deleted)."""

FORMAT = 9
ABOUT, OWNER = "about", "owner"
MAP_START = 1 << 30
MAP_ROOM = 256 << 20
"""Minimum free bytes in the map when a commit begins; the map is only address space."""
PUT_ROOM = 16 << 10
"""Bytes that a change may write as copies of pages; values of ``LARGE`` tables are added."""
FILES = (
    "data.mdb", "lock.mdb", "begun", "VERSION", "safe", "safe.new", "urls-*.log", "hosts-*.log",
)  # fmt: skip
"""Files of a frontier of this format, or of an earlier one."""
BATCH = 500
TABLES = ("meta", "urls", "arrivals", "links", "due", "leased", "hosts", "robots", "seen")
"""``meta``: format, strategy, counters, progress; ``urls``: key to row, see ``rows``;
``arrivals``: arrival number to key; ``links``: key of a page to the packed keys of its counted
links; ``due``: time and key of delayed URLs; ``leased``: keys of leased pages; ``hosts``: number of
a host to its clock, name, units and statistics; ``robots``: origin to robots.txt; ``seen``: filters
of evicted keys, see ``seen``."""
LARGE = ("hosts", "robots", "seen")
_DAMAGED = message(
    "{path}: is damaged ({error}): restore the folder from a backup (`topiccrawl restore`), or "
    "start over with -a fresh=1"
)
_NO_ACCESS = message(
    "{path}: cannot open the frontier: {error}: "
    "give this user write access to the folder and its files"
)
_DENIED = (PermissionError, lmdb.ReadonlyError)
"""Errors of a user without write access, which readers need, too, to the lock file."""
_DECODING = (lmdb.Error, struct.error, ValueError, LookupError)
"""Errors of reading and decoding damaged values."""
REPORTED = frozenset({"urls", "links", "leased", "robots", "seen"})
"""Tables whose changes are reported to the change feed as they are."""


class Store:
    """Tables of one frontier; changes are kept in RAM and committed by a separate thread.

    Attributes:
        readonly: True if it is opened for reading only, while another process may write.
        txn: Read transaction as of the last completed commit.
        feed: Called with changes of URLs, links, robots.txt files, filters and leases, or None.
        changes: Values by table and key that changed since the last commit began; None: deleted.

    Raises:
        StateLockedError: Another process writes to the folder.
        StateVersionError: The folder has another format.
        StorageError: The folder cannot be written or read.
    """

    def __init__(self, path: str | Path, *, readonly: bool = False, sync: Sync = "commit") -> None:
        self.path = Path(path)
        self.readonly = readonly
        self.is_open = True
        self.feed: Feed | None = None
        self._readers = 0
        self.changes: Changes = {name: {} for name in TABLES}
        self._committing: Changes = {name: {} for name in TABLES}
        self._writer = ThreadPoolExecutor(1, "frontier")
        self._pending: Future[None] | None = None
        text = message("{path}: cannot open the frontier: {error}")
        causes = (lmdb.Error, OSError)
        with (
            translated(StorageError, text, causes, path=self.path),
            translated(StorageError, _NO_ACCESS, _DENIED, path=self.path),
            ExitStack() as opened,
        ):
            if not readonly:
                opened.enter_context(_locked(self.path))
            self._open(opened, sync)
            self._resources = opened.pop_all()

    def _open(self, opened: ExitStack, sync: Sync) -> None:
        """Open environment, tables and read transaction."""
        data, create = self.path / "data.mdb", not self.readonly
        size = data.stat().st_size if data.exists() else 0
        self.env = env = opened.enter_context(lmdb.open(
            os.fsencode(self.path), map_size=max(MAP_START, 2 * size + MAP_ROOM),
            max_dbs=len(TABLES) + 2, readahead=False, meminit=False, sync=sync == "commit",
            metasync=False, readonly=self.readonly, create=create,
        ))  # fmt: skip
        self._stat = data.stat()
        if create:
            env.reader_check()
        _check_format(self.path, env, env.open_db(b"meta", create=create))
        self._tables = {name: env.open_db(name.encode(), create=create) for name in TABLES}
        self.txn = env.begin()

    def commit(self) -> None:
        """Begin a commit of all changes so far, after the one in progress has completed.

        Raises:
            OSError: The file was deleted or replaced.
            lmdb.Error: The commit failed.
        """
        self.wait_for_commit()
        data = self.path / "data.mdb"
        if not samestat(data.stat(), self._stat):  # LMDB would write to a deleted file
            raise FileNotFoundError(f"another file replaced {data}")
        self._make_room()
        txn = self._writer.submit(self._write).result()
        self._committing, self.changes = self.changes, {name: {} for name in TABLES}
        self._pending = self._writer.submit(txn.commit)

    def commit_done(self) -> bool:
        """Check whether no commit is in progress."""
        return self._pending is None or self._pending.done()

    def wait_for_commit(self) -> None:
        """Wait for the commit in progress and read its result from now on.

        Raises:
            lmdb.Error: The commit failed.
        """
        if self._pending is not None:
            pending, self._pending = self._pending, None
            pending.result()
            self._committing = {name: {} for name in TABLES}
            self.txn.abort()
            self.txn = self.env.begin()

    def _write(self) -> lmdb.Transaction[bytes]:
        """Put the changes into a transaction of the writer's thread, each table in key order."""
        txn = self.env.begin(write=True)
        try:
            for name, changes in self.changes.items():
                _put(txn, self._tables[name], changes)
        except lmdb.Error:
            txn.abort()
            raise
        return txn

    def _make_room(self) -> None:
        """Enlarge the map before a commit that might fill it."""
        large = (data or b"" for table in LARGE for data in self.changes[table].values())
        room = max(MAP_ROOM, sum(map(len, self.changes.values())) * PUT_ROOM + sum(map(len, large)))
        info = self.env.info()
        size = info["map_size"]
        if size - (info["last_pgno"] + 1) * self.env.stat()["psize"] < room:
            self.txn.abort()
            self.env.set_mapsize(2 * size + room)
            self.txn = self.env.begin()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read from one commit within the context: the last one, if another process writes.

        Raises:
            StorageError: What was read is damaged.
        """
        if self.readonly and not self._readers:
            self.txn.abort()
            self.txn = self.env.begin()
        self._readers += 1
        try:
            with translated(StorageError, _DAMAGED, _DECODING, path=self.path):
                yield
        finally:
            self._readers -= 1

    def close(self) -> None:
        """Close without another commit; idempotent."""
        if self.is_open:
            self.is_open = False
            self._writer.shutdown()
            self.txn.abort()
            self._resources.close()

    def get(self, table: str, key: bytes) -> bytes | None:
        """Return a value, or None."""
        for changes in (self.changes[table], self._committing[table]):
            if key in changes:
                return changes[key]
        return self.txn.get(key, None, self._tables[table])

    def committed(self, table: str, key: bytes) -> bytes | None:
        """Return a value as of the last completed commit, or None."""
        if self.commit_done():
            self.wait_for_commit()
        return self.txn.get(key, None, self._tables[table])

    def get_many(self, table: str, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the values of existing keys; looked up in key order, which is faster."""
        wanted = set(keys)
        found: dict[bytes, bytes | None] = {}
        for changes in (self._committing[table], self.changes[table]):
            found.update((key, changes[key]) for key in changes.keys() & wanted)
        cursor: lmdb.Cursor[bytes] = self.txn.cursor(self._tables[table])
        found.update(cursor.getmulti(sorted(wanted - found.keys())))
        return {key: data for key, data in found.items() if data is not None}

    def put(self, table: str, key: bytes, data: bytes | None) -> None:
        """Set a value; None deletes it."""
        self.put_many(table, {key: data})

    def put_many(self, table: str, items: Mapping[bytes, bytes | None]) -> None:
        """Set values by key; None deletes one."""
        self.changes[table].update(items)
        if self.feed is not None and table in REPORTED:
            self.feed(table, items.items())

    def items(
        self, table: str, prefix: bytes = b"", after: bytes = b"", size: int = BATCH
    ) -> Iterator[tuple[bytes, bytes]]:
        """Yield items with a key prefix, after a key; a commit may happen between two batches."""
        start = after + b"\0" if after else prefix
        more = True
        while more:
            cursor: lmdb.Cursor[bytes] = self.txn.cursor(self._tables[table])
            committed = cursor.iternext() if cursor.set_range(start) else iter(())
            committed = takewhile(lambda item: item[0].startswith(prefix), committed)
            found: dict[bytes, bytes | None] = dict(islice(committed, size))
            more = len(found) == size
            end = next(reversed(found)) if more else b""
            for changes in (self._committing[table], self.changes[table]):
                keys = [key for key in changes if key >= start and (key <= end or not more)]
                found.update((key, changes[key]) for key in keys if key.startswith(prefix))
            yield from sorted((key, data) for key, data in found.items() if data is not None)
            start = end + b"\0"

    def values(self, table: str) -> Iterator[bytes]:
        """Yield all values as of the last completed commit; no commit may happen meanwhile."""
        return self.txn.cursor(self._tables[table]).iternext(keys=False)

    def size(self, table: str) -> int:
        """Return the number of items as of the last completed commit."""
        return self.txn.stat(self._tables[table])["entries"]

    def load(self, name: str) -> Any:  # noqa: ANN401 - any JSON
        """Return a value of the meta table, or None."""
        data = self.get("meta", name.encode())
        return None if data is None else json.loads(data)

    def save(self, name: str, value: object) -> None:
        """Store a JSON value in the meta table."""
        self.put("meta", name.encode(), json.dumps(value, ensure_ascii=False).encode())

    def check(self, strategy: LinkStrategy, owner: str = "") -> None:
        """Refuse the state of another strategy or owner, and close; a new folder records both.

        A strategy may have added fields at the end since then.

        Args:
            strategy: Strategy of the crawl.
            owner: Owner of the crawl; "" accepts any.

        Raises:
            StateVersionError: The state is of another strategy.
            StateError: The state is of another owner.
        """
        fields = list(strategy.fields)
        about: dict[str, Any] = {"format": FORMAT, "strategy": strategy.name, "fields": fields}
        found: dict[str, Any] = self.load(ABOUT) or ({} if self.readonly else about)
        recorded = found.get("fields", [])
        if {**found, "fields": fields} != about or recorded != fields[: len(recorded)]:
            self.close()
            raise StateVersionError(
                "{path}: holds the frontier of {found!r}, this crawl is for {wanted!r}; start over"
                " with -a fresh=1, or name another folder with -s TOPICCRAWL_DATA_DIR=…",
                path=self.path, found=found, wanted=about,
            )  # fmt: skip
        recorded_owner = self.load(OWNER) or owner
        if owner and recorded_owner != owner:
            self.close()
            raise StateError(
                "{path}: holds the frontier of {found!r}, this crawl is for {wanted!r}; start over"
                " with -a fresh=1, or name another JOBDIR",
                path=self.path, found=recorded_owner, wanted=owner,
            )  # fmt: skip
        if not self.readonly:
            self.save(ABOUT, about)
            self.save(OWNER, recorded_owner)


def _put(
    txn: lmdb.Transaction[bytes], table: lmdb._Database, changes: dict[bytes, bytes | None]
) -> None:
    """Put changes in key order; keys after all existing ones are appended, which fills pages."""
    cursor: lmdb.Cursor[bytes] = txn.cursor(table)
    last = cursor.key() if cursor.last() else b""
    keys = sorted(key for key, data in changes.items() if data is not None)
    end = bisect_right(keys, last)
    for part, append in ((keys[:end], False), (keys[end:], True)):
        items = zip(part, map(changes.__getitem__, part), strict=True)  # without a list of tuples
        cursor.putmulti(items, append=append)  # type: ignore[arg-type]
    for key in changes.keys() - keys if len(keys) < len(changes) else ():
        txn.delete(key, db=table)


def _check_format(path: Path, env: lmdb.Environment, meta: lmdb._Database) -> None:
    """Refuse a frontier of another format before its tables are opened."""
    with env.begin() as txn:
        about = txn.get(ABOUT.encode(), None, meta)
    found = FORMAT if about is None else json.loads(about).get("format", FORMAT)
    if found != FORMAT:
        name, parent = path.name, path.parent
        if parent.name != "frontiers":  # the folder is in JOBDIR
            name += f" -s JOBDIR={quote(str(parent))}"
        raise StateVersionError(
            "{path}: written in format {found}, this version has {format}: start over with"
            " -a fresh=1, or carry it over: `scrapy frontier export FILE"
            " -s TOPICCRAWL_CRAWL={name}` with the version that wrote it, delete the folder, then"
            " the same with `import` and this version",
            path=path, found=found, format=FORMAT, name=name,
        )  # fmt: skip


def discard(path: str | Path) -> None:
    """Delete a frontier that no process uses; do nothing if there is none.

    Raises:
        StateLockedError: A crawl uses it.
        StorageError: It cannot be deleted.
    """
    folder = Path(path)
    if not folder.exists():
        return
    text = message("{folder}: cannot delete the frontier: {error}")
    with translated(StorageError, text, folder=folder), _locked(folder):
        for file in chain.from_iterable(map(folder.glob, FILES)):
            file.unlink()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock a folder for this process within the context; create it if it does not exist."""
    import fcntl  # noqa: PLC0415 - not on every system

    path.mkdir(parents=True, exist_ok=True)
    with (path / "LOCK").open("ab") as lock:
        text = message("{path}: another crawl uses it; stop that one, or name another folder")
        with translated(StateLockedError, text, (BlockingIOError,), path=path):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
