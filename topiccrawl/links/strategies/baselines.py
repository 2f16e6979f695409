"""Baseline strategies of focused crawlers, and the strategy of crawls without a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from topiccrawl.links.strategies.contract import PRIOR, BaseStrategy
from topiccrawl.links.strategies.link_texts import MAX_KEPT
from topiccrawl.model import Evidence, Link, Offer, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence


def _offers(links: Sequence[Link], new: Evidence) -> list[Offer]:
    """Return offers with the same evidence for all links of a page."""
    return [Offer(link.url, PRIOR, new, link.anchor, link.context[:MAX_KEPT]) for link in links]


class BreadthFirst(BaseStrategy):
    """Breadth-first: URLs nearest to a seed come first; link texts are not used."""

    name = "bfs"
    fields: tuple[str, ...] = ("depth",)

    @override
    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Return offers with the depth of the page plus one."""
        return _offers(links, ((evidence[0] if evidence else 0.0) + 1.0,))

    @override
    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return the smaller depth."""
        return min(known, new) if known else new

    @override
    def value(self, evidence: Evidence) -> float:
        """Return 1 / (1 + depth); 1 for a seed."""
        return 1.0 / (1.0 + evidence[0]) if evidence else 1.0


class BestFirst(BaseStrategy):
    """Best-first: links of the most relevant page come first (Cho et al. 1998; Menczer 2004)."""

    name = "best-first"
    fields: tuple[str, ...] = ("relevance",)

    @override
    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Return offers with the page's relevance."""
        return _offers(links, (verdict.relevance,))


class FirstCome(BaseStrategy):
    """Order of arrival with equal scores, for spiders without a topic."""

    name = "first-come"

    @override
    def signature(self) -> str:
        """Return "", since there are no parameters."""
        return ""

    @override
    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Return offers without evidence."""
        return _offers(links, ())

    @override
    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return the evidence of the first parent."""
        return known or new

    @override
    def value(self, evidence: Evidence) -> float:
        """Return 0.5 for all URLs."""
        return 0.5
