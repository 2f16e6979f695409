"""Queued URLs in order of value: eight bytes of RAM a URL, rebuilt from the rows at opening.

A million rows take about a second, so that no second copy of the order has to be stored.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from itertools import islice
from math import inf
from struct import Struct
from typing import TYPE_CHECKING

import numpy as np

from topiccrawl.frontier import rows
from topiccrawl.frontier.leases import Leases, leased
from topiccrawl.frontier.rows import QUEUED, TOP, Row, Urls, decode
from topiccrawl.frontier.seen import Tail
from topiccrawl.links.strategies.contract import REJECTED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from topiccrawl.frontier.hosts import Host, Origin, Places
    from topiccrawl.frontier.order import Unit
    from topiccrawl.frontier.ready import Ready
    from topiccrawl.frontier.store import Store

DUE = Struct(">d")
LANE_NAMES = ("prior", "normal", "error")
BATCH = 20_000
TOLD = 100
"""Batches between two log lines at opening: two million URLs, some seconds."""
logger = logging.getLogger(__name__)


class Queues:
    """The queues of all URLs: enter, leave, move; keeps the head of each unit and lane current.

    Args:
        urls: Rows, by number.
        places: Hosts and units.
        ready: Hosts by their best URLs; a unit's bias is updated when a URL enters it empty.
        leases: Leases of URLs that are in no queue.
        most: Queued URLs beyond which low values are refused; 0 is no bound.

    Attributes:
        tally: Sizes of the queues, and counters of events, by name.
    """

    def __init__(
        self, urls: Urls, places: Places, ready: Ready, leases: Leases, most: int = 0
    ) -> None:
        self.urls = urls
        self.places = places
        self.leases = leases
        self.ready = ready
        self.tally: defaultdict[str, int] = defaultdict(int)
        self._store = urls.store
        self._hosts = places.hosts
        self._tail = Tail(most, self._hosts)
        self._soonest = 0.0  # no URL is due before
        put_in_order(urls.store, self._hosts)

    def origin(self, url: str) -> Origin | None:
        """Return the origin of a URL, or None (counted) where its host has too many origins."""
        origin = self.places.origin(url)
        if origin is None:
            self.tally["origins"] += 1
        return origin

    def sizes(self) -> tuple[int, int]:
        """Return the numbers of URLs in priorQueue and normalQueue, without leased ones."""
        return self.tally[LANE_NAMES[0]], self.tally[LANE_NAMES[1]]

    def counts(self) -> dict[str, int]:
        """Return counters by name; the queues always, the others where they are not 0."""
        return sizes_of(self.tally, len(self.leases.pages()))

    def unit(self, row: Row) -> Unit:
        """Return the unit of a row."""
        return self._hosts[row.host].units[row.unit]

    def enter(self, row: Row, key: bytes) -> None:
        """Queue a row by its value, or until its time."""
        if row.flags & rows.DELAYED:
            self.tally[LANE_NAMES[row.lane]] += 1
            self._store.put("due", DUE.pack(row.when) + key, b"")
            self._soonest = min(self._soonest, row.when)
        else:
            self.add(self.unit(row), row.lane, row.value, row.seq)

    def leave(self, row: Row, key: bytes) -> None:
        """Take a queued row out of its queue."""
        if row.flags & rows.DELAYED:
            self.tally[LANE_NAMES[row.lane]] -= 1
            self._store.put("due", DUE.pack(row.when) + key, None)
        else:
            self._remove(self.unit(row), row.lane, row.value, row.seq)

    def move(self, row: Row, key: bytes, lane: int, value: int) -> None:
        """Set lane and value of a row in any queue; lift it out of the errorQueue."""
        if key in self.leases.held:
            row.lane, row.value = lane, value
        elif row.state == QUEUED:
            if lane != row.lane or value != row.value:
                self.leave(row, key)
                row.lane, row.value = lane, value
                self.enter(row, key)
        else:
            row.lane, row.value = lane, value
            if lane < REJECTED:
                self.take_out(row, key)
                self.revive(row, key)

    def revive(self, row: Row, key: bytes) -> None:
        """Queue a row by its value, after it was settled or delayed, and taken out."""
        row.state = QUEUED
        row.flags &= ~(rows.DELAYED | rows.LOW_VALUE | rows.REDIRECTED)
        row.set_text(rows.REASON, "")
        self.enter(row, key)

    def take_out(self, row: Row, key: bytes) -> None:
        """Take a row that is not leased out of its queue."""
        if row.state == QUEUED:
            self.leave(row, key)
        elif row.state == rows.CRAWLED:
            self.tally["crawled"] -= 1
        else:
            self.reject(row.text(rows.REASON), -1)

    def remove(self, row: Row, key: bytes) -> None:
        """Delete the record of a row that is not leased."""
        self.take_out(row, key)
        self.urls.forget(key, row.seq)
        self.tally["known"] -= 1

    def fail(self, row: Row, reason: str) -> None:
        """Put a row that is in no queue into the errorQueue."""
        row.state = rows.ERROR
        row.flags &= ~rows.DELAYED
        row.set_text(rows.REASON, reason)
        self.reject(reason)

    def reject(self, reason: str, count: int = 1) -> None:
        """Count rows that enter the errorQueue, or leave it."""
        self.tally["error"] += count
        self.tally["error/" + reason] += count

    def crawled(self, row: Row, relevance: float, now: float) -> None:
        """Put a row that is in no queue into the crawledQueue."""
        row.state = rows.CRAWLED
        row.flags &= ~rows.DELAYED
        row.relevance = relevance
        row.when = now
        self.tally["crawled"] += 1

    def shift(self, unit: Unit, seq: int, before: tuple[int, int], after: tuple[int, int]) -> None:
        """Change lane and value of a URL that is queued by value."""
        lane, value = after
        if before[0] != lane:
            self._remove(unit, *before, seq)
            self.add(unit, *after, seq)
            return
        old, new = (TOP - before[1]) << 32 | seq, (TOP - value) << 32 | seq
        order = unit.normal if lane else unit.prior
        head = order.first
        order.remove(old)
        order.add(new)
        if self._tail.counts:
            self._tail.change(old, -1)
            self._tail.change(new, 1)
        if head is None or new < head:
            self._lead(unit, lane, new)
        elif old == head:
            self._follow(unit, lane)

    def refuses(self, value: int) -> bool:
        """Check whether a new URL of this value is refused; count it if so."""
        if self._tail.most and self._tail.refuses((TOP - value) << 32, sum(self.sizes())):
            self.tally["tail"] += 1
            return True
        return False

    def add(self, unit: Unit, lane: int, value: int, seq: int) -> None:
        """Add a URL to the order of its unit, and make it the head where it is the best."""
        self.tally[LANE_NAMES[lane]] += 1
        entry = (TOP - value) << 32 | seq
        order = unit.order(lane)
        head = order.first
        order.add(entry)
        if self._tail.counts:
            self._tail.change(entry, 1)
        if head is None:
            if unit.head(1 - lane) is None:
                unit.bias = self.ready.bias_of(unit)
            self._lead(unit, lane, entry)
        elif entry < head:
            self._lead(unit, lane, entry)

    def _remove(self, unit: Unit, lane: int, value: int, seq: int) -> None:
        self.tally[LANE_NAMES[lane]] -= 1
        entry = (TOP - value) << 32 | seq
        order = unit.normal if lane else unit.prior
        head = order.first
        order.remove(entry)
        if self._tail.counts:
            self._tail.change(entry, -1)
        if head == entry:
            self._follow(unit, lane)

    def _follow(self, unit: Unit, lane: int) -> None:
        """Find the new head of a unit that lost its head."""
        best = unit.host.best(lane)
        if best is None or best[2] is unit:
            self.ready.rank(unit.host, lane)

    def _lead(self, unit: Unit, lane: int, head: int) -> None:
        """Set a better head of a unit, and of its host where it is the best."""
        if not unit.origin.waits:
            host = unit.origin.host
            cost, seq = (head >> 32) - unit.bias, head & TOP
            best = host.best(lane)
            if best is None or cost < best[0] or (cost == best[0] and seq <= best[1]):
                self.ready.improve(host, lane, (cost, seq, unit))

    def due(self, now: float, most: int = 1000) -> list[bytes]:
        """Return keys whose time has come, at most ``most``, earliest first."""
        if now < self._soonest:
            return []
        keys: list[bytes] = []
        for entry, _ in self._store.items("due"):
            self._soonest = DUE.unpack_from(entry)[0]
            if len(keys) >= most or self._soonest > now:
                return keys
            keys.append(entry[DUE.size :])
        self._soonest = inf
        return keys

    def next_due(self) -> float | None:
        """Return the earliest time that a delayed URL waits for, or None."""
        return next(
            (DUE.unpack_from(entry)[0] for entry, _ in self._store.items("due", size=1)), None
        )


def queue_of(row: Row) -> str:
    """Return the name of the queue of a row that is not leased."""
    return LANE_NAMES[row.lane] if row.state == QUEUED else ("crawled", "error")[row.state - 1]


def sizes_of(tally: Mapping[str, int], leased: int) -> dict[str, int]:
    """Return the sizes of all queues, and the counters of a tally that are not 0."""
    sizes = dict.fromkeys((*LANE_NAMES[:2], "leased", "crawled", "error", "known"), 0)
    return sizes | {name: number for name, number in tally.items() if number} | {"leased": leased}


def put_in_order(store: Store, hosts: list[Host]) -> None:
    """Enter all rows that are queued by value, and not leased, into the orders of their units."""
    size = store.size("urls")
    held = [decode(data).seq for data in store.get_many("urls", leased(store)).values()]
    for number, packed in enumerate(_heads(store), 1):
        heads = np.frombuffer(packed, rows.HEAD)
        _enter(heads[~np.isin(heads["seq"], held)] if held else heads, hosts)
        if number % TOLD == 0:
            logger.info("%s: %d of %d URLs are in order", store.path, number * BATCH, size)
    for host in hosts:
        for unit in host.units:
            for order in unit.orders:
                order.settle()


def _heads(store: Store) -> Iterator[bytes]:
    """Yield the heads of rows, many at a time."""
    known = store.values("urls")
    while batch := [data[: rows.HEAD_BYTES] for data in islice(known, BATCH)]:
        yield b"".join(batch)


def _enter(heads: NDArray[np.void], hosts: list[Host]) -> None:
    """Append the queued rows of a batch to the orders of their units."""
    heads = heads[(heads["state"] == QUEUED) & (heads["flags"] & rows.DELAYED == 0)]
    lines = (
        heads["host"].astype(np.uint64) << 17 | heads["unit"].astype(np.uint64) << 1 | heads["lane"]
    )
    entries = (TOP - heads["value"]).astype(np.uint64) << 32 | heads["seq"]
    turn = np.argsort(lines, kind="stable")
    lines, entries = lines[turn], entries[turn]
    ends = [*(np.flatnonzero(np.diff(lines)) + 1).tolist(), len(lines)]
    start = 0
    for end in ends if len(lines) else ():
        line = int(lines[start])
        unit = hosts[line >> 17].units[line >> 1 & 0xFFFF]
        unit.order(line & 1).extend(entries[start:end].tobytes())
        start = end
