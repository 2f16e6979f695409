"""The folder of an embedded frontier: two logs and an LMDB environment, locked and versioned.

What is bulky, rows of URLs and links of pages, lies in a log (see ``urls``); what every page
changes of its host in another (see ``hostlog``); all else in LMDB, with how far the logs go. The
commit of LMDB's transaction is the commit of all: what was written to a log beyond is cut off when
the folder is opened.

Durability. A commit writes the logs, pages and the new root to the operating system without
flushing: what was committed survives ``kill -9``. After a power cut the state is that of the last
checkpoint, at most seconds old (see ``checkpoint``). ``sync="commit"`` flushes at every commit
instead: a power cut then takes one commit at most, but a commit stalls for as long as the disk
takes. ``sync="never"`` leaves it to the operating system: a power cut may leave nothing that can be
read; for tests.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import lmdb

from topiccrawl.errors import StateLockedError, StateVersionError, StorageError
from topiccrawl.frontier import hostlog, urls
from topiccrawl.frontier.about import ABOUT, check_format
from topiccrawl.frontier.checkpoint import Checkpoint, boot_id, restore
from topiccrawl.frontier.hostlog import HostLog
from topiccrawl.frontier.keys import KEY_BYTES
from topiccrawl.frontier.log import FILES as SEGMENTS
from topiccrawl.frontier.manifest import Manifest
from topiccrawl.frontier.urls import Urls

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

Sync = Literal["checkpoint", "commit", "never"]

MAP_START = 1 << 30
MAP_ROOM = 256 << 20
"""Bytes one transaction may add before the map is checked again; the map is address space only."""
LINK_ROOM = 32 << 10
"""Bytes a link may write at worst: its host, its unit and their groups are new."""
CHECKPOINT_SECONDS = 5.0
CHECKPOINT_LINKS = 100_000
"""A checkpoint is begun so often; until it is done, no page that it needs is used again."""
FILES = ("data.mdb", "lock.mdb", "begun", "safe", "safe.new")
TABLES = (
    "segments", "forgotten", "seen", "due", "hosts", "units", "groups", "robots",
)  # fmt: skip
LEASED = b"leased"
TRIES = 20
"""Times the logs are opened while another process deletes segments of them."""


class Store:
    """Open tables of one frontier, with one transaction that is always open.

    Attributes:
        readonly: Whether another process writes it.
        restored: Whether a power cut made it go back to the last checkpoint.
        is_open: Whether it was not closed yet.
        txn: The open transaction; replaced at every commit.
        segments: Which log, and number of a segment, to its length.
        forgotten: Key of a page that was forgotten to the packed keys of its links.
        seen: Filters of the keys that were let go; see ``seen``.
        due: Time and key of what waits for a time.
        hosts: Number to the host's name.
        units: Host and unit number to origin and groups.
        groups: Host and place inside it to the name of a group that no unit has.
        robots: Origin to its robots.txt.
        meta: Format, strategy, counters, progress.

    Raises:
        StateLockedError: Another process writes here.
        StateVersionError: Written by another format or for another strategy.
        StorageError: The folder cannot be written or read.
    """

    urls_type: ClassVar[type[Urls]] = Urls

    def __init__(
        self, path: str | Path, *, readonly: bool = False, sync: Sync = "checkpoint"
    ) -> None:
        self.path = Path(path)
        self.readonly = readonly
        self._sync = sync
        self.is_open = True
        self._lock = -1 if readonly else _take_folder(self.path)
        self._urls = self.urls_type(self.path, readonly=readonly)
        self._host_log = HostLog(self.path, readonly=readonly)
        self._manifest = Manifest(self._urls, self._host_log)
        self._current = False
        self._checkpoint: Checkpoint | None = None
        self._unsafe = 0
        self._flushed = time.monotonic()
        try:
            self.restored = not readonly and restore(self.path, boot_id())
            self._open(sync)
        except (StateVersionError, StorageError):
            self._manifest.close()
            self.env.close()
            self._unlock()
            raise
        except (lmdb.Error, OSError) as error:
            self._unlock()
            raise StorageError(f"{self.path}: cannot open the frontier: {error}") from error

    def _open(self, sync: Sync) -> None:
        self.env = lmdb.open(
            str(self.path), map_size=self._map_size(), max_dbs=len(TABLES) + 1, readahead=False,
            meminit=False, sync=sync == "commit", metasync=False, readonly=self.readonly,
            create=not self.readonly,
        )  # fmt: skip
        if not self.readonly:
            self.env.reader_check()
        self.meta = self.env.open_db(b"meta", create=not self.readonly)
        with self.env.begin() as txn:
            check_format(self.path, txn.get(ABOUT.encode(), None, self.meta))
        if sync == "checkpoint" and not self.readonly:
            self._checkpoint = Checkpoint(self.env, self.path, self._manifest.logs)
        for name in TABLES:
            table = self.env.open_db(name.encode(), create=not self.readonly)
            setattr(self, name, table)
        self.begin()
        if not self.readonly:
            self._read_logs()
            self.txn.abort()
            if self._checkpoint is not None:
                self._checkpoint.begin(wait=True)
            for log in self._manifest.logs:
                log.clear()
            self.begin()

    if TYPE_CHECKING:
        segments: lmdb._Database
        forgotten: lmdb._Database
        seen: lmdb._Database
        due: lmdb._Database
        hosts: lmdb._Database
        units: lmdb._Database
        groups: lmdb._Database
        robots: lmdb._Database
        meta: lmdb._Database

    def _map_size(self) -> int:
        data = self.path / "data.mdb"
        size = data.stat().st_size if data.exists() else 0
        return max(MAP_START, 2 * size + MAP_ROOM)

    def begin(self) -> None:
        """Open a new transaction."""
        self.txn = self.env.begin(write=not self.readonly)

    def refresh(self) -> None:
        """See the last commit of the process that writes, unless all rows are being read."""
        if self.readonly and not self._urls.readers:
            self.txn.abort()
            self.begin()
            self._current = False

    @property
    def urls(self) -> Urls:
        """Rows and links; of the last commit where another process writes."""
        self._follow()
        return self._urls

    @property
    def host_log(self) -> HostLog:
        """The last word on each host; of the last commit where another process writes."""
        self._follow()
        return self._host_log

    def _follow(self) -> None:
        if self.readonly and not self._current:
            self._read_logs()

    def _read_logs(self) -> None:
        for _ in range(TRIES):
            try:
                self._manifest.read(self.txn, self.segments)
            except FileNotFoundError:
                self.refresh()
            else:
                self._current = True
                return
        message = f"{self.path}: the crawl changes its log too fast; try again"
        raise StorageError(message)

    def links(self, key: bytes, number: int) -> bytes:
        """Packed keys of a page's links that were counted, also before it was forgotten."""
        return self.urls.links(number) or self.txn.get(key, b"", self.forgotten) or b""

    def forget(self, key: bytes, number: int) -> None:
        """Forget a URL that is known, but for the links of its page."""
        if links := self.links(key, number):
            self.txn.put(key, links, db=self.forgotten)
        self.urls.delete(number)

    def put_filter(self, name: bytes, data: bytes) -> None:
        """Keep a filter of what was let go."""
        self.txn.put(name, data, db=self.seen)

    def let_go(self, numbers: Iterable[int]) -> None:
        """Forget known URLs, and the links of their pages."""
        for number in numbers:
            self.urls.delete(number)

    def load(self, name: str) -> object:
        """A value of the meta table, or None."""
        data = self.txn.get(name.encode(), None, self.meta)
        return None if data is None else json.loads(data)

    def save(self, name: str, value: object) -> None:
        """Keep a JSON value in the meta table."""
        data = json.dumps(value, ensure_ascii=False).encode()
        self.txn.put(name.encode(), data, db=self.meta)

    def leased(self) -> list[bytes]:
        """Keys of the pages that were handed out, as of the last commit."""
        packed = self.txn.get(LEASED, b"", self.meta) or b""
        return [packed[at : at + KEY_BYTES] for at in range(0, len(packed), KEY_BYTES)]

    def keep_leased(self, keys: Iterable[bytes], changed: Collection[bytes]) -> None:  # noqa: ARG002
        """Keep the keys of pages that are handed out; those of some changed."""
        self.txn.put(LEASED, b"".join(keys), db=self.meta)

    def put_robots(self, origin: bytes, answer: bytes) -> None:
        """Keep the robots.txt of an origin."""
        self.txn.put(origin, answer, db=self.robots)

    def commit(self, links: int = 0, room: int = 0) -> None:
        """Make all puts survive a kill of the process, and go on in a new transaction.

        ``links`` were written since the last one; the new one has room for ``room`` links.
        """
        self._manifest.write(self.txn, self.segments, flush=self._sync == "commit")
        self.txn.commit()
        self._grow(max(MAP_ROOM, room * LINK_ROOM))
        self._unsafe += links
        now = time.monotonic()
        late = now - self._flushed >= CHECKPOINT_SECONDS or self._unsafe >= CHECKPOINT_LINKS
        if self._checkpoint is not None and late:
            self._checkpoint.begin()
            self._unsafe = 0
            self._flushed = now
        if self._checkpoint is None:
            self._manifest.drop()
        self.begin()

    def _grow(self, room: int) -> None:
        info = self.env.info()
        size = info["map_size"]
        used = (info["last_pgno"] + 1) * self.env.stat()["psize"]
        if size - used < room:
            self.env.set_mapsize(2 * size + room)

    def close(self, *, clean: bool = True) -> None:
        """Close without committing; twice equals once. ``clean``: wait until all is on the disk."""
        if self.is_open:
            self.is_open = False
            self.txn.abort()
            try:
                if self._checkpoint is not None:
                    self._checkpoint.close(clean=clean)
            finally:
                try:
                    self._manifest.close()
                finally:
                    self.env.close()
                    self._unlock()

    def _unlock(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def strategy_of(path: str | Path) -> str:
    """Return the name of the strategy that an existing frontier was made with.

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
    """Delete a frontier that no process uses; nothing where there is none.

    Raises:
        StateLockedError: A crawl uses it.
        StorageError: It cannot be deleted.
    """
    folder = Path(path)
    if not folder.exists():
        return
    lock = _take_folder(folder)
    try:
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
        for name in (urls.NAME, hostlog.NAME):
            for segment in folder.glob(SEGMENTS.format(name)):
                segment.unlink()
    except OSError as error:
        message = f"{folder}: cannot delete the frontier: {error}"
        raise StorageError(message) from error
    finally:
        os.close(lock)


def _take_folder(path: Path) -> int:
    """Lock a folder for this process; the handle that holds the lock."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        handle = os.open(path / "LOCK", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        message = f"{path}: cannot write the frontier here: {error}"
        raise StorageError(message) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        message = f"{path}: another crawl uses it; stop that one, or name another folder"
        raise StateLockedError(message) from error
    return handle
