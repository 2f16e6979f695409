"""Interfaces of a link strategy and of the scorer that it uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.model import Evidence, Link, Offer, Verdict

PRIOR, NORMAL, REJECTED = 0, 1, 2
"""Lanes: priorQueue, normalQueue, "predicted below minNormal"."""

LEARNT = 2**24
"""Step of ``LinkStrategy.version`` for what a model learnt; the remainder is the topic's part."""


class GroupStats(NamedTuple):
    """Statistics of crawled pages of a group of URLs (a directory, a host, the crawl).

    Attributes:
        pages: Pages crawled there.
        relevance: Sum of ``Outcome.worth`` of these pages.
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
    """Order of a crawl: scores links by their evidence. Pure: no clock, no I/O.

    The spider calls ``learn``, ``offers`` and ``worth`` for each page, the frontier the rest.
    ``base.BaseStrategy`` has all but ``offers``, ``fold`` and ``value``.
    """

    name: str
    """One of ``strategies.NAMES``, or the dotted path of the class."""
    fields: tuple[str, ...]
    """Names of the evidence numbers, in order."""
    share: tuple[int, int]
    """Pops of priorQueue, then of normalQueue, in turn."""
    slack: int
    """Turns that a queue may be early or late, so that the better URL of both comes first."""
    version: int
    """Version of the stored evidence, below 2**32; changes when evidence has another meaning.

    ``version % LEARNT`` is the topic's: after a change of it ``sweep`` re-scores all rows, since a
    row of the errorQueue never comes to the front. The rest counts what a model has learnt: such a
    change re-scores a row when it comes to the front, or gets another parent.
    """

    def signature(self) -> str:
        """Return formula and parameters; where they changed, a resumed queue is re-scored."""
        ...

    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Return one offer for each link of a page, in their order; all are scored in one batch.

        Args:
            verdict: The page's relevance.
            evidence: The page's own at the time it was leased, () for a seed.
            links: The page's links.
        """
        ...

    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return a URL's evidence after one more parent offered it; ``known`` is () at first."""
        ...

    def value(self, evidence: Evidence) -> float:
        """Return the score in [0, 1] of a URL with this evidence; larger ones are fetched first."""
        ...

    def lane(self, evidence: Evidence) -> int:
        """Return the lane by evidence alone; a better one of an offer or of the row wins."""
        ...

    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        """Return the evidence after the topic changed, from the stored texts."""
        ...

    def group(self, url: str) -> tuple[str, ...]:
        """Return the groups of a URL inside its host, widest first; () where only the host counts.

        The last one is its queue group: URLs of one host and one queue group share a bias.
        """
        ...

    def bias(self, stats: Sequence[GroupStats]) -> float:
        """Return the prior that is added to all scores of a queue group.

        ``stats`` run crawl, host, then the groups, widest first.
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

    def reached(self, evidence: Evidence, relevance: float) -> None:
        """Learn from the page that a URL with this evidence led to; after ``learn``.

        Args:
            evidence: The URL's own when it was leased, () for a seed.
            relevance: The page's relevance, in [0, 1].
        """
        ...

    def adopt(self, scorer: LinkScorer) -> None:
        """Score with another topic from now on; ``version`` grows."""
        ...
