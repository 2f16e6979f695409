"""Request times of hosts, shared by all crawls of a data folder.

A crawl's frontier has the times of its own requests. Requests of the other processes of its data
folder (crawls of other topics and templates, turns of workers) are coordinated by a small table
that all of them open. For each host it has the time from which the host may be requested, the crawl
that requested it last, and the crawl that is next. A URL is leased only after the table assigned
its host to the crawl. A request whose connection took longer than the delay checks the table again
before it is sent. Crawls that share a Redis server take turns there instead
(``addons/redis/host_turns.py``).

The table is LMDB without a flush and takes some microseconds per call. Its times are those of the
machine's monotonic clock, and its folder is named after the current boot of the machine. A table of
an earlier boot, whose clock differs and which a power failure may have damaged, is not read.
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

from topiccrawl.errors import StorageError, translated
from topiccrawl.frontier.politeness import MAX_KEY, HostClock
from topiccrawl.messages import message
from topiccrawl.storage.identity import boot_id
from topiccrawl.storage.lmdb_files import create_files

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from topiccrawl.frontier.contract import Limits, Politeness
    from topiccrawl.frontier.hosts import Host

FOLDER = "hosts"
"""Name of the table's folder inside TOPICCRAWL_DATA_DIR."""
GRACE = 0.5
"""Seconds for which a host is reserved for the crawl that has waited longest."""
MAP_SIZE = 1 << 30
"""Maximum size of the table in bytes; a host takes about 60."""
_ROW = Struct("<d8s8s")
_NONE = bytes(8)
"""Placeholder for no crawl."""
_FREE = _ROW.pack(0.0, _NONE, _NONE)
_BOOT = "boot"
"""Name of the folder if the system has no boot id."""
_open_tables: WeakValueDictionary[Path, lmdb.Environment] = WeakValueDictionary()
"""Open tables of this process: LMDB must not open one twice."""


class HostTimes:
    """Table of host times, for one crawl.

    Args:
        folder: TOPICCRAWL_DATA_DIR.
        clock: Seconds of a clock that all processes of the machine share.

    Raises:
        StorageError: The table cannot be written.
    """

    def __init__(self, folder: str | Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._id = os.urandom(8)
        self._table = _open_table(Path(folder).resolve() / FOLDER)

    def claim(self, host: str, ahead: float) -> float:
        """Reserve a host for a request that is sent now.

        Args:
            host: Host name.
            ahead: Seconds until the next request to the host is allowed.

        Returns:
            Seconds to wait if another crawl has the host; 0.0 if it is reserved.
        """
        now, key = self._clock(), host.encode()[:MAX_KEY]
        with self._table.begin(write=True) as rows:
            until, owner, successor = _ROW.unpack(rows.get(key, _FREE))
            if until > now and owner != self._id:
                if successor == _NONE:
                    rows.put(key, _ROW.pack(until, owner, self._id))
                return float(until - now)
            reserved = successor not in {_NONE, self._id}
            if until <= now < until + GRACE and reserved:
                return float(until + GRACE - now)
            successor = successor if until > now and reserved else _NONE
            rows.put(key, _ROW.pack(now + ahead, self._id, successor))
            return 0.0

    def postpone(self, host: str, ahead: float) -> None:
        """Delay the requests of all crawls to a host for some seconds, as the host demanded."""
        key = host.encode()[:MAX_KEY]
        with self._table.begin(write=True) as rows:
            until, _, successor = _ROW.unpack(rows.get(key, _FREE))
            until = max(until, self._clock() + ahead)
            rows.put(key, _ROW.pack(until, _NONE, successor))


class SharedHostClock(HostClock):
    """Host clock that also uses the shared table.

    Args:
        times: Table of host times.
        politeness: As in ``HostClock``.
        limits: As in ``HostClock``.
        rng: As in ``HostClock``.
    """

    def __init__(
        self, times: HostTimes, politeness: Politeness, limits: Limits, rng: random.Random
    ) -> None:
        super().__init__(politeness, limits, rng)
        self._times = times

    @override
    def waits(self, host: Host) -> float:
        """Return seconds for which another crawl has the host; 0.0 if this crawl has it now."""
        return self._times.claim(host.name, self.delay(host))

    @override
    def record_send(self, host: Host, now: float) -> None:
        """Count the delay from now for all crawls: a request is sent."""
        super().record_send(host, now)
        self._times.claim(host.name, host.next_at - now)

    @override
    def back_off(self, host: Host, attempts: int, now: float, after: float | None = None) -> None:
        """Postpone a host that refuses requests for all crawls."""
        super().back_off(host, attempts, now, after)
        self._times.postpone(host.name, host.next_at - now)


def _open_table(folder: Path) -> lmdb.Environment:
    """Open the table of the machine's current boot; delete those of earlier boots."""
    path = folder / (boot_id() or _BOOT)
    if (opened := _open_tables.get(path)) is not None:
        return opened
    text = message(
        "{path}: cannot be used ({error}): see that its folder can be written, and that address"
        " space is not limited (ulimit -v)"
    )
    with translated(StorageError, text, (lmdb.Error, OSError), path=path):
        path.mkdir(parents=True, exist_ok=True)
        for other in folder.iterdir():
            if other != path:
                shutil.rmtree(other, ignore_errors=True)
        create_files(path)
        table = lmdb.open(os.fsencode(path), map_size=MAP_SIZE, sync=False, metasync=False)
    _open_tables[path] = table
    return table
