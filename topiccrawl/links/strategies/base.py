"""Shared parts of the strategies: the texts of links, and a base class."""

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
"""Characters of a block's joined anchors that are scored."""

MAX_KEPT = 120
"""Characters of a context that are kept with a queued URL, to re-score it when the topic changes;
a block's text is cut to them, so its new score is that of its beginning."""


class LinkScores(NamedTuple):
    """Scores and context of one link.

    Attributes:
        anchor: Similarity of its anchor, in [0, 1].
        context: Similarity of its context: the surrounding text, or its whole block.
        text: The context, cut to :data:`MAX_KEPT`.
    """

    anchor: float
    context: float
    text: str


def block_texts(links: Sequence[Link]) -> dict[int, str]:
    """Return the expanded anchor text [S3 step 3] of each block: its caption and all anchors.

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


def scored(links: Sequence[Link], scorer: LinkScorer) -> list[LinkScores]:
    """Return the scores of all links of a page, every text scored once, in one batch.

    For a link in a block, the block's score replaces that of the surrounding text (methods of the
    project, section 2).
    """
    blocks = block_texts(links)
    contexts = [blocks.get(link.block, link.context) for link in links]
    texts = list(dict.fromkeys([*(link.anchor for link in links), *contexts]))
    scores = dict(zip(texts, scorer.score_many(texts), strict=True))
    return [
        LinkScores(scores[link.anchor], scores[context], context[:MAX_KEPT])
        for link, context in zip(links, contexts, strict=True)
    ]


class NoTopic:
    """Scorer for reading only: stored evidence is shown as it is."""

    def score_many(self, texts: list[str]) -> list[float]:
        """Return 0 for each text."""
        return [0.0] * len(texts)

    def contains(self, text: str) -> bool:  # noqa: ARG002
        """Return False."""
        return False


class BaseStrategy:
    """Base of all strategies: one queue, no priors, nothing learnt; see ``LinkStrategy``.

    A strategy adds ``fields``, ``offers``, ``fold`` and ``value``; where link texts are in its
    evidence, also ``rescore``.

    Args:
        scorer: Scores texts against the topic; None where stored evidence is only read.
        parameters: Numbers of the formulas; None: defaults.

    Attributes:
        revision: Of the formulas: raise it when they change, so that queued URLs are re-scored.
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
        self.scorer: LinkScorer = scorer or NoTopic()
        self.parameters = parameters or StrategyParameters()

    def signature(self) -> str:
        """Return class, revision and parameters: scores under another signature are stale."""
        return f"{type(self).__name__} {self.revision} {self.parameters}"

    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Return one offer for each link, in their order."""
        raise NotImplementedError

    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return a URL's evidence after one more parent offered it."""
        raise NotImplementedError

    def value(self, evidence: Evidence) -> float:
        """Return the score in [0, 1]."""
        raise NotImplementedError

    def lane(self, evidence: Evidence) -> int:  # noqa: ARG002 - one lane
        """Return PRIOR: one queue."""
        return PRIOR

    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:  # noqa: ARG002
        """Return the same evidence: no link text is in it."""
        return evidence

    def group(self, url: str) -> tuple[str, ...]:  # noqa: ARG002 - only the host
        """Return no groups inside a host."""
        return ()

    def bias(self, stats: Sequence[GroupStats]) -> float:  # noqa: ARG002 - no prior
        """Return 0: no prior."""
        return 0.0

    def worth(self, relevance: float) -> float:
        """Return the relevance itself as the page's weight in the statistics of its groups."""
        return relevance

    def learn(self, anchor: str, context: str, relevance: float) -> None:
        """Learn nothing of the links that led to pages."""

    def reached(self, evidence: Evidence, relevance: float) -> None:
        """Learn nothing of the evidence of pages."""

    def adopt(self, scorer: LinkScorer) -> None:
        """Score with another topic from now on; ``version`` grows."""
        self.scorer = scorer
        self.version += 1
