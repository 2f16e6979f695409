"""Seed probability [S1]: the later a seed stands and the more before it failed, the less likely."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


def probability(number: int, failed: int, total: int) -> float:
    """Chance in [0, 1] that a seed is crawled: P = 1 - (s + f)/(2n) [S1, step 3.1].

    Args:
        number: Its place s in the list, from 1.
        failed: Seeds f before it that were crawled, finished and gave nothing useful.
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
    """The draw in [0, 1) for one seed of one period; always the same for the same arguments.

    A seed is crawled where its draw lies below its probability. Each has a generator of its own,
    so that a crawl that was killed goes on with the same draws.

    >>> luck(1, 1, 5) == luck(1, 1, 5) != luck(1, 2, 5)
    True
    """
    return random.Random(f"{seed}/{period}/{number}").random()  # noqa: S311  (chance, no secret)


class Outlook(NamedTuple):
    """What was passed over, and what it would have brought.

    Attributes:
        skipped: Seeds passed over.
        useful: How many of them would have given something useful, estimated.
    """

    skipped: int
    useful: float


def outlook(skipped: int, crawled: Iterable[tuple[float, bool]]) -> Outlook:
    """Estimate what skipped seeds would have brought, from those crawled.

    Each useful crawled seed stands for 1/P seeds of its like (Horvitz and Thompson 1952), itself
    among them; the estimate has no bias, since P never falls below 0. Never above ``skipped``.

    Args:
        skipped: Seeds passed over.
        crawled: Probability and usefulness of each crawled and finished seed.

    >>> outlook(1, [(1.0, True), (0.5, True), (0.5, False)])
    Outlook(skipped=1, useful=1.0)
    """
    like = sum(1 / chance - 1 for chance, useful in crawled if useful and chance > 0)
    return Outlook(skipped, min(float(skipped), like))
