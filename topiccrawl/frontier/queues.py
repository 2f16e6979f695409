"""The two lanes in order of value: eight bytes of RAM a URL, made anew from the rows at opening."""

from __future__ import annotations

from math import inf
from struct import Struct
from typing import TYPE_CHECKING

from topiccrawl.frontier.opening import put_in_order
from topiccrawl.frontier.order import Order
from topiccrawl.frontier.rows import (
    DELAYED,
    TOP,
)
from topiccrawl.frontier.tail import Tail

if TYPE_CHECKING:
    from topiccrawl.frontier.biases import Biases
    from topiccrawl.frontier.places import Places, Unit
    from topiccrawl.frontier.ready import Ready
    from topiccrawl.frontier.rows import Row
    from topiccrawl.frontier.store import Store

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
        most: URLs waiting beyond which low values are turned away; 0 is no bound.
    """

    def __init__(
        self, store: Store, places: Places, ready: Ready, biases: Biases, tally: dict[str, int],
        most: int = 0,
    ) -> None:  # fmt: skip
        self._store = store
        self._hosts = places.hosts
        self._ready = ready
        self._biases = biases
        self._tally = tally
        self._tail = Tail(most, self._hosts)
        self._soonest = 0.0
        """Nothing is due before."""
        put_in_order(store, self._hosts)

    def unit(self, row: Row) -> Unit:
        """The unit a row belongs to."""
        return self._hosts[row.host].units[row.unit]

    def enter(self, row: Row, key: bytes) -> None:
        """Queue a row by its value, or until its time."""
        if row.flags & DELAYED:
            self._tally[LANE_NAMES[row.lane]] += 1
            self._store.txn.put(DUE.pack(row.when) + key, b"", db=self._store.due)
            self._soonest = min(self._soonest, row.when)
        else:
            self.add(self.unit(row), row.lane, row.value, row.seq)

    def leave(self, row: Row, key: bytes) -> None:
        """Take a queued row out."""
        if row.flags & DELAYED:
            self._tally[LANE_NAMES[row.lane]] -= 1
            self._store.txn.delete(DUE.pack(row.when) + key, db=self._store.due)
        else:
            self._remove(self.unit(row), row.lane, row.value, row.seq)

    def move(self, unit: Unit, seq: int, before: tuple[int, int], after: tuple[int, int]) -> None:
        """Give what is queued by value another lane and value."""
        lane, value = after
        if before[0] != lane:
            self._remove(unit, *before, seq)
            self.add(unit, *after, seq)
            return
        old, new = (TOP - before[1]) << 32 | seq, (TOP - value) << 32 | seq
        order = unit.orders[lane]
        assert order is not None, "what moves has entered"  # noqa: S101
        order.replace(old, new)
        if self._tail.counts:
            self._tail.change(old, -1)
            self._tail.change(new, 1)
        head = unit.heads[lane]
        if head is None or new < head:
            self._lead(unit, lane, new)
        elif old == head:
            self._follow(unit, lane, order)

    def near_bound(self, coming: int) -> bool:
        """Whether any of so many new URLs may be turned away."""
        tally = self._tally
        return self._tail.near(tally[LANE_NAMES[0]] + tally[LANE_NAMES[1]] + coming)

    def refuses(self, value: int) -> bool:
        """Whether a new URL of this value is turned away, and count it."""
        tally = self._tally
        waiting = tally[LANE_NAMES[0]] + tally[LANE_NAMES[1]]
        if self._tail.refuses((TOP - value) << 32, waiting):
            tally["tail"] += 1
            return True
        return False

    def add(self, unit: Unit, lane: int, value: int, seq: int) -> None:
        """Enter the order, and the unit's head where it is the best."""
        self._tally[LANE_NAMES[lane]] += 1
        entry = (TOP - value) << 32 | seq
        order = unit.orders[lane]
        if order is None:
            order = unit.orders[lane] = Order()
        order.add(entry)
        if self._tail.counts:
            self._tail.change(entry, 1)
        head = unit.heads[lane]
        if head is None:
            if unit.heads[1 - lane] is None:
                self._biases.update(unit)
            self._lead(unit, lane, entry)
        elif entry < head:
            self._lead(unit, lane, entry)

    def _remove(self, unit: Unit, lane: int, value: int, seq: int) -> None:
        self._tally[LANE_NAMES[lane]] -= 1
        entry = (TOP - value) << 32 | seq
        order = unit.orders[lane]
        assert order is not None, "what leaves has entered"  # noqa: S101
        order.remove(entry)
        if self._tail.counts:
            self._tail.change(entry, -1)
        if unit.heads[lane] == entry:
            self._follow(unit, lane, order)

    def _follow(self, unit: Unit, lane: int, order: Order) -> None:
        """Find the head of a unit that lost its head."""
        self._ready.lead(unit, lane, order.first())
        best = unit.host.best[lane]
        if best is None or best[2] is unit:
            self._ready.rank(unit.host, lane)

    def _lead(self, unit: Unit, lane: int, head: int) -> None:
        """Take a better head of a unit, and of its host where it is the best."""
        self._ready.lead(unit, lane, head)
        if not unit.origin.waits:
            host = unit.host
            cost, seq = (head >> 32) - unit.bias, head & TOP
            best = host.best[lane]
            if best is None or cost < best[0] or (cost == best[0] and seq <= best[1]):
                self._ready.improve(host, lane, (cost, seq, unit))

    def due(self, now: float, most: int = 1000) -> list[bytes]:
        """Keys whose time has come, at most so many, earliest first."""
        if now < self._soonest:
            return []
        keys: list[bytes] = []
        for entry in self._store.txn.cursor(self._store.due).iternext(values=False):
            self._soonest = DUE.unpack_from(entry)[0]
            if len(keys) >= most or self._soonest > now:
                return keys
            keys.append(entry[DUE.size :])
        self._soonest = inf
        return keys

    def next_due(self) -> float | None:
        """The earliest time a queued URL waits for, or None."""
        cursor = self._store.txn.cursor(self._store.due)
        return DUE.unpack_from(cursor.key())[0] if cursor.first() else None
