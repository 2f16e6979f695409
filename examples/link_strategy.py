"""A link strategy of your own: which link is fetched first.

    scrapy crawl topic -a topic=新能源汽车 -s TOPICCRAWL_STRATEGY=examples.link_strategy.UrlWords
    scrapy simulate web.jsonl.gz --topic 新能源汽车 --strategy examples.link_strategy.UrlWords

The frontier stores for each URL the numbers that ``fields`` names, and keeps its queue in the order
of ``value`` (docs/strategies.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from topiccrawl.links.strategies import MAX_KEPT, PRIOR, BaseStrategy
from topiccrawl.links.urls import words
from topiccrawl.model import Offer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.model import Evidence, Link, Verdict


class UrlWords(BaseStrategy):
    """Half of a link's score is the topic in its anchor and URL, half the best page it is on."""

    fields: tuple[str, ...] = ("words", "page")

    @override
    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Return the evidence of one page for each of its links; all texts in one batch."""
        paths = [" ".join(words(link.url))[:MAX_KEPT] for link in links]
        texts = [f"{link.anchor} {path}" for link, path in zip(links, paths, strict=True)]
        scores = self.scorer.score_many(texts)
        return [
            Offer(link.url, PRIOR, (score, verdict.relevance), link.anchor, path)
            for link, path, score in zip(links, paths, scores, strict=True)
        ]

    @override
    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return the best of each number: the order of the pages that link here does not matter."""
        return tuple(map(max, known, new)) if known else new

    @override
    def value(self, evidence: Evidence) -> float:
        """Return the mean of both numbers; 1 for a seed, which has none."""
        return sum(evidence) / len(evidence) if evidence else 1.0

    @override
    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        """Return the evidence after the topic changed; the texts are those of the offer."""
        (score,) = self.scorer.score_many([f"{anchor} {context}"])
        return (score, evidence[1])
