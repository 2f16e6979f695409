"""Relevance of a page by its words and by the links that led to it.

Pages on one subject link to each other (Chakrabarti, Dom and Indyk 1998), and sites group their
articles in lists. A short or metaphorical article that names no term of the topic is still linked
from the topic's list; an article that names one in passing is not. The strategy predicts the score
of a page from its links before the page is fetched. Here the prediction is combined with the words
of the page: the mean of both scores replaces that of the words.

The strategy learns from the words alone (``Verdict.for_links``), so a prediction never confirms
itself.
"""

from __future__ import annotations

from topiccrawl.model import LINKS, Verdict

_ALMOST_ONE = 1 - 1e-9


def with_links(verdict: Verdict, expected: float, limit: float) -> Verdict:
    """Combine a verdict by words with the score that links predict.

    Args:
        verdict: Verdict by the topic's words.
        expected: Score that the links predict, in [0, 1]; 1/3 is neutral at the limit.
        limit: Relevance from which a page is relevant; words at the limit score 1/3.

    >>> words = Verdict(0.05, relevant=True)
    >>> [round(with_links(words, expected, 0.05).relevance, 3) for expected in (0, 1 / 3, 1)]
    [0.02, 0.05, 0.2]
    >>> with_links(Verdict(0.0, relevant=False), 0.7, 0.05).relevant
    True
    """
    half = 2 * limit
    by_words = verdict.relevance / (verdict.relevance + half) if half else 1.0
    score = min(_ALMOST_ONE, (by_words + expected) / 2)
    relevance = min(1.0, half * score / (1 - score)) if half else verdict.relevance
    return verdict._replace(
        relevance=relevance,
        relevant=relevance >= limit,
        terms=(*verdict.terms, (LINKS, expected)),
        by_words=verdict.for_links,
    )
