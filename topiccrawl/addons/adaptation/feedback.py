"""The published adaptation: genetic algorithm, Rocchio, limits [S3 steps 7 and 8; methods §4].

After every ``every`` relevant pages, the genetic algorithm computes the fittest weights for the
``feedback_size`` most relevant documents. These are the positive centroid, the mean of irrelevant
pages is the negative one, and Rocchio's rule moves the topic vector. The drift guard
(``apply_drift_guard``) limits the move and preserves the user's terms. The limits follow quantiles
of recent scores: ``lower = max(floor, q(0.05))``, ``upper = max(lower, q(0.8))``.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from topiccrawl.addons.adaptation.genetic import GeneticParameters, fittest
from topiccrawl.topics.contract import TopicUpdate
from topiccrawl.topics.vector import TopicVector

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from topiccrawl.addons.adaptation.learner import AdaptationParameters

_IRRELEVANT = 50
"""Number of latest irrelevant documents that are kept."""

_RECENT = 500
"""Number of latest page scores from which the quantiles are computed."""

_GENES = 100
"""Number of terms in the genetic algorithm: those with the largest mean weights."""

_IRRELEVANT_RATE = 0.1
"""Share of irrelevant pages that are learnt when there are enough of them."""


class FeedbackAdapter:
    """Moves the topic vector towards the most relevant documents.

    Args:
        topic: Vector of the user's topic.
        parameters: Parameters of the adaptation.
        rng: Random generator.
    """

    def __init__(
        self,
        topic: TopicVector,
        parameters: AdaptationParameters,
        rng: np.random.Generator,
    ) -> None:
        self.topic = topic
        self.parameters = parameters
        self._rng = rng
        self._own = unit({term: weight for term, weight in topic.items() if weight > 0})
        self._negative_terms = {term: weight for term, weight in topic.items() if weight < 0}
        self._weights = self._own
        self._best: list[tuple[float, int, dict[str, float]]] = []
        self._bad: deque[dict[str, float]] = deque(maxlen=_IRRELEVANT)
        self._scores: deque[float] = deque(maxlen=_RECENT)
        self._pages = self._since_change = 0
        self._reason = ""

    def page_weight(self, relevance: float) -> float:
        """Count a page; return 1 for the best pages and a sample of irrelevant ones, else 0."""
        self._pages += 1
        self._scores.append(relevance)
        if relevance >= self.parameters.floor:
            self._since_change += 1
            return float(self.parameters.anchors or self._is_among_best(relevance))
        few = len(self._bad) < _IRRELEVANT
        return float(few or self._rng.random() < _IRRELEVANT_RATE)

    def learn(self, document: Mapping[str, float], relevance: float, weight: float = 1.0) -> None:  # noqa: ARG002
        """Add a document to the best or to the irrelevant ones."""
        if not document:
            return
        if relevance < self.parameters.floor:
            self._bad.append(dict(document))
        elif self._is_among_best(relevance):
            kept = (relevance, self._pages, dict(document))
            push = heapq.heappush if self._has_room() else heapq.heapreplace
            push(self._best, kept)

    def adapt(self) -> TopicUpdate | None:
        """Move the topic if there were enough relevant pages since the last change, or None."""
        p = self.parameters
        if self._pages < p.warm or self._since_change < p.every or not self._best:
            return None
        self._since_change = 0
        documents = [document for _, _, document in self._best]
        best, before, after = self._fittest(documents)
        moved = rocchio(self._weights, best, centroid(self._bad))
        for term in self._negative_terms:
            moved.pop(term, None)
        kept = heaviest(moved, p.terms, self._own) or self._own
        self._weights = apply_drift_guard(self._own, unit(kept), p.own_share)
        self._reason = (
            f"{self._pages} pages; mean fitness to the {len(documents)} best ones "
            f"{before:.3f}, of the fittest weights {after:.3f}"
        )
        return self.present()

    def present(self) -> TopicUpdate | None:
        """Return the topic after its last move, or None."""
        if not self._reason:
            return None
        scale = self.topic.norm or 1.0
        negative = {term: weight / scale for term, weight in self._negative_terms.items()}
        vector = TopicVector.of({**self._weights, **negative})
        return TopicUpdate("genetic", vector, self._reason, self._pages, *self._limits())

    def state(self) -> dict[str, Any]:
        """Return the documents, recent scores and the current topic."""
        return {
            "pages": self._pages,
            "since": self._since_change,
            "reason": self._reason,
            "weights": self._weights,
            "best": [list(kept) for kept in self._best],
            "bad": list(self._bad),
            "scores": list(self._scores),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a result of ``state``."""
        self._pages, self._since_change = state["pages"], state["since"]
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
        """Return the fittest weights, the fitness of the current topic and that of the weights."""
        mean = centroid(documents)
        genes = list(dict.fromkeys(chain(heaviest(mean, _GENES), self._weights)))
        rows = np.array([[document.get(gene, 0.0) for gene in genes] for document in documents])
        topic = np.array([self._weights.get(gene, 0.0) for gene in genes])
        found = fittest(rows, topic, GeneticParameters(), self._rng)
        best = dict(zip(genes, found.weights.tolist(), strict=True))
        return unit(best), float((rows @ topic).mean()), found.fitness

    def _limits(self) -> tuple[float, float]:
        p = self.parameters
        low, high = np.quantile(self._scores, (p.floor_quantile, p.ceiling_quantile)).tolist()
        lower = max(p.floor, low)
        return lower, max(lower, high)


