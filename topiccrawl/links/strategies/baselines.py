"""The two usual baselines of focused crawlers, and the order of a crawl without a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from topiccrawl.links.strategies.base import MAX_KEPT, BaseStrategy
from topiccrawl.links.strategies.contract import PRIOR
from topiccrawl.model import Offer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.model import Evidence, Link, Verdict


class BreadthFirst(BaseStrategy):
    """Nearest to a seed first; texts are not used."""

    name = "bfs"
    fields: tuple[str, ...] = ("depth",)

    @override
    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Return offers one link deeper than their page."""
        new = ((evidence[0] if evidence else 0.0) + 1.0,)
        return [Offer(link.url, PRIOR, new, link.anchor, link.context[:MAX_KEPT]) for link in links]

    @override
    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return the smaller depth."""
        return min(known, new) if known else new

    @override
    def value(self, evidence: Evidence) -> float:
        """Return 1 for a seed, then 1/2, 1/3 … with depth."""
        return 1.0 / (1.0 + evidence[0]) if evidence else 1.0


class BestFirst(BaseStrategy):
    """Links of the most relevant page first (Cho, Garcia-Molina, Page 1998; Menczer 2004)."""

    name = "best-first"
    fields: tuple[str, ...] = ("relevance",)

    @override
    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Return offers with the page's relevance."""
        new = (verdict.relevance,)
        return [Offer(link.url, PRIOR, new, link.anchor, link.context[:MAX_KEPT]) for link in links]

    @override
    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return the best parent's relevance."""
        return max(known, new)

    @override
    def value(self, evidence: Evidence) -> float:
        """Return the relevance of the best parent; 1 for a seed."""
        return evidence[0] if evidence else 1.0


class FirstCome(BaseStrategy):
    """Order of a spider that has no topic: URLs in order of arrival, all with the same score."""

    name = "first-come"

    @override
    def signature(self) -> str:
        """Return "": there are no parameters."""
        return ""

    @override
    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Return offers without evidence."""
        return [Offer(li.url, PRIOR, (), li.anchor, li.context[:MAX_KEPT]) for li in links]

    @override
    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return the evidence of the first parent."""
        return known or new

    @override
    def value(self, evidence: Evidence) -> float:
        """Return the same score for all."""
        return 0.5
