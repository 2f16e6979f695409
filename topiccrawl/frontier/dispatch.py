"""WHICH NEXT: leases in the order of value, lanes in turn, hosts when they are allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier.contract import Kind, Lease
from topiccrawl.frontier.held import Held, robots_key
from topiccrawl.frontier.rows import DELAYED, TOP, URL, decode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topiccrawl.frontier.contract import Limits, Politeness
    from topiccrawl.frontier.endings import Endings
    from topiccrawl.frontier.judge import Judge
    from topiccrawl.frontier.places import Host, Origin, Unit
    from topiccrawl.frontier.rows import Row
    from topiccrawl.frontier.state import State

MOVES = 32
"""Values made anew at the head before a lease is given without looking further."""
STEPS = 1000
"""URLs sorted out in one call (robots, budgets): what is left comes with the next call."""


class Dispatch:
    """Gives leases, and slots of host clocks.

    Args:
        state: The frontier's open state.
        judge: Makes stale values anew.
        endings: Ends leases that expired.
        politeness: Whether robots.txt is obeyed.
        limits: Seconds a lease lives.
        share: Pops of priorQueue, then of normalQueue, in turn.
    """

    def __init__(
        self, state: State, judge: Judge, endings: Endings, politeness: Politeness,
        limits: Limits, share: tuple[int, int],
    ) -> None:  # fmt: skip
        self._state = state
        self._judge = judge
        self._endings = endings
        self._obey = politeness.robots
        self._own = politeness.own
        self._seconds = limits.lease_seconds
        self._prior = max(share[0], 0)
        self._cycle = max(sum(share), 1)
        self._moves = self._steps = 0
        self._lent: set[Host] = set()

    def pop(self, n: int, now: float) -> list[Lease]:
        """Up to n leases, best first."""
        state = self._state
        self._endings.expire(now)
        for key in state.queues.due(now):
            self._awake(key)
        state.ready.wake(now)
        leases: list[Lease] = []
        self._moves = MOVES
        self._steps = STEPS
        while len(leases) < n and self._steps > 0:
            found = self._next()
            if found is None:
                break
            lease = self._serve(*found, now)
            if lease is not None:
                leases.append(lease)
        return leases

    def next_due(self, now: float) -> float | None:
        """Seconds until ``pop`` may give something, or None."""
        state = self._state
        if self._next() is not None:
            return 0.0
        times = (state.ready.next_time(), state.queues.next_due(), state.leases.next_expiry())
        known = [when for when in times if when is not None]
        return max(0.0, min(known) - now) if known else None

    def acquire(self, name: str, now: float) -> bool:
        """Take a slot of a host's clock, if it is allowed now."""
        clock = self._state.clock
        host = self._state.places.host(name)
        if clock.full(host) or host.next_at > now or not self._claim(host, now):
            return False
        self._start(host, now)
        self._lent.add(host)
        return True

    def left(self, name: str, now: float) -> None:
        """Count the delay of a host with requests in flight from now on."""
        host = self._state.places.find_host(name)
        if host is not None and host.active:
            self._state.clock.left(host, now)
            self._state.places.changed(host)
            self._state.ready.settle(host, now)

    def stood_still(self, seconds: float, now: float) -> None:
        """Leave a time out of the clocks of hosts with requests in flight."""
        self._lent = {host for host in self._lent if host.active}
        held = {held.host for held in self._state.leases.held.values() if held.slot}
        for host in held | self._lent:
            self._state.clock.stood_still(host, seconds, now)
            self._state.places.changed(host)
            self._state.ready.settle(host, now)

    def release(self, name: str, now: float) -> None:
        """Give such a slot back; one that was never taken changes nothing."""
        host = self._state.places.find_host(name)
        if host is not None and host.active > 0:
            host.active -= 1
            self._state.ready.settle(host, now)

    def extend(self, leases: Iterable[Lease], now: float) -> None:
        """Give leases a new expiry."""
        for lease in leases:
            self._state.leases.extend(lease, now + self._seconds)

    def _next(self) -> tuple[Unit, int] | None:
        """Unit and lane to be served now, of the lane whose turn it is, else of the other one."""
        lane = 0 if self._state.turn < self._prior else 1
        best = self._state.ready.best
        unit = best(lane)
        if unit is None:
            lane = 1 - lane
            unit = best(lane)
        return None if unit is None else (unit, lane)

    def _serve(self, unit: Unit, lane: int, now: float) -> Lease | None:
        """A lease for a unit's head; None where the head was moved or sorted out instead."""
        state = self._state
        obeys = self._obey and unit.host.name not in self._own
        if obeys and not state.robots.known(unit.origin, now):
            return self._ask(unit.origin, lane, now) if self._claim(unit.host, now) else None
        if self._moves > 0 and state.biases.renew(unit):
            self._moves -= 1
            return None
        head = unit.heads[lane]
        assert head is not None, "its host was listed with it"  # noqa: S101
        key, data = state.urls.key(head & TOP), state.urls.get(head & TOP)
        row = decode(data)
        if self._moves > 0 and self._judge.refresh(row):
            self._moves -= 1
            state.move(row, key, *self._judge.standing(row, row.lane))
            state.put(row)
            return None
        refusal = self._refusal(unit, row, obeys=obeys)
        if not refusal and not self._claim(unit.host, now):
            return None
        state.queues.leave(row, key)
        if refusal:
            self._steps -= 1
            state.fail(row, refusal)
            state.put(row)
            return None
        held = self._hold(key, unit.host, None, now)
        held.number, held.row = row.seq, (data, row)
        return self._lease(unit, row, key, held, now)

    def _refusal(self, unit: Unit, row: Row, *, obeys: bool) -> str:
        """Why a URL is not fetched, or ""."""
        if self._state.clock.spent(unit.host):
            return "host-budget"
        if not obeys:
            return ""
        if not unit.origin.available:
            return self._state.robots.cause(unit.origin)
        return "" if self._state.robots.allowed(unit.origin, row.text(URL)) else "robots"

    def _lease(self, unit: Unit, row: Row, key: bytes, held: Held, now: float) -> Lease:
        state, host = self._state, unit.host
        state.turn = (state.turn + 1) % self._cycle
        host.leased += 1
        self._start(host, now)
        url, anchor, context, payload, _ = row.texts.decode().split("\0")
        return Lease(
            url, key, held.epoch, Kind.PAGE, row.lane, row.value / TOP + unit.bias / TOP,
            row.evidence, row.depth, row.attempts, row.redirects, held.expires, payload, anchor,
            context,
        )  # fmt: skip

    def _ask(self, origin: Origin, lane: int, now: float) -> Lease:
        """A lease for an origin's robots.txt; its URLs are passed over until it is known."""
        url = origin.name + "/robots.txt"
        key = robots_key(url)
        held = self._hold(key, origin.host, origin, now)
        self._state.ready.hold(origin)
        self._start(origin.host, now)
        return Lease(
            url, key, held.epoch, Kind.ROBOTS, lane, attempts=origin.attempts,
            expires=held.expires,
        )  # fmt: skip

    def _hold(self, key: bytes, host: Host, origin: Origin | None, now: float) -> Held:
        leases = self._state.leases
        leases.epoch += 1
        held = Held(leases.epoch, now + self._seconds, host, origin)
        leases.add(key, held)
        return held

    def _start(self, host: Host, now: float) -> None:
        self._state.clock.start(host, now)
        self._state.places.changed(host)
        self._state.ready.settle(host, now)

    def _claim(self, host: Host, now: float) -> bool:
        """Whether the host is ours to ask; one that is not has another time now."""
        wait = self._state.clock.waits(host)
        if wait:
            host.next_at = max(host.next_at, now + wait)
            self._state.ready.settle(host, now)
        return not wait

    def _awake(self, key: bytes) -> None:
        """Queue by value what waited for a time that has come."""
        state = self._state
        row = state.get(key)
        if row is not None:
            state.queues.leave(row, key)
            row.flags &= ~DELAYED
            state.queues.enter(row, key)
            state.put(row)
