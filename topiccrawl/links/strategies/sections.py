"""Sections: list pages that links name by the topic, their further pages, and their worth."""

from __future__ import annotations

import re

FULL = 0.63
"""Similarity of an anchor to the topic from which it names a section as a whole."""
FIRST, PULL = 0.0, 5.0
"""Slope that a crawl begins with, and its weight beside the pages'."""
ENOUGH = 0.2
"""Slope from which sections count as a whole; below it in proportion, below 0 not at all."""

ONWARD = 0.15
"""Weight of a page's worth for links to further pages of its list."""

_LONGEST = 20
_PAGING = re.compile(
    r"\W*(?:第?\s*\d{1,3}\s*页?|下一?页|后一?页|next(?: page)?|older(?: posts)?|[»›])\W*",
    re.IGNORECASE,
)


def strength(name: float) -> float:
    """Return how far links from a page of this name are of a section, in [0, 1].

    It is square: "Education" names a section, the headline of an article has other words, too.

    >>> strength(0.0), round(strength(0.315), 2), strength(0.8)
    (0.0, 0.25, 1.0)
    """
    return min(1.0, (name / FULL) ** 2)


def is_paging(anchor: str) -> bool:
    """Return whether an anchor leads on to another page of the same list.

    >>> [is_paging(anchor) for anchor in ("12", "下一页 »", "Older posts", "第3页", "Area 51", "")]
    [True, True, True, True, False, False]
    """
    return len(anchor) <= _LONGEST and _PAGING.fullmatch(anchor) is not None


class SectionGuard:
    """Share at which sections count, by the crawl's own outcomes.

    The slope of the pages' worth, less what their parents predict, on the strength of their
    sections: where an article that is named by the topic links to anything, pages behind it are
    worth less than it, the slope is 0 or below, and sections do not count.

    Attributes:
        share: In [0, 1]; 0 at first: it must be earned.

    >>> lists, articles = SectionGuard(), SectionGuard()
    >>> for page in range(100):
    ...     lists.learn(page % 2, 0.5 * (page % 2))
    ...     articles.learn(page % 2, -0.5 * (page % 2))
    >>> lists.settle(), articles.settle()
    (None, None)
    >>> lists.share, articles.share
    (1.0, 0.0)
    """

    def __init__(self) -> None:
        self.share = FIRST / ENOUGH
        self._pages = 0
        self._sections = 0.0
        self._gains = 0.0
        self._squares = 0.0
        self._products = 0.0

    def learn(self, section: float, gain: float) -> None:
        """Learn a page: the strength of its sections, its worth less what its parents predict."""
        self._pages += 1
        self._sections += section
        self._gains += gain
        self._squares += section * section
        self._products += section * gain

    def settle(self) -> None:
        """Compute the share from what was learnt."""
        if not self._pages:
            return
        spread = self._squares - self._sections * self._sections / self._pages
        common = self._products - self._sections * self._gains / self._pages
        slope = (common + PULL * FIRST) / (spread + PULL)
        self.share = min(1.0, max(0.0, slope / ENOUGH))
