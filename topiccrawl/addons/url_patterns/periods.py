"""Years in which a format changed its kind: archives are moved, cut, or made picture pages."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from topiccrawl.addons.url_patterns.tally import Tally, together

if TYPE_CHECKING:
    from collections.abc import Sequence


_SURE_OF_CUT = 4.0  # log-likelihood gained by a cut in time; chance gives it once in 200


def changes(cluster: Sequence[Tally], news_share: float) -> list[int]:
    """Return the years from which on a cluster's pages are something else, ascending.

    Args:
        cluster: Formats of one pattern.
        news_share: Share of articles from which on a period is one of news.
    """
    years: dict[int, list[int]] = {}
    for tally in cluster:
        for year, (articles, others) in tally.years.items():
            known = years.setdefault(year, [0, 0])
            known[0], known[1] = known[0] + articles, known[1] + others
    _, likelihood = together(cluster)
    return _cut(sorted(years.items()), likelihood, news_share)


def _cut(
    years: Sequence[tuple[int, Sequence[int]]], likelihood: float, news_share: float
) -> list[int]:
    """Cut where two periods differ most, and each of them again; just behind the older one."""
    whole = _sum([counts for _, counts in years])
    best, chosen = _SURE_OF_CUT, 0
    for place in range(1, len(years)):
        old = _sum([counts for _, counts in years[:place]])
        new = (whole[0] - old[0], whole[1] - old[1])
        gain = _fit(*old) + _fit(*new) - _fit(*whole)
        # of a format that changed, the look says little
        news = [_shown(*side, likelihood) >= news_share for side in (old, new)]
        if gain > best and news[0] != news[1]:
            best, chosen = gain, place
    if not chosen:
        return []
    before, after = (
        _cut(part, likelihood, news_share) for part in (years[:chosen], years[chosen:])
    )
    return [*before, years[chosen - 1][0] + 1, *after]


def _shown(articles: int, others: int, likelihood: float) -> float:
    """Expected share of articles where the look counts as one page."""
    return (articles + likelihood) / (articles + others + 1)


def _sum(counts: Sequence[Sequence[int]]) -> tuple[int, int]:
    return sum(count[0] for count in counts), sum(count[1] for count in counts)


def _fit(articles: int, others: int) -> float:
    """Log-likelihood of counts under their own share."""
    total = articles + others
    return sum(n * math.log(n / total) for n in (articles, others) if n)
