"""Sections: lists that a link names by topic terms, and their further pages."""

from __future__ import annotations

import re

FULL_SIMILARITY = 0.63
"""Similarity of an anchor to the topic from which the section strength is 1."""
FULL_SLOPE = 0.2
"""Slope from which sections have full weight; below it in proportion, below 0 none."""
RIDGE = 10.0
"""Weight of the initial slope, which is ``FULL_SLOPE``, in the regression."""

PAGING_WEIGHT = 0.15
"""Weight of a list page's score for links to further pages of the list."""

_LONGEST = 20
_PAGING = re.compile(
    r"\W*(?:(?:第|page)?\s*\d{1,3}\s*页?|下一?页|后一?页|next(?: page)?|"
    r"older(?: posts| entries)?|[»›])\W*",
    re.IGNORECASE,
)


def strength(name: float) -> float:
    """Return the section strength of links from a page with this anchor similarity, in [0, 1].

    The strength is quadratic: the anchor "Education" names a section, but the headline of an
    article also contains other words.

    >>> strength(0.0), round(strength(0.315), 2), strength(0.8)
    (0.0, 0.25, 1.0)
    """
    return min(1.0, (name / FULL_SIMILARITY) ** 2)


def is_paging(anchor: str) -> bool:
    """Return whether an anchor is a paging link to another page of the same list.

    >>> [is_paging(anchor) for anchor in ("12", "下一页 »", "Older posts", "Page 3", "Area 51", "")]
    [True, True, True, True, False, False]
    """
    return len(anchor) <= _LONGEST and _PAGING.fullmatch(anchor) is not None


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
        self._sections = 0.0
        self._gains = 0.0
        self._squares = 0.0
        self._products = 0.0

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
