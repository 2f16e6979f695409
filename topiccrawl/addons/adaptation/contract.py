"""Contract and numbers of the methods by which a topic learns from its own crawl.

Two methods, chosen by name:

- ``words`` (words.py), the default: words that occur on the crawl's relevant pages and
  not on its others raise the score of *links* that hold them. The relevance of pages still comes
  from the user's terms alone, so learnt words never choose the pages to learn from.
- ``genetic`` (feedback.py, genetic.py, vectors.py), as published [S3; methods §4]:
  genetic algorithm and Rocchio give a new topic vector for pages and links, and the limits follow.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Protocol

from topiccrawl.errors import SettingError
from topiccrawl.topics.adapter import LearntTopic

if TYPE_CHECKING:
    from collections.abc import Mapping

METHODS = ("words", "genetic")
"""Names of the methods."""


class Adapter(LearntTopic, Protocol):
    """Learns from pages and moves the topic now and then."""

    def wants(self, relevance: float) -> float:
        """Count a page; return the weight to learn its document with, 0 to skip it.

        Called once for each page, before its vector is made: that takes longer than all the rest.
        """
        ...

    def learn(self, document: Mapping[str, float], relevance: float, weight: float = 1.0) -> None:
        """Learn a document: its words with weights above 0, L2 norm 1, and its relevance."""
        ...


@dataclass(frozen=True, slots=True)
class AdaptationParameters:
    """Numbers of both methods.

    Attributes:
        warm: Pages before the first change.
        every: words: pages between two changes at least; genetic: *relevant* pages.
        growth: words: a change comes after so many times the pages of the last one: the weights
            from 1,000 pages hardly move with 100 more, and each change is stored and makes
            queued URLs be re-scored.
        sample: words: from so many pages on only a part is learnt, ``sample / pages``, each
            with a weight to match: the time per page falls while the crawl grows.
        words: words: learnt ones at most, those with most evidence.
        terms: genetic: learnt terms at most, the heaviest ones.
        gain: words: most that learnt words add to a link's score, and most that one of them
            weighs beside the user's heaviest term of 1.
        half: words: relevance at which a page counts half for and half against.
        feedback_size: genetic: most relevant documents that are learnt from.
        anchors: genetic: documents are each page's best block of anchors (the source's expanded
            anchor vectors) instead of the page.
        own_share: genetic: least share of the vector's squared length for the user's terms.
        floor: genetic: lowest value of the lower limit.
        ceiling_quantile: genetic: quantile of recent scores that the upper limit follows.
        floor_quantile: genetic: quantile of recent scores that the lower limit follows; so
            small that nearly all pages must be better than the floor before it rises.
    """

    warm: int = 20
    every: int = 20
    growth: float = 2.0
    sample: int = 20
    words: int = 5_000
    terms: int = 20
    gain: float = 0.2
    half: float = 0.05
    feedback_size: int = 20
    anchors: bool = False
    own_share: float = 0.5
    floor: float = 0.05
    floor_quantile: float = 0.05
    ceiling_quantile: float = 0.8

    def __post_init__(self) -> None:
        for field in fields(self):
            low, high = _RANGES.get(field.name, (0, 1))
            value = getattr(self, field.name)
            if not low <= value <= high:
                raise SettingError(
                    "Adaptation parameter {name} = {value!r}: give a number from "
                    "{low:g} to {high:g}",
                    name=field.name,
                    value=value,
                    low=low,
                    high=high,
                )


_MANY = 1_000_000_000
_RANGES: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("warm", "every", "sample", "words", "terms", "feedback_size"), (1, _MANY)),
    "growth": (1, 1_000),
    "half": (1e-6, 1),
}
"""Ranges other than [0, 1]."""
