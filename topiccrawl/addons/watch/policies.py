"""Revisit policies: uniform, and by the yield of hubs.

The uniform policy visits all hubs equally often, the yield policy those with more new on-topic
articles per hour more often.

The cost of an article on a hub is the time that it waits for a visit. With ``r`` articles per
second, a visit every ``t`` seconds and a fixed budget of visits, the mean wait is minimal for
``t = sqrt(2 W / r)`` at all hubs, that is, for visits in proportion to the square root of the yield
(Cho and Garcia-Molina 2003; Azar et al. 2018). ``W`` is the price of a visit in article-seconds. It
is chosen so that all hubs together spend the budget.

The rate is estimated from counts over intervals: counts are Poisson, and the rate has a Gamma
prior. Older counts have less weight. Three memories decay with half-lives of hours, days and weeks,
and each is weighted by how well it predicted later counts (fixed share of experts, Herbster and
Warmuth 1998). So the estimate of a steady rate improves, and a sudden change is detected soon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from topiccrawl.storage.pages import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.addons.watch.contract import Observation, Visits

HOST_PACE = 1 / 60
"""Visits per second of all hubs of one host, if no total is set."""

MAX_MEAN_WAITS = 8.0
"""Maximum wait of a hub in multiples of the mean wait, if that is more than ``Pace.longest``."""

FILL = 0.5
"""Fraction of a list that new links may fill, as at noon they come twice as fast as on average."""

MISSED_SECONDS = 6 * 3600.0
"""Cost of an article that is never found, in seconds of waiting."""

DEFAULT_RATE = 1 / 86_400
"""Assumed yield of the very first hub, in on-topic articles per second."""

HOUR = 3600.0
HALF_LIVES = (6 * HOUR, 48 * HOUR, 14 * 24 * HOUR)
"""Seconds after which the weight of a count is halved, for each memory."""

LINK_HALF_LIFE = HALF_LIVES[1]
"""Seconds after which the weight of a new link is halved."""

SHARE = 0.01
"""Share of the trust that is spread evenly after each interval, so that no memory loses all."""

SHAPE = 0.25
"""Shape of the prior, that is, its weight in events; its mean is the mean yield of all hubs."""

GAIN = 0.02
"""Gain of the correction per visit."""

MAX_CORRECTION = 1.25
"""Upper bound of the correction; its inverse is the lower bound."""

_FIELDS = 3 * len(HALF_LIVES) + 2


@dataclass(frozen=True, slots=True)
class Pace:
    """Settings of the frequency of visits.

    Attributes:
        rate: Visits per second of all hubs together (``yield``); 0 uses ``host_rate``.
        host_rate: Visits per second of one host's hubs, if ``rate`` is 0.
        shortest: Minimum time between two visits of a hub in seconds (``yield``).
        longest: Maximum time between two visits of a hub in seconds (``yield``), unless the rate
            is too small.
        hub: Seconds between two visits of a hub (``uniform``), doubled with each consecutive
            failure.
        detail: Seconds until the first revisit of an article.
        days: Age in days after which an article is no longer revisited; 0 for no revisits.
        miss: Seconds until the retry of a failed visit of an article, doubled with each further
            failure.
    """

    rate: float = 0.0
    host_rate: float = HOST_PACE
    shortest: float = 60.0
    longest: float = 86_400.0
    hub: float = 3600.0
    detail: float = 6 * 3600.0
    days: float = 30.0
    miss: float = 600.0


def recheck(page: Visits, pace: Pace) -> float:
    """Return the time of an article's next visit: after ``detail`` seconds, then at twice its age.

    A failed visit is retried soon, but only once if the article is old.

    >>> from topiccrawl.addons.watch.contract import Observation, Visits
    >>> page = Visits("http://a.test/1", Role.DETAIL, 0.0, 0.0)
    >>> dues = [recheck(page, Pace(detail=10.0))]
    >>> for _ in range(3):
    ...     page = page.after(Observation(dues[-1]))
    ...     dues.append(recheck(page, Pace(detail=10.0)))
    >>> dues
    [10.0, 20.0, 40.0, 80.0]
    """
    age = page.visited_at - page.first_seen
    is_old = age > pace.days * 86_400.0 or not pace.days
    if page.misses == 1 or (page.misses and not is_old):
        return page.visited_at + pace.miss * 2.0 ** min(page.misses - 1, 10)
    if is_old:
        return math.inf
    return page.visited_at + max(pace.detail, age)


class UniformRevisits:
    """Visits all hubs equally often; the baseline for other policies.

    Args:
        pace: Frequency of visits.
    """

    def __init__(self, pace: Pace | None = None) -> None:
        self.pace = pace or Pace()

    def due(self, page: Visits) -> float:
        """See ``RevisitPolicy.due``."""
        if page.role is Role.DETAIL:
            return recheck(page, self.pace)
        return page.visited_at + self.pace.hub * 2.0 ** min(page.misses, 4)

    def learn(self, page: Visits, seen: Observation) -> Visits:
        """See ``RevisitPolicy.learn``; counts do not decay."""
        return page.after(seen)


class YieldRevisits:
    """Visits hubs in proportion to the square root of their yield.

    Articles are visited as by ``UniformRevisits``. A hub with few observations is assumed to have
    the mean yield, which is better than most, so it is visited until its yield is known.

    Args:
        pace: Frequency of visits; see ``MAX_MEAN_WAITS``.

    Attributes:
        budget: Budget of visits for all hubs together.
    """

    def __init__(self, pace: Pace | None = None) -> None:
        self.pace = pace or Pace()
        self.budget = Budget(self.pace.rate, self.pace.host_rate)

    def due(self, page: Visits) -> float:
        """See ``RevisitPolicy.due``."""
        if page.role is Role.DETAIL:
            return recheck(page, self.pace)
        rate = Rate.of(page.memory[2:])
        mean = rate.mean(self.budget.mean() or DEFAULT_RATE)
        delayed = 2.0 ** min(page.misses, 4)
        self.budget.set_yield(page.url, mean, 1 / delayed)
        wait = min(self.budget.wait(mean), self._overflow_wait(page, rate, mean))
        longest = max(self.pace.longest, MAX_MEAN_WAITS * len(self.budget) / self.budget.pace)
        return page.visited_at + min(max(wait, self.pace.shortest), longest) * delayed

    def learn(self, page: Visits, seen: Observation) -> Visits:
        """See ``RevisitPolicy.learn``."""
        after = page.after(seen)
        if page.role is Role.DETAIL:
            return after
        links, most = page.memory[:2] or (0.0, 0.0)
        rate = Rate.of(page.memory[2:])
        if seen.visit:
            self.budget.record_visit(seen.at)
            seconds = max(0.0, seen.at - page.visited_at)
            rate = rate.after(seconds, self.budget.mean() or DEFAULT_RATE)
            links = links * 0.5 ** (seconds / LINK_HALF_LIFE) + seen.offered
            most = max(most, seen.offered)
        return replace(after, memory=(links, most, *rate.plus(seen.gained).numbers))

    def _overflow_wait(self, page: Visits, rate: Rate, mean: float) -> float:
        """Return the seconds until the list may overflow; inf if a visit costs more than that."""
        links, most = page.memory[:2] or (0.0, 0.0)
        span = rate.spans[1] + rate.span
        if not links or not span:
            return math.inf
        seconds = FILL * most * span / links
        cost = mean * seconds * (seconds / 2 + MISSED_SECONDS)
        return seconds if cost > self.budget.price() else math.inf


@dataclass(frozen=True, slots=True)
class Rate:
    """Estimate of a rate of events.

    Attributes:
        counts: Decayed number of events, for each memory.
        spans: Decayed observation time in seconds, for each memory.
        trust: Weight of each memory; the sum is one.
        events: Number of events in the last interval, which may still grow.
        span: Length of the last interval in seconds.
    """

    counts: tuple[float, ...] = (0.0,) * len(HALF_LIVES)
    spans: tuple[float, ...] = (0.0,) * len(HALF_LIVES)
    trust: tuple[float, ...] = (1 / len(HALF_LIVES),) * len(HALF_LIVES)
    events: float = 0.0
    span: float = 0.0

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Self:
        """Return the rate of a ``numbers`` tuple; a new one if its length is different."""
        if len(numbers) != _FIELDS:
            return cls()
        kinds = len(HALF_LIVES)
        parts = [tuple(numbers[at : at + kinds]) for at in range(0, 3 * kinds, kinds)]
        return cls(parts[0], parts[1], parts[2], numbers[-2], numbers[-1])

    @property
    def numbers(self) -> tuple[float, ...]:
        """All fields as a flat tuple.

        >>> rate = Rate().after(60.0, 0.001).plus(2)
        >>> Rate.of(rate.numbers) == rate
        True
        """
        return (*self.counts, *self.spans, *self.trust, self.events, self.span)

    def plus(self, events: float) -> Rate:
        """Return the rate after more events of the last interval were detected."""
        return Rate(self.counts, self.spans, self.trust, self.events + events, self.span)

    def after(self, seconds: float, prior: float) -> Rate:
        """Return the rate at the end of a new interval; ``plus`` adds its events.

        Args:
            seconds: Length of the interval.
            prior: Mean of the prior in events per second, more than 0.
        """
        keeps = [0.5 ** (seconds / half) for half in HALF_LIVES]
        return Rate(
            tuple(k * (c + self.events) for k, c in zip(keeps, self.counts, strict=True)),
            tuple(k * (s + self.span) for k, s in zip(keeps, self.spans, strict=True)),
            self._updated_trust(prior),
            0.0,
            seconds,
        )

    def mean(self, prior: float) -> float:
        """Return the expected number of events per second, more than 0.

        >>> round(Rate().mean(0.01), 3), Rate().after(3600.0, 0.01).mean(0.01) < 0.001
        (0.01, True)
        """
        rates = (
            (SHAPE + c + self.events) / (SHAPE / prior + s + self.span)
            for c, s in zip(self.counts, self.spans, strict=True)
        )
        return sum(t * r for t, r in zip(self.trust, rates, strict=True))

    def _updated_trust(self, prior: float) -> tuple[float, ...]:
        """Return the trust, updated by the memories' predictions of the last interval."""
        if not self.span:
            return self.trust
        likelihoods = [
            _log_probability(self.events, SHAPE + c, SHAPE / prior + s, self.span)
            for c, s in zip(self.counts, self.spans, strict=True)
        ]
        best = max(likelihoods)
        weights = [t * math.exp(x - best) for t, x in zip(self.trust, likelihoods, strict=True)]
        total = sum(weights)
        return tuple((1 - SHARE) * w / total + SHARE / len(weights) for w in weights)


