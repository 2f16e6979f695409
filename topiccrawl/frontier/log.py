"""The log of an embedded frontier: records in files that are only ever written at their end.

A *place* says where a record is: slot of its segment, where it begins, and its size, in 14, 26 and
24 bits. 0 is nowhere.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from topiccrawl.errors import StorageError
from topiccrawl.frontier.segment import DAMAGED, HEAD, RECORD_BYTES, Segment, pack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

SEGMENT_BYTES = 64 << 20
"""A segment is at most so long, unless one record is longer."""
BATCH_BYTES = 4 << 20
SIZE_BITS, SLOT_AT = 24, 50
LARGEST = (1 << SIZE_BITS) - 1
START_MASK = (1 << SLOT_AT - SIZE_BITS) - 1
NAME = "{}-{:08}.log"
FILES = "{}-[0-9]*.log"


class Log:
    """Appends records and reads them by their places.

    Args:
        folder: Where the files are.
        name: What their names begin with.
        readonly: Whether another process writes them.
        parts: So many of its segments are as long as ``SEGMENT_BYTES``.
    """

    def __init__(self, folder: Path, name: str, *, readonly: bool = False, parts: int = 1) -> None:
        self._folder = folder
        self._name = name
        self._readonly = readonly
        self._parts = parts
        self._slots: list[Segment | None] = []
        self._by_number: dict[int, int] = {}
        self._unflushed: dict[int, Segment] = {}
        self._retired: list[Segment] = []

    # -- segments ----------------------------------------------------------------------------------

    def segments(self) -> list[Segment]:
        """All segments, oldest first; records are appended to the last one."""
        return [segment for at in self._by_number.values() if (segment := self._slots[at])]

    def lengths(self) -> dict[int, int]:
        """How far each segment goes, by number."""
        return {segment.number: segment.length for segment in self.segments()}

    def open(self, lengths: dict[int, int]) -> Iterator[tuple[Segment, int]]:
        """Have the segments with these numbers and lengths; those that grew, and from where.

        Raises:
            StorageError: One is damaged.
            FileNotFoundError: The process that writes has deleted one.
        """
        for number, length in lengths.items():
            slot = self._by_number.get(number)
            known = None if slot is None else self._slots[slot]
            if slot is None or known is None:
                segment = self._existing(number, length)
                self._enter(segment)
                self._unflushed[number] = segment
                yield segment, 0
            elif known.length < length:
                start = known.length
                known.reach(length)
                yield known, start

    def _existing(self, number: int, length: int) -> Segment:
        path = self._path(number)
        try:
            return Segment(path, number, length)
        except FileNotFoundError as error:
            if self._readonly:
                raise
            raise StorageError(DAMAGED.format(path, "missing")) from error

    def _enter(self, segment: Segment) -> None:
        slot = self._slots.index(None) if None in self._slots else len(self._slots)
        self._slots[slot : slot + 1] = [segment]
        self._by_number[segment.number] = slot

    def _path(self, number: int) -> Path:
        return self._folder / NAME.format(self._name, number)

    def clear(self) -> None:
        """Delete what is no part of the log: written, but never committed."""
        ours = {segment.path for segment in self.segments()}
        for path in self._folder.glob(FILES.format(self._name)):
            if path not in ours:
                path.unlink()
        for segment in self.segments()[-1:]:
            segment.seal()

    def slot(self, segment: Segment) -> int:
        """What the places of a segment's records begin with."""
        return self._by_number[segment.number]

    def retire(self, segment: Segment) -> None:
        """Take a segment that is not needed out of the log; ``drop`` deletes its file."""
        self._slots[self._by_number.pop(segment.number)] = None
        self._unflushed.pop(segment.number, None)
        self._retired.append(segment)

    def retired(self) -> list[Segment]:
        """Segments out of the log whose files are still there."""
        return list(self._retired)

    def drop(self, segments: Sequence[Segment]) -> None:
        """Delete the files of segments that are out of the log."""
        for segment in segments:
            self._retired.remove(segment)
            segment.close()
            if not self._readonly:
                segment.path.unlink(missing_ok=True)

    def unflushed(self) -> list[Path]:
        """The files written to since this was asked for last, and their folder."""
        paths = [segment.path for segment in self._unflushed.values()]
        self._unflushed.clear()
        return [*paths, self._folder] if paths else []

    def flush(self) -> None:
        """Wait until all that was written is on the disk."""
        flush(self.unflushed())

    def close(self) -> None:
        """Let go of all files; the last one ends where the log ends. Twice equals once."""
        segments = self.segments()
        if segments and not self._readonly:
            segments[-1].seal()
        for segment in (*segments, *self._retired):
            segment.close()
        self._slots.clear()
        self._by_number.clear()
        self._retired.clear()

    # -- records -----------------------------------------------------------------------------------

    def read(self, place: int) -> bytes:
        """The record at a place."""
        segment = self._slots[place >> SLOT_AT]
        assert segment is not None, "what is needed is not retired"  # noqa: S101
        start = place >> SIZE_BITS & START_MASK
        return segment.map[start : start + (place & LARGEST)]

    def heads(self, places: NDArray[np.uint64], size: int) -> NDArray[np.uint8]:
        """The first bytes of records, a line each."""
        found = np.empty((len(places), size), np.uint8)
        slots = places >> np.uint64(SLOT_AT)
        starts = (places >> np.uint64(SIZE_BITS) & np.uint64(START_MASK)).astype(np.int64)
        for slot in np.unique(slots).tolist():
            segment = self._slots[slot]
            assert segment is not None, "what is needed is not retired"  # noqa: S101
            here = slots == slot
            data = np.frombuffer(segment.map, np.uint8)
            found[here] = data[starts[here][:, None] + np.arange(size)]
        return found

    def append(
        self, numbers: NDArray[np.uint32], kinds: NDArray[np.uint32], keys: bytes,
        records: list[bytes],
    ) -> NDArray[np.uint64]:  # fmt: skip
        """Write records at the end; their places, 0 for those of no bytes.

        Raises:
            StorageError: One is too large.
            OSError: They cannot be written.
        """
        sizes = np.fromiter(map(len, records), np.uint32, len(records))
        if sizes.max(initial=0) > LARGEST:
            message = f"{self._folder}: {sizes.max()} bytes for one URL or page, {LARGEST} at most"
            raise StorageError(message)
        pieces = np.cumsum(sizes, dtype=np.int64) // BATCH_BYTES
        ends = [*(np.flatnonzero(np.diff(pieces)) + 1).tolist(), len(records)]
        places, begin, width = [], 0, len(keys) // max(len(records), 1)
        for end in ends:
            of = slice(begin, end)
            data = pack(
                numbers[of], sizes[of], kinds[of], keys[begin * width : end * width], records[of]
            )
            places.append(self._write(data, sizes[of]))
            begin = end
        return np.concatenate(places)

    def _write(self, data: bytes, sizes: NDArray[np.uint32]) -> NDArray[np.uint64]:
        segment = self._tail(len(data))
        start = segment.length + HEAD.size + RECORD_BYTES * len(sizes)
        segment.write(data)
        self._unflushed[segment.number] = segment
        starts = np.cumsum(sizes, dtype=np.uint64) + np.uint64(start) - sizes
        found = self.places(segment, sizes, starts)
        self.count(found, 1)
        return found

    def places(
        self, segment: Segment, sizes: NDArray[np.uint32], starts: NDArray[np.uint64]
    ) -> NDArray[np.uint64]:
        """Places of records of a segment, 0 for those of no bytes."""
        slot = self.slot(segment)
        found = starts << np.uint64(SIZE_BITS) | sizes | np.uint64(slot << SLOT_AT)
        found[sizes == 0] = 0
        return found

    def _tail(self, size: int) -> Segment:
        """The segment to write so much to."""
        number = 0
        for segment in self.segments()[-1:]:
            if segment.length + size <= SEGMENT_BYTES // self._parts:
                return segment
            segment.seal()
            number = segment.number
        segment = Segment(self._path(number + 1), number + 1)
        self._enter(segment)
        return segment

    def count(self, places: NDArray[np.uint64], sign: int) -> None:
        """Note that the records at some places are needed (1), or not any more (-1)."""
        places = places[places != 0]
        slots = (places >> np.uint64(SLOT_AT)).astype(np.int64)
        sizes = (places & np.uint64(LARGEST)).astype(np.int64) + RECORD_BYTES
        for slot, size in enumerate(np.bincount(slots, sizes).tolist()):
            segment = self._slots[slot]
            if size and segment is not None:
                segment.live += sign * int(size)


def flush(paths: Iterable[Path]) -> None:
    """Wait until files or folders are on the disk."""
    for path in paths:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
