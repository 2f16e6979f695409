"""The published adaptation: genetic algorithm, Rocchio, limits [S3 steps 7 and 8; methods §4].

After every ``every`` relevant pages, on the ``feedback_size`` most relevant documents so far:
the fittest weights are the positive centroid, the mean of irrelevant pages the negative one, and
the topic moves between them by Rocchio's rule. The drift guard (``guarded``) says how far it may
move, and keeps the user's terms in it. The limits follow quantiles of recent scores:
``lower = max(floor, q(.05))``, ``upper = max(lower, q(.8))``.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from topiccrawl.addons.adaptation.genetic import GeneticParameters, fittest
from topiccrawl.topics.adapter import TopicUpdate
from topiccrawl.topics.vector import TopicVector

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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


_STEPS = 40
"""Bisections: the guard is exact to 1e-12."""


@dataclass(frozen=True, slots=True)
class RocchioParameters:
    """Numbers of Rocchio's rule ``k' = a k + b best - c centroid(irrelevant)``.

    Attributes:
        keep: a, weight of the topic as it is, at least 0.
        positive: b, weight of what relevant pages say, at least 0.
        negative: c, weight of what irrelevant pages say, at least 0.
        terms: Learnt terms that are kept beside the user's, the heaviest ones.
    """

    keep: float = 1.0
    positive: float = 0.75
    negative: float = 0.5
    terms: int = 20


def rocchio(
    topic: Mapping[str, float],
    best: Mapping[str, float],
    irrelevant: Mapping[str, float],
    parameters: RocchioParameters,
) -> dict[str, float]:
    """The moved topic: no weight is below 0, L2 norm 1 (empty where nothing is left).

    All of ``topic`` and the ``terms`` heaviest of the others are kept.

    Args:
        topic: Present weights, L2 norm 1.
        best: Positive centroid, L2 norm 1.
        irrelevant: Negative centroid, at least 0.
        parameters: The rule's numbers.

    >>> moved = rocchio({"a": 1.0}, {"a": 0.6, "b": 0.8}, {"b": 0.1}, RocchioParameters())
    >>> {term: round(weight, 2) for term, weight in moved.items()}
    {'a': 0.93, 'b': 0.35}
    """
    p = parameters
    moved = {
        term: weight
        for term in dict.fromkeys((*topic, *best))
        if (
            weight := p.keep * topic.get(term, 0.0)
            + p.positive * best.get(term, 0.0)
            - p.negative * irrelevant.get(term, 0.0)
        )
        > 0
    }
    return unit(moved)


def guarded(own: Mapping[str, float], moved: Mapping[str, float], share: float) -> dict[str, float]:
    """The moved topic with the user's terms in it: the drift guard.

    Guarantee: no term of the user weighs less than ``sqrt(share)`` times its weight in the user's
    own vector (both of length 1), so together they make up at least ``share`` of the squared
    length, and their proportions among themselves hold as a floor. Where ``moved`` keeps to it, it
    is returned as it is; else the least part of the user's vector is mixed in that makes it so.

    Args:
        own: The user's weights, above 0, L2 norm 1.
        moved: Weights of at least 0, L2 norm 1.
        share: In [0, 1]; 1 gives the user's vector.

    >>> kept = guarded({"a": 1.0}, {"b": 1.0}, 0.5)
    >>> {term: round(weight, 3) for term, weight in kept.items()}
    {'a': 0.707, 'b': 0.707}
    """
    floor = math.sqrt(share) * (1 - 1e-12)
    low, high = 0.0, 1.0
    if _keeps(own, moved, floor):
        return dict(moved)
    for _ in range(_STEPS):
        part = (low + high) / 2
        if _keeps(own, mixed(own, moved, part), floor):
            high = part
        else:
            low = part
    return mixed(own, moved, high)


def mixed(own: Mapping[str, float], other: Mapping[str, float], part: float) -> dict[str, float]:
    """``part`` of the one and the rest of the other, L2 norm 1; the first one's terms first."""
    terms = dict.fromkeys((*own, *other))
    return unit({t: part * own.get(t, 0.0) + (1 - part) * other.get(t, 0.0) for t in terms})


def heaviest(
    weights: Mapping[str, float], terms: int, always: Iterable[str] = ()
) -> dict[str, float]:
    """The so many heaviest terms, ties by the alphabet, beside those that stay always."""
    kept = set(always)
    others = sorted((-weight, term) for term, weight in weights.items() if term not in kept)
    kept.update(term for _, term in others[:terms])
    return {term: weight for term, weight in weights.items() if term in kept}


def unit(weights: Mapping[str, float]) -> dict[str, float]:
    """The weights at L2 norm 1, those of 0 left out; empty where all are."""
    norm = math.hypot(*weights.values())
    return {t: w / norm for t, w in weights.items() if w} if norm else {}


def centroid(documents: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Mean of the documents' weights; empty for none."""
    sums: dict[str, float] = {}
    count = 0
    for document in documents:
        count += 1
        for term, weight in document.items():
            sums[term] = sums.get(term, 0.0) + weight
    return {term: total / count for term, total in sums.items()}


def _keeps(own: Mapping[str, float], weights: Mapping[str, float], floor: float) -> bool:
    return all(weights.get(term, 0.0) >= floor * weight for term, weight in own.items())