def _log_probability(events: float, shape: float, span: float, seconds: float) -> float:
    """Return the log-probability of a number of events (negative binomial), up to a constant."""
    return (
        math.lgamma(events + shape)
        - math.lgamma(shape)
        + shape * math.log(span / (span + seconds))
        + events * math.log(seconds / (span + seconds))
    )


class Budget:
    """Computes waits of hubs, in inverse proportion to the square root of their yields.

    As yields and so waits vary, there are fewer visits than the mean yields predict. Therefore
    waits are corrected by the number of actual visits, but by a quarter at most, so that a stopped
    crawl or slow hosts do not cause a burst.

    Args:
        pace: Visits per second of all hubs together; 0 uses ``host_pace`` for each host with hubs.
        host_pace: Visits per second of one host's hubs, if ``pace`` is 0.
    """

    def __init__(self, pace: float = 0.0, host_pace: float = HOST_PACE) -> None:
        self._pace = pace
        self._host_pace = host_pace
        self._hosts: set[str] = set()
        self._rates: dict[str, float] = {}
        self._roots: dict[str, float] = {}
        self._rate = self._root = 0.0
        self._last = math.nan
        self._correction = 1.0

    def __len__(self) -> int:
        return len(self._rates)

    @property
    def pace(self) -> float:
        """Visits per second of all hubs together.

        >>> budget = Budget(host_pace=0.1)
        >>> for url in ("http://a.test/", "http://a.test/auto/", "http://b.test/"):
        ...     budget.set_yield(url, 0.02)
        >>> budget.pace
        0.2
        """
        return self._pace or self._host_pace * max(1, len(self._hosts))

    def set_yield(self, url: str, rate: float, share: float = 1.0) -> None:
        """Set the yield of a hub.

        Args:
            url: URL of the hub.
            rate: Events per second, more than 0.
            share: Fraction of the visits by its yield that the hub gets, in [0, 1].
        """
        root = share * math.sqrt(rate)
        self._rate += rate - self._rates.get(url, 0.0)
        self._root += root - self._roots.get(url, 0.0)
        self._rates[url], self._roots[url] = rate, root
        self._hosts.add(urlsplit(url).netloc)

    def mean(self) -> float:
        """Return the mean yield of all hubs; 0 if there is no hub."""
        return self._rate / len(self._rates) if self._rates else 0.0

    def wait(self, rate: float) -> float:
        """Return the seconds between two visits of a hub with this yield."""
        return self._correction * self._root / (self.pace * math.sqrt(rate))

    def price(self) -> float:
        """Return the price of a visit in event-seconds of waiting.

        >>> budget = Budget(pace=0.1)
        >>> budget.set_yield("http://a.test/", 0.02)
        >>> budget.wait(0.02), round(budget.price(), 6)  # one hub: every ten seconds
        (10.0, 1.0)
        """
        return (self._correction * self._root / self.pace) ** 2 / 2

    def record_visit(self, at: float) -> None:
        """Record a visit at a time in seconds."""
        if self._rates and not math.isnan(self._last):
            gap = min(max(0.0, at - self._last) * self.pace, 2.0)  # 1: exactly the pace
            step = GAIN / math.sqrt(len(self._rates))
            moved = self._correction * math.exp(step * (1.0 - gap))
            self._correction = min(max(moved, 1 / MAX_CORRECTION), MAX_CORRECTION)
        self._last = at
