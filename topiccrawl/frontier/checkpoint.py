"""What a power cut leaves: the state of the last checkpoint, whole.

Commits are not flushed (a flush takes 17 ms, a commit 3), so that the disk may hold any mixture of
old and new pages when the power goes. Every few seconds a checkpoint flushes the file in a thread:
a read transaction keeps the pages of its snapshot from being reused, and when they and the log are
on the disk the snapshot's root (LMDB's meta page) is kept in a file of its own. Segments of the log
that were cleared since stay until then. Opening after the machine went
down in between puts that root back. A process that was killed needs none of this: what it wrote is
in the operating system.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING

from topiccrawl.frontier.log import flush

if TYPE_CHECKING:
    from collections.abc import Sequence

    import lmdb

    from topiccrawl.frontier.log import Log
    from topiccrawl.frontier.segment import Segment

MAGIC = 0xBEEFC0DE
META_HEAD = Struct("<16xII")
META_TXNID = Struct("<144xQ")
PAGE_NUMBER = Struct("<Q")
SAFE = "safe"
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> bytes:
    """What is the same until the machine starts again; 36 bytes, blanks where it is not told."""
    try:
        return BOOT_ID.read_bytes().strip()[:36].ljust(36)
    except OSError:
        return b" " * 36


def restore(folder: Path, boot: bytes) -> bool:
    """Put the last checkpoint's root back, if the machine went down since; whether it did.

    To be called before the environment is opened.
    """
    safe, data = folder / SAFE, folder / "data.mdb"
    if not safe.exists() or not data.exists():
        return False
    kept = safe.read_bytes()
    written, page = kept[:36], kept[36:]
    if written == boot or len(page) < META_TXNID.size:
        return False
    with data.open("r+b") as file:
        for number in (0, 1):
            file.seek(number * len(page))
            file.write(PAGE_NUMBER.pack(number) + page[PAGE_NUMBER.size :])
        file.flush()
        os.fsync(file.fileno())
    return True


class Checkpoint:
    """Flushes an environment's file from time to time, and remembers what is safe.

    Args:
        env: Open environment, without an open write transaction whenever ``begin`` is called.
        folder: Its folder.
        logs: The logs in it.
    """

    def __init__(self, env: lmdb.Environment, folder: Path, logs: Sequence[Log]) -> None:
        self._env = env
        self._logs = logs
        self._needless: list[list[Segment]] = []
        self._folder = folder
        self._boot = boot_id()
        self._page_bytes = env.stat()["psize"]
        self._file = os.open(folder / "data.mdb", os.O_RDONLY | os.O_CLOEXEC)
        self._pinned: lmdb.Transaction | None = None
        self._next: lmdb.Transaction | None = None
        self._thread: threading.Thread | None = None
        self._error: OSError | None = None

    def begin(self, *, wait: bool = False) -> None:
        """Start a checkpoint of what is committed; nothing while the last one is still at work.

        Raises:
            OSError: The last one failed.
        """
        if not self._settle(wait=wait):
            return
        self._next = self._env.begin()
        page = self._root(self._next.id())
        self._needless = [log.retired() for log in self._logs]
        paths = [path for log in self._logs for path in log.unflushed()]
        self._thread = threading.Thread(target=self._flush, args=(paths, page), daemon=True)
        self._thread.start()
        if wait:
            self._settle(wait=True)

    def close(self, *, clean: bool) -> None:
        """Stop; a clean close has everything on the disk and needs no root kept. Twice is once."""
        if self._file < 0:
            return
        try:
            if self._thread is not None:
                self._thread.join()
            if clean:
                self._settle(wait=True)
                for log in self._logs:
                    log.flush()
                os.fsync(self._file)
                (self._folder / SAFE).unlink(missing_ok=True)
                for log in self._logs:
                    log.drop(log.retired())
        finally:
            for reader in (self._pinned, self._next):
                if reader is not None:
                    reader.abort()
            os.close(self._file)
            self._file = -1

    def _settle(self, *, wait: bool) -> bool:
        """Take over a checkpoint that is done; False while it is still at work."""
        if self._thread is not None:
            if not wait and self._thread.is_alive():
                return False
            self._thread.join()
            self._thread = None
            if self._error is not None:
                raise self._error
            if self._pinned is not None:
                self._pinned.abort()
            self._pinned, self._next = self._next, None
            for log, segments in zip(self._logs, self._needless, strict=False):
                log.drop(segments)
            self._needless = []
        return True

    def _root(self, txnid: int) -> bytes:
        """The meta page of a snapshot."""
        size = self._page_bytes
        pages = os.pread(self._file, 2 * size, 0)
        for page in (pages[:size], pages[size:]):
            magic, _ = META_HEAD.unpack_from(page)
            if magic == MAGIC and META_TXNID.unpack_from(page)[0] == txnid:
                return page
        message = f"{self._folder}: no root of transaction {txnid}"
        raise OSError(message)

    def _flush(self, paths: list[Path], page: bytes) -> None:
        """In the thread: the log and all pages to the disk, then the root beside them."""
        try:
            flush([*paths, self._folder / "data.mdb"])
            new = self._folder / "safe.new"
            with new.open("wb") as file:
                file.write(self._boot + page)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self._folder / SAFE)
            flush([self._folder])
        except OSError as error:
            self._error = error