_BISECTIONS = 40
"""Number of bisection steps, for a precision of 1e-12."""


POSITIVE, NEGATIVE = 0.75, 0.5
"""Weights of the positive and of the negative centroid in Rocchio's rule."""


def rocchio(
    topic: Mapping[str, float],
    best: Mapping[str, float],
    irrelevant: Mapping[str, float],
    *,
    positive: float = POSITIVE,
    negative: float = NEGATIVE,
) -> dict[str, float]:
    """Return ``topic + positive * best - negative * irrelevant`` without negative weights.

    The result has L2 norm 1; it is empty if no weight is positive.

    Args:
        topic: Current weights, L2 norm 1.
        best: Positive centroid, L2 norm 1.
        irrelevant: Negative centroid, at least 0.
        positive: Weight of the positive centroid, at least 0.
        negative: Weight of the negative centroid, at least 0.

    >>> moved = rocchio({"a": 1.0}, {"a": 0.6, "b": 0.8}, {"b": 0.1})
    >>> {term: round(weight, 2) for term, weight in moved.items()}
    {'a': 0.93, 'b': 0.35}
    """
    moved = combined((1.0, topic), (positive, best), (-negative, irrelevant))
    return unit({term: weight for term, weight in moved.items() if weight > 0})


def apply_drift_guard(
    own: Mapping[str, float], moved: Mapping[str, float], share: float
) -> dict[str, float]:
    """Apply the drift guard: mix the user's vector into the moved topic if necessary.

    The result guarantees that each term of the user has at least ``sqrt(share)`` times its weight
    in the user's vector (both of length 1). Thus the user's terms have at least ``share`` of the
    squared length. The smallest sufficient part of the user's vector is mixed in; a topic that
    already satisfies the guarantee is returned unchanged.

    Args:
        own: Positive weights of the user's terms, L2 norm 1.
        moved: Weights of the moved topic, at least 0, L2 norm 1.
        share: Minimum share in [0, 1]; 1 returns the user's vector.

    >>> kept = apply_drift_guard({"a": 1.0}, {"b": 1.0}, 0.5)
    >>> {term: round(weight, 3) for term, weight in kept.items()}
    {'a': 0.707, 'b': 0.707}
    """

    def mixed(part: float) -> dict[str, float]:
        return unit(combined((part, own), (1 - part, moved)))

    floor = math.sqrt(share) * (1 - 1e-12)
    low, high = 0.0, 1.0
    if _holds_floor(own, moved, floor):
        return dict(moved)
    for _ in range(_BISECTIONS):
        part = (low + high) / 2
        if _holds_floor(own, mixed(part), floor):
            high = part
        else:
            low = part
    return mixed(high)


def combined(*parts: tuple[float, Mapping[str, float]]) -> dict[str, float]:
    """Return the sum of weights multiplied by factors; terms are in the order of the parts."""
    terms = dict.fromkeys(chain.from_iterable(weights for _, weights in parts))
    return {
        term: sum(factor * weights.get(term, 0.0) for factor, weights in parts) for term in terms
    }


def heaviest(
    weights: Mapping[str, float], terms: int, always: Iterable[str] = ()
) -> dict[str, float]:
    """Return the ``terms`` largest weights (ties in alphabetical order) and those of ``always``."""
    kept = set(always)
    others = sorted((-weight, term) for term, weight in weights.items() if term not in kept)
    kept.update(term for _, term in others[:terms])
    return {term: weight for term, weight in weights.items() if term in kept}


def unit(weights: Mapping[str, float]) -> dict[str, float]:
    """Scale weights to L2 norm 1 and remove zeros; empty if all are zero."""
    norm = math.hypot(*weights.values())
    return {t: w / norm for t, w in weights.items() if w} if norm else {}


def centroid(documents: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of the documents' weights; empty for no documents."""
    sums: dict[str, float] = {}
    count = 0
    for document in documents:
        count += 1
        for term, weight in document.items():
            sums[term] = sums.get(term, 0.0) + weight
    return {term: total / count for term, total in sums.items()}


def _holds_floor(own: Mapping[str, float], weights: Mapping[str, float], floor: float) -> bool:
    return all(weights.get(term, 0.0) >= floor * weight for term, weight in own.items())
