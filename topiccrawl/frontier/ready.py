"""WHICH HOST: hosts that may be asked now, by their best URL; the others by time.

The ranks of ready hosts (a lane each) and a heap of times, all with lazy invalidation: an entry
counts only while it says what its host says.
"""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf
from operator import sub
from typing import TYPE_CHECKING

from topiccrawl.frontier.clock import RETRY_AFTER_MAX
from topiccrawl.frontier.places import ASLEEP, Host, Origin
from topiccrawl.frontier.ranks import Ranks
from topiccrawl.frontier.rows import TOP

if TYPE_CHECKING:
    from topiccrawl.frontier.clock import HostClock
    from topiccrawl.frontier.places import Best, Unit

LANES = (0, 1)


class Ready:
    """Hosts in the order of their best URLs and of their times.

    Args:
        clock: Says whether a host may start a request.
        hosts: All hosts, shared with ``Places``.
    """

    def __init__(self, clock: HostClock, hosts: list[Host]) -> None:
        self._clock = clock
        self._hosts = hosts
        self._ranks = tuple(map(Ranks, LANES))
        self._times: list[tuple[float, int, Host | Origin]] = []
        self._stamp = 0

    @staticmethod
    def lead(unit: Unit, lane: int, head: int | None) -> None:
        """Note the head of a unit's lane; its host is not ranked."""
        unit.heads[lane] = head
        passed = head is None or unit.origin.waits
        unit.host.worths[lane][unit.uid] = inf if passed else head >> 32  # type: ignore[operator]

    def rank(self, host: Host, lane: int) -> None:
        """Find the best URL of a host's lane anew, and list it."""
        costs = [*map(sub, host.worths[lane], host.biases)]
        lowest = min(costs) if costs else inf
        if lowest == inf:
            host.best[lane] = None
            return
        unit = host.units[costs.index(lowest)]
        arrival = (unit.heads[lane] or 0) & TOP
        if costs.count(lowest) > 1:
            alike = [one for one, cost in zip(host.units, costs, strict=True) if cost == lowest]
            arrival, unit = min(((one.heads[lane] or 0) & TOP, one) for one in alike)
        self.improve(host, lane, (lowest, arrival, unit))

    def rank_again(self, host: Host, unit: Unit | None = None) -> None:
        """Find the best URLs of a host anew where nothing but biases changed, or that of a unit."""
        for lane in LANES:
            if host.best[lane] is not None and (unit is None or unit.heads[lane] is not None):
                self.rank(host, lane)

    def improve(self, host: Host, lane: int, best: Best) -> None:
        """Take the best URL of a host's lane, and see that the host is found by it."""
        host.best[lane] = best
        if host.ready:
            listed = host.listed[lane]
            if listed is None or best < listed:
                self._ranks[lane].push(best)
        elif host.wake == ASLEEP:
            self.settle(host, host.next_at - 1.0)

    def settle(self, host: Host, now: float) -> None:
        """Decide anew whether a host is ready, waits for a time, or for a request to end.

        One that was ready, and is, stands in the ranks already.
        """
        if self._clock.full(host):
            host.ready = False
            host.wake = ASLEEP
        elif host.next_at > now:
            host.ready = False
            if host.best[0] is not None or host.best[1] is not None:
                self.alarm(host, host.next_at)
            else:
                host.wake = ASLEEP
        elif not host.ready:
            host.ready = True
            host.wake = ASLEEP
            for lane in LANES:
                best = host.best[lane]
                if best is not None:
                    self.improve(host, lane, best)

    def alarm(self, thing: Host | Origin, when: float) -> None:
        """Look at a host or origin again at a time."""
        if thing.wake != when:
            thing.wake = when
            self._stamp += 1
            heappush(self._times, (when, self._stamp, thing))

    def wake(self, now: float) -> None:
        """Settle everything whose time has come."""
        times = self._times
        while times and times[0][0] <= now:
            when, _, thing = heappop(times)
            if thing.wake != when:
                continue
            thing.wake = ASLEEP
            if isinstance(thing, Host):
                self.settle(thing, now)
            else:
                self.admit(thing)

    def believe(self, now: float) -> None:
        """Let no host wait longer than hosts do: the machine's clock was set back meanwhile."""
        for host in self._hosts:
            if host.next_at > now + max(RETRY_AFTER_MAX, 2.0 * self._clock.delay(host)):
                host.next_at = now
                self.settle(host, now)

    def hold(self, origin: Origin) -> None:
        """Pass over an origin's URLs until its robots.txt is known."""
        origin.waits = True
        self.rank_anew(origin.host)

    def admit(self, origin: Origin) -> None:
        """Count an origin's URLs again."""
        origin.waits = False
        self.rank_anew(origin.host)

    def rank_anew(self, host: Host) -> None:
        """Find the best URLs of a host anew, whatever changed."""
        for unit in host.units:
            for lane in LANES:
                self.lead(unit, lane, unit.heads[lane])
        for lane in LANES:
            self.rank(host, lane)

    def best(self, lane: int) -> Unit | None:
        """The unit with the best URL of a lane over all ready hosts, or None."""
        return self._ranks[lane].first()

    def next_time(self) -> float | None:
        """The earliest time at which a host or origin with URLs is looked at again, or None."""
        times = self._times
        while times:
            when, _, thing = times[0]
            if thing.wake == when and _has_urls(thing):
                return when
            heappop(times)
            if thing.wake == when:
                thing.wake = ASLEEP
        return None


def _has_urls(thing: Host | Origin) -> bool:
    if isinstance(thing, Host):
        return thing.best[0] is not None or thing.best[1] is not None
    return True
