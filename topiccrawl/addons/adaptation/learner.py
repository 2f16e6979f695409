"""Adapter of a topic, used by crawls and replays: learns pages and changes the scorers.

There are two methods:

- ``words`` (words.py): Words that are frequent on relevant pages and rare on other pages raise the
  scores of *links* that contain them. The relevance of pages depends on the user's terms only, so
  that learnt words do not select the pages to learn from.
- ``genetic`` (feedback.py, genetic.py), as published [S3; methods §4]: A genetic algorithm and
  Rocchio's rule compute a new topic vector for pages and links, and the limits are adjusted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from topiccrawl.addons.adaptation.feedback import FeedbackAdapter
from topiccrawl.addons.adaptation.words import MAX_LOG_ODDS, WordAdapter
from topiccrawl.links.strategies.contract import LEARNT
from topiccrawl.links.strategies.link_texts import block_texts
from topiccrawl.links.strategies.parameters import check_ranges
from topiccrawl.messages import message
from topiccrawl.text.tokens import BatchCache

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.model import Page, Verdict
    from topiccrawl.topics import Scorer
    from topiccrawl.topics.contract import TopicUpdate

METHODS = ("words", "genetic")
"""Names of the methods."""

_MANY = 1_000_000_000
_RANGES: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("warm", "every", "sample", "words", "terms", "feedback_size"), (1, _MANY)),
    "growth": (1, 1_000),
    "half": (1e-6, 1),
}
"""Ranges other than [0, 1]."""

LEARNT_CHARS = 500
"""Number of characters at the start of a page that are learnt, in addition to its title. With
3,000, a page takes four times as long, and the harvest is the same."""

MAX_LINK_CHARS = 60
"""Maximum length of link texts to which learnt words are applied, in characters. Longer texts
(contexts and blocks) took twice the time without a better harvest."""

_SLOPE = 3.0
"""Mean log-odds of a text's words at which the text gets about three quarters of the gain."""

_CACHED_TEXTS = 20_000
"""Maximum number of texts with a cached gain, about 4 MB, since menus are on every page."""


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
        text = message(
            "Adaptation parameter {name} = {value!r}: set a number from {low:g} to {high:g}"
        )
        check_ranges(self, _RANGES, text)


