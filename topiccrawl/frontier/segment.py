"""A file of the log, and the batches that it is made of.

    batch = magic, checksum, records, bytes | numbers u32 | sizes u32 | keys 12 bytes | the records

The numbers of all records stand together, as do sizes and keys, so that a file is read through
without looking at one record after the other. A size is doubled; odd are the links of a page, even
the rows of a URL. A record of no bytes says that there is none any more.
"""

from __future__ import annotations

import mmap
import os
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from xxhash import xxh3_64_intdigest

from topiccrawl.errors import StorageError
from topiccrawl.frontier.index import KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

HEAD = Struct("<4sIQQ")
MAGIC = b"tcl1"
RECORD_BYTES = 4 + 4 + KEYS.itemsize
"""What a record takes beside its own bytes."""
ROWS, LINKS = 0, 1
START = 1 << 20

DAMAGED = (
    "{}: the frontier's log is damaged ({}); put a copy of the folder back, or begin anew with -a"
    " fresh=1"
)


class Batch(NamedTuple):
    """Records that were written at once.

    Attributes:
        numbers: Of the URLs.
        sizes: Bytes of each record; 0 where there is none any more.
        kinds: ROWS or LINKS.
        keys: Of the URLs.
        starts: Where each record begins in its file.
        end: Where the batch ends.
    """

    numbers: NDArray[np.uint32]
    sizes: NDArray[np.uint32]
    kinds: NDArray[np.uint32]
    keys: NDArray[np.void]
    starts: NDArray[np.uint64]
    end: int


def pack(
    numbers: NDArray[np.uint32], sizes: NDArray[np.uint32], kinds: NDArray[np.uint32],
    keys: bytes, records: Sequence[bytes],
) -> bytes:  # fmt: skip
    """A batch as it stands in the file."""
    doubled = (sizes << np.uint32(1) | kinds).tobytes()
    body = b"".join([numbers.tobytes(), doubled, keys, *records])
    return HEAD.pack(MAGIC, len(numbers), xxh3_64_intdigest(body), len(body)) + body


class Segment:
    """One file of the log: written at its end, read anywhere.

    Only one that is written to is held open: the others are mapped, and need one handle each.

    Args:
        path: The file; made by the first ``write``.
        number: Its place in the log.
        length: Bytes of it that count.

    Attributes:
        live: Bytes of it that are still needed.

    Raises:
        StorageError: It is shorter than that.
        FileNotFoundError: It is missing, and ``length`` is not 0.
    """

    def __init__(self, path: Path, number: int, length: int = 0) -> None:
        self.path = path
        self.number = number
        self.length = 0
        self.live = 0
        self.map: bytes | mmap.mmap = b""
        self._handle = -1
        self.reach(length)

    def reach(self, length: int) -> None:
        """See what was written: so many bytes count now."""
        if length > len(self.map):
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                size = os.fstat(handle).st_size
                if size < length:
                    raise StorageError(DAMAGED.format(self.path, f"{size} bytes of {length}"))
                # all there is now: who writes may have cut off what lies beyond meanwhile
                self.map = mmap.mmap(handle, 0, access=mmap.ACCESS_READ)
            finally:
                os.close(handle)
        self.length = length

    def write(self, data: bytes) -> None:
        """Append bytes; they count when ``length`` is kept."""
        end = self.length + len(data)
        try:
            if self._handle < 0:
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
                self._handle = os.open(self.path, flags, 0o644)
            if end > len(self.map):
                size = max(end, 2 * len(self.map), START)
                os.ftruncate(self._handle, size)
                self.map = mmap.mmap(self._handle, size, access=mmap.ACCESS_READ)
            view, at = memoryview(data), self.length
            while view:
                done = os.pwrite(self._handle, view, at)
                view, at = view[done:], at + done
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error
        self.length = end

    def seal(self) -> None:
        """Write no more for now, and cut off what does not count."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
        if self.length < len(self.map):
            os.truncate(self.path, self.length)

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """The batches from a place on.

        Raises:
            StorageError: The file is damaged.
        """
        while start < self.length:
            batch = self._batch(start)
            yield batch
            start = batch.end

    def _batch(self, start: int) -> Batch:
        magic, count, checksum, size = HEAD.unpack(self.map[start : start + HEAD.size])
        at = start + HEAD.size
        end = at + size
        if magic != MAGIC or end > self.length or size < count * RECORD_BYTES:
            raise StorageError(DAMAGED.format(self.path, f"no batch at {start}"))
        with memoryview(self.map) as view, view[at:end] as body:
            if xxh3_64_intdigest(body) != checksum:
                raise StorageError(DAMAGED.format(self.path, f"checksum of the batch at {start}"))
        heads = self.map[at : at + count * RECORD_BYTES]
        numbers, doubled = np.frombuffer(heads, np.uint32, 2 * count).reshape(2, count)
        sizes = doubled >> np.uint32(1)
        ends = np.cumsum(sizes, dtype=np.uint64) + np.uint64(at + count * RECORD_BYTES)
        keys = np.frombuffer(heads, KEYS, count, 8 * count)
        return Batch(numbers, sizes, doubled & np.uint32(1), keys, ends - sizes, end)

    def close(self) -> None:
        """Let go of the file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
        self.map = b""
