"""Custom link strategy, which decides the order in which links are fetched.

    scrapy crawl topic -a topic=新能源汽车 -s TOPICCRAWL_STRATEGY=examples.link_strategy.UrlWords
    scrapy simulate web.jsonl.gz --topic 新能源汽车 --strategy examples.link_strategy.UrlWords

For each URL, the frontier stores the numbers named in ``fields``. Its queue is ordered by ``value``
(docs/strategies.md).
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
    """Scores a link by the topic terms in its anchor and URL, and by the best page that has it."""

    fields: tuple[str, ...] = ("words", "page")

    @override
    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Return an offer for each link of a page; all texts are scored in one batch."""
        paths = [" ".join(words(link.url))[:MAX_KEPT] for link in links]
        texts = [f"{link.anchor} {path}" for link, path in zip(links, paths, strict=True)]
        scores = self.scorer.score_many(texts)
        return [
            Offer(link.url, PRIOR, (score, verdict.relevance), link.anchor, path)
            for link, path, score in zip(links, paths, scores, strict=True)
        ]

    @override
    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return the maximum of each number, which does not depend on the order of the pages."""
        return tuple(map(max, known, new)) if known else new

    @override
    def value(self, evidence: Evidence) -> float:
        """Return the mean of both numbers, or 1 for a seed, which has none."""
        return sum(evidence) / len(evidence) if evidence else 1.0

    @override
    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        """Return the evidence after a change of the topic; the texts are those of the offer."""
        (score,) = self.scorer.score_many([f"{anchor} {context}"])
        return (score, evidence[1])
