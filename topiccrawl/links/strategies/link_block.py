"""Strategy link-block [S3, steps 3 to 6]: links are scored by all anchors of their block."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from typing_extensions import override

from topiccrawl.links.strategies.contract import LEARNT, PRIOR, REJECTED, BaseStrategy, LinkScorer
from topiccrawl.links.strategies.link_texts import MAX_KEPT, block_texts
from topiccrawl.model import Evidence, Link, Offer, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.links.strategies.parameters import StrategyParameters

RECENT, UPDATE_EVERY = 2_000, 500
"""Number of recent link scores for the threshold, and of links between two updates of it."""


class LinkBlock(BaseStrategy):
    """``sim = c * inherited + (1 - c) * anchor_score``, one lane above one threshold.

    ``inherited = a * sim(p)`` if p is relevant, else ``a * inherited(p)``. ``anchor_score`` is the
    score of all anchors of the link's block, or of its own anchor in running text. With several
    parents, each number is the largest of all parents.

    The threshold is updated in the crawl [S3 step 8]: after every ``UPDATE_EVERY`` scored links it
    is the ``block_quantile`` of the last ``RECENT`` scores, never below ``block_threshold``. Links
    below the threshold are in the errorQueue; when it falls, they return to the priorQueue.
    """

    name = "link-block"
    fields: tuple[str, ...] = ("score", "inherited")
    revision = 2

    def __init__(
        self, scorer: LinkScorer | None = None, parameters: StrategyParameters | None = None
    ) -> None:
        super().__init__(scorer, parameters)
        self.threshold = self.parameters.block_threshold
        self._recent: deque[float] = deque(maxlen=RECENT)
        self._scored = self._falls = self._topic_version = 0

    @property  # type: ignore[explicit-override]  # mypy sees no override on a property with setter
    def version(self) -> int:
        """Version of the topic plus the number of times that the threshold fell."""
        return (self._topic_version + self._falls) % LEARNT

    @version.setter
    def version(self, version: int) -> None:
        self._topic_version = version

    @override
    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Return offers with the scores of their blocks."""
        own = verdict.relevance if verdict.relevant else evidence[1] if evidence else 0.0
        inherited = self.parameters.block_decay * own
        blocks = block_texts(links)
        texts = [blocks.get(link.block, link.anchor) for link in links]
        unique = list(dict.fromkeys(texts))
        scores = dict(zip(unique, self.scorer.score_many(unique), strict=True))
        offers = []
        for link, text in zip(links, texts, strict=True):
            new = (self._score(inherited, scores[text]), inherited)
            offers.append(Offer(link.url, self.lane(new), new, link.anchor, text[:MAX_KEPT]))
        self._update_threshold([offer.evidence[0] for offer in offers])
        return offers

    @override
    def lane(self, evidence: Evidence) -> int:
        """Return priorQueue, or errorQueue below the threshold."""
        low = evidence and evidence[0] < self.threshold
        return REJECTED if low else PRIOR

    @override
    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        """Return evidence with the score of the stored beginning of the block text."""
        (score,) = self.scorer.score_many([context or anchor])
        return (self._score(evidence[1], score), evidence[1])

    def _update_threshold(self, found: Sequence[float]) -> None:
        """Update the threshold after every ``UPDATE_EVERY`` scored links."""
        before = self._scored // UPDATE_EVERY
        self._recent.extend(found)
        self._scored += len(found)
        if self._scored // UPDATE_EVERY == before or len(self._recent) < UPDATE_EVERY:
            return
        last = len(self._recent) - 1
        at = int(self.parameters.block_quantile * last)
        threshold = max(self.parameters.block_threshold, sorted(self._recent)[at])
        self._falls += threshold < self.threshold
        self.threshold = threshold

    def _score(self, inherited: float, anchors: float) -> float:
        c = self.parameters.block_inherited_weight
        return c * inherited + (1 - c) * anchors
