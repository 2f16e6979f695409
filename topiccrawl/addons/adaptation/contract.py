"""Interface and parameters of the methods of adaptation.

There are two methods:

- ``words`` (words.py): Words that are frequent on relevant pages and rare on other pages raise the
  scores of *links* that contain them. The relevance of pages depends on the user's terms only, so
  that learnt words do not select the pages to learn from.
- ``genetic`` (feedback.py, genetic.py), as published [S3; methods §4]: A genetic algorithm and
  Rocchio's rule compute a new topic vector for pages and links, and the limits are adjusted.
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
    """Method of adaptation: learns from pages and changes the topic from time to time."""

    def page_weight(self, relevance: float) -> float:
        """Count a page; return the weight with which to learn its document, 0 to skip it.

        Called once per page, before its vector is computed, which is the most expensive step.
        """
        ...

    def learn(self, document: Mapping[str, float], relevance: float, weight: float = 1.0) -> None:
        """Learn a document, given by the weights of its words (positive) and its relevance."""
        ...


@dataclass(frozen=True, slots=True)
class AdaptationParameters:
    """Parameters of both methods.

    Attributes:
        warm: Number of pages before the first change.
        every: words: minimum number of pages between two changes; genetic: number of *relevant*
            pages.
        growth: words: minimum factor of the number of pages between two changes. The weights from
            1,000 pages change little with 100 more, but each change is stored and re-scores queued
            URLs.
        sample: words: number of pages after which only a share ``sample / pages`` is learnt, with
            weights to match, so that the time per page falls as the crawl grows.
        words: words: maximum number of learnt words; those with the most evidence are kept.
        terms: genetic: maximum number of learnt terms; those with the largest weights are kept.
        gain: words: maximum that learnt words add to the score of a link, and maximum weight of a
            learnt word, relative to the largest weight of the user's terms.
        half: words: relevance at which a page counts as half relevant and half irrelevant.
        feedback_size: genetic: number of most relevant documents used for feedback.
        anchors: genetic: whether documents are the best link blocks of pages (the expanded anchor
            vectors of the source) instead of pages.
        own_share: genetic: minimum share of the user's terms in the squared length of the vector.
        floor: genetic: minimum of the lower limit.
        floor_quantile: genetic: quantile of recent page scores that the lower limit follows; small,
            so that the limit rises only if nearly all pages score above the floor.
        ceiling_quantile: genetic: quantile of recent page scores that the upper limit follows.
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
                    "Adaptation parameter {name} = {value!r}: set a number from "
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
