"""Scores of links by a topic that learnt: the user's terms, and learnt words beside them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.addons.adaptation.words import CLIP, own_weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topiccrawl.model import Verdict
    from topiccrawl.topics.adapter import TopicUpdate
    from topiccrawl.topics.scorer import Scorer

SHORT = 60
"""Characters of a text to which learnt words are applied: anchors. Longer ones, contexts and
whole blocks, took twice the time and gained nothing."""

_SLOPE = 3.0
"""Mean log-odds of a text's words at which it gets three quarters of the gain."""

_CACHED_TEXTS = 20_000
"""Texts whose gain is cached, about 4 MB: menus are on every page of a site."""


class Scorers(NamedTuple):
    """Scorers that apply a changed topic.

    Attributes:
        pages: For pages and articles.
        links: For link texts.
    """

    pages: Scorer
    links: Scorer | LearntLinks


def scorers(change: TopicUpdate, own: Scorer, gain: float) -> Scorers:
    """The scorers of a change.

    Args:
        change: The topic as it is from now on.
        own: Scores with the user's own vector.
        gain: As in ``AdaptationParameters``.
    """
    if change.method == "words":
        learnt = dict(change.vector.items())
        for term in own_weights(own.vector):
            learnt.pop(term, None)
        return Scorers(own, LearntLinks(own, learnt, gain))
    moved = own.with_vector(change.vector, lower_limit=change.lower_limit)
    return Scorers(moved, moved)


class LearntLinks:
    """Scores link texts by the user's terms and by learnt words.

    ``score = own + gain * tanh(z / 3)``, cut at 1; z is the inner product of the text's vector
    (TF-IDF, length 1) and the learnt words' log-odds, cut at 0. A word counts once in a text.

    Args:
        own: Scores by the user's terms.
        learnt: Words to weights in [-gain, gain], log-odds in units of ``gain / CLIP``.
        gain: Most that the learnt words add, in [0, 1]; 0 adds nothing.
    """

    def __init__(self, own: Scorer, learnt: Mapping[str, float], gain: float) -> None:
        self.own = own
        self.learnt = learnt
        self.gain = gain
        scale = CLIP / gain if gain else 0.0
        self._summands = {word: own.idf(word) * weight * scale for word, weight in learnt.items()}
        self._gains: dict[str, float] = {}

    def score_many(self, texts: Sequence[str]) -> list[float]:
        """Similarity of each text to the topic and what was learnt, in [0, 1]; order kept."""
        scores = self.own.score_many(texts)
        if not self.gain:
            return scores
        known = self._gains
        short = [text for text in texts if len(text) <= SHORT]
        if new := [text for text in short if text not in known]:
            if len(known) + len(new) > _CACHED_TEXTS:
                known.clear()
                new = short
            words = self.own.tokenizer.word_sets(new)
            known.update(zip(new, map(self._gain, words), strict=True))
        gain = known.get
        return [min(1.0, s + gain(text, 0.0)) for text, s in zip(texts, scores, strict=True)]

    def contains(self, text: str) -> bool:
        """Return whether an anchor text or URL contains one of the user's keywords."""
        return self.own.contains(text)

    def score_text(self, text: str, title: str = "") -> Verdict:
        """Return the judgement of the user's terms."""
        return self.own.score_text(text, title)

    def _gain(self, words: frozenset[str]) -> float:
        summands = self._summands
        dot = sum([summands[word] for word in words if word in summands])
        if dot <= 0.0:
            return 0.0
        idf = self.own.idf
        mass = sum([idf(word) ** 2 for word in words if not word.isdecimal()])
        return self.gain * math.tanh(dot / math.sqrt(mass) / _SLOPE)
