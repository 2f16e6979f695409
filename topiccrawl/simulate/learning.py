"""The topic's adaptation in a replay: what the extension does in a crawl, and nothing is stored."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from topiccrawl.frontier.contract import LEARNT
from topiccrawl.links.strategies.base import Scored, block_texts
from topiccrawl.relevance.adaptation_feedback import FeedbackAdapter
from topiccrawl.relevance.adaptation_links import scorers
from topiccrawl.relevance.adaptation_words import WordAdapter

if TYPE_CHECKING:
    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.records import Page, Verdict
    from topiccrawl.relevance import Scorer
    from topiccrawl.relevance.adaptation import AdaptationParameters, Adapter, Change

LEARNT_CHARS = 3_000
"""Characters of a page's beginning that are learnt from, as in a crawl."""


class Learning:
    """Learns from judged pages and changes what pages and links are scored with.

    Args:
        own: Scores with the user's own topic.
        strategy: Is given the changed scorers.
        method: One of ``relevance.adaptation.METHODS``; "" learns nothing.
        parameters: The method's numbers.
        seed: Of its chance.

    Attributes:
        scorer: What pages are judged with from now on.
        changes: Changes of the topic so far.
    """

    def __init__(
        self,
        own: Scorer,
        strategy: LinkStrategy,
        method: str,
        parameters: AdaptationParameters,
        seed: int = 1,
    ) -> None:
        self.own = self.scorer = own
        self.changes = 0
        self._strategy = strategy
        self._parameters = parameters
        self._adapter = _adapter(method, own, parameters, seed)

    def judged(self, page: Page, verdict: Verdict) -> None:
        """Learn a page, and change the topic when it is time."""
        if self._adapter is None:
            return
        if weight := self._adapter.wants(verdict.relevance):
            document, relevance = self._document(page, verdict)
            self._adapter.learn(document, relevance, weight)
        if change := self._adapter.adapt():
            self._apply(change)

    def _document(self, page: Page, verdict: Verdict) -> tuple[dict[str, float], float]:
        if self._parameters.anchors and verdict.relevant:
            texts = list(block_texts(page.links).values())
            ranked = sorted(zip(self.scorer.score_many(texts), texts, strict=True), reverse=True)
            relevance, text = ranked[0] if ranked else (0.0, "")
            relevant = relevance >= self.scorer.lower_limit
            return (self.scorer.page_vector(text), relevance) if relevant else ({}, relevance)
        text = self.scorer.judged_text(page)[:LEARNT_CHARS]
        return self.scorer.page_vector(text, page.title), verdict.relevance

    def _apply(self, change: Change) -> None:
        self.changes += 1
        changed = scorers(change, self.own, self._parameters.gain)
        self.scorer = changed.pages
        self._strategy.adopt(changed.links)
        step = LEARNT if change.method == "words" else 1
        self._strategy.version = self.changes * step % 2**32
        own_limit = self.own.topic.thresholds.upper_limit
        upper, strategy = change.upper_limit, self._strategy
        if upper is not None and own_limit is None and isinstance(strategy, Scored):
            strategy.parameters = replace(strategy.parameters, upper_limit=upper)


def _adapter(
    method: str, own: Scorer, parameters: AdaptationParameters, seed: int
) -> Adapter | None:
    rng = np.random.default_rng(seed)
    if method == "words":
        return WordAdapter(own.vector, parameters, rng)
    if method == "genetic":
        return FeedbackAdapter(own.vector, parameters, rng)
    return None
