"""Selection of the next host: ready hosts by their best URL, other hosts by time.

There are heaps of ready hosts for each lane, and one heap of times. All use lazy invalidation: an
entry counts only while it agrees with its host. Statistics of fetched pages give a bias for each
queue unit, which shifts millions of queued values by a change to the heads of units.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace
from typing import TYPE_CHECKING

from topiccrawl.frontier.hosts import NEVER, NOTHING, Best, Host, HostRegistry, Origin
from topiccrawl.frontier.politeness import RETRY_AFTER_MAX, HostClock
from topiccrawl.frontier.rows import TOP

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topiccrawl.frontier.order import Unit
    from topiccrawl.links.strategies.contract import LinkStrategy

LANES = (0, 1)
SLACK = 16
"""Entries of a heap that may be invalid, in addition to one for each host."""
DRIFT = 0.002 * TOP
"""Change of a bias that is ignored when a unit comes to the head."""
SLOW = 3.0
"""Seconds of a request above which its host is slow."""
EAGER = 16
"""Divisor of a host's crawled pages: all its biases are recomputed when they grow by this part."""


class ReadyHosts:
    """Hosts ordered by their best URLs and by the times of their next checks.

    The bias of a queue unit follows from the statistics of its groups and is added to the values of
    its URLs. A unit's bias is recomputed when a page of its groups was crawled, before the unit is
    served, and when a URL enters the empty unit. All biases of a host are recomputed when its
    crawled pages grew by a sixteenth (each time up to 16 pages).

    Args:
        clock: Decides whether a host may start a request.
        registry: All hosts.
        strategy: Computes biases.

    Attributes:
        crawl: Statistics of all crawled pages.
    """

    def __init__(self, clock: HostClock, registry: HostRegistry, strategy: LinkStrategy) -> None:
        self._clock = clock
        self._registry = registry
        self._strategy = strategy
        self.crawl = NOTHING
        self._heaps: dict[bool, tuple[list[Best], ...]] = {True: ([], []), False: ([], [])}
        self._times: list[tuple[float, int, Host | Origin]] = []
        self._stamp = 0
        self._bias = 0.0  # latest bias; most hosts were never requested and share one object

    def rank(self, host: Host, *lanes: int) -> None:
        """Find the best URLs of a host's lanes, of both if none is given."""
        for lane in lanes or LANES:
            best: Best | None = None
            for unit in host.units:
                head = unit.normal.first if lane else unit.prior.first
                if head is not None and not unit.origin.blocked:
                    cost = (head >> 32) - unit.bias
                    if best is None or cost <= best[0]:
                        entry = cost, head & TOP, unit
                        best = min(best or entry, entry)
            self._set_best(host, lane, best)

    def add_head(self, unit: Unit, lane: int, head: int) -> None:
        """Update the best URL of a host after a better URL became the head of a unit."""
        if not unit.origin.blocked:
            host = unit.origin.host
            entry, best = ((head >> 32) - unit.bias, head & TOP, unit), host.best(lane)
            if best is None or entry < best:
                self._set_best(host, lane, entry)

    def remove_head(self, unit: Unit, lane: int) -> None:
        """Update the best URL of a host after a unit lost its head."""
        best = unit.host.best(lane)
        if best is None or best[2] is unit:
            self.rank(unit.host, lane)

    def _set_best(self, host: Host, lane: int, best: Best | None) -> None:
        """Set the best URL of a host's lane, and list the host by it."""
        former = host.best(lane)
        if best == former:
            return
        if lane:
            host.normal = best
        else:
            host.prior = best
        heap = self._heaps[host.slow][lane]
        if host.ready and best is not None and heap and heap[0] is former:
            heapreplace(heap, best)
        elif host.ready:
            self._list(host, lane)
        elif host.check_at == NEVER:
            self.reschedule(host, host.next_at - 1.0)

    def _list(self, host: Host, *lanes: int) -> None:
        """List a ready host by the best URLs of some lanes."""
        for lane in lanes:
            heap, hosts, best = self._heaps[host.slow][lane], self._registry.hosts, host.best(lane)
            if best is not None:
                heappush(heap, best)
            if len(heap) > 2 * len(hosts) + SLACK:
                listed = [one.best(lane) for one in hosts if one.ready and one.slow == host.slow]
                heap[:] = filter(None, listed)
                heapify(heap)

    def host_changed(self, host: Host, now: float) -> None:
        """Mark a host whose clock or counters changed for writing, and reschedule it."""
        self._registry.mark_dirty(host)
        self.reschedule(host, now)

    def reschedule(self, host: Host, now: float) -> None:
        """Determine whether a host is ready, waits for a time, or waits for a request to end.

        A host that was ready and still is stays listed.
        """
        is_full = self._clock.is_full(host)
        if is_full or host.next_at > now:
            host.ready = False
            if is_full or host.is_empty:
                host.check_at = NEVER
            else:
                self.schedule(host, host.next_at)
        elif not host.ready:
            host.ready = True
            host.check_at = NEVER
            self._list(host, *LANES)

    def schedule(self, thing: Host | Origin, when: float) -> None:
        """Schedule the next check of a host or origin."""
        if thing.check_at != when:
            thing.check_at = when
            self._stamp += 1
            heappush(self._times, (when, self._stamp, thing))

    def run_due(self, now: float) -> None:
        """Check all hosts and origins whose time has come."""
        times = self._times
        while times and times[0][0] <= now:
            when, _, thing = heappop(times)
            if thing.check_at != when:
                continue
            thing.check_at = NEVER
            if isinstance(thing, Host):
                self.reschedule(thing, now)
            else:
                self.set_blocked(thing, blocked=False)

    def set_back(self, seconds: float, now: float) -> None:
        """Shift the times of hosts, after the system time was set back by some seconds."""
        for host in self._registry.hosts:
            if host.next_at > now:
                host.next_at -= seconds
                self.host_changed(host, now)

    def reset_far_times(self, now: float) -> None:
        """Reset times too far in the future, after the system time was set back."""
        for host in self._registry.hosts:
            if host.next_at > now + max(RETRY_AFTER_MAX, 2.0 * self._clock.delay(host)):
                host.next_at = now
                self.reschedule(host, now)

    def set_blocked(self, origin: Origin, *, blocked: bool) -> None:
        """Skip an origin's URLs until its robots.txt is fetched, or lease them again."""
        origin.blocked = blocked
        self.rank(origin.host)

    def best(self, lane: int, *, slow: bool = True) -> Best | None:
        """Return the best URL of a lane over all ready hosts, or None.

        Args:
            lane: Number of the lane.
            slow: Whether slow hosts are included.
        """
        heads = self._first(lane, slow=False), self._first(lane, slow=True) if slow else None
        return min(filter(None, heads), default=None)

    def _first(self, lane: int, *, slow: bool) -> Best | None:
        """Return the first valid entry of a heap, or None.

        An entry is valid while it is the best URL of a ready host.
        """
        heap = self._heaps[slow][lane]
        while heap:
            host = heap[0][2].host
            if host.best(lane) is heap[0] and host.ready and host.slow == slow:
                return heap[0]
            heappop(heap)
        return None

    def record_duration(self, host: Host, seconds: float) -> None:
        """Record the seconds of a request to a host, and list the host as slow or not."""
        slow = seconds > SLOW
        if host.slow != slow:
            host.slow = slow
            if host.ready:
                self._list(host, *LANES)

    def next_time(self) -> float | None:
        """Return the time of the next check of a host or origin with URLs, or None."""
        times = self._times
        while times:
            when, _, thing = times[0]
            if thing.check_at == when and (isinstance(thing, Origin) or not thing.is_empty):
                return when
            heappop(times)
            if thing.check_at == when:
                thing.check_at = NEVER
        return None

    # -- biases ------------------------------------------------------------------------------------

    def bias_of(self, unit: Unit) -> float:
        """Return the current bias of a unit, in quanta."""
        bias = self._strategy.bias([self.crawl, *unit.host.statistics(unit.groups)]) * TOP
        if bias != self._bias:
            self._bias = bias
        return self._bias

    def refresh_bias(self, unit: Unit) -> bool:
        """Recompute a unit's bias; return whether it changed enough to rank its host again."""
        bias = self.bias_of(unit)
        if -DRIFT < bias - unit.bias < DRIFT:
            return False
        unit.bias = bias
        self.rank(unit.host)
        return True

    def refresh_all(self) -> None:
        """Recompute all biases, and list all hosts."""
        for host in self._registry.hosts:
            self.refresh_host(host)
            self.rank(host)
            self.reschedule(host, host.next_at - 1.0)

    def refresh_host(self, host: Host) -> None:
        """Recompute all biases of a host."""
        self._refresh_units(host, host.units)
        host.refreshed = host.stats.pages

    def count_page(self, unit: Unit, relevance: float, *, paged: bool = False) -> None:
        """Count a crawled page, and update the biases of units that share its groups.

        A list with further pages does not count in its groups.
        """
        host = unit.host
        self.crawl = self.crawl.with_page(relevance)
        self._registry.count_page(host, () if paged else unit.groups, relevance)
        if (host.stats.pages - host.refreshed) * EAGER >= host.refreshed:
            self.refresh_host(host)
        else:
            is_disjoint = frozenset(unit.groups).isdisjoint
            near = (one for one in host.units if not one.groups or not is_disjoint(one.groups))
            self._refresh_units(host, near)

    def _refresh_units(self, host: Host, units: Iterable[Unit]) -> None:
        """Recompute biases of units with URLs; rank the host again if one changed."""
        changed = False
        for unit in units:
            if not unit.is_empty:
                before, unit.bias = unit.bias, self.bias_of(unit)
                changed |= unit.bias != before
        if changed:
            self.rank(host)
