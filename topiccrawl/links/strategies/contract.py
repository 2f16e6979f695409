"""Base class of the link strategies, and the interface of their scorers."""

from __future__ import annotations

from itertools import starmap, zip_longest
from typing import TYPE_CHECKING, NamedTuple, Protocol

from topiccrawl.links.strategies.parameters import StrategyParameters

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

    def with_page(self, relevance: float) -> GroupStats:
        """Return the statistics after one more crawled page."""
        return GroupStats(self.pages + 1, self.relevance + relevance)


class LinkScorer(Protocol):
    """Scorer of short texts against a topic."""

    def score_many(self, texts: list[str]) -> list[float]:
        """Return the similarity of each text to the topic, in [0, 1]; same length and order."""

    def contains(self, text: str) -> bool:
        """Return whether the text contains a topic keyword."""


class NullScorer:
    """Scorer without a topic, used to read stored evidence."""

    def score_many(self, texts: list[str]) -> list[float]:
        """Return 0 for each text."""
        return [0.0] * len(texts)

    def contains(self, text: str) -> bool:  # noqa: ARG002
        """Return False."""
        return False


class BaseStrategy:
    """Scoring of links, which determines the order of a crawl. Uses no clock and no I/O.

    The spider calls ``learn``, ``offers`` and ``worth`` for each page; the frontier calls the other
    methods. The defaults are: one lane, no priors, no learning. A subclass defines ``fields`` and
    ``offers``, and ``fold`` and ``value`` unless the defaults apply. If its evidence depends on
    link texts, it also defines ``rescore``.

    Args:
        scorer: Scorer of texts against the topic; None if stored evidence is only read.
        parameters: Parameters of the formulas; None for the defaults.

    Attributes:
        revision: Revision of the formulas; increment it when they change, so that queued URLs are
            re-scored.
    """

    name: str = ""
    """Name: one of ``strategies.NAMES``, or the dotted path of the class."""
    fields: tuple[str, ...] = ()
    """Names of the evidence numbers, in order."""
    share: tuple[int, int] = (1, 1)
    """Pops from priorQueue and from normalQueue in one round."""
    slack: int = 0
    """Rounds by which a lane may be early or late, so that the better URL comes first."""
    version: int = 0
    """Version of the stored evidence, below 2**32; changes when the meaning of evidence changes.

    ``version % LEARNT`` is the version of the topic. When it changes, ``sweep`` re-scores all rows,
    since rows of the errorQueue never reach the front. ``version // LEARNT`` counts updates of the
    link-text model. When it changes, a row is re-scored when it reaches the front or gets another
    parent.
    """
    revision: int = 1

    def __init__(
        self, scorer: LinkScorer | None = None, parameters: StrategyParameters | None = None
    ) -> None:
        self.scorer: LinkScorer = scorer or NullScorer()
        self.parameters = parameters or StrategyParameters()

    def signature(self) -> str:
        """Return formulas and parameters as text; if they changed, a resumed queue is re-scored."""
        return f"{type(self).__name__} {self.revision} {self.parameters}"

    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Score all links of a page in one batch; return one offer for each link, in order.

        Args:
            verdict: The page's relevance.
            evidence: Evidence of the page when it was leased, () for a seed.
            links: Links of the page.
        """
        raise NotImplementedError

    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Combine new evidence with the stored evidence of a URL; ``known`` is () at first.

        The default is the maximum of each number; missing numbers count as 0.
        """
        return tuple(starmap(max, zip_longest(known, new, fillvalue=0.0)))

    def value(self, evidence: Evidence) -> float:
        """Return the value in [0, 1] of a URL with this evidence; the largest is fetched first.

        The default is the first number; 1 for a seed.
        """
        return evidence[0] if evidence else 1.0

    def lane(self, evidence: Evidence) -> int:  # noqa: ARG002 - one lane
        """Return the lane for the evidence; a better lane of the offer or the stored row wins."""
        return PRIOR

    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:  # noqa: ARG002
        """Recompute the evidence from the stored texts, after the topic changed."""
        return evidence

    def rescore_all(self, rows: Sequence[tuple[Evidence, str, str]]) -> list[Evidence]:
        """Return ``rescore`` for each row of arguments; override it to score them in one batch."""
        return [self.rescore(*row) for row in rows]

    def group(self, url: str) -> tuple[str, ...]:  # noqa: ARG002 - only the host
        """Return the groups of a URL within its host, widest first; () for the host only.

        The last group is the queue group; URLs of one host and queue group share a prior.
        """
        return ()

    def bias(self, stats: Sequence[GroupStats]) -> float:  # noqa: ARG002 - no prior
        """Return the prior that is added to all values of a queue group.

        Args:
            stats: Statistics of the crawl, the host, and the groups, widest first.
        """
        return 0.0

    def worth(self, relevance: float) -> float:
        """Return the page score for a relevance, in [0, 1]; used in the statistics of groups."""
        return relevance

    def expected(self, evidence: Evidence) -> float | None:  # noqa: ARG002 - no prediction
        """Predict the score of a page from its links, as evidence that it is on topic.

        Returns:
            A score in [0, 1]: 1/3 if the links neither speak for nor against the topic (see
            ``topics.linked``). None, the default, if the strategy makes no such prediction.
        """
        return None

    def learn(self, anchor: str, context: str, relevance: float) -> None:
        """Update the link-text model with a crawled page.

        Args:
            anchor: Anchor text stored with the queued URL.
            context: Context stored with it; both are empty for a seed.
            relevance: The page's relevance, in [0, 1].
        """

    def reached(self, evidence: Evidence, relevance: float) -> None:
        """Learn from the evidence and relevance of a crawled page; called after ``learn``.

        Args:
            evidence: Evidence of the URL when it was leased, () for a seed.
            relevance: The page's relevance, in [0, 1].
        """

    def adopt(self, scorer: LinkScorer) -> None:
        """Replace the scorer after a change of the topic; increments ``version``."""
        self.scorer = scorer
        self.version += 1


LinkStrategy = BaseStrategy
"""Type of all strategies; custom ones derive from it, too."""
