"""Strategies shark and shark-inlink: Shark-search as first published, and with in-links.

Shark-search is by Hersovici et al. 1998 (methods, section 2), its variant with in-links and five
queues [S2] by Liu, Lin and Gao 2009 (methods, sections 2 and 3). N of the variant, which normalizes
the number of in-links, and all thresholds are not published and were chosen here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from topiccrawl.links.strategies.contract import NORMAL, PRIOR, REJECTED, BaseStrategy, LinkScorer
from topiccrawl.links.strategies.link_texts import score_links
from topiccrawl.links.urls import words
from topiccrawl.model import Evidence, Link, Offer, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.links.strategies.parameters import StrategyParameters


class Shark(BaseStrategy):
    """Link text and inherited relevance, which decays with every irrelevant page on the path.

    ``inherited = delta * sim(p)`` if sim(p) > 0, else ``delta * inherited(p)``;
    ``context = 1`` if sim(anchor) > 0, else sim(context);
    ``neighbourhood = beta * anchor + (1 - beta) * context``;
    ``score = gamma * inherited + (1 - gamma) * neighbourhood``.

    With several parents, each number is the largest of all parents. A link beyond the depth bound
    enters the errorQueue; an offer from a nearer relevant page moves it back.
    """

    name = "shark"
    fields: tuple[str, ...] = ("score", "inherited", "depth_left")

    @override
    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Return offers with score, inherited score and remaining depth."""
        inherited = self._inherited(verdict, evidence)
        remaining = self._remaining_depth(verdict, evidence)
        lane = REJECTED if remaining < 0 else PRIOR
        return [
            Offer(
                link.url, lane, (self._score(inherited, s.anchor, s.context), inherited, remaining),
                link.anchor, s.text,
            )
            for link, s in zip(links, score_links(links, self.scorer), strict=True)
        ]  # fmt: skip

    @override
    def lane(self, evidence: Evidence) -> int:
        """Return priorQueue, or errorQueue beyond the depth bound."""
        return REJECTED if evidence and evidence[2] < 0 else PRIOR

    @override
    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        """Return evidence with new scores of the stored texts; the inherited score is unchanged."""
        in_anchor, in_context = self.scorer.score_many([anchor, context])
        return (self._score(evidence[1], in_anchor, in_context), *evidence[1:])

    def _inherited(self, verdict: Verdict, evidence: Evidence) -> float:
        own = verdict.relevance if verdict.relevance > 0 else evidence[1] if evidence else 0.0
        return self.parameters.shark_decay * own

    def _remaining_depth(self, verdict: Verdict, evidence: Evidence) -> float:
        bound = float(self.parameters.depth_bound)
        if not bound or verdict.relevant or not evidence:
            return max(bound - 1, 0.0)
        return evidence[2] - 1

    def _score(self, inherited: float, anchor: float, context: float) -> float:
        p = self.parameters
        near = 1.0 if anchor > 0 else context
        neighbourhood = p.shark_anchor_weight * anchor + (1 - p.shark_anchor_weight) * near
        return p.shark_inherited_weight * inherited + (1 - p.shark_inherited_weight) * neighbourhood


class SharkInlink(BaseStrategy):
    """Potential score of the best parent, and number of crawled pages that link to the URL.

    ``value = theta * potential + (1 - theta) * min(in-links, N) / N``, where
    ``potential = beta * inherited + (1 - beta) * context``.
    With several parents, potential and inherited score are the largest, the lane is the best.
    """

    name = "shark-inlink"
    fields: tuple[str, ...] = ("potential", "inlinks", "inherited", "lane")

    def __init__(
        self, scorer: LinkScorer | None = None, parameters: StrategyParameters | None = None
    ) -> None:
        super().__init__(scorer, parameters)
        parameters = self.parameters
        self.share = (parameters.prior_share, parameters.normal_share)

    @override
    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Return offers with lanes by section 3 of the methods."""
        inherited = self._inherited(verdict, evidence)
        offers = []
        for link, scores in zip(links, score_links(links, self.scorer), strict=True):
            potential = self._potential(inherited, scores.anchor, scores.context)
            lane = self._lane_for(verdict, link, potential)
            new = (potential, 1.0, inherited, float(lane))
            offers.append(Offer(link.url, lane, new, link.anchor, scores.text))
        return offers

    @override
    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return best potential, sum of in-links, best inherited score and best lane."""
        if not known:
            return new
        return (
            max(known[0], new[0]), known[1] + new[1], max(known[2], new[2]), min(known[3], new[3])
        )  # fmt: skip

    @override
    def value(self, evidence: Evidence) -> float:
        """Return the score by step 5 of section 2 of the methods; 1 for a seed."""
        if not evidence:
            return 1.0
        theta, full = self.parameters.inlink_potential_weight, self.parameters.inlink_full
        return theta * evidence[0] + (1 - theta) * min(evidence[1], full) / full

    @override
    def lane(self, evidence: Evidence) -> int:
        """Return the best lane of all parents; priorQueue for a seed."""
        return int(evidence[3]) if evidence else PRIOR

    @override
    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        """Return evidence with the potential of the stored texts; the lane never gets worse."""
        in_anchor, in_context = self.scorer.score_many([anchor, context])
        potential = self._potential(evidence[2], in_anchor, in_context)
        lane = min(evidence[3], float(self._by_potential(potential)))
        return (potential, evidence[1], evidence[2], lane)

    def _inherited(self, verdict: Verdict, evidence: Evidence) -> float:
        own = verdict.relevance if verdict.relevant else evidence[2] if evidence else 0.0
        return self.parameters.inlink_decay * own

    def _potential(self, inherited: float, anchor: float, context: float) -> float:
        p = self.parameters
        near = 1.0 if anchor > p.anchor_threshold else context
        return p.inlink_inherited_weight * inherited + (1 - p.inlink_inherited_weight) * near

    def _lane_for(self, verdict: Verdict, link: Link, potential: float) -> int:
        if verdict.relevance > self.parameters.upper_limit:
            return PRIOR
        contains = self.scorer.contains
        if verdict.relevant and (contains(link.anchor) or contains(" ".join(words(link.url)))):
            return PRIOR
        return self._by_potential(potential)

    def _by_potential(self, potential: float) -> int:
        if potential >= self.parameters.min_prior:
            return PRIOR
        return NORMAL if potential >= self.parameters.min_normal else REJECTED
