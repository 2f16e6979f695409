"""Estimate of a changing rate of events from counts over stretches of time.

Counts are Poisson, the rate has a Gamma prior. Older counts weigh less: three memories decay with
half-lives of hours, days and weeks, and each is trusted by how well it predicted the counts that
followed (fixed share of experts, Herbster and Warmuth 1998). So the estimate of a steady rate
improves, and a hub that bursts or falls silent is detected soon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Sequence

HOUR = 3600.0
HALF_LIVES = (6 * HOUR, 48 * HOUR, 14 * 24 * HOUR)
"""Seconds after which a count weighs half."""

SHARE = 0.01
"""Trust that is spread evenly at each stretch, so that no memory loses all of it."""

SHAPE = 0.25
"""Shape of the prior: it counts like so many events; its mean is the mean yield of pages."""

_FIELDS = 3 * len(HALF_LIVES) + 2


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
