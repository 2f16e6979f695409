"""One clock per host for all crawls of a data folder: the next crawl to ask, and its time.

A crawl's frontier has the times of its own requests. Those of the other processes of its data
folder (crawls of other topics and templates, workers' turns) are in a small table that all of them
have open: for each host the time from which it may be asked, the crawl that asked last, and the
crawl that is next. A URL is leased only once the table gave its host to the crawl, and a request
whose connection took longer than the delay asks once more before it is sent. Crawls that share a
Redis server take turns there instead (``addons/redis/host_turns.py``).

The table is LMDB without a flush, some microseconds per call. Its times are the machine's monotonic
clock and its folder is named after the machine's boot: a table that a power cut may have spoilt, or
that is from an earlier boot's clock, is not read.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import lmdb
from typing_extensions import override

from topiccrawl.errors import StorageError
from topiccrawl.frontier.politeness import BACKOFF_STATUSES, HostClock
from topiccrawl.storage.identity import boot_id
from topiccrawl.storage.lmdb_files import prepare

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from topiccrawl.frontier.contract import Download, Limits, Politeness
    from topiccrawl.frontier.hosts import Host

FOLDER = "hosts"
"""Name of the table's folder inside TOPICCRAWL_DATA_DIR."""
GRACE = 0.5
"""Seconds for which a host is kept for the crawl that waited for it longest."""
ROOM = 1 << 30
"""Most bytes of the table; a host takes some 60."""
_ROW = Struct("<d8s8s")
_NONE = bytes(8)
"""In place of a crawl."""
_FREE = _ROW.pack(0.0, _NONE, _NONE)
_BOOT = "boot"
"""Name of the folder where the system has no boot id."""
_KEY = 500
"""Most bytes of a host's name that are used; LMDB takes 511."""
_open: WeakValueDictionary[Path, lmdb.Environment] = WeakValueDictionary()
"""Tables that are open in this process: LMDB must not open one twice."""


class HostTimes:
    """The table from the view of one crawl.

    Args:
        folder: TOPICCRAWL_DATA_DIR.
        clock: Seconds of a clock that all processes of the machine share.

    Raises:
        StorageError: If it cannot be written.
    """

    def __init__(
        self, folder: str | Path, clock: Callable[[], float] = time.monotonic
    ) -> None:  # fmt: skip
        self._clock = clock
        self._me = os.urandom(8)
        self._table = _opened(Path(folder).resolve() / FOLDER)

    def claim(self, host: str, ahead: float) -> float:
        """Take a host for a request that is sent now; return seconds to wait if another has it.

        Args:
            host: Its name.
            ahead: Seconds after which it may be asked again.
        """
        now, key = self._clock(), host.encode()[:_KEY]
        with self._table.begin(write=True) as rows:
            until, owner, heir = _ROW.unpack(rows.get(key, _FREE))
            if until > now and owner != self._me:
                if heir == _NONE:
                    rows.put(key, _ROW.pack(until, owner, self._me))
                return float(until - now)
            kept = heir not in {_NONE, self._me}
            if until <= now < until + GRACE and kept:
                return float(until + GRACE - now)
            heir = heir if until > now and kept else _NONE
            rows.put(key, _ROW.pack(now + ahead, self._me, heir))
            return 0.0

    def put_off(self, host: str, ahead: float) -> None:
        """Let no crawl ask a host for some seconds, as the host demanded."""
        key = host.encode()[:_KEY]
        with self._table.begin(write=True) as rows:
            until, _, heir = _ROW.unpack(rows.get(key, _FREE))
            until = max(until, self._clock() + ahead)
            rows.put(key, _ROW.pack(until, _NONE, heir))


class NeighbourClock(HostClock):
    """A host clock that also uses the table.

    Args:
        times: The table.
        politeness: As of ``HostClock``.
        limits: The same.
        rng: The same.
    """

    def __init__(
        self, times: HostTimes, politeness: Politeness, limits: Limits, rng: random.Random
    ) -> None:
        super().__init__(politeness, limits, rng)
        self._times = times

    @override
    def waits(self, host: Host) -> float:
        """Return seconds for which another crawl has the host; 0.0: this crawl has it now."""
        return self._times.claim(host.name, self.delay(host))

    @override
    def left(self, host: Host, now: float) -> None:
        """Count the delay from now, for all crawls: a request is sent."""
        super().left(host, now)
        self._times.claim(host.name, host.next_at - now)

    @override
    def end(self, host: Host, download: Download, now: float) -> None:
        """Learn from an answer; where a host asks for a pause, all crawls keep it."""
        super().end(host, download, now)
        if download.status in BACKOFF_STATUSES:
            self._times.put_off(host.name, host.next_at - now)


def _opened(folder: Path) -> lmdb.Environment:
    """Open the table of this boot of the machine; delete those of other boots."""
    path = folder / (boot_id() or _BOOT)
    if (known := _open.get(path)) is not None:
        return known
    try:
        path.mkdir(parents=True, exist_ok=True)
        for other in folder.iterdir():
            if other != path:
                shutil.rmtree(other, ignore_errors=True)
        prepare(path)
        table = lmdb.open(str(path), map_size=ROOM, sync=False, metasync=False)
    except (lmdb.Error, OSError) as error:
        raise StorageError(
            "{path}: cannot be used ({error}): see that its folder can be written",
            path=path,
            error=error,
        ) from error
    _open[path] = table
    return table
