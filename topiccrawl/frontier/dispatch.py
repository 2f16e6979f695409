"""Dispatch of leases by value, with the lanes in turn and each host at its allowed time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from topiccrawl.frontier.rows import ERROR, TOP, URL, Row, key_of
from topiccrawl.links.urls import site_of
from topiccrawl.model import Kind, Lease

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.frontier.contract import Politeness
    from topiccrawl.frontier.hosts import Host, Origin
    from topiccrawl.frontier.order import Unit
    from topiccrawl.frontier.politeness import HostClock, Robots
    from topiccrawl.frontier.queues import Queues, RowScorer

MAX_MOVES = 32
"""Maximum number of rows and units re-scored in one call; after that, stored values are used."""
MAX_REFUSALS = 1000
"""Maximum number of URLs refused in one call (robots, budgets); the next call continues."""

CROWDED_SECONDS = 0.25
"""Seconds until a host is checked again whose domain has its maximum number of open leases."""


class Slots:
    """Request slots and delays of hosts; the contract documents the methods.

    Args:
        queues: Hosts and leases.
        host_clock: Times of requests to hosts.
        clock: Seconds since the epoch.
    """

    def __init__(self, queues: Queues, host_clock: HostClock, clock: Callable[[], float]) -> None:
        self._registry, self._ready = queues.registry, queues.ready
        self.host_clock, self._clock = host_clock, clock

    def acquire(self, host: str) -> bool:
        """Take a slot of the host for a request without a lease; return True if allowed now."""
        state, now = self._registry.host(host.lower()), self._clock()
        if self.host_clock.is_full(state) or state.next_at > now or not self.claim(state, now):
            return False
        self.record_start(state, now)
        return True

    def release(self, host: str) -> None:
        """Release a slot taken by ``acquire``; do nothing if none was taken."""
        state = self._registry.find_host(host.lower())
        if state is not None and state.active > 0:
            state.active -= 1
            self._ready.reschedule(state, self._clock())

    def waits(self, host: str) -> float:
        """Return seconds that a request with a slot must wait for another one that was sent."""
        state = self._registry.find_host(host.lower())
        if state is None:
            return 0.0
        return max(0.0, state.send_at - self._clock()) or self.host_clock.waits(state)

    def left(self, host: str) -> bool:
        """Record that a request is sent now; the next one is delayed from here."""
        state, now = self._registry.find_host(host.lower()), self._clock()
        if state is not None and state.active:
            self.host_clock.record_send(state, now)
            self._ready.host_changed(state, now)
        return True

    def pace(self, speed: float) -> None:
        """Divide hosts' delays by ``speed`` from the next request on; 1 is normal."""
        self.host_clock.speed = speed

    def rest(self, ahead: float = 0.0) -> float:
        """Return the time until which hosts are delayed if requests continue for ``ahead`` s."""
        hosts = self._registry.hosts
        latest = max((host.next_at for host in hosts), default=0.0)
        if not ahead:
            return latest
        longest = max(map(self.host_clock.delay, hosts), default=0.0)
        return max(latest, self._clock() + ahead + longest)

    def record_start(self, host: Host, now: float) -> None:
        """Count a request that starts now."""
        self.host_clock.record_start(host, now)
        self._ready.host_changed(host, now)

    def claim(self, host: Host, now: float) -> bool:
        """Check whether this crawl may request the host now; postpone the host if not."""
        wait = self.host_clock.waits(host)
        if wait:
            host.next_at = max(host.next_at, now + wait)
            self._ready.reschedule(host, now)
        return not wait


