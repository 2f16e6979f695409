"""Simulated news web for ``benchmarks.freshness``: times at which articles appear on hubs.

Nothing is fetched: a hub is a list of the times at which its articles appeared, drawn from rates
that are known by the hour, so that a visit is two binary searches and weeks pass in a second.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

BEFORE = 48
"""Hours that passed before the first visit, so that lists are full when it comes."""


@dataclass(frozen=True)
class Shape:
    """Parameters of a generated web; times in hours.

    Attributes:
        hubs: Number of hubs.
        hosts: Number of their hosts.
        hours: Duration of the watch.
        requests: Budget: requests an hour, evenly spaced.
        delay: Between two requests to one host.
        rate: Median of articles an hour that a hub gets.
        spread: Standard deviation of the natural logarithm of that rate.
        specialists: Share of hubs that are mostly on topic.
        touching: Share of hubs that are partly on topic; the other hubs rarely are.
        shown: Range of the numbers of articles that a hub lists.
        night: Fraction of the rate at night, in (0, 1].
        zones: Time zones, evenly around the clock.
        burst: Bursts a week and hub: the rate is ten times as high for three hours on average.
        deaths: Share of hubs that fall silent at some time.
        births: Share of hubs that are found later than at the start.
        turns: Share of hubs whose relevance is drawn again at some time.
    """

    hubs: int = 80
    hosts: int = 25
    hours: int = 21 * 24
    requests: float = 120.0
    delay: float = 10 / 3600
    rate: float = 0.5
    spread: float = 1.3
    specialists: float = 0.15
    touching: float = 0.35
    shown: tuple[int, int] = (15, 50)
    night: float = 1.0
    zones: int = 1
    burst: float = 0.0
    deaths: float = 0.0
    births: float = 0.0
    turns: float = 0.0


_STEADY = Shape()
_MIXED = Shape(night=0.1, zones=1, burst=0.3, deaths=0.1, births=0.15, turns=0.1)

SHAPES: Mapping[str, Shape] = {
    # used while the policy was written
    "steady": _STEADY,
    "mixed": _MIXED,
    # held out
    "bursts": replace(_STEADY, burst=2.0, spread=1.0),
    "changing": replace(_STEADY, deaths=0.3, births=0.4, turns=0.4, night=0.2),
    "zones": replace(_MIXED, zones=4, night=0.05, hosts=60),
    "portals": replace(_MIXED, hosts=4, delay=90 / 3600, shown=(8, 20), rate=1.5),
    "rare": replace(_MIXED, specialists=0.04, touching=0.1, hubs=200, rate=0.2, spread=1.8),
    "poor": replace(_MIXED, requests=30.0, shown=(20, 60)),
}
"""Shapes of generated webs by name."""


class Visit(NamedTuple):
    """Result of a visit to a hub.

    Attributes:
        new: Articles listed that were not there at the visit before.
        relevant: Those of them that are on topic.
        waited: Sum of their delays, in hours; of those that appeared while the hub was recorded.
        counted: Number of those.
        missed: On-topic articles that came and went since the visit before.
        listed: Articles listed.
    """

    new: int
    relevant: int
    waited: float
    counted: int
    missed: int
    listed: int


@dataclass(frozen=True)
class Hub:
    """A page that lists the newest articles.

    Attributes:
        host: Number of its host.
        shown: Number of articles it lists.
        born: Hour in which it is found.
        rates: On-topic articles an hour, by the hour; what the oracle knows.
        all_rates: All articles an hour.
        times: When its articles appeared, ascending.
        on_topic: Number of on-topic ones among the first n articles.
        stamps: The sum of the times of those.
    """

    host: int
    shown: int
    born: float
    rates: Numbers = field(repr=False)
    all_rates: Numbers = field(repr=False)
    times: Numbers = field(repr=False)
    on_topic: NDArray[np.int64] = field(repr=False)
    stamps: Numbers = field(repr=False)

    @property
    def relevant(self) -> int:
        """On-topic articles that appeared after the hub was found."""
        return int(self.on_topic[-1] - self.on_topic[self.index(self.born)])

    def index(self, time: float) -> int:
        """Return the number of articles that had appeared at a time."""
        return int(np.searchsorted(self.times, time, side="right"))

    def visit(self, seen: int, time: float) -> tuple[int, Visit]:
        """Return the articles now and the visit; ``seen`` had appeared at the visit before."""
        now, known = self.index(time), self.index(self.born)
        first = max(seen, now - self.shown)
        counted = max(first, known)
        relevant = int(self.on_topic[now] - self.on_topic[first])
        fresh = int(self.on_topic[now] - self.on_topic[counted])
        waited = fresh * time - float(self.stamps[now] - self.stamps[counted])
        missed = int(self.on_topic[counted] - self.on_topic[max(seen, known)])
        listed = min(now, self.shown)
        return now, Visit(now - first, relevant, waited, fresh, max(missed, 0), listed)


def made(shape: Shape, seed: int) -> list[Hub]:
    """Generate the hubs of a web; equal seeds give equal hubs."""
    chance = np.random.default_rng(seed)
    return [_hub(shape, number, chance) for number in range(shape.hubs)]


def _hub(shape: Shape, number: int, chance: np.random.Generator) -> Hub:
    hours = BEFORE + shape.hours
    all_rates = shape.rate * np.exp(shape.spread * chance.standard_normal()) * np.ones(hours)
    share = np.full(hours, _share(shape, chance))
    if chance.random() < shape.turns:
        at = int(chance.integers(BEFORE, hours))
        all_rates[at:] *= np.exp(chance.standard_normal())
        share[at:] = _share(shape, chance)
    zone = number % shape.hosts % shape.zones
    all_rates *= _day(hours, shape.night, zone * 24 / shape.zones)
    all_rates *= _bursts(hours, shape.burst / 168, chance)
    if chance.random() < shape.deaths:
        all_rates[int(chance.integers(BEFORE, hours)) :] = 0.0
    late = chance.random() < shape.births
    born = float(chance.integers(0, shape.hours * 3 // 4)) if late else 0.0
    counts = chance.poisson(all_rates)
    starts = np.repeat(np.arange(hours) - BEFORE, counts).astype(float)
    times = np.sort(starts + chance.random(len(starts)))
    within = np.floor(times).astype(int) + BEFORE
    on_topic = chance.random(len(times)) < share[within]
    return Hub(
        number % shape.hosts,
        int(chance.integers(*shape.shown, endpoint=True)),
        born,
        (all_rates * share)[BEFORE:],
        all_rates[BEFORE:],
        times,
        np.concatenate([[0], np.cumsum(on_topic)]),
        np.concatenate([[0.0], np.cumsum(times * on_topic)]),
    )


def _share(shape: Shape, chance: np.random.Generator) -> float:
    """The share of a hub's articles that are on topic."""
    kind = chance.random()
    if kind < shape.specialists:
        return float(chance.uniform(0.5, 0.95))
    if kind < shape.specialists + shape.touching:
        return float(chance.uniform(0.05, 0.3))
    return float(chance.uniform(0.0, 0.02))


def _day(hours: int, night: float, shift: float) -> Numbers:
    """Factors by the hour whose mean is one: least at four in the morning, most at four p.m."""
    wave = (1 - np.cos(2 * np.pi * (np.arange(hours) - BEFORE + shift - 4) / 24)) / 2
    factors = night + (1 - night) * wave
    return np.asarray(factors / factors.mean())


def _bursts(hours: int, often: float, chance: np.random.Generator) -> Numbers:
    factors = np.ones(hours)
    for at in np.flatnonzero(chance.random(hours) < often):
        factors[at : at + 1 + int(chance.geometric(1 / 3))] = 10.0
    return factors
