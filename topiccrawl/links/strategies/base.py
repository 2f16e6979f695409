"""Shared parts of the strategies: the texts of links, and a queue without priors."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.frontier.contract import GroupStats
    from topiccrawl.links.strategies.contract import LinkScorer
    from topiccrawl.links.strategies.parameters import StrategyParameters
    from topiccrawl.model import Link

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


class Scored:
    """State of every strategy: its name, its parameters, the topic it scores with.

    Attributes:
        revision: Of the formulas: raise it when they change, so that queued URLs are re-scored.
    """

    name: str
    fields: tuple[str, ...]
    revision = 1

    def __init__(self, scorer: LinkScorer, parameters: StrategyParameters) -> None:
        self.scorer = scorer
        self.parameters = parameters
        self.share: tuple[int, int] = (1, 1)
        self.version = 0

    def signature(self) -> str:
        """Return class, revision and parameters: scores under another signature are stale."""
        return f"{type(self).__name__} {self.revision} {self.parameters}"

    def worth(self, relevance: float) -> float:
        """Return the relevance itself as the page's weight in the statistics of its groups."""
        return relevance

    def learn(self, anchor: str, context: str, relevance: float) -> None:
        """Learn nothing of the links that led to pages."""

    def adopt(self, scorer: LinkScorer) -> None:
        """Score with another topic from now on; ``version`` grows."""
        self.scorer = scorer
        self.version += 1


class WithoutPriors(Scored):
    """A strategy that uses only the evidence of the URL itself."""

    def group(self, url: str) -> tuple[str, ...]:  # noqa: ARG002 - only the host
        """Return no groups inside a host."""
        return ()

    def bias(self, stats: Sequence[GroupStats]) -> float:  # noqa: ARG002 - no prior
        """Return 0: no prior."""
        return 0.0
