"""WHICH HOST: hosts that may be asked now, by their best URL; the others by time.

The ranks of ready hosts (a lane each) and a heap of times, all with lazy invalidation: an entry
counts only while it says what its host says.
"""

from __future__ import annotations

from heapq import heappop, heappush
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

    def rank(self, host: Host, lane: int) -> None:
        """Find the best URL of a host's lane anew, and list it."""
        best: Unit | None = None
        lowest, arrival = 0.0, 0
        for unit in host.units:
            head = unit.heads[lane]
            if head is not None and not unit.origin.waits:
                cost = (head >> 32) - unit.bias
                if best is None or cost < lowest or (cost == lowest and head & TOP < arrival):
                    best, lowest, arrival = unit, cost, head & TOP
        if best is None:
            host.best[lane] = None
        else:
            host.best[lane] = (lowest, arrival, best)
            self.list(host, lane)

    def rank_again(self, host: Host) -> None:
        """Find the best URLs of a host anew where nothing but a bias changed."""
        if host.best[0] is not None:
            self.rank(host, 0)
        if host.best[1] is not None:
            self.rank(host, 1)

    def improve(self, host: Host, lane: int, best: Best) -> None:
        """Take a better URL of a host's lane."""
        host.best[lane] = best
        self.list(host, lane)

    def list(self, host: Host, lane: int) -> None:
        """Enter a host's best URL among those that may be fetched now, or its time."""
        if not host.ready:
            if host.wake == ASLEEP:
                self.settle(host, host.next_at - 1.0)
            return
        best, listed = host.best[lane], host.listed[lane]
        if best is not None and (
            listed is None or best[0] < listed[0] or (best[0] == listed[0] and best[1] < listed[1])
        ):
            self._ranks[lane].push(best[0], best[1], host)

    def settle(self, host: Host, now: float) -> None:
        """Decide anew whether a host is ready, waits for a time, or for a request to end."""
        if self._clock.full(host):
            host.ready = False
            host.wake = ASLEEP
        elif host.next_at > now:
            host.ready = False
            if host.best[0] is not None or host.best[1] is not None:
                self.alarm(host, host.next_at)
            else:
                host.wake = ASLEEP
        else:
            host.ready = True
            host.wake = ASLEEP
            self.list(host, 0)
            self.list(host, 1)

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
        self._rank_all(origin.host)

    def admit(self, origin: Origin) -> None:
        """Count an origin's URLs again."""
        origin.waits = False
        self._rank_all(origin.host)

    def _rank_all(self, host: Host) -> None:
        self.rank(host, 0)
        self.rank(host, 1)

    def best(self, lane: int) -> Host | None:
        """The ready host with the best URL of a lane, or None."""
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
