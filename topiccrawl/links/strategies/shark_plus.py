"""shark-plus: the evidence of all parents, and what was learnt where the URL lies."""

from __future__ import annotations

import math
from operator import add
from typing import TYPE_CHECKING

from typing_extensions import override

from topiccrawl.frontier.contract import LEARNT, PRIOR
from topiccrawl.links.strategies.base import MAX_KEPT, Scored, scored
from topiccrawl.links.strategies.link_words import LinkWords
from topiccrawl.links.urls import group
from topiccrawl.records import Offer
from topiccrawl.text.tokens import shared_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.frontier.contract import GroupStats
    from topiccrawl.links.strategies.contract import LinkScorer
    from topiccrawl.links.strategies.parameters import StrategyParameters
    from topiccrawl.records import Evidence, Link, Verdict


_TEXTS = 20_000
"""Link texts whose words are remembered, about 30 MB; then they are forgotten. Menus come again."""


class SharkPlus(Scored):
    """Mean worth of all parents, best anchor and context, what their words led to; priors.

    A page of relevance r is worth ``s = r / (r + half)``: cosines are small, and the step from 0 to
    .1 says more than that from .3 to .4. The value of a URL with n parents is
    ``(sum of s + c * m) / (n + c) + a * anchor + x * context + w * promise``, where m is the mean
    worth of all pages crawled when it was offered (averaged over its offers): without evidence a
    URL is worth what the crawl is on the average, not nothing. The promise is what pages behind
    links of such words turned out to be (``link_words``), whether or not the topic names them. The
    bias is the mean worth of the narrowest directory, shrunk towards the wider ones, the host and
    the crawl. Values and biases are divided by their largest sum.

    In-links count as evidence by the relevance of the pages that give them: a page that only
    irrelevant pages link to does not gain by their number, as it does in Liu et al. 2009.
    """

    name = "shark-plus"
    fields: tuple[str, ...] = ("inlinks", "worth", "means", "anchor", "context", "promise")

    def __init__(self, scorer: LinkScorer, parameters: StrategyParameters) -> None:
        super().__init__(scorer, parameters)
        weights = (parameters.plus_anchor_weight, parameters.plus_context_weight)
        self._promise_weight = parameters.plus_promise_weight
        self._scale = 1 + sum(weights) + 2 * self._promise_weight + parameters.plus_prior_weight
        self._mean = 0.0
        self._words = LinkWords(parameters.plus_promise_shrink)
        self._tokenizer = shared_tokenizer()
        self._cut: dict[str, frozenset[str]] = {}

    @property  # type: ignore[explicit-override]  # mypy sees no override on a property with setter
    def version(self) -> int:
        """The topic's version, and that of what link words promise."""
        return (self._topic_version + self._words.version * LEARNT) % 2**32

    @version.setter
    def version(self, version: int) -> None:
        self._topic_version = version

    @override
    def worth(self, relevance: float) -> float:
        """What a page of this relevance counts, in [0, 1); one half at ``plus_half``."""
        return relevance / (relevance + self.parameters.plus_half) if relevance > 0 else 0.0

    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:  # noqa: ARG002
        """Offers with what this parent adds."""
        worth = self.worth(verdict.relevance)
        mean = self._mean
        scores = scored(links, self.scorer)
        promises = self._promises(
            [(li.anchor, s.text) for li, s in zip(links, scores, strict=True)]
        )
        return [
            Offer(
                link.url, PRIOR, (1.0, worth, mean, s.anchor, s.context, promise),
                link.anchor, s.text,
            )
            for link, s, promise in zip(links, scores, promises, strict=True)
        ]  # fmt: skip

    @override
    def learn(self, anchor: str, context: str, relevance: float) -> None:
        """Learn to what kind of page the words of a link led."""
        if self._promise_weight and (anchor or context):
            context = context[:MAX_KEPT]
            known = self._words_of([anchor, context])
            words = known[anchor] | _with_itself(known, context)
            self._words.learn(words, self.worth(relevance))

    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Sums of in-links, worth and means; the best anchor, context and promise."""
        if not known:
            return new
        return (*map(add, known[:3], new[:3]), *map(max, known[3:], new[3:]))

    def value(self, evidence: Evidence) -> float:
        """Value in [0, 1]; the largest there is for a seed."""
        p = self.parameters
        if not evidence:
            return (self._scale - p.plus_prior_weight) / self._scale
        parents, worth, means, anchor, context, promise = evidence
        expected = (worth + p.plus_shrink * means / parents) / (parents + p.plus_shrink)
        text = p.plus_anchor_weight * anchor + p.plus_context_weight * context
        return (expected + text + self._promise_weight * (1.0 + promise)) / self._scale

    def lane(self, evidence: Evidence) -> int:  # noqa: ARG002 - one lane
        """Return PRIOR: one queue."""
        return PRIOR

    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        """Evidence with the scores of the kept texts; the parents' worth stays."""
        scores = self.scorer.score_many([anchor, context])
        return (*evidence[:3], *scores, *self._promises([(anchor, context[:MAX_KEPT])]))

    def group(self, url: str) -> tuple[str, ...]:
        """The directories of the URL."""
        return group(url)

    def bias(self, stats: Sequence[GroupStats]) -> float:
        """Mean worth of the narrowest group, each shrunk towards the next wider one."""
        if stats and stats[0].pages:
            self._mean = stats[0].relevance / stats[0].pages
        mean, strength = self._mean, self.parameters.shrinkage
        for pages, worth in stats[1:]:
            mean = (worth + strength * mean) / (pages + strength)
        return self.parameters.plus_prior_weight * mean / self._scale

    def _promises(self, texts: Sequence[tuple[str, str]]) -> list[float]:
        """What the words of links (anchor, context) promise, each in [-1, 1]."""
        if not self._words.version:
            return [0.0] * len(texts)
        known = self._words_of([text for pair in texts for text in pair])
        total = self._words.total
        near = {context: _with_itself(known, context) for context in {pair[1] for pair in texts}}
        totals = {context: total(words) for context, words in near.items()}
        made = []
        for anchor, context in texts:
            own = known[anchor] - near[context]
            promise = (totals[context] + total(own)) / math.sqrt(len(near[context]) + len(own))
            made.append(min(1.0, max(-1.0, promise)))
        return made

    def _words_of(self, texts: Sequence[str]) -> dict[str, frozenset[str]]:
        """Different words of each text, and of others seen before; all that are new cut at once."""
        known = self._cut
        fresh = [text for text in texts if text not in known]
        if len(known) + len(fresh) > _TEXTS:
            known.clear()
            fresh = list(texts)
        if fresh:
            fresh = list(dict.fromkeys(fresh))
            known.update(zip(fresh, self._tokenizer.word_sets(fresh), strict=True))
        return known


def _with_itself(known: dict[str, frozenset[str]], context: str) -> frozenset[str]:
    """A context's words, and the context as a whole as one word more: no word has its line end.

    The links of a block or of a menu have it in common, so that how its other links turned out
    speaks for each.
    """
    return known[context] | {context + "\n"}
