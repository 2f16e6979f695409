"""Interfaces of link strategies and of their scorers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.model import Evidence, Link, Offer, Verdict

PRIOR, NORMAL, REJECTED = 0, 1, 2
"""Lanes: priorQueue, normalQueue, errorQueue ("predicted below minNormal")."""

LEARNT = 2**24
"""Increment of ``LinkStrategy.version`` for a change of the link-text model; the remainder is the
version of the topic."""


class GroupStats(NamedTuple):
    """Statistics of the crawled pages of a group of URLs (a directory, a host, the crawl).

    Attributes:
        pages: Number of crawled pages.
        relevance: Sum of the page scores (``Outcome.worth``).
    """

    pages: int
    relevance: float


class LinkScorer(Protocol):
    """Scorer of short texts against a topic."""

    def score_many(self, texts: list[str]) -> list[float]:
        """Return the similarity of each text to the topic, in [0, 1]; same length and order."""
        ...

    def contains(self, text: str) -> bool:
        """Return whether the text contains a topic keyword."""
        ...


class LinkStrategy(Protocol):
    """Scoring of links, which determines the order of a crawl. Uses no clock and no I/O.

    The spider calls ``learn``, ``offers`` and ``worth`` for each page; the frontier calls the other
    methods. ``base.BaseStrategy`` implements all methods except ``offers``, ``fold`` and ``value``.
    """

    name: str
    """Name: one of ``strategies.NAMES``, or the dotted path of the class."""
    fields: tuple[str, ...]
    """Names of the evidence numbers, in order."""
    share: tuple[int, int]
    """Pops from priorQueue and from normalQueue in one round."""
    slack: int
    """Rounds by which a lane may be early or late, so that the better URL comes first."""
    version: int
    """Version of the stored evidence, below 2**32; changes when the meaning of evidence changes.

    ``version % LEARNT`` is the version of the topic. When it changes, ``sweep`` re-scores all rows,
    since rows of the errorQueue never reach the front. ``version // LEARNT`` counts updates of the
    link-text model. When it changes, a row is re-scored when it reaches the front or gets another
    parent.
    """

    def signature(self) -> str:
        """Return formulas and parameters as text; if they changed, a resumed queue is re-scored."""
        ...

    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Score all links of a page in one batch; return one offer for each link, in order.

        Args:
            verdict: The page's relevance.
            evidence: Evidence of the page when it was leased, () for a seed.
            links: Links of the page.
        """
        ...

    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Combine new evidence with the stored evidence of a URL; ``known`` is () at first."""
        ...

    def value(self, evidence: Evidence) -> float:
        """Return the value in [0, 1] of a URL with this evidence; the largest is fetched first."""
        ...

    def lane(self, evidence: Evidence) -> int:
        """Return the lane for the evidence; a better lane of the offer or the stored row wins."""
        ...

    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        """Recompute the evidence from the stored texts, after the topic changed."""
        ...

    def group(self, url: str) -> tuple[str, ...]:
        """Return the groups of a URL within its host, widest first; () for the host only.

        The last group is the queue group; URLs of one host and queue group share a prior.
        """
        ...

    def bias(self, stats: Sequence[GroupStats]) -> float:
        """Return the prior that is added to all values of a queue group.

        Args:
            stats: Statistics of the crawl, the host, and the groups, widest first.
        """
        ...

    def worth(self, relevance: float) -> float:
        """Return the page score for a relevance, in [0, 1]; used in the statistics of groups."""
        ...

    def learn(self, anchor: str, context: str, relevance: float) -> None:
        """Update the link-text model with a crawled page.

        Args:
            anchor: Anchor text stored with the queued URL.
            context: Context stored with it; both are empty for a seed.
            relevance: The page's relevance, in [0, 1].
        """
        ...

    def reached(self, evidence: Evidence, relevance: float) -> None:
        """Learn from the evidence and relevance of a crawled page; called after ``learn``.

        Args:
            evidence: Evidence of the URL when it was leased, () for a seed.
            relevance: The page's relevance, in [0, 1].
        """
        ...

    def adopt(self, scorer: LinkScorer) -> None:
        """Replace the scorer after a change of the topic; increments ``version``."""
        ...
