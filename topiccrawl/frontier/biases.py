"""What fetched pages say of their neighbours: a bias per queue unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier.contract import GroupStats
from topiccrawl.frontier.places import NOTHING
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
        groups = host.groups
        stats = [self.crawl, host.stats]
        for name in unit.groups:
            stats.append(groups.get(name, NOTHING))  # noqa: PERF401 - a list made twice costs more
        return self._strategy.bias(stats)

    def renew(self, unit: Unit) -> bool:
        """Make a unit's bias anew; whether it changed so much that its host was ranked again."""
        bias = self.of(unit) * TOP
        if abs(bias - unit.bias) < DRIFT:
            return False
        unit.bias = bias
        self._ready.rank_again(unit.host)
        return True

    def update(self, unit: Unit) -> bool:
        """Make a unit's bias anew without ranking its host; whether it changed."""
        bias = self.of(unit) * TOP
        if bias == unit.bias:
            return False
        unit.bias = bias
        return True

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
            mine = set(unit.groups)
            near = [other for other in host.units if _near(mine, other.groups)]
            self._renew(host, near)

    def _renew(self, host: Host, units: list[Unit]) -> None:
        changed = False
        for unit in units:
            if unit.heads[0] is not None or unit.heads[1] is not None:
                changed |= self.update(unit)
        if changed:
            self._ready.rank_again(host)


def _near(mine: set[str], groups: tuple[str, ...]) -> bool:
    """Whether groups share one with mine, or are only the host's."""
    return not groups or not mine.isdisjoint(groups)
