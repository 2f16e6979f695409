"""Small strategies for tests; floats represent their values exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from typing_extensions import override

from topiccrawl.links.strategies.contract import BaseStrategy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.links.strategies.contract import GroupStats
    from topiccrawl.model import Evidence


class Best(BaseStrategy):
    """Values by the best parent; directories are groups, their mean relevance is the bias."""

    name = "best"
    fields: tuple[str, ...] = ("score", "parents")
    share = (1, 1)
    version = 1
    weight = 0.25

    @override
    def signature(self) -> str:
        return ""

    @override
    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        if not known:
            return (new[0], 1.0)
        return (max(known[0], new[0]), known[1] + 1.0)

    @override
    def value(self, evidence: Evidence) -> float:
        return evidence[0] + min(evidence[1], 4.0) / 64.0

    @override
    def lane(self, evidence: Evidence) -> int:
        return 0 if evidence[0] >= 0.875 else 2

    @override
    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        model = self.version % 251  # each new version changes some values
        return ((len(anchor) * 5 + model * 3 + len(context)) % 8 / 8.0, evidence[1])

    @override
    def group(self, url: str) -> tuple[str, ...]:
        parts = urlsplit(url).path.split("/")[1:-1]
        return tuple("/" + "/".join(parts[: n + 1]) for n in range(len(parts)))

    @override
    def bias(self, stats: Sequence[GroupStats]) -> float:
        pages, relevance = stats[-1]
        return (relevance / pages - 0.5) * self.weight if pages else 0.0


class Plain(Best):
    """As ``Best``, without groups and bias: the order is that of the values."""

    name = "plain"

    @override
    def group(self, url: str) -> tuple[str, ...]:
        return ()

    @override
    def bias(self, stats: Sequence[GroupStats]) -> float:
        return 0.0


class Counting(Plain):
    """Counts re-scored evidence, and records the sizes of batches."""

    name = "counting"
    rescored = 0

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[int] = []

    @override
    def rescore_all(self, rows: Sequence[tuple[Evidence, str, str]]) -> list[Evidence]:
        self.batches.append(len(rows))
        return super().rescore_all(rows)

    @override
    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        self.rescored += 1
        return super().rescore(evidence, anchor, context)
