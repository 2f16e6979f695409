"""Models that shark-plus learns during a crawl: link words, regions, sections, and a mixture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

K = TypeVar("K")

MAX_WORDS = 200_000
"""Most words stored, about 30 MB; above it, words of a single page are dropped."""

MAX_REGIONS = 300_000
"""Most regions stored, about 50 MB; above it, regions of a single page are dropped."""

MIN_PAGES = 10
"""Pages before the model of link words is first used."""

GROWTH = 1.1
"""Factor by which the number of pages must grow before scores are computed again."""

FULL_SIMILARITY = 0.63
"""Similarity of an anchor to the topic from which the section strength is 1."""

FULL_SLOPE = 0.2
"""Slope from which sections have full weight; below it in proportion, below 0 none."""

RIDGE = 10.0
"""Weight of the initial slope, which is ``FULL_SLOPE``, in the regression of section weights."""

PRIOR_PAGES = 50
"""Weight of the initial share of a mixture, in pages."""

INITIAL = 0.25
"""Initial share of the best parent in a mixture."""


class _MeanScores(Generic[K]):
    """Number and score sum of the pages behind links with each key.

    Args:
        shrink: Weight of the wider mean, in pages, above 0.
        most: Most keys stored; above it, keys of a single page are dropped.

    Attributes:
        pages: Number of pages learned from.
    """

    def __init__(self, shrink: float, most: int) -> None:
        self.shrink = shrink
        self.pages = 0
        self._most = most
        self._worth = 0.0
        self._known: dict[K, tuple[int, float]] = {}

    def learn(self, keys: Iterable[K], worth: float) -> None:
        """Learn from one page: the keys of the link that led to it, and its score in [0, 1].

        Each key counts once.
        """
        self.pages += 1
        self._worth += worth
        known = self._known
        for key in frozenset(keys):
            pages, total = known.get(key, (0, 0.0))
            known[key] = (pages + 1, total + worth)
        if len(known) > self._most:
            self._known = {key: sums for key, sums in known.items() if sums[0] > 1}


class LinkWords(_MeanScores[str]):
    """Online model of link texts; it does not use the topic or its terms.

    Every fetched page is one example: the words of the link that led to it, and its page score y.
    The deviation of a word is ``(sum of y - n * m) / (n + shrink)``, where n is the number of pages
    behind links with the word and m is the mean score of all pages. The prediction (promise) for a
    text of k distinct words is the sum of their deviations divided by ``sqrt(k)``. Words are
    treated as independent (naive Bayes without logarithms). An update takes constant time, the
    order of examples does not matter, and nothing has to be fitted.

    Args:
        shrink: Weight of the mean score for each word, in pages, above 0.

    Attributes:
        version: Incremented when predictions should be computed again.

    >>> model = LinkWords(shrink=1.0)
    >>> for _ in range(10):
    ...     model.learn(["电池", "新闻"], 1.0)
    ...     model.learn(["足球", "新闻"], 0.0)
    >>> [round(model.total([word]), 2) for word in ("电池", "足球", "新闻", "天气")]
    [0.45, -0.45, 0.0, 0.0]
    """

    def __init__(self, shrink: float = 3.0) -> None:
        super().__init__(shrink, MAX_WORDS)
        self.version = 0
        self._next = float(MIN_PAGES)

    @override
    def learn(self, keys: Iterable[str], worth: float) -> None:
        """Learn from one page; update the version if the model has grown enough."""
        super().learn(keys, worth)
        if self.pages >= self._next:
            self._next = self.pages * GROWTH + MIN_PAGES
            self.version += 1

    def total(self, words: Collection[str]) -> float:
        """Return the sum of the words' deviations, each in (-1, 1); 0 while ``version`` is 0.

        The words must be distinct.
        """
        if not self.version:
            return 0.0
        mean, shrink, find = self._worth / self.pages, self.shrink, self._known.get
        total = 0.0
        for word in words:
            if known := find(word):
                pages, worth = known
                total += (worth - pages * mean) / (pages + shrink)
        return total


class SourceRegions(_MeanScores[float]):
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
        super().__init__(shrink, MAX_REGIONS)

    def expected(self, regions: Sequence[float]) -> float:
        """Predict the score of a page behind a link, in [0, 1]; regions are given widest first."""
        mean = self._worth / self.pages if self.pages else 0.0
        for region in regions:
            if region not in self._known:
                break
            pages, worth = self._known[region]
            mean = (worth + self.shrink * mean) / (pages + self.shrink)
        return mean


def strength(name: float) -> float:
    """Return the section strength of links from a page with this anchor similarity, in [0, 1].

    The strength is quadratic: the anchor "Education" names a section, but the headline of an
    article also contains other words.

    >>> strength(0.0), round(strength(0.315), 2), strength(0.8)
    (0.0, 0.25, 1.0)
    """
    return min(1.0, (name / FULL_SIMILARITY) ** 2)


class SectionWeight:
    """Weight of sections, fitted during the crawl.

    The weight follows the slope of a regression of score residuals (page score less the prediction
    by parents) on section strength. Sections count from the start. If lists named by topic terms
    lead to pages on other subjects, these have lower scores, the slope falls to 0 or below, and
    sections count no longer.

    Attributes:
        share: Weight of sections, in [0, 1]; 1 at first.

    >>> lists, articles = SectionWeight(), SectionWeight()
    >>> for page in range(100):
    ...     lists.learn(page % 2, 0.5 * (page % 2))
    ...     articles.learn(page % 2, -0.5 * (page % 2))
    >>> lists.update_share(), articles.update_share()
    (None, None)
    >>> lists.share, articles.share
    (1.0, 0.0)
    """

    def __init__(self) -> None:
        self.share = 1.0
        self._pages = 0
        self._sections = self._gains = self._squares = self._products = 0.0

    def learn(self, section: float, gain: float) -> None:
        """Learn from a page: its section strength, and its score less the prediction by parents."""
        self._pages += 1
        self._sections += section
        self._gains += gain
        self._squares += section * section
        self._products += section * gain

    def update_share(self) -> None:
        """Recompute the share."""
        if not self._pages:
            return
        spread = self._squares - self._sections * self._sections / self._pages
        common = self._products - self._sections * self._gains / self._pages
        slope = (common + RIDGE * FULL_SLOPE) / (spread + RIDGE)
        self.share = min(1.0, max(0.0, slope / FULL_SLOPE))


class Mixture:
    """Weights of the best parent's score and of the score of all parents.

    Online least squares of page scores on both, regularized towards ``INITIAL``. If pages behind
    one relevant parent are as good as pages behind many (lists of one subject), the order
    approaches best-first. If most pages link to pages on other subjects, all parents count.

    Attributes:
        share: Weight of the best parent, in [0, 1]; the weight of all parents is ``1 - share``.

    >>> same, best = Mixture(), Mixture()
    >>> for page in range(200):
    ...     one, other = page % 7 / 7, page % 5 / 5
    ...     same.learn(one, one, one)
    ...     best.learn(one, other, other)
    >>> same.update_share(), best.update_share()
    (None, None)
    >>> round(same.share, 2), round(best.share, 2)
    (0.25, 0.85)
    """

    def __init__(self) -> None:
        self.share = INITIAL
        self._pages = 0
        self._mean = np.zeros(3)
        self._products = np.zeros((3, 3))

    def learn(self, all_parents: float, best: float, worth: float) -> None:
        """Learn from a page: scores of all its parents, of the best parent, and of the page."""
        self._pages += 1
        values = np.array((all_parents, best, worth))
        change = values - self._mean
        self._mean += change / self._pages
        self._products += np.outer(change, values - self._mean)

    def update_share(self) -> None:
        """Recompute the share."""
        if not self._pages:
            return
        moments = self._products / self._pages
        inner, outer = moments[:2, :2], moments[:2, 2]
        spread = float(inner.mean())
        ridge = PRIOR_PAGES / self._pages * float(inner.trace()) / 2
        if spread <= 0.0 or ridge <= 0.0:
            return
        usual = max(0.0, float(outer.mean()) / spread) * np.array((1 - INITIAL, INITIAL))
        fitted = np.linalg.solve(inner + ridge * np.eye(2), outer + ridge * usual)
        weights = np.maximum(fitted, 0.0)
        total = float(weights.sum())
        if total > 0.0:
            self.share = float(weights[1]) / total
