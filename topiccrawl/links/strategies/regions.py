"""Source regions: learns from the pages to which links in the same place of a site led."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_REGIONS = 300_000
"""Regions that are stored, about 50 MB; above it, those of a single page are dropped."""


class SourceRegions:
    """Mean worth of the pages that links in a region led to.

    A region is a place where links stand: the same elements around them in the pages of a site, of
    a directory, or in one page (``Link.regions``). Lists of one subject, tables of contents and
    paging differ from menus and footers by it, whatever their words are. The mean of a page's
    region is shrunk towards the directory's, that towards the site's, and that towards the crawl's.

    Args:
        shrink: Pages of the wider region's mean that each begins with, above 0.

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
        """Learn one page: the regions of the link that led to it, and its worth in [0, 1]."""
        self._pages += 1
        self._worth += worth
        held = self._regions
        for region in regions:
            pages, total = held.get(region, (0, 0.0))
            held[region] = (pages + 1, total + worth)
        if len(held) > MOST_REGIONS:
            self._regions = {region: known for region, known in held.items() if known[0] > 1}

    def expected(self, regions: Sequence[float]) -> float:
        """Return the worth to expect of a page behind a link there, in [0, 1]; widest first."""
        mean = self._worth / self._pages if self._pages else 0.0
        shrink, known = self.shrink, self._regions
        for region in regions:
            if region not in known:
                break
            pages, worth = known[region]
            mean = (worth + shrink * mean) / (pages + shrink)
        return mean
