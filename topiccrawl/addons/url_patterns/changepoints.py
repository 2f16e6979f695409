"""Years in which the pages of a format changed their kind, for example when archives were moved."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from topiccrawl.addons.url_patterns.tally import Tally, pooled

if TYPE_CHECKING:
    from collections.abc import Sequence


_MIN_GAIN = 4.0  # minimum gain in log-likelihood of a split; exceeded by chance once in 200


def change_points(cluster: Sequence[Tally], news_share: float) -> list[int]:
    """Return the years in which the pages of a cluster changed their kind, ascending.

    Args:
        cluster: Formats of one pattern.
        news_share: Minimum share of articles of a period with news.
    """
    years: dict[int, list[int]] = {}
    for tally in cluster:
        for year, (articles, others) in tally.years.items():
            known = years.setdefault(year, [0, 0])
            known[0], known[1] = known[0] + articles, known[1] + others
    _, likelihood = pooled(cluster)
    return _cut(sorted(years.items()), likelihood, news_share)


def _cut(
    years: Sequence[tuple[int, Sequence[int]]], likelihood: float, news_share: float
) -> list[int]:
    """Split recursively where two periods differ most, in the year after the older period."""
    whole = _sum([counts for _, counts in years])
    best, chosen = _MIN_GAIN, 0
    for place in range(1, len(years)):
        old = _sum([counts for _, counts in years[:place]])
        new = (whole[0] - old[0], whole[1] - old[1])
        gain = _log_likelihood(*old) + _log_likelihood(*new) - _log_likelihood(*whole)
        # the look of a format that changed is weak evidence
        news = [_expected_share(*side, likelihood) >= news_share for side in (old, new)]
        if gain > best and news[0] != news[1]:
            best, chosen = gain, place
    if not chosen:
        return []
    before, after = (
        _cut(part, likelihood, news_share) for part in (years[:chosen], years[chosen:])
    )
    return [*before, years[chosen - 1][0] + 1, *after]


def _expected_share(articles: int, others: int, likelihood: float) -> float:
    """Return the expected share of articles, with the weight of one page for the look."""
    return (articles + likelihood) / (articles + others + 1)


def _sum(counts: Sequence[Sequence[int]]) -> tuple[int, int]:
    return sum(count[0] for count in counts), sum(count[1] for count in counts)


def _log_likelihood(articles: int, others: int) -> float:
    """Return the maximum log-likelihood of the counts."""
    total = articles + others
    return sum(n * math.log(n / total) for n in (articles, others) if n)
