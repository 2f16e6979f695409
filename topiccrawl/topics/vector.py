"""Topic vectors: terms and weights [S2, S3; methods §1]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from topiccrawl.text.normal import fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from topiccrawl.topics.topic import Topic


@dataclass(frozen=True, slots=True)
class TopicVector:
    """Immutable terms with weights, given by the user or changed by adaptation.

    Attributes:
        terms: Distinct folded terms.
        weights: Finite weight of each term; negative terms count against the topic.
    """

    terms: tuple[str, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.terms) != len(self.weights):
            raise ValueError(f"{len(self.terms)} terms, but {len(self.weights)} weights")
        if len(set(self.terms)) != len(self.terms):
            raise ValueError("a term occurs twice in a topic vector")
        if not all(map(math.isfinite, self.weights)):
            raise ValueError("a weight in a topic vector is not finite")

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> Self:
        """Create a vector from weights; terms equal after folding keep the largest absolute weight.

        >>> TopicVector.of({"足球": 1.0, "ＮＢＡ": -0.5})
        TopicVector(terms=('足球', 'nba'), weights=(1.0, -0.5))
        """
        folded: dict[str, float] = {}
        for term, weight in weights.items():
            key = fold(term)
            if key and abs(weight) > abs(folded.get(key, 0.0)):
                folded[key] = weight
        return cls(tuple(folded), tuple(folded.values()))

    @classmethod
    def of_topic(cls, topic: Topic) -> Self:
        """Create the vector of a topic; negative terms get negative weights."""
        against = {term: -weight for term, weight in topic.negative.items()}
        return cls.of({**against, **topic.terms})

    @property
    def norm(self) -> float:
        """L2 norm of the positive weights; negative terms do not change the length."""
        return math.sqrt(sum(weight * weight for weight in self.weights if weight > 0))

    def items(self) -> Iterator[tuple[str, float]]:
        """Return pairs of terms and weights, in order."""
        return zip(self.terms, self.weights, strict=True)
