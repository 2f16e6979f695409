"""What is known of URLs: a row for each, and the links of those that were crawled.

Rows lie in a log, by number; an index in RAM finds the number of a key. What changed since the last
commit is held in RAM, and written to the log at once. What is in RAM is made anew from the log when
a frontier opens.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from topiccrawl.frontier.columns import Column
from topiccrawl.frontier.compaction import Compaction
from topiccrawl.frontier.index import Index
from topiccrawl.frontier.log import SLOT_AT, Log
from topiccrawl.frontier.segment import LINKS, ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from topiccrawl.frontier.segment import Batch, Segment

NAME = "urls"
KINDS = (ROWS, LINKS)
AT_ONCE = 500
"""Numbers looked up together by who reads them all."""


class Urls:
    """Rows and links by number, numbers by key.

    Args:
        folder: Where the log is.
        readonly: Whether another process writes it.

    Attributes:
        index: Numbers of keys.
        log: The files.
        readers: Who goes through all there is now: URLs keep their numbers meanwhile.
    """

    def __init__(self, folder: Path, *, readonly: bool = False) -> None:
        self.readers = 0
        self.index = Index()
        self.log = Log(folder, NAME, readonly=readonly)
        self.find = self.index.find
        self.find_many = self.index.find_many
        self.key = self.index.key
        self.numbers = self.index.numbers
        self.after = self.index.after
        self.has = self.index.has
        self._places = (Column("Q"), Column("Q"))
        self._rows: dict[int, bytes] = {}
        self._links: dict[int, bytes] = {}
        self._new = (self._rows, self._links)
        self._compaction = Compaction(self.log, self._new, self._places)

    @property
    def known(self) -> int:
        """How many URLs there are."""
        return self.index.known

    # -- rows and links ----------------------------------------------------------------------------

    def get(self, number: int) -> bytes:
        """The row of a known number."""
        row = self._rows.get(number)
        if row is None:
            place = self._places[ROWS].cells[number]
            return self.log.read(place) if place else b""
        return row

    def get_many(self, numbers: Iterable[int]) -> list[bytes]:
        """The rows of numbers, b"" for 0."""
        new, cells, read = self._rows.get, self._places[ROWS].cells, self.log.read
        return [
            row if (row := new(number)) is not None else read(cells[number]) if number else b""
            for number in numbers
        ]

    def row(self, key: bytes) -> bytes:
        """The row of a key, b"" where it is not known."""
        number = self.index.find(key)
        return self.get(number) if number else b""

    def add(self, key: bytes, number: int, row: bytes) -> None:
        """Take in a URL that is not known under a number that is free."""
        self.add_many((key,), number, (row,))

    def add_many(self, keys: Sequence[bytes], first: int, rows: Sequence[bytes]) -> None:
        """Take in URLs that are not known under the numbers from ``first`` on, which are free."""
        self.index.add_many(keys, first)
        for column in self._places:
            column.reach(first + len(keys))
        self._rows.update(enumerate(rows, first))

    def put(self, number: int, row: bytes) -> None:
        """Replace the row of a known number."""
        self._rows[number] = row

    def update(self, rows: Mapping[int, bytes]) -> None:
        """Replace the rows of known numbers."""
        self._rows.update(rows)

    def links(self, number: int) -> bytes:
        """Packed keys of the links of a known number's page, b"" where there are none."""
        links = self._links.get(number)
        if links is None:
            place = self._places[LINKS].cells[number]
            return self.log.read(place) if place else b""
        return links

    def put_links(self, number: int, packed: bytes) -> None:
        """Replace the links of a known number's page."""
        self._links[number] = packed

    def delete(self, number: int) -> None:
        """Forget a known number, and the links of its page."""
        self.index.remove(number)
        for new, column in zip(self._new, self._places, strict=True):
            if number in new or column.cells[number]:
                new[number] = b""

    def heads(self, numbers: NDArray[np.uint32], size: int) -> NDArray[np.uint8]:
        """The first bytes of rows that are written, a line each."""
        return self.log.heads(self._places[ROWS].array[numbers], size)

    def in_order(self) -> Iterator[int]:
        """Known numbers, ascending; what comes in meanwhile is among the last."""
        number = 0
        with self._unmoved():
            while numbers := self.index.after(number, AT_ONCE):
                yield from numbers
                number = numbers[-1]

    def by_host(self) -> Iterator[list[int]]:
        """Known numbers, those of one host together, ascending."""
        with self._unmoved():
            numbers = self.index.numbers()
            hosts = self.index.hosts(numbers)
            turn = np.argsort(hosts, kind="stable")
            for part in np.split(numbers[turn], np.flatnonzero(np.diff(hosts[turn])) + 1):
                yield part.tolist()

    @contextmanager
    def _unmoved(self) -> Iterator[None]:
        """Somebody reads by number: a row that got another would come twice, or not at all."""
        self.readers += 1
        try:
            yield
        finally:
            self.readers -= 1

    def as_written(self) -> NDArray[np.uint32]:
        """Known numbers in the order in which their rows lie in the log."""
        numbers = self.index.numbers()
        return numbers[np.argsort(self._places[ROWS].array[numbers])]

    # -- the log -----------------------------------------------------------------------------------

    def write(self) -> dict[int, int]:
        """Write to the log what changed; lengths of the segments by number."""
        if self._rows or self._links:
            size = sum(len(data) for new in self._new for data in new.values())
            self._compaction.step(size)
            self._append()
            self._compaction.end()
        return self.log.lengths()

    def _append(self) -> None:
        count = len(self._rows)
        numbers = np.fromiter(chain(*self._new), np.uint32, count + len(self._links))
        kinds = np.repeat(np.array(KINDS, np.uint32), [count, len(self._links)])
        records = [*self._rows.values(), *self._links.values()]
        found = self.log.append(numbers, kinds, self.index.keys(numbers), records)
        for column, of in zip(self._places, (slice(count), slice(count, None)), strict=True):
            self.log.count(column.array[numbers[of]], -1)
            column.array[numbers[of]] = found[of]
        for new in self._new:
            new.clear()

    def open(self, lengths: dict[int, int]) -> None:
        """Read a log of these segments and lengths, or what is new since it was read last.

        Raises:
            StorageError: The log is damaged.
            FileNotFoundError: The process that writes has deleted a segment meanwhile.
        """
        fresh = [np.empty(0, np.uint32)]
        try:
            for segment, start in self.log.open(lengths):
                fresh += [self._replay(segment, batch) for batch in segment.batches(start)]
        finally:  # where a segment is missing, what was read before it stays
            self.index.enter(np.concatenate(fresh))
        for segment in self.log.segments():
            if segment.number not in lengths:
                self._lose(segment)
                self.log.retire(segment)

    def _lose(self, segment: Segment) -> None:
        """Forget what only a segment has that was cleared: it was deleted since."""
        slot = np.uint64(self.log.slot(segment))
        links = self._places[LINKS].array[: self.index.top + 1]
        links[links >> np.uint64(SLOT_AT) == slot] = 0  # also of numbers that may be used again
        numbers = self.index.numbers()
        rows = self._places[ROWS].array[numbers] >> np.uint64(SLOT_AT)
        for number in numbers[rows == slot].tolist():
            self.index.remove(number)

    def _replay(self, segment: Segment, batch: Batch) -> NDArray[np.uint32]:
        """Take in a batch; numbers whose key is new."""
        found = self.log.places(segment, batch.sizes, batch.starts)
        top = int(batch.numbers.max(initial=0))
        for kind, column in zip(KINDS, self._places, strict=True):
            column.reach(top + 1)
            of = batch.kinds == kind
            self.log.count(column.array[batch.numbers[of]], -1)
            column.array[batch.numbers[of]] = found[of]
        self.log.count(found, 1)
        of = batch.kinds == ROWS
        return self.index.name(batch.numbers[of], batch.keys[of])
