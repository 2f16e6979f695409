"""Queues of URLs in order of value: eight bytes of RAM per URL, rebuilt when a store opens.

A :class:`RowScorer` computes the values of rows and re-scores stale ones.

A million rows take about a second, so no copy of the order is stored.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from itertools import islice, takewhile
from math import inf
from struct import Struct
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from topiccrawl.frontier import rows
from topiccrawl.frontier.rows import QUEUED, TOP, Row, Urls, decode, quantum
from topiccrawl.frontier.seen import QueueLimit
from topiccrawl.links.strategies.contract import LEARNT, REJECTED, LinkStrategy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from topiccrawl.frontier.hosts import Host, HostRegistry, Origin
    from topiccrawl.frontier.leases import Leases
    from topiccrawl.frontier.order import Unit
    from topiccrawl.frontier.ready import ReadyHosts
    from topiccrawl.frontier.store import Store
    from topiccrawl.model import Evidence

DUE = Struct(">d")
LANE_NAMES = ("prior", "normal", "error")
SIZES = ("prior", "normal", "leased", "crawled", "error", "known")
MAX_DUE = 1000
"""Maximum number of delayed URLs that one call queues."""
SWEEP_END = TOP
"""Position of a sweep that has read all rows."""
BATCH = 20_000
LOG_BATCHES = 100
"""Batches between two log lines when a store opens: two million URLs, some seconds."""
logger = logging.getLogger(__name__)


class Queues:
    """Queues of all URLs; keeps the head of each unit and lane current.

    Args:
        urls: Rows, by number.
        registry: Hosts and units.
        ready: Hosts by their best URLs; updates a unit's bias when a URL enters the empty unit.
        leases: Open leases, whose URLs are in no queue.
        most: Queued URLs beyond which low values are refused; 0 for no limit.

    Attributes:
        tally: Sizes of the queues, and counters of events, by name.
    """

    def __init__(
        self, urls: Urls, registry: HostRegistry, ready: ReadyHosts, leases: Leases, most: int = 0
    ) -> None:
        self.urls, self.registry, self.leases, self.ready = urls, registry, leases, ready
        self.tally: defaultdict[str, int] = defaultdict(int)
        self._store = urls.store
        self._hosts = registry.hosts
        self._limit = QueueLimit(most, self._hosts)
        self._earliest_due = 0.0  # earliest time at which a URL may be due
        self.tally.update(zip(LANE_NAMES, build_orders(urls.store, self._hosts), strict=False))

    def origin(self, url: str) -> Origin | None:
        """Return the origin of a URL, or None (counted) if its host has too many origins."""
        origin = self.registry.origin(url)
        self.tally["origins"] += origin is None
        return origin

    def sizes(self) -> tuple[int, int]:
        """Return the numbers of URLs in priorQueue and normalQueue, excluding leased ones."""
        return self.tally[LANE_NAMES[0]], self.tally[LANE_NAMES[1]]

    def counts(self) -> dict[str, int]:
        """Return counters by name: all queue sizes, and other counters that are not 0."""
        return sizes_of(self.tally, self.leases.pages())

    def unit(self, row: Row) -> Unit:
        """Return the unit of a row."""
        return self._hosts[row.host].units[row.unit]

    def enter(self, row: Row, key: bytes) -> None:
        """Put a row into the queue of its state; a delayed one waits for its earliest fetch."""
        self._count(row, key, 1)

    def leave(self, row: Row, key: bytes) -> None:
        """Remove a row that is not leased from its queue."""
        self._count(row, key, -1)

    def _count(self, row: Row, key: bytes, change: int) -> None:
        """Add a row to its queue (1), or remove it (-1)."""
        if row.state == rows.CRAWLED:
            self.tally["crawled"] += change
        elif row.state == rows.ERROR:
            self.count_error(row.text(rows.REASON), change)
        elif row.flags & rows.DELAYED:
            self.tally[LANE_NAMES[row.lane]] += change
            self._store.put("due", DUE.pack(row.when) + key, b"" if change > 0 else None)
            self._earliest_due = min(self._earliest_due, row.when)
        else:
            entry = entry_of(row.value, row.seq)
            old, new = (0, entry) if change > 0 else (entry, 0)
            self.replace_entry(self.unit(row), row.lane, old, new)

    def put_back(self, row: Row, key: bytes) -> None:
        """Store a changed row that is in no queue, and put it into the queue of its state."""
        self.enter(row, key)
        self.urls.put(key, row)

    def move(self, row: Row, key: bytes, lane: int, value: int) -> None:
        """Set lane and value of a row in any queue; a row may leave the errorQueue."""
        is_same = (lane, value) == (row.lane, row.value)
        if is_same and (row.state == QUEUED or lane == REJECTED):
            return
        is_leased = key in self.leases.by_key
        if not is_leased:
            self.leave(row, key)
        row.lane, row.value = lane, value
        if row.state != QUEUED and lane < REJECTED:
            row.unsettle()
        if not is_leased:
            self.enter(row, key)

    def remove(self, row: Row, key: bytes) -> None:
        """Delete the record of a row that is not leased."""
        self.leave(row, key)
        self.urls.delete(key, row.seq)
        self.tally["known"] -= 1

    def count_error(self, reason: str, count: int = 1) -> None:
        """Count rows that enter the errorQueue, or leave it."""
        self.tally["error"] += count
        self.tally["error/" + reason] += count

    def add(self, row: Row, key: bytes, origin: Origin, groups: tuple[str, ...]) -> None:
        """Record a new row in its unit and in the queue of its state; it gets an arrival number."""
        row.seq = self.urls.next_seq(row.seq)
        unit = self.registry.unit(origin, groups)
        row.host, row.unit = unit.host.id, unit.uid
        self.tally["known"] += 1
        self.enter(row, key)
        self.urls.add(key, row)

    def refuses(self, value: int) -> bool:
        """Check whether a new URL of this value is refused; count it if so."""
        limit = self._limit
        refused = limit.most > 0 and limit.refuses(entry_of(value, 0), sum(self.sizes()))
        self.tally["tail"] += refused
        return refused

    def replace_entry(self, unit: Unit, lane: int, old: int, new: int) -> None:
        """Replace an entry of a unit's lane and update the head.

        Args:
            unit: Queue unit.
            lane: Number of the lane.
            old: Entry to remove (``entry_of``); 0 for none.
            new: Entry to add; 0 for none.
        """
        order = unit.order(lane)
        head = order.first
        if old:
            order.remove(old)
        if new:
            order.add(new)
        if not old or not new:
            self.tally[LANE_NAMES[lane]] += 1 if new else -1
        if self._limit.counts:
            self._limit.change(old, new)
        if new and (head is None or new < head):
            if head is None and (unit.prior if lane else unit.normal).first is None:
                unit.bias = self.ready.bias_of(unit)
            self.ready.add_head(unit, lane, new)
        elif old == head:
            self.ready.remove_head(unit, lane)

    def enter_due(self, now: float) -> None:
        """Queue delayed URLs by their values once their time has come, earliest first."""
        if now < self._earliest_due:
            return
        entries = (entry for entry, _ in self._store.items("due"))
        due = takewhile(lambda entry: DUE.unpack_from(entry)[0] <= now, entries)
        for entry in list(islice(due, MAX_DUE)):
            key = entry[DUE.size :]
            row = self.urls.row(key)
            if row is not None:
                self.leave(row, key)
                row.flags &= ~rows.DELAYED
                self.put_back(row, key)
        earliest = self.next_due()
        self._earliest_due = inf if earliest is None else earliest

    def set_back(self, seconds: float) -> None:
        """Shift the times of delayed URLs, after the system time was set back by some seconds."""
        for entry in [entry for entry, _ in self._store.items("due")]:
            key = entry[DUE.size :]
            row = self.urls.row(key)
            if row is not None:
                self.leave(row, key)
                row.when -= seconds
                self.put_back(row, key)

    def next_due(self) -> float | None:
        """Return the earliest time of a delayed URL, or None."""
        waiting = self._store.items("due", size=1)
        return next((DUE.unpack_from(entry)[0] for entry, _ in waiting), None)


class RowScorer:
    """Scorer of rows by their evidence; re-scores stale rows.

    Args:
        queues: Rows and the queues they are in.
        strategy: Computes values and lanes.

    Attributes:
        swept: Topic part of the version that the sweep works for, and the number it has reached.
    """

    def __init__(self, queues: Queues, strategy: LinkStrategy) -> None:
        self._queues = queues
        self.strategy = strategy
        self._signature = crc32(strategy.signature().encode()) % LEARNT
        self.swept = self.topic, SWEEP_END

    @property
    def version(self) -> int:
        """Version of strategy, formula and parameters; rows with another one are stale."""
        return self.strategy.version ^ self._signature

    @property
    def topic(self) -> int:
        """Part of the version that does not change by learning; rows with another one are swept."""
        return self.version % LEARNT

    def rescore(self, row: Row) -> bool:
        """Recompute a row's evidence from its texts if it is stale; return whether it was.

        ``lane_and_value`` then returns its new lane and value.
        """
        version = self.version
        if row.version == version:
            return False
        row.version = version
        if row.evidence:
            _, anchor, context, _, _ = row.texts.split(b"\0")
            row.evidence = self.strategy.rescore(row.evidence, anchor.decode(), context.decode())
        return True

    def rescored(self, stored: Mapping[bytes, bytes]) -> dict[bytes, Evidence]:
        """Return the new evidence of stored rows that are stale and may move, in one batch."""
        version = self.version
        stale = {
            key: fields
            for key, data in stored.items()
            if rows.version_of(data) != version
            and rows.is_movable(*data[:2])
            and (fields := rows.scored_fields(data))[0]
        }
        return dict(zip(stale, self.strategy.rescore_all(list(stale.values())), strict=True))

    def lane_and_value(self, row: Row, lane: int) -> tuple[int, int]:
        """Return lane and value (in quanta) of a row by its evidence.

        Args:
            row: A row that is not stale.
            lane: Worst lane to return.
        """
        if not row.evidence:
            return min(row.lane, lane), row.value
        value = quantum(self.strategy.value(row.evidence))
        if row.flags & rows.PINNED:
            value = max(value, row.value)
        return min(row.lane, lane, self.strategy.lane(row.evidence)), value

    def rescore_and_move(self, row: Row, key: bytes) -> bool:
        """Re-score and move a stale row; return whether it was stale."""
        stale = self.rescore(row)
        if stale:
            self._queues.move(row, key, *self.lane_and_value(row, row.lane))
            self._queues.urls.put(key, row)
        return stale

    def sweep(self, n: int = 100) -> int:
        """Read up to n rows in the order of arrival; return the number read.

        Stale rows that are queued, or in the errorQueue for their low value, are re-scored:
        evidence, value and lane. Returns 0 once all rows were read since the topic changed.
        """
        topic, (done, at) = self.topic, self.swept
        if done == topic and at == SWEEP_END:
            return 0
        at = at if done == topic else 0
        batch = list(islice(self._queues.urls.in_order(at, n), n))
        for _, key, data in batch:
            if rows.is_movable(*data[:2]):
                self.rescore_and_move(decode(data), key)
        self.swept = (topic, batch[-1][0] if len(batch) == n else SWEEP_END)
        return len(batch)


def entry_of(value: int, seq: int) -> int:
    """Return the entry of a URL in its unit's order: inverted value, then arrival number."""
    return (TOP - value) << 32 | seq


