"""What a link strategy needs and gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from topiccrawl.frontier.contract import Strategy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.model import Evidence, Link, Offer, Verdict


class LinkScorer(Protocol):
    """How much short texts are on topic."""

    def score_many(self, texts: list[str]) -> list[float]:
        """Similarity of each text to the topic, in [0, 1]; same length and order."""
        ...

    def contains(self, text: str) -> bool:
        """Whether a topic keyword stands in the text."""
        ...


class LinkStrategy(Strategy, Protocol):
    """A strategy that also scores the links of a page."""

    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """What one page says of its links, in their order; one batch of scoring for all of them.

        ``evidence`` is the page's own at the time it was leased, () for a seed.
        """
        ...

    def worth(self, relevance: float) -> float:
        """What a page of this relevance counts in the statistics of its groups, in [0, 1]."""
        ...

    def learn(self, anchor: str, context: str, relevance: float) -> None:
        """Take note of what a link led to.

        Args:
            anchor: Anchor text that was kept with the page's URL while it was queued.
            context: Context kept with it; both are empty for a seed.
            relevance: The page's relevance, in [0, 1].
        """
        ...

    def adopt(self, scorer: LinkScorer) -> None:
        """Score with another topic from now on; ``version`` grows."""
        ...
