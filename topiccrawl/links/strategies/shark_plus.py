"""shark-plus: the evidence of all parents, a link-text model and priors of the URL's groups."""

from __future__ import annotations

import math
from operator import add
from typing import TYPE_CHECKING

from typing_extensions import override

from topiccrawl.links.strategies.base import MAX_KEPT, BaseStrategy, scored
from topiccrawl.links.strategies.contract import LEARNT, PRIOR
from topiccrawl.links.strategies.link_words import LinkWords
from topiccrawl.links.urls import group
from topiccrawl.model import Offer
from topiccrawl.text.tokens import shared_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.links.strategies.contract import GroupStats, LinkScorer
    from topiccrawl.links.strategies.parameters import StrategyParameters
    from topiccrawl.model import Evidence, Link, Verdict


class SharkPlus(BaseStrategy):
    """Mean worth of all parents, best anchor and context, link-text model, priors.

    A page of relevance r has the worth ``s = r / (r + half)``: cosines are small, and the step from
    0 to .1 matters more than that from .3 to .4. The score of a URL with n parents is
    ``(sum of s + c * m) / (n + c) + a * anchor + x * context + w * promise``, where m is the mean
    worth of all pages crawled when it was offered (averaged over its offers): without evidence a
    URL gets the crawl's average, not 0. The promise comes from the link-text model
    (``link_words``): the worth of pages behind links with such words, topic words or not. The
    prior is the mean worth of the narrowest directory, shrunk towards the wider ones, the host and
    the crawl. Scores and priors are divided by their largest sum.

    In-links count by the relevance of the pages that they come from: a page that only irrelevant
    pages link to does not gain by their number, as it does in Liu et al. 2009.
    """

    name = "shark-plus"
    fields: tuple[str, ...] = ("inlinks", "worth", "means", "anchor", "context", "promise")

    def __init__(
        self, scorer: LinkScorer | None = None, parameters: StrategyParameters | None = None
    ) -> None:
        super().__init__(scorer, parameters)
        parameters = self.parameters
        weights = (parameters.plus_anchor_weight, parameters.plus_context_weight)
        self._promise_weight = parameters.plus_promise_weight
        self._scale = 1 + sum(weights) + 2 * self._promise_weight + parameters.plus_prior_weight
        self._topic_version = 0
        self._mean = 0.0
        self._words = LinkWords(parameters.plus_promise_shrink)
        self._tokenizer = shared_tokenizer()

    @property  # type: ignore[explicit-override]  # mypy sees no override on a property with setter
    def version(self) -> int:
        """Versions of the topic and of the link-text model, in one number."""
        return (self._topic_version + self._words.version * LEARNT) % 2**32

    @version.setter
    def version(self, version: int) -> None:
        self._topic_version = version

    @override
    def worth(self, relevance: float) -> float:
        """Return the worth of a page of this relevance, in [0, 1); one half at ``plus_half``."""
        return relevance / (relevance + self.parameters.plus_half) if relevance > 0 else 0.0

    @override
    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Return offers with the evidence of this parent."""
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
        """Learn the worth of the page that a link with these words led to."""
        if self._promise_weight and (anchor or context):
            context = context[:MAX_KEPT]
            known = self._words_of([anchor, context])
            words = known[anchor] | _with_itself(known, context)
            self._words.learn(words, self.worth(relevance))

    @override
    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return sums of in-links, worth and means; the best anchor, context and promise."""
        if not known:
            return new
        return (*map(add, known[:3], new[:3]), *map(max, known[3:], new[3:]))

    @override
    def value(self, evidence: Evidence) -> float:
        """Return the score in [0, 1]; a seed gets the largest possible one."""
        p = self.parameters
        if not evidence:
            return (self._scale - p.plus_prior_weight) / self._scale
        parents, worth, means, anchor, context, promise = evidence
        expected = (worth + p.plus_shrink * means / parents) / (parents + p.plus_shrink)
        text = p.plus_anchor_weight * anchor + p.plus_context_weight * context
        return (expected + text + self._promise_weight * (1.0 + promise)) / self._scale

    @override
    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        """Return evidence with the scores of the kept texts; the parents' worth stays."""
        scores = self.scorer.score_many([anchor, context])
        return (*evidence[:3], *scores, *self._promises([(anchor, context[:MAX_KEPT])]))

    @override
    def group(self, url: str) -> tuple[str, ...]:
        """Return the directories of the URL."""
        return group(url)

    @override
    def bias(self, stats: Sequence[GroupStats]) -> float:
        """Return the mean worth of the narrowest group, each shrunk towards the next wider one."""
        if stats and stats[0].pages:
            self._mean = stats[0].relevance / stats[0].pages
        mean, strength = self._mean, self.parameters.shrinkage
        for pages, worth in stats[1:]:
            mean = (worth + strength * mean) / (pages + strength)
        return self.parameters.plus_prior_weight * mean / self._scale

    def _promises(self, texts: Sequence[tuple[str, str]]) -> list[float]:
        """Return the promise of each link by its texts (anchor, context), in [-1, 1]."""
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
        """Return the distinct words of each text."""
        return dict(zip(texts, self._tokenizer.word_sets(texts), strict=True))


def _with_itself(known: dict[str, frozenset[str]], context: str) -> frozenset[str]:
    """Return a context's words and the whole context as one more word, marked by a line end.

    The links of a block or menu share that word, so each learns from the others' pages.
    """
    return known[context] | {context + "\n"}
