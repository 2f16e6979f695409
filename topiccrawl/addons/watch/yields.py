"""Yield policy: the more new on-topic articles an hour on a hub, the more often it is visited.

The cost of an article on a hub is its waiting time. With ``r`` of them a second, visits every ``t``
seconds and a budget of visits, the mean wait is least if ``t`` is ``sqrt(2 W / r)`` for all hubs
alike: visits in proportion to the root of the yield (Cho and Garcia-Molina 2003; Azar et al. 2018).
``W``, the price of a visit in article-seconds, is chosen so that all hubs together spend the
budget.

The rate is estimated from counts over stretches of time: counts are Poisson, the rate has a Gamma
prior. Older counts weigh less: three memories decay with half-lives of hours, days and weeks, and
each is trusted by how well it predicted the counts that followed (fixed share of experts, Herbster
and Warmuth 1998). So the estimate of a steady rate improves, and a hub that bursts or falls silent
is detected soon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from topiccrawl.addons.watch.budget import Budget
from topiccrawl.addons.watch.counting import counted
from topiccrawl.addons.watch.uniform import DETAIL_DAYS, DETAIL_SECONDS, MISS_SECONDS, recheck
from topiccrawl.storage.pages import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.addons.watch.contract import Observation, Visits

SHORTEST = 60.0
LONGEST = 86_400.0
"""Seconds between two visits of a hub, unless the budget is too small for that."""

STRETCH = 8.0
"""Longest wait of a hub in mean waits, if that is more than ``LONGEST``."""

FULL = 0.5
"""Fraction of a list that new links may fill: at noon they come twice as fast as on average."""

LOST = 6 * 3600.0
"""Seconds of waiting that count for an article that is never found."""

AVERAGE = 1 / 86_400
"""On-topic articles a second that are assumed for the first hub of all."""

HOUR = 3600.0
HALF_LIVES = (6 * HOUR, 48 * HOUR, 14 * 24 * HOUR)
"""Seconds after which a count weighs half."""

LINKS = HALF_LIVES[1]
"""Seconds after which a new link weighs half."""

SHARE = 0.01
"""Trust that is spread evenly at each stretch, so that no memory loses all of it."""

SHAPE = 0.25
"""Shape of the prior: it counts like so many events; its mean is the mean yield of pages."""

_FIELDS = 3 * len(HALF_LIVES) + 2


class YieldRevisits:
    """Visits hubs in proportion to the root of their yield; articles as ``UniformRevisits``.

    A hub with few observations is assumed to be an average one, which is better than most: it is
    visited until its yield shows.

    Args:
        budget: Visits for all hubs together.
        shortest: Seconds between two visits of a hub at least.
        longest: Seconds between two visits of a hub at most; see ``STRETCH``.
        detail: See ``UniformRevisits``.
        days: See ``UniformRevisits``.
        miss: See ``UniformRevisits``.
    """

    def __init__(
        self,
        budget: Budget | None = None,
        *,
        shortest: float = SHORTEST,
        longest: float = LONGEST,
        detail: float = DETAIL_SECONDS,
        days: float = DETAIL_DAYS,
        miss: float = MISS_SECONDS,
    ) -> None:
        self.budget = Budget() if budget is None else budget  # an empty one is false
        self._bounds = (shortest, longest)
        self._details = (detail, days, miss)

    def due(self, page: Visits) -> float:
        """See ``RevisitPolicy.due``."""
        if page.role is Role.DETAIL:
            return recheck(page, *self._details)
        rate = Rate.of(page.memory[2:])
        mean = rate.mean(self.budget.mean() or AVERAGE)
        delayed = 2.0 ** min(page.misses, 4)
        self.budget.note(page.url, mean, 1 / delayed)
        wait = min(self.budget.wait(mean), self._over(page, rate, mean))
        shortest, longest = self._bounds
        longest = max(longest, STRETCH * len(self.budget) / self.budget.pace)
        return page.visited_at + min(max(wait, shortest), longest) * delayed

    def learn(self, page: Visits, seen: Observation) -> Visits:
        """See ``RevisitPolicy.learn``."""
        after = counted(page, seen)
        if page.role is Role.DETAIL:
            return after
        links, most = page.memory[:2] or (0.0, 0.0)
        rate = Rate.of(page.memory[2:])
        if seen.visit:
            self.budget.spent(seen.at)
            seconds = max(0.0, seen.at - page.visited_at)
            rate = rate.after(seconds, self.budget.mean() or AVERAGE)
            links = links * 0.5 ** (seconds / LINKS) + seen.offered
            most = max(most, seen.offered)
        return replace(after, memory=(links, most, *rate.plus(seen.gained).numbers))

    def _over(self, page: Visits, rate: Rate, mean: float) -> float:
        """Return the seconds until the list may overflow; inf if the loss is not worth a visit."""
        links, most = page.memory[:2] or (0.0, 0.0)
        span = rate.spans[1] + rate.span
        if not links or not span:
            return math.inf
        seconds = FULL * most * span / links
        worth = mean * seconds * (seconds / 2 + LOST)
        return seconds if worth > self.budget.price() else math.inf


@dataclass(frozen=True, slots=True)
class Rate:
    """Estimate of one rate. Times in seconds.

    Attributes:
        counts: Decayed events, one number for each memory.
        spans: Decayed seconds.
        trust: In each memory; they sum to one.
        events: Of the last stretch; they may still grow.
        span: Length of that stretch.
    """

    counts: tuple[float, ...] = (0.0,) * len(HALF_LIVES)
    spans: tuple[float, ...] = (0.0,) * len(HALF_LIVES)
    trust: tuple[float, ...] = (1 / len(HALF_LIVES),) * len(HALF_LIVES)
    events: float = 0.0
    span: float = 0.0

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Self:
        """Return the rate of ``numbers``; a new one if they have another length."""
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
        """Return the rate after more events of the last stretch were detected."""
        return Rate(self.counts, self.spans, self.trust, self.events + events, self.span)

    def after(self, seconds: float, prior: float) -> Rate:
        """Return the rate at the end of another stretch; ``plus`` adds its events.

        Args:
            seconds: Length of the stretch.
            prior: Mean of the prior, events a second, more than 0.
        """
        keeps = [0.5 ** (seconds / half) for half in HALF_LIVES]
        return Rate(
            tuple(k * (c + self.events) for k, c in zip(keeps, self.counts, strict=True)),
            tuple(k * (s + self.span) for k, s in zip(keeps, self.spans, strict=True)),
            self._trusted(prior),
            0.0,
            seconds,
        )

    def mean(self, prior: float) -> float:
        """Return the expected events a second; more than 0.

        >>> round(Rate().mean(0.01), 3), Rate().after(3600.0, 0.01).mean(0.01) < 0.001
        (0.01, True)
        """
        rates = (
            (SHAPE + c + self.events) / (SHAPE / prior + s + self.span)
            for c, s in zip(self.counts, self.spans, strict=True)
        )
        return sum(t * r for t, r in zip(self.trust, rates, strict=True))

    def _trusted(self, prior: float) -> tuple[float, ...]:
        """Return the trust in the memories, updated by their predictions of the last stretch."""
        if not self.span:
            return self.trust
        tellings = [
            _log_chance(self.events, SHAPE + c, SHAPE / prior + s, self.span)
            for c, s in zip(self.counts, self.spans, strict=True)
        ]
        best = max(tellings)
        weights = [t * math.exp(x - best) for t, x in zip(self.trust, tellings, strict=True)]
        total = sum(weights)
        return tuple((1 - SHARE) * w / total + SHARE / len(weights) for w in weights)


def _log_chance(events: float, shape: float, span: float, seconds: float) -> float:
    """Return the log-probability of so many events (negative binomial), up to a constant."""
    return (
        math.lgamma(events + shape)
        - math.lgamma(shape)
        + shape * math.log(span / (span + seconds))
        + events * math.log(seconds / (span + seconds))
    )
