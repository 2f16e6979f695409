"""Base class of the strategies, and the scoring of link texts."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.links.strategies.contract import PRIOR
from topiccrawl.links.strategies.parameters import StrategyParameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.links.strategies.contract import GroupStats, LinkScorer
    from topiccrawl.model import Evidence, Link, Offer, Verdict

MAX_BLOCK = 1_000
"""Most characters of a block's joined anchors that are scored."""

MAX_KEPT = 120
"""Most characters of a context stored with a queued URL for re-scoring. A block's text is cut to
them, so re-scoring only uses its beginning."""


class LinkScores(NamedTuple):
    """Scores and context of one link.

    Attributes:
        anchor: Similarity of the anchor to the topic, in [0, 1].
        context: Similarity of the context (surrounding text or whole block), in [0, 1].
        text: Context, cut to :data:`MAX_KEPT`.
    """

    anchor: float
    context: float
    text: str


def block_texts(links: Sequence[Link]) -> dict[int, str]:
    """Return the expanded anchor text of each block: its caption and all anchors [S3 step 3].

    >>> from topiccrawl.model import Link
    >>> block_texts([Link("u", "one", "Sport", 0), Link("v", "two", "Sport", 0), Link("w", "x")])
    {0: 'Sport one two'}
    """
    parts: defaultdict[int, list[str]] = defaultdict(list)
    for link in links:
        if link.block >= 0:
            if link.context and link.context not in parts[link.block]:
                parts[link.block].append(link.context)
            parts[link.block].append(link.anchor)
    return {block: " ".join(filter(None, texts))[:MAX_BLOCK] for block, texts in parts.items()}


def score_links(links: Sequence[Link], scorer: LinkScorer) -> list[LinkScores]:
    """Score all links of a page in one batch; each distinct text is scored once.

    For a link in a block, the score of the block replaces the score of the surrounding text
    (section 2 of the project's methods).
    """
    blocks = block_texts(links)
    contexts = [blocks.get(link.block, link.context) for link in links]
    texts = list(dict.fromkeys([*(link.anchor for link in links), *contexts]))
    scores = dict(zip(texts, scorer.score_many(texts), strict=True))
    return [
        LinkScores(scores[link.anchor], scores[context], context[:MAX_KEPT])
        for link, context in zip(links, contexts, strict=True)
    ]


class NullScorer:
    """Scorer without a topic, used to read stored evidence."""

    def score_many(self, texts: list[str]) -> list[float]:
        """Return 0 for each text."""
        return [0.0] * len(texts)

    def contains(self, text: str) -> bool:  # noqa: ARG002
        """Return False."""
        return False


class BaseStrategy:
    """Base class of strategies: one lane, no priors, no learning; see ``LinkStrategy``.

    A subclass defines ``fields``, ``offers``, ``fold`` and ``value``. If its evidence depends on
    link texts, it also defines ``rescore``.

    Args:
        scorer: Scorer of texts against the topic; None if stored evidence is only read.
        parameters: Parameters of the formulas; None for the defaults.

    Attributes:
        revision: Revision of the formulas; increment it when they change, so that queued URLs are
            re-scored.
    """

    name = ""
    fields: tuple[str, ...] = ()
    share: tuple[int, int] = (1, 1)
    slack = 0
    version = 0
    revision = 1

    def __init__(
        self, scorer: LinkScorer | None = None, parameters: StrategyParameters | None = None
    ) -> None:
        self.scorer: LinkScorer = scorer or NullScorer()
        self.parameters = parameters or StrategyParameters()

    def signature(self) -> str:
        """Return class, revision and parameters; scores with another signature are stale."""
        return f"{type(self).__name__} {self.revision} {self.parameters}"

    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Return one offer for each link, in order."""
        raise NotImplementedError

    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Combine the evidence of one more parent with the stored evidence of a URL."""
        raise NotImplementedError

    def value(self, evidence: Evidence) -> float:
        """Return the score in [0, 1]."""
        raise NotImplementedError

    def lane(self, evidence: Evidence) -> int:  # noqa: ARG002 - one lane
        """Return PRIOR, the only lane."""
        return PRIOR

    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:  # noqa: ARG002
        """Return the evidence unchanged, since it does not depend on link texts."""
        return evidence

    def group(self, url: str) -> tuple[str, ...]:  # noqa: ARG002 - only the host
        """Return (): no groups within a host."""
        return ()

    def bias(self, stats: Sequence[GroupStats]) -> float:  # noqa: ARG002 - no prior
        """Return 0, no prior."""
        return 0.0

    def worth(self, relevance: float) -> float:
        """Return the relevance as the page score."""
        return relevance

    def learn(self, anchor: str, context: str, relevance: float) -> None:
        """Do nothing: this strategy does not learn."""

    def reached(self, evidence: Evidence, relevance: float) -> None:
        """Do nothing: this strategy does not learn."""

    def adopt(self, scorer: LinkScorer) -> None:
        """Replace the scorer after a change of the topic; increments ``version``."""
        self.scorer = scorer
        self.version += 1
