"""Mixture of two predictions, moved by the crawl's own outcomes."""

from __future__ import annotations

import numpy as np

PRIOR_PAGES = 50
"""Pages that the first share counts for."""


FIRST = 0.25
"""Share that a crawl begins with."""


class Mixture:
    """Share of the best parent's worth beside that of all parents.

    Least squares of the pages' worth on both, on line, pulled towards ``FIRST``. Where pages
    behind one relevant parent are as good as those behind many, as behind lists of one subject,
    the order approaches best-first; where most pages link to anything, all parents count.

    Attributes:
        share: Weight of the best parent, in [0, 1]; that of all parents is the rest.

    >>> same, best = Mixture(), Mixture()
    >>> for page in range(200):
    ...     one, other = page % 7 / 7, page % 5 / 5
    ...     same.learn(one, one, one)
    ...     best.learn(one, other, other)
    >>> same.settle(), best.settle()
    (None, None)
    >>> round(same.share, 2), round(best.share, 2)
    (0.25, 0.85)
    """

    def __init__(self) -> None:
        self.share = FIRST
        self._pages = 0
        self._mean = np.zeros(3)
        self._products = np.zeros((3, 3))

    def learn(self, everyone: float, best: float, worth: float) -> None:
        """Learn a page: worth of all its parents and of the best one, and its own."""
        self._pages += 1
        seen = np.array((everyone, best, worth))
        change = seen - self._mean
        self._mean += change / self._pages
        self._products += np.outer(change, seen - self._mean)

    def settle(self) -> None:
        """Compute the share from what was learnt."""
        if not self._pages:
            return
        moments = self._products / self._pages
        inner, outer = moments[:2, :2], moments[:2, 2]
        spread = float(inner.mean())
        pull = PRIOR_PAGES / self._pages * float(inner.trace()) / 2
        if spread <= 0.0 or pull <= 0.0:
            return
        usual = max(0.0, float(outer.mean()) / spread) * np.array((1 - FIRST, FIRST))
        fitted = np.linalg.solve(inner + pull * np.eye(2), outer + pull * usual)
        weights = np.maximum(fitted, 0.0)
        total = float(weights.sum())
        if total > 0.0:
            self.share = float(weights[1]) / total