def queue_of(row: Row) -> str:
    """Return the name of the queue of a row that is not leased."""
    return LANE_NAMES[row.lane] if row.state == QUEUED else ("crawled", "error")[row.state - 1]


def sizes_of(tally: Mapping[str, int], leased: int) -> dict[str, int]:
    """Return the sizes of all queues, and the counters of a tally that are not 0."""
    sizes = dict.fromkeys(SIZES, 0)
    return sizes | {name: number for name, number in tally.items() if number} | {"leased": leased}


def build_orders(store: Store, hosts: list[Host]) -> list[int]:
    """Enter all rows that are queued by value into the orders of their units.

    Returns:
        Numbers of URLs in priorQueue and normalQueue, including delayed ones.
    """
    total, done, sizes = store.size("urls"), 0, np.zeros(len(LANE_NAMES), int)
    stored = store.values("urls")
    while packed := b"".join(data[: rows.HEAD_BYTES] for data in islice(stored, BATCH)):
        heads = np.frombuffer(packed, rows.HEAD)
        queued = heads[heads["state"] == QUEUED]
        sizes += np.bincount(queued["lane"], minlength=len(LANE_NAMES))
        _enter(queued[queued["flags"] & rows.DELAYED == 0], hosts)
        done += len(heads)
        if done % (LOG_BATCHES * BATCH) == 0:
            logger.info("%s: %d of %d URLs ordered", store.path, done, total)
    for host in hosts:
        for unit in host.units:
            for order in unit.orders:
                order.sort()
    return [int(size) for size in sizes[:2]]


def _enter(heads: NDArray[np.void], hosts: list[Host]) -> None:
    """Append rows to the orders of their units."""
    queue_ids = (
        heads["host"].astype(np.uint64) << 17 | heads["unit"].astype(np.uint64) << 1 | heads["lane"]
    )
    entries = (TOP - heads["value"]).astype(np.uint64) << 32 | heads["seq"]
    order = np.argsort(queue_ids, kind="stable")
    queue_ids, entries = queue_ids[order], entries[order]
    ends = [*(np.flatnonzero(np.diff(queue_ids)) + 1).tolist(), len(queue_ids)]
    start = 0
    for end in ends if len(queue_ids) else ():
        queue_id = int(queue_ids[start])
        unit = hosts[queue_id >> 17].units[queue_id >> 1 & 0xFFFF]
        unit.order(queue_id & 1).extend(entries[start:end].tobytes())
        start = end
