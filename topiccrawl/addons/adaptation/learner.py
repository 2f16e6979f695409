"""The topic that learns, the same in a crawl and in a replay: documents in, changed scorers out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from topiccrawl.addons.adaptation.contract import AdaptationParameters
from topiccrawl.addons.adaptation.feedback import FeedbackAdapter
from topiccrawl.addons.adaptation.links import scorers
from topiccrawl.addons.adaptation.words import WordAdapter
from topiccrawl.links.strategies.base import BaseStrategy, block_texts
from topiccrawl.links.strategies.contract import LEARNT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.addons.adaptation.contract import Adapter
    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.model import Page, Verdict
    from topiccrawl.topics import Scorer
    from topiccrawl.topics.adapter import TopicUpdate

LEARNT_CHARS = 500
"""Characters of a page's beginning that are learnt from, besides its title; with 3,000 a page costs
four times as much, and the harvest is the same."""


class TopicLearner:
    """A ``TopicAdapter`` by one of ``addons.adaptation.contract.METHODS``.

    Args:
        own: Scores with the user's own topic.
        strategy: Is given the changed scorers; its version is that of the user's topic.
        method: Name of the method.
        parameters: The method's numbers.
        seed: Of its chance.
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
        kind = WordAdapter if method == "words" else FeedbackAdapter
        self._adapter: Adapter = kind(own.vector, self._parameters, np.random.default_rng(seed))

    def learn(self, page: Page, verdict: Verdict) -> bool:
        """Count a judged page; return whether its words were learnt."""
        weight = self._adapter.wants(verdict.relevance)
        if weight:
            document, relevance = self._document(page, verdict)
            self._adapter.learn(document, relevance, weight)
        return bool(weight)

    def adapt(self) -> TopicUpdate | None:
        """Return the changed topic, or None where it is not yet time or nothing was learnt."""
        return self._adapter.adapt()

    def present(self) -> TopicUpdate | None:
        """Return the topic as it is after all changes, or None."""
        return self._adapter.present()

    def apply(self, number: int, change: TopicUpdate | None = None) -> None:
        """Score with a change; learnt words leave the topic as it is, ``genetic`` makes another."""
        step = LEARNT if self.method == "words" else 1
        if change is not None:
            changed = scorers(change, self._own, self._parameters.gain)
            self.scorer = changed.pages
            self._strategy.adopt(changed.links)
            self._limit(change.upper_limit)
        self._strategy.version = (self._version + number * step) % 2**32

    def state(self) -> dict[str, Any]:
        """Return all it has learnt, as plain JSON."""
        return self._adapter.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what ``state`` gave."""
        self._adapter.restore(state)

    def _document(self, page: Page, verdict: Verdict) -> tuple[dict[str, float], float]:
        """Return the document to learn: a page's words or vector, or its best block of anchors.

        ``words`` counts words without weights, so it needs no vector.
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

    def _limit(self, upper: float | None) -> None:
        """Move the limit of the priorQueue, unless the user's topic has its own."""
        strategy, own_limit = self._strategy, self._own.topic.thresholds.upper_limit
        if upper is not None and own_limit is None and isinstance(strategy, BaseStrategy):
            strategy.parameters = replace(strategy.parameters, upper_limit=upper)
