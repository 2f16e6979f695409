"""Words that distinguish relevant pages of a crawl from others, and their gain for links.

A multinomial naive Bayes classifier on line, the crawl's own verdicts as soft labels: a page of
relevance r counts ``s = r / (r + half)`` as relevant and ``1 - s`` as not. A word's weight is its
log-odds between the two, shrunk towards none. It is applied to links alone: over 25 topics of three
collections it helped there, while feedback on page scores, Rocchio's above all, made a crawl
follow the common words of whichever site it was on.

Drift guard: pages are judged by the user's terms alone, a link's own score by them counts whole,
and all learnt words together add at most ``gain`` and take nothing away.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from topiccrawl.topics.adapter import TopicUpdate
from topiccrawl.topics.vector import TopicVector

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from topiccrawl.addons.adaptation.contract import AdaptationParameters

CLIP = 4.0
"""Largest log-odds that count: some dozen occurrences of a word never justify more."""

_LEAST = 3
"""Pages that must contain a word before it can be learnt."""

_KEPT = 20_000
"""Words whose counts are kept; above twice as many the rarest are forgotten."""

_STORED = 2_000
"""Words whose counts are stored for a later run, the most frequent ones."""


class WordAdapter:
    """Learns which words speak for relevance.

    Args:
        topic: The user's vector.
        parameters: Its numbers.
        rng: Source of chance: which pages of a long crawl are learnt.
    """

    def __init__(
        self, topic: TopicVector, parameters: AdaptationParameters, rng: np.random.Generator
    ) -> None:
        self.topic = topic
        self.parameters = parameters
        self._rng = rng
        self._words: dict[str, list[float]] = {}
        self._for = self._against = 0.0
        self._pages = 0
        self._next = parameters.warm

    def wants(self, relevance: float) -> float:  # noqa: ARG002 - all pages alike
        """Count a page; return its weight: 1 for the first ``sample``, then more for fewer."""
        self._pages += 1
        share = self.parameters.sample / self._pages
        if share >= 1:
            return 1.0
        return 1 / share if self._rng.random() < share else 0.0

    def learn(self, document: Mapping[str, float], relevance: float, weight: float = 1.0) -> None:
        """Count a page's words for and against."""
        good = weight * relevance / (relevance + self.parameters.half)
        self._for += good
        self._against += weight - good
        words = self._words
        for word in document:
            counts = words.get(word)
            if counts is None:
                words[word] = [good, weight - good]
            else:
                counts[0] += good
                counts[1] += weight - good
        if len(words) > 2 * _KEPT:
            self._words = _most_seen(words, _KEPT)

    def adapt(self) -> TopicUpdate | None:
        """Return the same as ``present``, once there are enough pages since the last change."""
        if self._pages < self._next:
            return None
        p = self.parameters
        self._next = max(self._pages + p.every, math.ceil(self._pages * p.growth))
        return self.present()

    def present(self) -> TopicUpdate | None:
        """Return the user's terms and all words learnt until now."""
        learnt = self._learnt()
        if not learnt:
            return None
        own = own_weights(self.topic)
        vector = TopicVector((*learnt, *own), (*learnt.values(), *own.values()))
        best = ", ".join([word for word, weight in learnt.items() if weight > 0][:3])
        reason = (
            f"{self._pages} pages, worth {self._for:.1f} relevant ones; "
            f"{len(vector.terms) - len(own)} words learnt, foremost {best}"
        )
        return TopicUpdate("words", vector, reason, self._pages)

    def state(self) -> dict[str, Any]:
        """Return the counts and sums."""
        return {
            "pages": self._pages,
            "next": self._next,
            "for": self._for,
            "against": self._against,
            "words": _most_seen(self._words, _STORED),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what ``state`` gave."""
        self._pages, self._next = state["pages"], state["next"]
        self._for, self._against = state["for"], state["against"]
        self._words = {word: list(counts) for word, counts in state["words"].items()}

    def _learnt(self) -> dict[str, float]:
        """Learnt words and weights in [-gain, gain], those with most evidence first."""
        p = self.parameters
        own = set(self.topic.terms)
        found = [
            (-abs(odds) * math.log1p(good + bad), word, odds)
            for word, (good, bad) in self._words.items()
            if good + bad >= _LEAST and word not in own and (odds := self._odds(good, bad))
        ]
        found.sort()
        unit = p.gain / CLIP
        return {word: unit * max(-CLIP, min(w, CLIP)) for _, word, w in found[: p.words]}

    def _odds(self, good: float, bad: float) -> float:
        """Return a word's log-odds, smoothed by its overall rate on pages of both kinds."""
        usual = (good + bad) / (self._for + self._against)
        likely = (good + usual) / (self._for + 1)
        return math.log(likely * (self._against + 1) / (bad + usual))


def own_weights(topic: TopicVector) -> dict[str, float]:
    """The user's weights with the heaviest at 1; negative ones stay below 0.

    >>> own_weights(TopicVector.of({"a": 2.0, "b": 1.0, "c": -1.0}))
    {'a': 1.0, 'b': 0.5, 'c': -0.5}
    """
    top = max(topic.weights, default=1.0)
    return {term: weight / top for term, weight in topic.items()}


def _most_seen(words: dict[str, list[float]], most: int) -> dict[str, list[float]]:
    ranked = sorted(words, key=lambda word: -sum(words[word]))
    return {word: words[word] for word in ranked[:most]}
