"""Source regions: predict page scores from the position of links in their pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_REGIONS = 300_000
"""Most regions stored, about 50 MB; above it, regions of a single page are dropped."""


class SourceRegions:
    """Mean scores of the pages behind the links of each region.

    A region is a position of links: equal surrounding elements in the pages of a site, in the pages
    of a directory, or in one page (``Link.regions``). It distinguishes lists of one subject, tables
    of contents and paging from menus and footers, independent of their words. The mean of a page's
    region is shrunk towards the mean of the directory's region, which is shrunk towards the site's,
    which is shrunk towards the mean of the crawl.

    Args:
        shrink: Weight of the mean of the wider region, in pages, above 0.

    >>> known = SourceRegions(shrink=1.0)
    >>> for worth in (1.0, 0.0):
    ...     known.learn((1, 2, 3), worth)
    >>> for worth in (1.0, 1.0):
    ...     known.learn((1, 2, 4), worth)
    >>> [round(known.expected(regions), 2) for regions in ((1, 2, 3), (1, 2, 4), (1, 2, 5), ())]
    [0.58, 0.92, 0.75, 0.75]
    """

    def __init__(self, shrink: float = 3.0) -> None:
        self.shrink = shrink
        self._pages = 0
        self._worth = 0.0
        self._regions: dict[float, tuple[int, float]] = {}

    def learn(self, regions: Iterable[float], worth: float) -> None:
        """Learn from one page: the regions of the link that led to it, and its score in [0, 1]."""
        self._pages += 1
        self._worth += worth
        means = self._regions
        for region in regions:
            pages, total = means.get(region, (0, 0.0))
            means[region] = (pages + 1, total + worth)
        if len(means) > MAX_REGIONS:
            self._regions = {region: known for region, known in means.items() if known[0] > 1}

    def expected(self, regions: Sequence[float]) -> float:
        """Predict the score of a page behind a link, in [0, 1]; regions are given widest first."""
        mean = self._worth / self._pages if self._pages else 0.0
        shrink, known = self.shrink, self._regions
        for region in regions:
            if region not in known:
                break
            pages, worth = known[region]
            mean = (worth + shrink * mean) / (pages + shrink)
        return mean
