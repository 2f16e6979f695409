"""The two lanes in order of value: the index on disk, the heads of its units in RAM."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from topiccrawl.frontier.rows import DELAYED, TOP

if TYPE_CHECKING:
    import lmdb

    from topiccrawl.frontier.biases import Biases
    from topiccrawl.frontier.places import Head, Places, Unit
    from topiccrawl.frontier.ready import Ready
    from topiccrawl.frontier.rows import Row
    from topiccrawl.frontier.store import Store

ENTRY = Struct(">IHBIQ")
PREFIX = Struct(">IHB")
RANK = Struct(">IQ")
DUE = Struct(">d")
LANE_NAMES = ("prior", "normal", "error")


class Queues:
    """What is queued: enter, leave, move; the head of each unit and lane stays known.

    Args:
        store: Open store.
        places: Its hosts and units.
        ready: Told when a head changes.
        biases: Told when a URL enters an empty unit.
        tally: Counters, by name of the queue.
    """

    def __init__(
        self, store: Store, places: Places, ready: Ready, biases: Biases, tally: dict[str, int]
    ) -> None:
        self._store = store
        self._places = places
        self._ready = ready
        self._biases = biases
        self._tally = tally
        self._kept: list[tuple[bytes, bytes]] | None = None
        self._lost: list[tuple[Unit, int]] = []
        self.reopen()
        self._load()

    def reopen(self) -> None:
        """Use the store's new transaction."""
        self._cursor: lmdb.Cursor[bytes] = self._store.txn.cursor(self._store.index)
        self._put = self._store.txn.put
        self._delete = self._store.txn.delete

    def unit(self, row: Row) -> Unit:
        """The unit a row belongs to."""
        return self._places.hosts[row.host].units[row.unit]

    def enter(self, row: Row, key: bytes) -> None:
        """Queue a row by its value, or until its time."""
        self._tally[LANE_NAMES[row.lane]] += 1
        if row.flags & DELAYED:
            self._put(DUE.pack(row.when) + key, b"", db=self._store.due)
        else:
            self.insert(self.unit(row), row.lane, TOP - row.value, row.seq, key)

    def leave(self, row: Row, key: bytes) -> None:
        """Take a queued row out."""
        self._tally[LANE_NAMES[row.lane]] -= 1
        if row.flags & DELAYED:
            self._delete(DUE.pack(row.when) + key, db=self._store.due)
        else:
            self._remove(self.unit(row), row.lane, TOP - row.value, row.seq)

    def gather(self) -> None:
        """Keep entries back until ``flush``: those of one page are written together, in order."""
        self._kept = []

    def flush(self) -> None:
        """Write the entries that were kept back, and find the heads that were lost meanwhile."""
        if self._kept:
            self._kept.sort()
            self._cursor.putmulti(self._kept)
        self._kept = None
        for unit, lane in self._lost:
            self._find_head(unit, lane)
        self._lost.clear()

    def shift(self, row: Row, key: bytes, value: int) -> None:
        """Give a row that stands in its lane's index another value."""
        unit = self._places.hosts[row.host].units[row.unit]
        host, uid, lane, seq = row.host, row.unit, row.lane, row.seq
        old, new = TOP - row.value, TOP - value
        row.value = value
        self._delete(ENTRY.pack(host, uid, lane, old, seq), b"", self._store.index)
        self._write(ENTRY.pack(host, uid, lane, new, seq), key)
        head = unit.heads[lane]
        if head is None or new < head[0] or (new == head[0] and seq <= head[1]):
            self._lead(unit, lane, (new, seq))
        elif head[1] == seq:
            self._lose(unit, lane)

    def insert(self, unit: Unit, lane: int, inverse: int, seq: int, key: bytes) -> None:
        """Enter the index, and the unit's head where it is the best."""
        self._write(ENTRY.pack(unit.host.id, unit.uid, lane, inverse, seq), key)
        head = unit.heads[lane]
        if head is None and unit.heads[1 - lane] is None:
            self._biases.update(unit)
        if head is None or inverse < head[0] or (inverse == head[0] and seq < head[1]):
            self._lead(unit, lane, (inverse, seq))

    def _write(self, entry: bytes, key: bytes) -> None:
        if self._kept is None:
            self._put(entry, key, True, True, False, self._store.index)  # noqa: FBT003
        else:
            self._kept.append((entry, key))

    def _remove(self, unit: Unit, lane: int, inverse: int, seq: int) -> None:
        entry = ENTRY.pack(unit.host.id, unit.uid, lane, inverse, seq)
        self._delete(entry, b"", self._store.index)
        head = unit.heads[lane]
        if head is not None and head[1] == seq:
            self._lose(unit, lane)

    def _lead(self, unit: Unit, lane: int, head: Head) -> None:
        """Take a better head of a unit, and of its host where it is the best."""
        unit.heads[lane] = head
        if not unit.origin.waits:
            host = unit.host
            cost = head[0] - unit.bias
            best = host.best[lane]
            if best is None or cost < best[0] or (cost == best[0] and head[1] <= best[1]):
                self._ready.improve(host, lane, (cost, head[1], unit))

    def _lose(self, unit: Unit, lane: int) -> None:
        """Find the next head of a unit, now or with the next ``flush``."""
        if self._kept is None:
            self._find_head(unit, lane)
        else:
            self._lost.append((unit, lane))

    def _find_head(self, unit: Unit, lane: int) -> None:
        prefix = PREFIX.pack(unit.host.id, unit.uid, lane)
        cursor = self._cursor
        same = cursor.set_range(prefix) and cursor.key()[: PREFIX.size] == prefix
        unit.heads[lane] = RANK.unpack_from(cursor.key(), PREFIX.size) if same else None
        best = unit.host.best[lane]
        if best is None or best[2] is unit:
            self._ready.rank(unit.host, lane)

    def take(self, unit: Unit, lane: int) -> bytes:
        """Key of a unit's head, without taking it out."""
        head = unit.heads[lane]
        if head is None:
            return b""
        entry = ENTRY.pack(unit.host.id, unit.uid, lane, *head)
        return self._store.txn.get(entry, b"", self._store.index) or b""

    def due(self, now: float, most: int = 1000) -> list[bytes]:
        """Keys whose time has come, at most so many, earliest first."""
        keys: list[bytes] = []
        for entry in self._store.txn.cursor(self._store.due).iternext(values=False):
            if len(keys) >= most or DUE.unpack_from(entry)[0] > now:
                break
            keys.append(entry[DUE.size :])
        return keys

    def next_due(self) -> float | None:
        """The earliest time a queued URL waits for, or None."""
        cursor = self._store.txn.cursor(self._store.due)
        return DUE.unpack_from(cursor.key())[0] if cursor.first() else None

    def _load(self) -> None:
        """Find the head of every unit and lane, and list all hosts."""
        cursor, hosts = self._cursor, self._places.hosts
        found = cursor.first()
        while found:
            host, uid, lane, inverse, seq = ENTRY.unpack(cursor.key())
            head: Head = (inverse, seq)
            hosts[host].units[uid].heads[lane] = head
            found = cursor.set_range(PREFIX.pack(host, uid, lane + 1))
