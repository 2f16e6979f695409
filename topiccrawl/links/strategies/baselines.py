"""The two usual baselines of focused crawlers, and the order of a crawl without a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier.contract import PRIOR
from topiccrawl.links.strategies.base import MAX_KEPT, WithoutPriors
from topiccrawl.model import Offer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.frontier.contract import GroupStats
    from topiccrawl.model import Evidence, Link, Verdict


class Baseline(WithoutPriors):
    """One queue by score; link texts are not used."""

    def lane(self, evidence: Evidence) -> int:  # noqa: ARG002 - one lane
        """Return PRIOR."""
        return PRIOR

    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:  # noqa: ARG002
        """Return the same evidence: no link text is in it."""
        return evidence


class BreadthFirst(Baseline):
    """Nearest to a seed first; texts are not used."""

    name = "bfs"
    fields: tuple[str, ...] = ("depth",)

    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:  # noqa: ARG002
        """Return offers one link deeper than their page."""
        new = ((evidence[0] if evidence else 0.0) + 1.0,)
        return [Offer(link.url, PRIOR, new, link.anchor, link.context[:MAX_KEPT]) for link in links]

    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return the smaller depth."""
        return min(known, new) if known else new

    def value(self, evidence: Evidence) -> float:
        """Return 1 for a seed, then 1/2, 1/3 … with depth."""
        return 1.0 / (1.0 + evidence[0]) if evidence else 1.0


class BestFirst(Baseline):
    """Links of the most relevant page first (Cho, Garcia-Molina, Page 1998; Menczer 2004)."""

    name = "best-first"
    fields: tuple[str, ...] = ("relevance",)

    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:  # noqa: ARG002
        """Return offers with the page's relevance."""
        new = (verdict.relevance,)
        return [Offer(link.url, PRIOR, new, link.anchor, link.context[:MAX_KEPT]) for link in links]

    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return the best parent's relevance."""
        return max(known, new)

    def value(self, evidence: Evidence) -> float:
        """Return the relevance of the best parent; 1 for a seed."""
        return evidence[0] if evidence else 1.0


class FirstCome:
    """Order of a spider that has no topic: URLs in order of arrival, all with the same score."""

    name = "first-come"
    fields: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.share: tuple[int, int] = (1, 1)
        self.version = 0

    def signature(self) -> str:
        """Return "": there are no parameters."""
        return ""

    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return the evidence of the first parent."""
        return known or new

    def value(self, evidence: Evidence) -> float:  # noqa: ARG002 - all alike
        """Return the same score for all."""
        return 0.5

    def lane(self, evidence: Evidence) -> int:  # noqa: ARG002 - one lane
        """Return PRIOR."""
        return PRIOR

    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:  # noqa: ARG002
        """Return the same evidence."""
        return evidence

    def group(self, url: str) -> tuple[str, ...]:  # noqa: ARG002 - only the host
        """Return no groups."""
        return ()

    def bias(self, stats: Sequence[GroupStats]) -> float:  # noqa: ARG002 - no prior
        """Return 0."""
        return 0.0
