"""Which segments the logs of a folder have, and how far each goes.

That stands in LMDB: its commit is the commit of all. What was written to a log beyond is no part of
it.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import lmdb

    from topiccrawl.frontier.hostlog import HostLog
    from topiccrawl.frontier.urls import Urls

SEGMENT, LENGTH = Struct(">BI"), Struct("<Q")


class Manifest:
    """The segments of some logs.

    Args:
        kept: What lies in the logs, in the order of their numbers.

    Attributes:
        logs: Their files.
        lengths: Which log, and number of a segment, to its length, as of the last commit.
    """

    def __init__(self, *kept: Urls | HostLog) -> None:
        self._kept = kept
        self.logs = tuple(one.log for one in kept)
        self.lengths: dict[tuple[int, int], int] = {}

    def read(self, txn: lmdb.Transaction, table: lmdb._Database) -> None:
        """Open the logs as they are committed.

        Raises:
            StorageError: One is damaged.
            FileNotFoundError: The process that writes has deleted a segment meanwhile.
        """
        items = txn.cursor(table).iternext()
        self.lengths = {SEGMENT.unpack(key): LENGTH.unpack(data)[0] for key, data in items}
        for at, one in enumerate(self._kept):
            one.open({number: length for (of, number), length in self.lengths.items() if of == at})

    def write(self, txn: lmdb.Transaction, table: lmdb._Database, *, flush: bool) -> None:
        """Write to the logs what changed, and note how far they go."""
        lengths = {
            (at, number): length
            for at, one in enumerate(self._kept)
            for number, length in one.write().items()
        }
        if flush:
            for log in self.logs:
                log.flush()
        for which, length in lengths.items() - self.lengths.items():
            txn.put(SEGMENT.pack(*which), LENGTH.pack(length), db=table)
        for which in self.lengths.keys() - lengths.keys():
            txn.delete(SEGMENT.pack(*which), db=table)
        self.lengths = lengths

    def drop(self) -> None:
        """Delete the files of segments that are needed no more."""
        for log in self.logs:
            log.drop(log.retired())

    def close(self) -> None:
        """Let go of all files. Twice equals once."""
        for log in self.logs:
            log.close()
