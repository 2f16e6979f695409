"""shark-plus: the evidence of all parents, and what was learnt where the URL lies."""

from __future__ import annotations

from operator import add
from typing import TYPE_CHECKING

from typing_extensions import override

from topiccrawl.frontier.contract import PRIOR
from topiccrawl.links.strategies.base import Scored, scored
from topiccrawl.links.urls import group
from topiccrawl.records import Offer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.frontier.contract import GroupStats
    from topiccrawl.links.strategies.contract import LinkScorer
    from topiccrawl.links.strategies.parameters import StrategyParameters
    from topiccrawl.records import Evidence, Link, Verdict


class SharkPlus(Scored):
    """Mean worth of all parents, shrunk; best anchor; best context; priors of host and directories.

    A page of relevance r is worth ``s = r / (r + half)``: cosines are small, and the step from 0 to
    .1 says more than that from .3 to .4. The value of a URL with n parents is
    ``(sum of s + c * m) / (n + c) + a * anchor + x * context``, where m is the mean worth of all
    pages crawled when it was offered (averaged over its offers): without evidence a URL is worth
    what the crawl is on the average, not nothing. The bias is the mean worth of the narrowest
    directory, shrunk towards the wider ones, the host and the crawl. Values and biases are
    divided by their largest sum.

    In-links count as evidence by the relevance of the pages that give them: a page that only
    irrelevant pages link to does not gain by their number, as it does in Liu et al. 2009.
    """

    name = "shark-plus"
    fields: tuple[str, ...] = ("inlinks", "worth", "means", "anchor", "context")

    def __init__(self, scorer: LinkScorer, parameters: StrategyParameters) -> None:
        super().__init__(scorer, parameters)
        weights = (parameters.plus_anchor_weight, parameters.plus_context_weight)
        self._scale = 1 + sum(weights) + parameters.plus_prior_weight
        self._mean = 0.0

    @override
    def worth(self, relevance: float) -> float:
        """What a page of this relevance counts, in [0, 1); one half at ``plus_half``."""
        return relevance / (relevance + self.parameters.plus_half) if relevance > 0 else 0.0

    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:  # noqa: ARG002
        """Offers with what this parent adds."""
        worth = self.worth(verdict.relevance)
        mean = self._mean
        return [
            Offer(link.url, PRIOR, (1.0, worth, mean, s.anchor, s.context), link.anchor, s.text)
            for link, s in zip(links, scored(links, self.scorer), strict=True)
        ]

    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Sums of in-links, worth and means; the best anchor and context."""
        if not known:
            return new
        return (*map(add, known[:3], new[:3]), *map(max, known[3:], new[3:]))

    def value(self, evidence: Evidence) -> float:
        """Value in [0, 1]; the largest there is for a seed."""
        p = self.parameters
        if not evidence:
            return (self._scale - p.plus_prior_weight) / self._scale
        parents, worth, means, anchor, context = evidence
        expected = (worth + p.plus_shrink * means / parents) / (parents + p.plus_shrink)
        text = p.plus_anchor_weight * anchor + p.plus_context_weight * context
        return (expected + text) / self._scale

    def lane(self, evidence: Evidence) -> int:  # noqa: ARG002 - one lane
        """Return PRIOR: one queue."""
        return PRIOR

    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        """Evidence with the scores of the kept texts; the parents' worth stays."""
        return (*evidence[:3], *self.scorer.score_many([anchor, context]))

    def group(self, url: str) -> tuple[str, ...]:
        """The directories of the URL."""
        return group(url)

    def bias(self, stats: Sequence[GroupStats]) -> float:
        """Mean worth of the narrowest group, each shrunk towards the next wider one."""
        if stats and stats[0].pages:
            self._mean = stats[0].relevance / stats[0].pages
        mean, strength = self._mean, self.parameters.shrinkage
        for pages, worth in stats[1:]:
            mean = (worth + strength * mean) / (pages + strength)
        return self.parameters.plus_prior_weight * mean / self._scale
