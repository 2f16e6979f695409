"""Choice of the next host: ready hosts by their best URL, the others by time.

The ranks of ready hosts (one for each lane) and a heap of times, all with lazy invalidation: an
entry counts only while it agrees with its host. Statistics of fetched pages give a bias for each
queue unit, which shifts millions of queued values by touching only the heads of units.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace
from math import inf
from operator import sub
from typing import TYPE_CHECKING

from topiccrawl.frontier.hosts import ASLEEP, NOTHING, Host, Origin
from topiccrawl.frontier.politeness import RETRY_AFTER_MAX
from topiccrawl.frontier.rows import TOP
from topiccrawl.links.strategies.contract import GroupStats

if TYPE_CHECKING:
    from topiccrawl.frontier.hosts import Best, Places, Unit
    from topiccrawl.frontier.politeness import HostClock
    from topiccrawl.links.strategies.contract import LinkStrategy

LANES = (0, 1)
RANGE_BITS = 18
"""Low bits of a 32-bit cost that do not decide its range."""
SLACK = 16
DRIFT = 0.002 * TOP
"""Change of a bias that is ignored when a unit comes to the head."""
EAGER = 16
"""All biases of a host are recomputed whenever its pages grew by one in so many."""


class Ranks:
    """Hosts of one lane by their best URLs: a heap for each range of costs, and one of the ranges.

    One heap of fifty thousand hosts is sixteen levels of cold memory; that of a range has few. The
    order is exact: ranges do not overlap, and a host is at the place of its best URL, or before. A
    host that got worse is moved when it comes to the front, not each time.

    An entry is valid while it is the one listed by its host.

    Args:
        lane: Number of the lane.
    """

    def __init__(self, lane: int) -> None:
        self._lane = lane
        self._ranges: dict[int, list[Best]] = {}
        self._numbers: list[int] = []
        self._most: dict[int, int] = {}

    def push(self, best: Best) -> None:
        """Enter a host by its best URL, which is better than its listed one."""
        number = int(best[0]) >> RANGE_BITS
        heap = self._ranges.get(number)
        if heap is None:
            heap = self._ranges[number] = []
            self._most[number] = SLACK
            heappush(self._numbers, number)
        lane = self._lane
        best[2].host.listed[lane] = best
        heappush(heap, best)
        if len(heap) > self._most[number]:
            heap[:] = [entry for entry in heap if entry[2].host.listed[lane] is entry]
            heapify(heap)
            self._most[number] = 2 * len(heap) + SLACK

    def first(self) -> Unit | None:
        """Return the unit with the best URL of all; remove invalid entries before it."""
        lane, numbers = self._lane, self._numbers
        while numbers:
            heap = self._ranges[numbers[0]]
            while heap:
                entry = heap[0]
                host = entry[2].host
                if host.listed[lane] is not entry:
                    heappop(heap)
                    continue
                best = host.best[lane]
                if best is None or not host.ready:
                    host.listed[lane] = None
                    heappop(heap)
                elif best == entry:
                    return entry[2]
                elif int(best[0]) >> RANGE_BITS == numbers[0]:
                    host.listed[lane] = best
                    heapreplace(heap, best)
                else:
                    heappop(heap)
                    self.push(best)
            del self._ranges[numbers[0]], self._most[numbers[0]]
            heappop(numbers)
        return None


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
        self._ranks = tuple(map(Ranks, LANES))
        self._times: list[tuple[float, int, Host | Origin]] = []
        self._stamp = 0

    @staticmethod
    def lead(unit: Unit, lane: int, head: int | None) -> None:
        """Set the head of a unit's lane; its host is not ranked."""
        unit.heads[lane] = head
        passed = head is None or unit.origin.waits
        unit.host.worths[lane][unit.uid] = inf if passed else head >> 32  # type: ignore[operator]

    def rank(self, host: Host, lane: int) -> None:
        """Recompute the best URL of a host's lane, and list it."""
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
        """Recompute a host's best URLs after only biases (all, or that of ``unit``) changed."""
        for lane in LANES:
            if host.best[lane] is not None and (unit is None or unit.heads[lane] is not None):
                self.rank(host, lane)

    def improve(self, host: Host, lane: int, best: Best) -> None:
        """Set the best URL of a host's lane, and list the host by it."""
        host.best[lane] = best
        if host.ready:
            listed = host.listed[lane]
            if listed is None or best < listed:
                self._ranks[lane].push(best)
        elif host.wake == ASLEEP:
            self.settle(host, host.next_at - 1.0)

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
                self.lead(unit, lane, unit.heads[lane])
        for lane in LANES:
            self.rank(host, lane)

    def best(self, lane: int) -> Unit | None:
        """Return the unit with the best URL of a lane over all ready hosts, or None."""
        return self._ranks[lane].first()

    def next_time(self) -> float | None:
        """Return the earliest time at which a host or origin with URLs is checked, or None."""
        times = self._times
        while times:
            when, _, thing = times[0]
            if thing.wake == when and _has_urls(thing):
                return when
            heappop(times)
            if thing.wake == when:
                thing.wake = ASLEEP
        return None

    # -- biases ------------------------------------------------------------------------------------

    def bias_of(self, unit: Unit) -> float:
        """Return the current bias of a unit, in units of value."""
        host = unit.host
        known = map(host.groups.__getitem__, unit.groups)
        return self._strategy.bias([self.crawl, host.stats, *known])

    def renew(self, unit: Unit) -> bool:
        """Recompute a unit's bias; return whether it changed enough to rank its host again."""
        bias = self.bias_of(unit) * TOP
        biases, uid = unit.host.biases, unit.uid
        if -DRIFT < bias - biases[uid] < DRIFT:
            return False
        biases[uid] = bias
        self.rank_again(unit.host, unit)
        return True

    def update_bias(self, unit: Unit) -> None:
        """Recompute the bias of an empty unit."""
        unit.host.biases[unit.uid] = self.bias_of(unit) * TOP

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
                host, [one for one in host.units if not one.groups or not apart(one.groups)]
            )

    def _renew(self, host: Host, units: list[Unit]) -> None:
        """Recompute biases, once for all units with equal statistics (mostly none)."""
        changed = False
        known: dict[tuple[GroupStats, ...], float] = {}
        counted, biases = host.groups.__getitem__, host.biases
        for unit in units:
            if unit.heads[0] is None and unit.heads[1] is None:
                continue
            stats = tuple(map(counted, unit.groups))
            bias = known.get(stats)
            if bias is None:
                given = [self.crawl, host.stats, *stats]
                bias = known[stats] = self._strategy.bias(given) * TOP
            if bias != biases[unit.uid]:
                biases[unit.uid] = bias
                changed = True
        if changed:
            self.rank_again(host)


def _has_urls(thing: Host | Origin) -> bool:
    if isinstance(thing, Host):
        return thing.best[0] is not None or thing.best[1] is not None
    return True
