"""Link-text model: learns from the pages to which links with the same words led."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

MOST_WORDS = 200_000
"""Words that are stored, about 30 MB; above it, words of a single page are dropped."""

FIRST = 10
"""Pages before the model is first used."""

GROWTH = 1.1
"""Pages, as a multiple of those at the last change, after which scores are computed again."""


class LinkWords:
    """An on-line model of link texts; it uses neither the topic nor its terms.

    Every fetched page gives one example: the words of the link that led to it, and its worth y. A
    word's deviation is ``(sum of y - n * m) / (n + shrink)``, with n pages it led to and m the mean
    worth of all pages. The promise of a text of k different words is the sum of their deviations
    divided by ``sqrt(k)``. Words are independent (naive Bayes without logarithms): the cost of an
    example is constant, their order does not matter, and nothing has to be fitted.

    Args:
        shrink: Pages of mean worth that every word begins with, above 0.

    Attributes:
        pages: Pages learnt from.
        version: Grows when promises should be computed again.

    >>> model = LinkWords(shrink=1.0)
    >>> for _ in range(10):
    ...     model.learn(["电池", "新闻"], 1.0)
    ...     model.learn(["足球", "新闻"], 0.0)
    >>> [round(model.promise([word]), 2) for word in ("电池", "足球", "新闻", "天气")]
    [0.45, -0.45, 0.0, 0.0]
    """

    def __init__(self, shrink: float = 3.0) -> None:
        self.shrink = shrink
        self.pages = 0
        self.version = 0
        self._worth = 0.0
        self._next = float(FIRST)
        self._words: dict[str, tuple[int, float]] = {}

    def learn(self, words: Collection[str], worth: float) -> None:
        """Learn one page: the words of the link that led to it, and its worth in [0, 1].

        Each word counts once.
        """
        self.pages += 1
        self._worth += worth
        held = self._words
        for word in frozenset(words):
            pages, total = held.get(word, (0, 0.0))
            held[word] = (pages + 1, total + worth)
        if len(held) > MOST_WORDS:
            self._words = {word: known for word, known in held.items() if known[0] > 1}
        if self.pages >= self._next:
            self._next = self.pages * GROWTH + FIRST
            self.version += 1

    def promise(self, words: Collection[str]) -> float:
        """Return how far pages behind such links are above or below the mean; 0 for unknown words.

        The sum of the words' deviations, each in (-1, 1), by the square root of their number.
        """
        different = frozenset(words)
        return self.total(different) / math.sqrt(len(different) or 1)

    def total(self, words: Iterable[str]) -> float:
        """Return the sum of the words' deviations, each in (-1, 1); 0 before ``version`` grew.

        The words must be different.
        """
        if not self.version:
            return 0.0
        mean, shrink, find = self._worth / self.pages, self.shrink, self._words.get
        total = 0.0
        for word in words:
            if known := find(word):
                pages, worth = known
                total += (worth - pages * mean) / (pages + shrink)
        return total