class TopicLearner:
    """A ``TopicAdapter`` by one of ``METHODS``.

    Args:
        own: Scorer of the user's topic.
        strategy: Link strategy, which gets the changed scorers.
        method: Name of the method.
        parameters: Parameters of the method.
        seed: Seed of the random generator.
    """

    def __init__(
        self,
        own: Scorer,
        strategy: LinkStrategy,
        method: str,
        parameters: AdaptationParameters | None = None,
        seed: int = 1,
    ) -> None:
        self.method = method
        self.scorer = self._own = own
        self._strategy = strategy
        self._version = strategy.version
        self._parameters = parameters or AdaptationParameters()
        given = own.vector, self._parameters, np.random.default_rng(seed)
        self._adapter = WordAdapter(*given) if method == "words" else FeedbackAdapter(*given)

    def learn(self, page: Page, verdict: Verdict) -> bool:
        """Count a judged page; return whether its words were learnt."""
        weight = self._adapter.page_weight(verdict.relevance)
        if weight:  # the vector of a page is the most expensive step
            document, relevance = self._document(page, verdict)
            self._adapter.learn(document, relevance, weight)
        return bool(weight)

    def adapt(self) -> TopicUpdate | None:
        """Return the changed topic, or None if a change is not due or nothing was learnt."""
        return self._adapter.adapt()

    def present(self) -> TopicUpdate | None:
        """Return the topic after all changes, or None."""
        return self._adapter.present()

    def state(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        return self._adapter.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a result of ``state``."""
        self._adapter.restore(state)

    def apply(self, number: int, change: TopicUpdate | None = None) -> None:
        """Use the scorers of a change; ``words`` changes those of links, ``genetic`` all."""
        step = LEARNT if self.method == "words" else 1
        if change is not None:
            self.scorer, links = scorers(change, self._own, self._parameters.gain)
            self._strategy.adopt(links)
            self._set_upper_limit(change.upper_limit)
        self._strategy.version = (self._version + number * step) % 2**32

    def _document(self, page: Page, verdict: Verdict) -> tuple[dict[str, float], float]:
        """Return the document to learn and its relevance.

        The document is the set of words of the page (``words``), its vector, or the vector of its
        best link block.
        """
        if self._parameters.anchors and verdict.relevant:
            texts = list(block_texts(page.links).values())
            ranked = sorted(zip(self.scorer.score_many(texts), texts, strict=True), reverse=True)
            relevance, text = ranked[0] if ranked else (0.0, "")
            relevant = relevance >= self.scorer.lower_limit
            return (self.scorer.page_vector(text), relevance) if relevant else ({}, relevance)
        text = self.scorer.judged_text(page)[:LEARNT_CHARS]
        if self.method == "words":
            words = self.scorer.page_words(text, page.title)
            return dict.fromkeys(words, 1.0), verdict.relevance
        return self.scorer.page_vector(text, page.title), verdict.relevance

    def _set_upper_limit(self, upper: float | None) -> None:
        """Set the limit of the priorQueue, unless the user's topic sets it."""
        strategy, own_limit = self._strategy, self._own.topic.thresholds.upper_limit
        if upper is not None and own_limit is None:
            strategy.parameters = replace(strategy.parameters, upper_limit=upper)


def scorers(change: TopicUpdate, own: Scorer, gain: float) -> tuple[Scorer, Scorer | LearntLinks]:
    """Return the scorers of pages and of link texts after a change.

    Args:
        change: The changed topic.
        own: Scorer of the user's topic.
        gain: See ``AdaptationParameters``.
    """
    if change.method == "words":
        learnt = {word: w for word, w in change.vector.items() if word not in own.vector.terms}
        return own, LearntLinks(own, learnt, gain)
    moved = own.with_vector(change.vector, lower_limit=change.lower_limit)
    return moved, moved


class LearntLinks:
    """Scores link texts by the user's terms and by learnt words.

    ``score = min(1, own + gain * tanh(max(0, z) / 3))``, where z is the inner product of the text's
    TF-IDF vector (length 1) and the log-odds of learnt words. A word counts once per text.

    Args:
        own: Scorer of the user's topic.
        learnt: Learnt words with weights in [-gain, gain]: log-odds in units of
            ``gain / MAX_LOG_ODDS``.
        gain: Maximum that learnt words add, in [0, 1].
    """

    def __init__(self, own: Scorer, learnt: Mapping[str, float], gain: float) -> None:
        self.own = own
        self.learnt = learnt
        self.gain = gain
        scale = MAX_LOG_ODDS / gain if gain else 0.0
        self._summands = {word: own.idf(word) * weight * scale for word, weight in learnt.items()}
        self._gains = BatchCache(self._new_gains, _CACHED_TEXTS)

    def score_many(self, texts: Sequence[str]) -> list[float]:
        """Return the score of each text in [0, 1], in order."""
        scores = self.own.score_many(texts)
        if not self.gain:
            return scores
        short = [text for text in texts if len(text) <= MAX_LINK_CHARS]
        gains = dict(zip(short, self._gains(short), strict=True))
        return [min(1.0, s + gains.get(text, 0.0)) for text, s in zip(texts, scores, strict=True)]

    def contains(self, text: str) -> bool:
        """Return whether an anchor text or URL contains one of the user's keywords."""
        return self.own.contains(text)

    def _new_gains(self, texts: Sequence[str]) -> list[float]:
        return list(map(self._gain, self.own.tokenizer.word_sets(texts)))

    def _gain(self, words: frozenset[str]) -> float:
        summands = self._summands
        dot = sum([summands[word] for word in words if word in summands])
        if dot <= 0.0:
            return 0.0
        idf = self.own.idf
        mass = sum([idf(word) ** 2 for word in words if not word.isdecimal()])
        return self.gain * math.tanh(dot / math.sqrt(mass) / _SLOPE)
