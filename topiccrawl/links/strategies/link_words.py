"""Link-text model: predicts page scores from the words of links, learned during the crawl."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

MAX_WORDS = 200_000
"""Most words stored, about 30 MB; above it, words of a single page are dropped."""

MIN_PAGES = 10
"""Pages before the model is first used."""

GROWTH = 1.1
"""Factor by which the number of pages must grow before scores are computed again."""


class LinkWords:
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
        pages: Number of pages learned from.
        version: Incremented when predictions should be computed again.

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
        self._next = float(MIN_PAGES)
        self._words: dict[str, tuple[int, float]] = {}

    def learn(self, words: Collection[str], worth: float) -> None:
        """Learn from one page: the words of the link that led to it, and its score in [0, 1].

        Each word counts once.
        """
        self.pages += 1
        self._worth += worth
        known_words = self._words
        for word in frozenset(words):
            pages, total = known_words.get(word, (0, 0.0))
            known_words[word] = (pages + 1, total + worth)
        if len(known_words) > MAX_WORDS:
            self._words = {word: known for word, known in known_words.items() if known[0] > 1}
        if self.pages >= self._next:
            self._next = self.pages * GROWTH + MIN_PAGES
            self.version += 1

    def promise(self, words: Collection[str]) -> float:
        """Predict how far pages behind such links are above or below the mean; 0 if unknown.

        The prediction is the sum of the words' deviations divided by the root of their number.
        """
        distinct = frozenset(words)
        return self.total(distinct) / math.sqrt(len(distinct) or 1)

    def total(self, words: Iterable[str]) -> float:
        """Return the sum of the words' deviations, each in (-1, 1); 0 while ``version`` is 0.

        The words must be distinct.
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