class Dispatch:
    """Dispatcher of leases.

    Args:
        queues: Queued and leased URLs.
        scorer: Re-scores stale rows.
        robots: Rules of robots.txt files.
        slots: Request slots of the hosts.
        politeness: Whether robots.txt is obeyed, the operator's own hosts, and the domain limit.

    Attributes:
        share: Numbers of leases from priorQueue and from normalQueue per cycle.
        turn: Position in that cycle.
        slack: Positions by which a lane may be early or late, so that the better URL comes first.
    """

    def __init__(
        self, queues: Queues, scorer: RowScorer, robots: Robots, slots: Slots,
        politeness: Politeness,
    ) -> None:  # fmt: skip
        self._queues, self._scorer, self._robots, self._slots = queues, scorer, robots, slots
        self._urls, self._leases, self._ready = queues.urls, queues.leases, queues.ready
        self._obey, self._own = politeness.robots, politeness.own
        self._max_domain = politeness.domain_concurrency
        self.share, self.slack = scorer.strategy.share, scorer.strategy.slack
        self.turn = self._early = self._shift = self._moves_left = self._refusals_left = 0

    def pop(self, n: int, now: float) -> list[Lease]:
        """Return up to n leases, best first."""
        self._queues.enter_due(now)
        self._ready.run_due(now)
        leases: list[Lease] = []
        self._moves_left, self._refusals_left = MAX_MOVES, MAX_REFUSALS
        while len(leases) < n and self._refusals_left > 0 and (found := self._next_unit()):
            if lease := self._serve(*found, now):
                leases.append(lease)
        return leases

    def next_due(self, now: float) -> float | None:
        """Return seconds until ``pop`` may return a lease, or None."""
        if self._next_unit() is not None:
            return 0.0
        times = (self._ready.next_time(), self._queues.next_due(), self._leases.next_expiry())
        due = [when for when in times if when is not None]
        return max(0.0, min(due) - now) if due else None

    def _next_unit(self) -> tuple[Unit, int] | None:
        """Return the next unit and lane: from the lane whose turn it is, or else from the other.

        Within ``slack`` the lane with the better URL goes first; ``_shift`` is then the change of
        position that the lease causes.
        """
        lane, self._shift = 0 if self.turn < self.share[0] else 1, 0
        find = partial(self._ready.best, slow=self._allows_slow())
        best = find(lane)
        if best is None:
            lane = 1 - lane
            best = find(lane)
        elif self.slack and (other := find(1 - lane)) is not None and other[0] < best[0]:
            shift = 1 - 2 * lane
            if abs(self._early + shift) <= self.slack:
                self._shift, best, lane = shift, other, 1 - lane
        return None if best is None else (best[2], lane)

    def _allows_slow(self) -> bool:
        """Check whether a request may go to a host that is slow or was not requested in this run.

        Slow hosts together may have 1.5 times the open requests of one domain. Hosts that never
        respond, in any number of domains, thus leave capacity for the others.
        """
        if not self._max_domain:
            return True
        slow = [one.host for one in self._leases.by_key.values() if one.has_slot and one.host.slow]
        return len(slow) < self._max_domain * 3 // 2 or len(set(slow)) == 1

    def _serve(self, unit: Unit, lane: int, now: float) -> Lease | None:
        """Lease the head of a unit; return None if the host must wait, or the head is moved."""
        host = unit.host
        if self._max_domain and self._is_crowded(host):
            host.ready = False
            self._ready.schedule(host, now + CROWDED_SECONDS)
            return None
        obeys = self._obey and host.name not in self._own
        if obeys and not self._robots.is_current(unit.origin, now):
            claimed = self._slots.claim(host, now)
            return self._lease_robots(unit.origin, lane, now) if claimed else None
        if self._moves_left > 0 and self._ready.refresh_bias(unit):
            self._moves_left -= 1
            return None
        return self._serve_head(unit, lane, now, obeys=obeys)

    def _serve_head(self, unit: Unit, lane: int, now: float, *, obeys: bool) -> Lease | None:
        """Lease the head of a unit that may be requested, unless it is moved or refused."""
        key = self._urls.key_of_number((unit.orders[lane].first or 0) & TOP)
        assert key is not None, "a queued URL has a key"  # noqa: S101
        row = self._urls.row(key)
        assert row is not None, "a URL with a key has a row"  # noqa: S101
        if self._moves_left > 0 and self._scorer.rescore_and_move(row, key):
            self._moves_left -= 1
            return None
        refusal = ""
        if unit.host.pages >= self._slots.host_clock.max_pages:
            refusal = "host-budget"
        elif obeys:
            refusal = self._robots.refusal(unit.origin, row.text(URL))
        if not refusal and not self._slots.claim(unit.host, now):
            return None
        self._queues.leave(row, key)
        if not refusal:
            return self._lease_page(unit, row, key, now)
        self._refusals_left -= 1
        row.settle(ERROR, refusal, now)
        self._queues.put_back(row, key)
        return None

    def _is_crowded(self, host: Host) -> bool:
        """Check whether a domain has its maximum of open leases (one host: of pages in reading)."""
        if self._queues.registry.siblings(host.name) == 1:
            own = (one for one in self._leases.by_key.values() if one.host is host)
            return sum(not one.has_slot for one in own) >= self._max_domain
        site = site_of(host.name)
        leases = [one for one in self._leases.by_key.values() if site_of(one.host.name) == site]
        active = sum(one.has_slot for one in leases)
        return active >= self._max_domain or len(leases) > self._max_domain

    def _lease_page(self, unit: Unit, row: Row, key: bytes, now: float) -> Lease:
        entry = self._leases.open(key, unit.host, None, now)
        self._slots.record_start(unit.host, now)
        self.turn = (self.turn + 1) % max(sum(self.share), 1)
        self._early += self._shift
        url, anchor, context, payload, _ = row.texts.decode().split("\0")
        return Lease(
            url, key, entry.epoch, Kind.PAGE, row.lane, row.value / TOP + unit.bias / TOP,
            row.evidence, row.depth, row.attempts, row.redirects, entry.expires, payload, anchor,
            context,
        )  # fmt: skip

    def _lease_robots(self, origin: Origin, lane: int, now: float) -> Lease:
        """Lease an origin's robots.txt; the origin's URLs are skipped until it is fetched."""
        url = origin.name + "/robots.txt"
        key = b"R" + key_of(url)  # no page lease has it
        self._ready.set_blocked(origin, blocked=True)
        entry = self._leases.open(key, origin.host, origin, now)
        self._slots.record_start(origin.host, now)
        return Lease(
            url, key, entry.epoch, Kind.ROBOTS, lane, attempts=origin.attempts,
            expires=entry.expires,
        )  # fmt: skip
