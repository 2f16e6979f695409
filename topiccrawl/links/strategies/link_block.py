"""Link blocks [S3, steps 3 to 6]: all anchors of a block count for each of its links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from topiccrawl.links.strategies.base import MAX_KEPT, BaseStrategy, block_texts
from topiccrawl.links.strategies.contract import PRIOR, REJECTED
from topiccrawl.model import Offer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.model import Evidence, Link, Verdict


class LinkBlock(BaseStrategy):
    """``sim = c * inherited + (1 - c) * anchor_score``, one ordered queue above one threshold.

    ``inherited = a * sim(p)`` if p is relevant, else ``a * inherited(p)``; ``anchor_score`` is that
    of all anchors of the link's block, or of its own anchor if it is in running text.
    Of several parents each part keeps its largest value.
    """

    name = "link-block"
    fields: tuple[str, ...] = ("score", "inherited")

    @override
    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Return offers with the score of their block."""
        own = verdict.relevance if verdict.relevant else evidence[1] if evidence else 0.0
        inherited = self.parameters.block_decay * own
        blocks = block_texts(links)
        texts = [blocks.get(link.block, link.anchor) for link in links]
        unique = list(dict.fromkeys(texts))
        scores = dict(zip(unique, self.scorer.score_many(unique), strict=True))
        made = []
        for link, text in zip(links, texts, strict=True):
            new = (self._score(inherited, scores[text]), inherited)
            made.append(Offer(link.url, self.lane(new), new, link.anchor, text[:MAX_KEPT]))
        return made

    @override
    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return the larger of each part."""
        return tuple(map(max, known, new)) if known else new

    @override
    def value(self, evidence: Evidence) -> float:
        """Return the score; 1 for a seed."""
        return evidence[0] if evidence else 1.0

    @override
    def lane(self, evidence: Evidence) -> int:
        """Return the priorQueue, or the errorQueue below the threshold."""
        low = evidence and evidence[0] < self.parameters.block_threshold
        return REJECTED if low else PRIOR

    @override
    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        """Return evidence with the score of the kept beginning of the block."""
        (score,) = self.scorer.score_many([context or anchor])
        return (self._score(evidence[1], score), evidence[1])

    def _score(self, inherited: float, anchors: float) -> float:
        c = self.parameters.block_inherited_weight
        return c * inherited + (1 - c) * anchors
