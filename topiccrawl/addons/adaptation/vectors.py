"""Rocchio's rule and the drift guard: how a topic moves, and how far it may [S3 step 8]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
