"""Strategy shark: Shark-search as first published (Hersovici et al. 1998; methods, section 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from topiccrawl.links.strategies.contract import PRIOR, REJECTED, BaseStrategy
from topiccrawl.links.strategies.link_texts import score_links
from topiccrawl.model import Offer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.model import Evidence, Link, Verdict


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
