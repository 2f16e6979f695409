"""The published adaptation: genetic algorithm, Rocchio, limits [S3 steps 7 and 8; methods §4].

After every ``every`` relevant pages, on the ``feedback_size`` most relevant documents so far:
the fittest weights are the positive centroid, the mean of irrelevant pages the negative one, and
the topic moves between them. The drift guard (``vectors.guarded``) keeps the user's
terms in it. The limits follow quantiles of recent scores: ``lower = max(floor, q(.05))``,
``upper = max(lower, q(.8))``.
"""

from __future__ import annotations

import heapq
from collections import deque
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from topiccrawl.addons.adaptation.genetic import GeneticParameters, fittest
from topiccrawl.addons.adaptation.vectors import (
    RocchioParameters,
    centroid,
    guarded,
    heaviest,
    rocchio,
    unit,
)
from topiccrawl.topics.adapter import TopicUpdate
from topiccrawl.topics.vector import TopicVector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.addons.adaptation.contract import AdaptationParameters

_IRRELEVANT = 50
"""Irrelevant documents that are kept, the last ones learnt."""

_RECENT = 500
"""Page scores of which the quantiles are taken."""

_GENES = 100
"""Terms that the genetic algorithm weighs, the heaviest of the feedback documents."""

_SHARE = 0.1
"""Share of irrelevant pages that is learnt once there are enough of them."""


class FeedbackAdapter:
    """Moves the topic towards its most relevant documents.

    Args:
        topic: The user's vector.
        parameters: Numbers of the adaptation.
        rng: Source of chance.
        genetic: Numbers of the genetic algorithm.
        rule: Numbers of Rocchio's rule.
    """

    def __init__(
        self,
        topic: TopicVector,
        parameters: AdaptationParameters,
        rng: np.random.Generator,
        genetic: GeneticParameters | None = None,
        rule: RocchioParameters | None = None,
    ) -> None:
        self.topic = topic
        self.parameters = parameters
        self.genetic = genetic or GeneticParameters()
        self.rule = rule or RocchioParameters(terms=parameters.terms)
        self._rng = rng
        self._own = unit({term: weight for term, weight in topic.items() if weight > 0})
        self._against = {term: weight for term, weight in topic.items() if weight < 0}
        self._weights = self._own
        self._best: list[tuple[float, int, dict[str, float]]] = []
        self._bad: deque[dict[str, float]] = deque(maxlen=_IRRELEVANT)
        self._scores: deque[float] = deque(maxlen=_RECENT)
        self._pages = self._since = 0
        self._reason = ""

    def wants(self, relevance: float) -> float:
        """Count a page; return 1 for one of the best and for some of the irrelevant ones."""
        self._pages += 1
        self._scores.append(relevance)
        if relevance >= self.parameters.floor:
            self._since += 1
            return float(self.parameters.anchors or self._is_among_best(relevance))
        few = len(self._bad) < _IRRELEVANT
        return float(few or self._rng.random() < _SHARE)

    def learn(self, document: Mapping[str, float], relevance: float, weight: float = 1.0) -> None:  # noqa: ARG002
        """Keep a document: among the best, or among the irrelevant ones."""
        if not document:
            return
        if relevance < self.parameters.floor:
            self._bad.append(dict(document))
        elif self._is_among_best(relevance):
            kept = (relevance, self._pages, dict(document))
            push = heapq.heappush if self._has_room() else heapq.heapreplace
            push(self._best, kept)

    def adapt(self) -> TopicUpdate | None:
        """Return the moved topic, once there are enough relevant pages since the last change."""
        p = self.parameters
        if self._pages < p.warm or self._since < p.every or not self._best:
            return None
        self._since = 0
        documents = [document for _, _, document in self._best]
        best, before, after = self._fittest(documents)
        moved = rocchio(self._weights, best, centroid(self._bad), self.rule)
        for term in self._against:
            moved.pop(term, None)
        kept = heaviest(moved, self.rule.terms, self._own) or self._own
        self._weights = guarded(self._own, unit(kept), p.own_share)
        self._reason = (
            f"{self._pages} pages; fitness to the {len(documents)} best ones "
            f"{before:.3f}, of the fittest weights {after:.3f}"
        )
        return self.present()

    def present(self) -> TopicUpdate | None:
        """Return the topic as it was moved last."""
        if not self._reason:
            return None
        vector = TopicVector.of({**self._weights, **self._negative()})
        return TopicUpdate("genetic", vector, self._reason, self._pages, *self._limits())

    def state(self) -> dict[str, Any]:
        """Return the documents kept, recent scores and the current topic."""
        return {
            "pages": self._pages,
            "since": self._since,
            "reason": self._reason,
            "weights": self._weights,
            "best": [list(kept) for kept in self._best],
            "bad": list(self._bad),
            "scores": list(self._scores),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what ``state`` gave."""
        self._pages, self._since = state["pages"], state["since"]
        self._reason = state["reason"]
        self._weights = dict(state["weights"])
        self._best = [(score, page, dict(document)) for score, page, document in state["best"]]
        heapq.heapify(self._best)
        self._bad.extend(state["bad"])
        self._scores.extend(state["scores"])

    def _has_room(self) -> bool:
        return len(self._best) < self.parameters.feedback_size

    def _is_among_best(self, relevance: float) -> bool:
        return self._has_room() or relevance > self._best[0][0]

    def _fittest(self, documents: list[dict[str, float]]) -> tuple[dict[str, float], float, float]:
        """Return the fittest weights, the fitness of the current topic, and theirs."""
        mean = centroid(documents)
        genes = list(dict.fromkeys(chain(heaviest(mean, _GENES), self._weights)))
        rows = np.array([[document.get(gene, 0.0) for gene in genes] for document in documents])
        topic = np.array([self._weights.get(gene, 0.0) for gene in genes])
        found = fittest(rows, topic, self.genetic, self._rng)
        best = dict(zip(genes, found.weights.tolist(), strict=True))
        return unit(best), float((rows @ topic).mean()), found.fitness

    def _limits(self) -> tuple[float, float]:
        p = self.parameters
        low, high = np.quantile(self._scores, (p.floor_quantile, p.ceiling_quantile)).tolist()
        lower = max(p.floor, low)
        return lower, max(lower, high)

    def _negative(self) -> dict[str, float]:
        """The user's negative terms, as heavy beside the user's terms as the user made them."""
        scale = self.topic.norm or 1.0
        return {term: weight / scale for term, weight in self._against.items()}
