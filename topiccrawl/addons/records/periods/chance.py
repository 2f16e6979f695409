"""Seed probability [S1]: it falls with a seed's rank and with the failures before it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


def probability(number: int, failed: int, total: int) -> float:
    """Return the probability of crawling a seed: P = 1 - (s + f)/(2n), in [0, 1] [S1, step 3.1].

    Args:
        number: Its place s in the list, from 1.
        failed: Seeds f before it that were crawled to the end without a useful result.
        total: Seeds n of the list.

    Raises:
        ValueError: The numbers cannot be those of a list.

    >>> [probability(s, int(s > 8), 10) for s in (1, 7, 8, 9, 10)]
    [0.95, 0.65, 0.6, 0.5, 0.45]
    """
    if not (1 <= number <= total and 0 <= failed < number):
        raise ValueError(f"no seed {number} of {total} with {failed} failed before it")
    return (2 * total - number - failed) / (2 * total)


def luck(seed: int, period: int, number: int) -> float:
    """Return the draw in [0, 1) for one seed of one period; deterministic for its arguments.

    A seed is crawled if its draw is below its probability. Each has a random generator of its own,
    so that a killed crawl resumes with the same draws.

    >>> luck(1, 1, 5) == luck(1, 1, 5) != luck(1, 2, 5)
    True
    """
    return random.Random(f"{seed}/{period}/{number}").random()  # noqa: S311  (chance, no secret)


class SkippedSeeds(NamedTuple):
    """Skipped seeds, and an estimate of their results.

    Attributes:
        skipped: Number of skipped seeds.
        useful: Estimated number of useful ones among them.
    """

    skipped: int
    useful: float


def outlook(skipped: int, crawled: Iterable[tuple[float, bool]]) -> SkippedSeeds:
    """Estimate the useful seeds among the skipped ones, from those crawled.

    Each useful crawled seed represents 1/P similar seeds (Horvitz and Thompson 1952), itself
    included; the estimate has no bias, since P never falls below 0. Never above ``skipped``.

    Args:
        skipped: Number of skipped seeds.
        crawled: Probability and usefulness of each crawled and finished seed.

    >>> outlook(1, [(1.0, True), (0.5, True), (0.5, False)])
    SkippedSeeds(skipped=1, useful=1.0)
    """
    like = sum(1 / chance - 1 for chance, useful in crawled if useful and chance > 0)
    return SkippedSeeds(skipped, min(float(skipped), like))
