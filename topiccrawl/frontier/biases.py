"""What fetched pages say of their neighbours: a bias per queue unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier.contract import GroupStats
from topiccrawl.frontier.rows import TOP

if TYPE_CHECKING:
    from topiccrawl.frontier.contract import Strategy
    from topiccrawl.frontier.places import Host, Places, Unit
    from topiccrawl.frontier.ready import Ready

DRIFT = 0.002 * TOP
"""Change of a bias, by what the whole crawl is like, that is let pass at the head."""
EAGER = 16
"""All biases of a host are made anew whenever its pages grew by one in so many."""


class Biases:
    """Moves millions of queued values by touching the heads of their units.

    A unit's bias is made anew when a page of its groups was crawled; all units of a host when the
    host's crawled pages grew by a sixteenth (each time up to 16 pages); the unit about to be
    served, always; a unit that was empty, when a URL enters.

    Attributes:
        crawl: Statistics of all crawled pages.
    """

    def __init__(self, strategy: Strategy, places: Places, ready: Ready, crawl: GroupStats) -> None:
        self._strategy = strategy
        self._places = places
        self._ready = ready
        self.crawl = crawl

    def of(self, unit: Unit) -> float:
        """The bias of a unit as of now, in units of value."""
        host = unit.host
        known = map(host.groups.__getitem__, unit.groups)
        return self._strategy.bias([self.crawl, host.stats, *known])

    def renew(self, unit: Unit) -> bool:
        """Make a unit's bias anew; whether it changed so much that its host was ranked again."""
        bias = self.of(unit) * TOP
        biases, uid = unit.host.biases, unit.uid
        if -DRIFT < bias - biases[uid] < DRIFT:
            return False
        biases[uid] = bias
        self._ready.rank_again(unit.host, unit)
        return True

    def update(self, unit: Unit) -> None:
        """Make the bias of an empty unit anew."""
        unit.host.biases[unit.uid] = self.of(unit) * TOP

    def renew_host(self, host: Host) -> None:
        """Make all biases of a host anew."""
        self._renew(host, host.units)
        host.refreshed = host.stats.pages

    def crawled(self, unit: Unit, relevance: float) -> None:
        """Count a crawled page, and let its neighbours know."""
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
        """Make biases anew; those of units with like statistics, mostly none, are the same."""
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
            self._ready.rank_again(host)
