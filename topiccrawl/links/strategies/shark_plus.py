"""shark-plus: the evidence of all parents, and what was learnt where the URL lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier.contract import PRIOR
from topiccrawl.links.strategies.base import Scored, scored
from topiccrawl.links.urls import group
from topiccrawl.records import Offer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.frontier.contract import GroupStats
    from topiccrawl.records import Evidence, Link, Verdict


class SharkPlus(Scored):
    """Relevance summed over parents and shrunk, best anchor, best context, and priors.

    ``value = (sum of relevance / (n + 1) + a * anchor + b * context) / (1 + a + b)``: one relevant
    parent is worth half of what many are, an irrelevant parent counts against. An irrelevant
    page passes on a part of what it was expected to be worth (tunnelling).
    """

    name = "shark-plus"
    fields: tuple[str, ...] = ("inlinks", "relevance", "anchor", "context", "inherited")

    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Offers with what this parent adds."""
        passed = self.parameters.plus_decay * evidence[4] if evidence else 0.0
        worth = max(verdict.relevance, passed)
        return [
            Offer(
                link.url, PRIOR, (1.0, worth, s.anchor, s.context, worth), link.anchor, s.text
            )
            for link, s in zip(links, scored(links, self.scorer), strict=True)
        ]  # fmt: skip

    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Sums of in-links and relevance; the best anchor, context and inherited relevance."""
        if not known:
            return new
        return (known[0] + new[0], known[1] + new[1], *map(max, known[2:], new[2:]))

    def value(self, evidence: Evidence) -> float:
        """Value in [0, 1]; 1 for a seed."""
        if not evidence:
            return 1.0
        parents, relevance, anchor, context = evidence[:4]
        p = self.parameters
        total = relevance / (parents + 1)
        total += p.plus_anchor_weight * anchor + p.plus_context_weight * context
        return min(1.0, total / self._scale())

    def lane(self, evidence: Evidence) -> int:  # noqa: ARG002 - one lane
        """Return PRIOR: one queue."""
        return PRIOR

    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        """Evidence with the scores of the kept texts; the parents' relevance stays."""
        in_anchor, in_context = self.scorer.score_many([anchor, context])
        return (*evidence[:2], in_anchor, in_context, evidence[4])

    def group(self, url: str) -> tuple[str, ...]:
        """The directories of the URL."""
        return group(url)

    def bias(self, stats: Sequence[GroupStats]) -> float:
        """Mean relevance of the narrowest group, each shrunk towards the next wider one."""
        mean, strength = 0.0, self.parameters.shrinkage
        for pages, relevance in stats:
            mean = (relevance + strength * mean) / (pages + strength)
        return self.parameters.plus_prior_weight * mean / self._scale()

    def _scale(self) -> float:
        return 1 + self.parameters.plus_anchor_weight + self.parameters.plus_context_weight
