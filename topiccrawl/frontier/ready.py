"""Choice of the next host: ready hosts by their best URL, the others by time.

A heap of ready hosts for each lane and one of times, all with lazy invalidation: an entry counts
only while it agrees with its host. Statistics of fetched pages give a bias for each
queue unit, which shifts millions of queued values by touching only the heads of units.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace
from math import inf
from operator import sub
from typing import TYPE_CHECKING

from topiccrawl.frontier.hosts import ASLEEP, NO_BEST, NOTHING, Best, Bests, Host, Origin, Places
from topiccrawl.frontier.politeness import RETRY_AFTER_MAX, HostClock
from topiccrawl.frontier.rows import TOP
from topiccrawl.links.strategies.contract import GroupStats, LinkStrategy

if TYPE_CHECKING:
    from topiccrawl.frontier.order import Unit

LANES = (0, 1)
SLACK = 16
"""Entries of a heap that may be invalid, besides one for each host."""
DRIFT = 0.002 * TOP
"""Change of a bias that is ignored when a unit comes to the head."""
SLOW = 3.0
"""Seconds of a request from which its host is slow."""
EAGER = 16
"""All biases of a host are recomputed whenever its pages grew by one in so many."""


class Ready:
    """Hosts in the order of their best URLs and of their times.

    The biases of queue units, by the statistics of their groups, are added to the values of URLs. A
    unit's bias is recomputed when a page of its groups was crawled; all units of a host when the
    host's crawled pages grew by a sixteenth (each time up to 16 pages); the unit about to be
    served, always; a unit that was empty, when a URL enters.

    Args:
        clock: Decides whether a host may start a request.
        places: All hosts.
        strategy: Gives biases.

    Attributes:
        crawl: Statistics of all crawled pages.
    """

    def __init__(self, clock: HostClock, places: Places, strategy: LinkStrategy) -> None:
        self._clock = clock
        self._places = places
        self._strategy = strategy
        self.crawl = NOTHING
        self._ranks: dict[bool, tuple[list[Best], ...]] = {True: ([], []), False: ([], [])}
        self._times: list[tuple[float, int, Host | Origin]] = []
        self._stamp = 0

    @staticmethod
    def lead(unit: Unit, lane: int, head: int | None) -> None:
        """Set the cost of a unit's lane by its head; its host is not ranked."""
        passed = head is None or unit.origin.waits
        host = unit.host
        host.costs[len(host.units) * (1 + lane) + unit.uid] = inf if passed else head >> 32  # type: ignore[operator]

    def rank(self, host: Host, lane: int) -> None:
        """Recompute the best URL of a host's lane, and list it."""
        size = len(host.units)
        at = size * (1 + lane)
        costs = [*map(sub, host.costs[at : at + size], host.costs[:size])]
        lowest = min(costs) if costs else inf
        if lowest == inf:
            host.best = _put_in(host.best, lane, None)
            return
        unit = host.units[costs.index(lowest)]
        arrival = (unit.head(lane) or 0) & TOP
        if costs.count(lowest) > 1:
            alike = [one for one, cost in zip(host.units, costs, strict=True) if cost == lowest]
            arrival, unit = min(((one.head(lane) or 0) & TOP, one) for one in alike)
        self.improve(host, lane, (lowest, arrival, unit))

    def rank_again(self, host: Host, unit: Unit | None = None) -> None:
        """Recompute a host's best URLs after only biases (all, or that of ``unit``) changed."""
        for lane in LANES:
            if host.best[lane] is not None and (unit is None or unit.head(lane) is not None):
                self.rank(host, lane)

    def improve(self, host: Host, lane: int, best: Best) -> None:
        """Set the best URL of a host's lane, and list the host by it."""
        host.best = _put_in(host.best, lane, best)
        if host.ready:
            listed = host.listed[lane]
            if listed is None or best < listed:
                self._list(host, lane, best)
        elif host.wake == ASLEEP:
            self.settle(host, host.next_at - 1.0)

    def _list(self, host: Host, lane: int, best: Best) -> None:
        """Enter a host by its best URL, which is better than its listed one."""
        heap = self._ranks[host.slow][lane]
        alike = host.listed[1 - lane] is host.best[1 - lane]
        host.listed = host.best if alike else _put_in(host.listed, lane, best)
        heappush(heap, best)
        if len(heap) > 2 * len(self._places.hosts) + SLACK:
            valid = ((entry, entry[2].host) for entry in heap)
            heap[:] = [e for e, one in valid if one.listed[lane] is e and one.slow == host.slow]
            heapify(heap)

    def changed(self, host: Host, now: float) -> None:
        """Mark a host whose clock or counters changed for writing, and reschedule it."""
        self._places.changed(host)
        self.settle(host, now)

    def settle(self, host: Host, now: float) -> None:
        """Decide whether a host is ready, waits for a time, or for a request to end.

        A host that was ready, and still is, is in the ranks already.
        """
        if self._clock.full(host):
            host.ready = False
            host.wake = ASLEEP
        elif host.next_at > now:
            host.ready = False
            if host.best != NO_BEST:
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
        """Schedule the next check of a host or origin."""
        if thing.wake != when:
            thing.wake = when
            self._stamp += 1
            heappush(self._times, (when, self._stamp, thing))

    def wake(self, now: float) -> None:
        """Settle all hosts and origins whose time has come."""
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
        """Reset times too far ahead, after the machine's clock was set back."""
        for host in self._places.hosts:
            if host.next_at > now + max(RETRY_AFTER_MAX, 2.0 * self._clock.delay(host)):
                host.next_at = now
                self.settle(host, now)

    def hold(self, origin: Origin) -> None:
        """Skip an origin's URLs until its robots.txt is fetched."""
        origin.waits = True
        self.rank_anew(origin.host)

    def admit(self, origin: Origin) -> None:
        """Dispatch an origin's URLs again."""
        origin.waits = False
        self.rank_anew(origin.host)

    def rank_anew(self, host: Host) -> None:
        """Recompute the best URLs of a host, whatever changed."""
        for unit in host.units:
            for lane in LANES:
                self.lead(unit, lane, unit.head(lane))
        for lane in LANES:
            self.rank(host, lane)

    def best(self, lane: int, *, slow: bool = True) -> Unit | None:
        """Return the unit with the best URL of a lane over all ready hosts, or None.

        Args:
            lane: Number of the lane.
            slow: Whether hosts count that are slow.
        """
        quick = self._first(lane, slow=False)
        other = self._first(lane, slow=True) if slow else None
        if quick is None or other is None:
            found = quick or other
            return found[2] if found else None
        return min(quick, other)[2]

    def _first(self, lane: int, *, slow: bool) -> Best | None:
        """Return the best entry of a heap.

        A host is listed at its best URL, or before: one that got worse is moved when it comes to
        the front, not each time.
        """
        heap = self._ranks[slow][lane]
        while heap:
            entry = heap[0]
            host = entry[2].host
            best = host.best[lane]
            if host.listed[lane] is not entry or host.slow != slow:
                heappop(heap)
            elif best is None or not host.ready:
                host.listed = _put_in(host.listed, lane, None)
                heappop(heap)
            elif best == entry:
                return entry
            else:
                host.listed = _put_in(host.listed, lane, best)
                heapreplace(heap, best)
        return None

    def took(self, host: Host, seconds: float) -> None:
        """Record how long a request to a host took, and list the host where it belongs."""
        slow = seconds > SLOW
        if host.slow != slow:
            host.slow = slow
            host.listed = NO_BEST
            for lane, best in enumerate(host.best):
                if best is not None and host.ready:
                    self.improve(host, lane, best)

    def next_time(self) -> float | None:
        """Return the earliest time at which a host or origin with URLs is checked, or None."""
        times = self._times
        while times:
            when, _, thing = times[0]
            if thing.wake == when and (isinstance(thing, Origin) or thing.best != NO_BEST):
                return when
            heappop(times)
            if thing.wake == when:
                thing.wake = ASLEEP
        return None

    # -- biases ------------------------------------------------------------------------------------

    def bias_of(self, unit: Unit) -> float:
        """Return the current bias of a unit, in quanta."""
        host = unit.host
        known = [host.groups.get(group, NOTHING) for group in unit.groups]
        return self._strategy.bias([self.crawl, host.stats, *known]) * TOP

    def renew(self, unit: Unit) -> bool:
        """Recompute a unit's bias; return whether it changed enough to rank its host again."""
        bias = self.bias_of(unit)
        if -DRIFT < bias - unit.bias < DRIFT:
            return False
        unit.host.costs[unit.uid] = bias
        self.rank_again(unit.host, unit)
        return True

    def update_bias(self, unit: Unit) -> None:
        """Recompute the bias of a unit, whose host is not ranked."""
        unit.host.costs[unit.uid] = self.bias_of(unit)

    def renew_all(self) -> None:
        """Recompute all biases, and list all hosts."""
        for host in self._places.hosts:
            self.renew_host(host)
            self.rank_anew(host)
            self.settle(host, host.next_at - 1.0)

    def renew_host(self, host: Host) -> None:
        """Recompute all biases of a host."""
        self._renew(host, host.units)
        host.refreshed = host.stats.pages

    def crawled(self, unit: Unit, relevance: float) -> None:
        """Count a crawled page, and update the biases of its neighbours."""
        host = unit.host
        self.crawl = GroupStats(self.crawl.pages + 1, self.crawl.relevance + relevance)
        self._places.count(host, unit.groups, relevance)
        if (host.stats.pages - host.refreshed) * EAGER >= host.refreshed:
            self.renew_host(host)
        else:
            apart = frozenset(unit.groups).isdisjoint
            self._renew(
                host,
                tuple(one for one in host.units if not one.groups or not apart(one.groups)),
            )

    def _renew(self, host: Host, units: tuple[Unit, ...]) -> None:
        """Recompute biases of units with URLs; rank the host again where one changed."""
        before = host.costs[:]
        for unit in units:
            if unit.orders[0] or unit.orders[1]:
                self.update_bias(unit)
        if host.costs != before:
            self.rank_again(host)


def _put_in(bests: Bests, lane: int, best: Best | None) -> Bests:
    """Return the entries of both lanes with that of one replaced."""
    pair = (bests[0], best) if lane else (best, bests[1])
    return NO_BEST if pair == NO_BEST else pair
