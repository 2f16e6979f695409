"""Mixture of two predictions, with weights fitted during the crawl."""

from __future__ import annotations

import numpy as np

PRIOR_PAGES = 50
"""Weight of the initial share, in pages."""

INITIAL = 0.25
"""Initial share of a crawl."""


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
