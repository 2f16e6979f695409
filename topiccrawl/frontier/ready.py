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
from topiccrawl.links.strategies.contract import GroupStats, LinkStrategy

if TYPE_CHECKING:
    from topiccrawl.frontier.order import Unit

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
        self._ranks: dict[bool, tuple[list[Best], ...]] = {True: ([], []), False: ([], [])}
        self._times: list[tuple[float, int, Host | Origin]] = []
        self._stamp = 0
        self._bias = 0.0  # latest bias; most hosts were never requested and share one object

    def rank(self, host: Host, *lanes: int) -> None:
        """Recompute and list the best URLs of a host's lanes, of both if none is given."""
        for lane in lanes or LANES:
            best: Best | None = None
            for unit in host.units:
                head = unit.normal.first if lane else unit.prior.first
                if head is not None and not unit.origin.blocked:
                    cost = (head >> 32) - unit.bias
                    if best is None or cost <= best[0]:
                        entry = cost, head & TOP, unit
                        best = entry if best is None else min(best, entry)
            if best is not None:
                self.improve(host, lane, best)
            else:
                host.set_best(lane, None)

    def improve(self, host: Host, lane: int, best: Best) -> None:
        """Set the best URL of a host's lane, and list the host by it."""
        host.set_best(lane, best)
        if host.ready:
            listed = host.listed(lane)
            if listed is None or best < listed:
                self._list(host, lane, best)
        elif host.check_at == NEVER:
            self.reschedule(host, host.next_at - 1.0)

    def _list(self, host: Host, lane: int, best: Best) -> None:
        """List a host by its best URL, which is better than its listed one."""
        heap = self._ranks[host.slow][lane]
        host.set_listed(lane, best)
        heappush(heap, best)
        if len(heap) > 2 * len(self._registry.hosts) + SLACK:
            valid = ((entry, entry[2].host) for entry in heap)
            heap[:] = [e for e, one in valid if one.listed(lane) is e and one.slow == host.slow]
            heapify(heap)

    def _list_both(self, host: Host) -> None:
        for lane in LANES:
            best = host.best(lane)
            if best is not None:
                self.improve(host, lane, best)

    def host_changed(self, host: Host, now: float) -> None:
        """Mark a host whose clock or counters changed for writing, and reschedule it."""
        self._registry.mark_dirty(host)
        self.reschedule(host, now)

    def reschedule(self, host: Host, now: float) -> None:
        """Determine whether a host is ready, waits for a time, or waits for a request to end.

        A host that was ready and still is stays listed.
        """
        if self._clock.is_full(host):
            host.ready = False
            host.check_at = NEVER
        elif host.next_at > now:
            host.ready = False
            if host.is_empty:
                host.check_at = NEVER
            else:
                self.schedule(host, host.next_at)
        elif not host.ready:
            host.ready = True
            host.check_at = NEVER
            self._list_both(host)

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
                self.unblock(thing)

    def reset_far_times(self, now: float) -> None:
        """Reset times too far in the future, after the system time was set back."""
        for host in self._registry.hosts:
            if host.next_at > now + max(RETRY_AFTER_MAX, 2.0 * self._clock.delay(host)):
                host.next_at = now
                self.reschedule(host, now)

    def block(self, origin: Origin) -> None:
        """Skip an origin's URLs until its robots.txt is fetched."""
        origin.blocked = True
        self.rank(origin.host)

    def unblock(self, origin: Origin) -> None:
        """Allow leases of an origin's URLs again."""
        origin.blocked = False
        self.rank(origin.host)

    def best(self, lane: int, *, slow: bool = True) -> Unit | None:
        """Return the unit with the best URL of a lane over all ready hosts, or None.

        Args:
            lane: Number of the lane.
            slow: Whether slow hosts are included.
        """
        fast_best = self._peek(lane, slow=False)
        slow_best = self._peek(lane, slow=True) if slow else None
        if fast_best is None or slow_best is None:
            best = fast_best or slow_best
            return best[2] if best else None
        return min(fast_best, slow_best)[2]

    def _peek(self, lane: int, *, slow: bool) -> Best | None:
        """Return the best valid entry of a heap, or None.

        A host is listed by its best URL or by a former, better one. A host that got worse is moved
        when its entry reaches the front.
        """
        heap = self._ranks[slow][lane]
        while heap:
            entry = heap[0]
            host = entry[2].host
            best = host.best(lane)
            if host.listed(lane) is not entry or host.slow != slow:
                heappop(heap)
            elif best is None or not host.ready:
                host.set_listed(lane, None)
                heappop(heap)
            elif best == entry:
                return entry
            else:
                host.set_listed(lane, best)
                heapreplace(heap, best)
        return None

    def record_duration(self, host: Host, seconds: float) -> None:
        """Record the seconds of a request to a host, and list the host as slow or not."""
        slow = seconds > SLOW
        if host.slow != slow:
            host.slow = slow
            host.listed_prior = host.listed_normal = None
            if host.ready:
                self._list_both(host)

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
        host = unit.host
        group_stats = [host.groups.get(group, NOTHING) for group in unit.groups]
        bias = self._strategy.bias([self.crawl, host.stats, *group_stats]) * TOP
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

    def count_page(self, unit: Unit, relevance: float) -> None:
        """Count a crawled page, and update the biases of units that share its groups."""
        host = unit.host
        self.crawl = GroupStats(self.crawl.pages + 1, self.crawl.relevance + relevance)
        self._registry.count_page(host, unit.groups, relevance)
        if (host.stats.pages - host.refreshed) * EAGER >= host.refreshed:
            self.refresh_host(host)
        else:
            is_disjoint = frozenset(unit.groups).isdisjoint
            self._refresh_units(
                host,
                tuple(one for one in host.units if not one.groups or not is_disjoint(one.groups)),
            )

    def _refresh_units(self, host: Host, units: tuple[Unit, ...]) -> None:
        """Recompute biases of units with URLs; rank the host again if one changed."""
        changed = False
        for unit in units:
            if unit.prior.first is not None or unit.normal.first is not None:
                before, unit.bias = unit.bias, self.bias_of(unit)
                changed |= unit.bias != before
        if changed:
            self.rank(host)
