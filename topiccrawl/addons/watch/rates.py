"""How often something happens, from counts over stretches of time, where that may change.

Counts are Poisson, the rate has a Gamma prior. What is long past counts for less: three memories
fade with half-lives of hours, days and weeks, and each is trusted by how well it foretold the
counts that came (fixed share of experts, Herbster and Warmuth 1998). So a steady rate is known ever
better, and a hub that bursts or falls silent is believed soon.
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
"""Trust that is dealt evenly at each stretch, so that none is ever lost for good."""

SHAPE = 0.25
"""Of the prior: it counts like so many events; its mean is what pages bring on average."""

_FIELDS = 3 * len(HALF_LIVES) + 2


@dataclass(frozen=True, slots=True)
class Rate:
    """What is known of one rate. Times in seconds.

    Attributes:
        counts: Faded events, one number a memory.
        spans: Faded seconds.
        trust: In each memory; they sum to one.
        events: Of the last stretch, which may still grow.
        span: Seconds of that.
    """

    counts: tuple[float, ...] = (0.0,) * len(HALF_LIVES)
    spans: tuple[float, ...] = (0.0,) * len(HALF_LIVES)
    trust: tuple[float, ...] = (1 / len(HALF_LIVES),) * len(HALF_LIVES)
    events: float = 0.0
    span: float = 0.0

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Self:
        """The rate that ``numbers`` gave; a new one where they are of another kind."""
        if len(numbers) != _FIELDS:
            return cls()
        kinds = len(HALF_LIVES)
        parts = [tuple(numbers[at : at + kinds]) for at in range(0, 3 * kinds, kinds)]
        return cls(parts[0], parts[1], parts[2], numbers[-2], numbers[-1])

    @property
    def numbers(self) -> tuple[float, ...]:
        """All of it as a flat tuple.

        >>> rate = Rate().after(60.0, 0.001).plus(2)
        >>> Rate.of(rate.numbers) == rate
        True
        """
        return (*self.counts, *self.spans, *self.trust, self.events, self.span)

    def plus(self, events: float) -> Rate:
        """The rate after more events of the last stretch became known."""
        return Rate(self.counts, self.spans, self.trust, self.events + events, self.span)

    def after(self, seconds: float, prior: float) -> Rate:
        """The rate at the end of another stretch, whose events are told by ``plus``.

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
        """Events a second, as expected from all that is known; more than 0.

        >>> round(Rate().mean(0.01), 3), Rate().after(3600.0, 0.01).mean(0.01) < 0.001
        (0.01, True)
        """
        rates = (
            (SHAPE + c + self.events) / (SHAPE / prior + s + self.span)
            for c, s in zip(self.counts, self.spans, strict=True)
        )
        return sum(t * r for t, r in zip(self.trust, rates, strict=True))

    def _trusted(self, prior: float) -> tuple[float, ...]:
        """Trust in the memories after the last stretch showed which of them was right."""
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
    """Logarithm of how likely so many events were (negative binomial), but for a constant."""
    return (
        math.lgamma(events + shape)
        - math.lgamma(shape)
        + shape * math.log(span / (span + seconds))
        + events * math.log(seconds / (span + seconds))
    )
