"""Interfaces of a link strategy and of the scorer that it uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from topiccrawl.frontier.contract import Strategy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.model import Evidence, Link, Offer, Verdict


class LinkScorer(Protocol):
    """Scorer of short texts against a topic."""

    def score_many(self, texts: list[str]) -> list[float]:
        """Return the similarity of each text to the topic, in [0, 1]; same length and order."""
        ...

    def contains(self, text: str) -> bool:
        """Return whether the text contains a topic keyword."""
        ...


class LinkStrategy(Strategy, Protocol):
    """A strategy that also scores the links of a page."""

    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Return one offer for each link of a page, in their order; all are scored in one batch.

        Args:
            verdict: The page's relevance.
            evidence: The page's own at the time it was leased, () for a seed.
            links: The page's links.
        """
        ...

    def worth(self, relevance: float) -> float:
        """Return the weight of a page of this relevance in the statistics of its groups, [0, 1]."""
        ...

    def learn(self, anchor: str, context: str, relevance: float) -> None:
        """Learn from the page that a link led to.

        Args:
            anchor: Anchor text that was kept with the page's URL while it was queued.
            context: Context kept with it; both are empty for a seed.
            relevance: The page's relevance, in [0, 1].
        """
        ...

    def adopt(self, scorer: LinkScorer) -> None:
        """Score with another topic from now on; ``version`` grows."""
        ...
