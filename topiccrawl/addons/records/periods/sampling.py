"""Sampling of seeds [S1]: the probability of a seed falls with its rank and earlier failures."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


def probability(number: int, failed: int, total: int) -> float:
    """Return the probability of crawling a seed: P = 1 - (s + f)/(2n), in [0, 1] [S1, step 3.1].

    Args:
        number: Position s of the seed in the list, from 1.
        failed: Number f of earlier seeds that were finished without a record.
        total: Number n of seeds in the list.

    Raises:
        ValueError: If a number is out of range.

    >>> [probability(s, int(s > 8), 10) for s in (1, 7, 8, 9, 10)]
    [0.95, 0.65, 0.6, 0.5, 0.45]
    """
    if not (1 <= number <= total and 0 <= failed < number):
        raise ValueError(f"no seed {number} of {total} with {failed} failed before it")
    return (2 * total - number - failed) / (2 * total)


def random_draw(seed: int, period: int, number: int) -> float:
    """Return the random number in [0, 1) of one seed in one period; deterministic.

    A seed is crawled if this number is below its probability. Each seed has its own random
    generator, so that a resumed crawl samples the same seeds.

    >>> random_draw(1, 1, 5) == random_draw(1, 1, 5) != random_draw(1, 2, 5)
    True
    """
    return random.Random(f"{seed}/{period}/{number}").random()  # noqa: S311  (sampling, not cryptography)


class SkippedSeeds(NamedTuple):
    """Number of skipped seeds, and how many of them would have been useful.

    Attributes:
        skipped: Number of skipped seeds.
        useful: Estimated number of useful seeds among them.
    """

    skipped: int
    useful: float


def estimate_skipped(skipped: int, crawled: Iterable[tuple[float, bool]]) -> SkippedSeeds:
    """Estimate the number of useful seeds among the skipped ones from the crawled ones.

    Each useful crawled seed represents 1/P similar seeds, itself included (Horvitz and Thompson
    1952). The estimate is unbiased, since P is never below 0, and capped at ``skipped``.

    Args:
        skipped: Number of skipped seeds.
        crawled: Probability and usefulness of each finished seed.

    >>> estimate_skipped(1, [(1.0, True), (0.5, True), (0.5, False)])
    SkippedSeeds(skipped=1, useful=1.0)
    """
    like = sum(1 / chance - 1 for chance, useful in crawled if useful and chance > 0)
    return SkippedSeeds(skipped, min(float(skipped), like))
