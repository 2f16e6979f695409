"""Dispatch of leases: in the order of value, lanes in turn, hosts when they are allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier.contract import Kind, Lease
from topiccrawl.frontier.leases import Held, robots_key
from topiccrawl.frontier.rows import DELAYED, TOP, URL, decode
from topiccrawl.links.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topiccrawl.frontier.contract import Limits, Politeness
    from topiccrawl.frontier.hosts import Host, Origin, Unit
    from topiccrawl.frontier.ingest import Judge
    from topiccrawl.frontier.politeness import HostClock, Robots
    from topiccrawl.frontier.queues import Queues
    from topiccrawl.frontier.rows import Row

MOVES = 32
"""Rows and units re-scored at the head in one call; after that a lease uses stored values."""
STEPS = 1000
"""URLs refused in one call (robots, budgets); the next call goes on from there."""

CROWDED = 0.25
"""Seconds until a host is checked again whose domain has all the requests in flight it may have."""


class Dispatch:
    """Dispatcher of leases, and of slots of host clocks.

    Args:
        queues: Queued and leased URLs.
        judge: Re-scores stale rows.
        robots: Rules of robots.txt files.
        clock: Times of requests to hosts.
        politeness: For obedience to robots.txt, and the operator's own hosts.
        limits: For the seconds that a lease lives.

    Attributes:
        share: Pops of priorQueue, then of normalQueue, in turn.
        turn: Place in that cycle.
    """

    def __init__(
        self, queues: Queues, judge: Judge, robots: Robots, clock: HostClock,
        politeness: Politeness, limits: Limits,
    ) -> None:  # fmt: skip
        self._queues = queues
        self._urls = queues.urls
        self._leases = queues.leases
        self._places = queues.places
        self._ready = queues.ready
        self._judge = judge
        self._robots = robots
        self._clock = clock
        self._obey = politeness.robots
        self._own = politeness.own
        self._most_domain = politeness.domain_concurrency
        self._seconds = limits.lease_seconds
        self.share = judge.strategy.share
        self.turn = 0
        self._moves = self._steps = 0
        self._lent: set[Host] = set()

    def pop(self, n: int, now: float) -> list[Lease]:
        """Return up to n leases, best first."""
        for key in self._queues.due(now):
            self._awake(key)
        self._ready.wake(now)
        leases: list[Lease] = []
        self._moves = MOVES
        self._steps = STEPS
        while len(leases) < n and self._steps > 0:
            found = self._next()
            if found is None:
                break
            if self._most_domain and self._is_crowded(found[0].host):
                found[0].host.ready = False
                self._ready.alarm(found[0].host, now + CROWDED)
                continue
            lease = self._serve(*found, now)
            if lease is not None:
                leases.append(lease)
        return leases

    def next_due(self, now: float) -> float | None:
        """Return seconds until ``pop`` may return a lease, or None."""
        if self._next() is not None:
            return 0.0
        times = (self._ready.next_time(), self._queues.next_due(), self._leases.next_expiry())
        known = [when for when in times if when is not None]
        return max(0.0, min(known) - now) if known else None

    def acquire(self, name: str, now: float) -> bool:
        """Take a slot of a host's clock, if it is allowed now."""
        host = self._places.host(name)
        if self._clock.full(host) or host.next_at > now or not self._claim(host, now):
            return False
        self._start(host, now)
        self._lent.add(host)
        return True

    def left(self, name: str, now: float) -> None:
        """Count the delay of a host with requests in flight from now on."""
        host = self._places.find_host(name)
        if host is not None and host.active:
            self._clock.left(host, now)
            self._ready.changed(host, now)

    def stood_still(self, seconds: float, now: float) -> None:
        """Leave a stall out of the clocks of hosts with requests in flight."""
        self._lent = {host for host in self._lent if host.active}
        held = {held.host for held in self._leases.held.values() if held.slot}
        for host in held | self._lent:
            self._clock.stood_still(host, seconds, now)
            self._ready.changed(host, now)

    def release(self, name: str, now: float) -> None:
        """Release such a slot; one that was never taken changes nothing."""
        host = self._places.find_host(name)
        if host is not None and host.active > 0:
            host.active -= 1
            self._ready.settle(host, now)

    def extend(self, leases: Iterable[Lease], now: float) -> None:
        """Give leases a new expiry."""
        for lease in leases:
            self._leases.extend(lease, now + self._seconds)

    def _next(self) -> tuple[Unit, int] | None:
        """Return unit and lane to serve now: of the lane whose turn it is, else of the other."""
        lane = 0 if self.turn < self.share[0] else 1
        best = self._ready.best
        unit = best(lane)
        if unit is None:
            lane = 1 - lane
            unit = best(lane)
        return None if unit is None else (unit, lane)

    def _serve(self, unit: Unit, lane: int, now: float) -> Lease | None:
        """Lease a unit's head; None where the head was moved or refused instead."""
        queues = self._queues
        obeys = self._obey and unit.host.name not in self._own
        if obeys and not self._robots.known(unit.origin, now):
            return self._ask(unit.origin, lane, now) if self._claim(unit.host, now) else None
        if self._moves > 0 and queues.biases.renew(unit):
            self._moves -= 1
            return None
        head = unit.heads[lane]
        assert head is not None, "its host was listed with it"  # noqa: S101
        key = self._urls.key(head & TOP)
        data = self._urls.find(key) if key else None
        assert key is not None, "what is queued is known"  # noqa: S101
        assert data is not None, "what has a number has a row"  # noqa: S101
        row = decode(data)
        if self._moves > 0 and self._judge.refresh(row):
            self._moves -= 1
            queues.move(row, key, *self._judge.standing(row, row.lane))
            self._urls.put(key, row)
            return None
        refusal = self._refusal(unit, row, obeys=obeys)
        if not refusal and not self._claim(unit.host, now):
            return None
        queues.leave(row, key)
        if refusal:
            self._steps -= 1
            queues.fail(row, refusal)
            self._urls.put(key, row)
            return None
        held = self._hold(key, unit.host, None, now)
        held.row = data, row
        return self._lease(unit, row, key, held, now)

    def _is_crowded(self, host: Host) -> bool:
        """Return whether a domain of several hosts has all the requests in flight it may have."""
        site = site_of(host.name)
        if self._places.domains[site] == 1:
            return False
        held = self._leases.held.values()
        return sum(one.slot and site_of(one.host.name) == site for one in held) >= self._most_domain

    def _refusal(self, unit: Unit, row: Row, *, obeys: bool) -> str:
        """Return the reason why a URL is not fetched, or ""."""
        if self._clock.spent(unit.host):
            return "host-budget"
        if not obeys:
            return ""
        if not unit.origin.available:
            return self._robots.cause(unit.origin)
        return "" if self._robots.allowed(unit.origin, row.text(URL)) else "robots"

    def _lease(self, unit: Unit, row: Row, key: bytes, held: Held, now: float) -> Lease:
        host = unit.host
        self.turn = (self.turn + 1) % max(sum(self.share), 1)
        host.leased += 1
        self._start(host, now)
        url, anchor, context, payload, _ = row.texts.decode().split("\0")
        return Lease(
            url, key, held.epoch, Kind.PAGE, row.lane, row.value / TOP + unit.bias / TOP,
            row.evidence, row.depth, row.attempts, row.redirects, held.expires, payload, anchor,
            context,
        )  # fmt: skip

    def _ask(self, origin: Origin, lane: int, now: float) -> Lease:
        """Lease an origin's robots.txt; the origin's URLs are skipped until it is fetched."""
        url = origin.name + "/robots.txt"
        key = robots_key(url)
        held = self._hold(key, origin.host, origin, now)
        self._ready.hold(origin)
        self._start(origin.host, now)
        return Lease(
            url, key, held.epoch, Kind.ROBOTS, lane, attempts=origin.attempts,
            expires=held.expires,
        )  # fmt: skip

    def _hold(self, key: bytes, host: Host, origin: Origin | None, now: float) -> Held:
        leases = self._leases
        leases.epoch += 1
        held = Held(leases.epoch, now + self._seconds, host, origin)
        leases.add(key, held)
        return held

    def _start(self, host: Host, now: float) -> None:
        self._clock.start(host, now)
        self._ready.changed(host, now)

    def _claim(self, host: Host, now: float) -> bool:
        """Return whether this crawl may ask the host; postpone the host if not."""
        wait = self._clock.waits(host)
        if wait:
            host.next_at = max(host.next_at, now + wait)
            self._ready.settle(host, now)
        return not wait

    def _awake(self, key: bytes) -> None:
        """Queue a URL by its value, now that the time it waited for has come."""
        row = self._urls.row(key)
        if row is not None:
            self._queues.leave(row, key)
            row.flags &= ~DELAYED
            self._queues.enter(row, key)
            self._urls.put(key, row)
