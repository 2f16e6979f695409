"""shark-plus: the evidence of all parents, a link-text model and priors of the URL's groups."""

from __future__ import annotations

import math
from operator import add
from typing import TYPE_CHECKING

from typing_extensions import override

from topiccrawl.links.strategies.base import MAX_KEPT, BaseStrategy, scored
from topiccrawl.links.strategies.contract import LEARNT, NORMAL, PRIOR
from topiccrawl.links.strategies.link_words import LinkWords
from topiccrawl.links.strategies.regions import SourceRegions
from topiccrawl.links.urls import group
from topiccrawl.model import Offer
from topiccrawl.text.tokens import shared_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.links.strategies.contract import GroupStats, LinkScorer
    from topiccrawl.links.strategies.parameters import StrategyParameters
    from topiccrawl.model import Evidence, Link, Verdict


_BEST, _ANCHOR, _CONTEXT, _REGION, _IN_SITE = 3, 4, 5, 7, 8
"""Places in the evidence."""


class SharkPlus(BaseStrategy):
    """Worth of all parents and of the best one, anchor, context, link text, region, priors.

    A page of relevance r has the worth ``s = r / (r + half)``: cosines are small, and the step from
    0 to .1 matters more than that from .3 to .4. The score of a URL with n parents is
    ``sqrt((sum of s^2 + c * m^2) / (n + c)) + b * best s + a * anchor + x * context + w * promise
    + r * region``, where m is the mean worth of all pages crawled when it was offered (averaged
    over its offers): without evidence a URL gets the crawl's average, not 0. The root of the mean
    square lies between the mean of all parents, which is best where pages have many, and the best
    parent, which is best where lists of all kinds link to a page. The promise comes from the
    link-text model (``link_words``): the worth of pages behind links with such words, topic words
    or not; the region (``regions``) is that of pages behind links in such places. The prior is the
    mean worth of the narrowest directory, shrunk towards the wider ones, the host and the crawl.
    Scores and priors are divided by their largest sum.

    In-links count by the relevance of the pages that they come from: a page that only irrelevant
    pages link to does not gain by their number, as it does in Liu et al. 2009.
    """

    name = "shark-plus"
    revision = 2
    fields: tuple[str, ...] = (
        "inlinks", "worth", "means", "best", "anchor", "context", "promise", "region",
        "in_site", "in_directory", "in_page",
    )  # fmt: skip

    def __init__(
        self, scorer: LinkScorer | None = None, parameters: StrategyParameters | None = None
    ) -> None:
        super().__init__(scorer, parameters)
        p = self.parameters
        self.share = (p.plus_prior_share, p.plus_normal_share)
        texts = p.plus_anchor_weight + p.plus_context_weight + 2 * p.plus_promise_weight
        parents = 1 + p.plus_best_weight
        self._scale = parents + texts + p.plus_region_weight + p.plus_prior_weight
        self._topic_version = 0
        self._mean = 0.0
        self._words = LinkWords(p.plus_promise_shrink)
        self._regions = SourceRegions(p.shrinkage)
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
        worth, mean = self.worth(verdict.relevance), self._mean
        square, means = worth * worth, mean * mean
        usual = PRIOR if verdict.relevant else NORMAL
        scores = scored(links, self.scorer)
        promises = self._promises(
            [(li.anchor, s.text) for li, s in zip(links, scores, strict=True)]
        )
        expected = {regions: self._regions.expected(regions) for regions in {li[4] for li in links}}
        return [
            Offer(
                link.url, PRIOR if s.anchor or s.context else usual,
                (
                    1.0, square, means, worth, s.anchor, s.context, promise,
                    expected[link.regions], *link.regions,
                ),
                link.anchor, s.text,
            )
            for link, s, promise in zip(links, scores, promises, strict=True)
        ]  # fmt: skip

    @override
    def learn(self, anchor: str, context: str, relevance: float) -> None:
        """Learn the worth of the page that a link with these words led to."""
        if self.parameters.plus_promise_weight and (anchor or context):
            context = context[:MAX_KEPT]
            known = self._words_of([anchor, context])
            words = known[anchor] | _with_itself(known, context)
            self._words.learn(words, self.worth(relevance))

    @override
    def reached(self, evidence: Evidence, relevance: float) -> None:
        """Learn the worth of the page that links in these places led to."""
        if evidence and evidence[_IN_SITE]:
            self._regions.learn(evidence[_IN_SITE:], self.worth(relevance))

    @override
    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return sums of in-links, worth and means; the best of all else, and the best region."""
        if not known:
            return new
        best = map(max, known[_BEST:_REGION], new[_BEST:_REGION])
        return (*map(add, known[:_BEST], new[:_BEST]), *best, *max(known[_REGION:], new[_REGION:]))

    @override
    def value(self, evidence: Evidence) -> float:
        """Return the score in [0, 1]; a seed gets the largest possible one."""
        p = self.parameters
        if not evidence:
            return (self._scale - p.plus_prior_weight) / self._scale
        parents, worth, means, best, anchor, context, promise, region, *_ = evidence
        square = (worth + p.plus_shrink * means / parents) / (parents + p.plus_shrink)
        text = p.plus_anchor_weight * anchor + p.plus_context_weight * context
        text += p.plus_promise_weight * (1.0 + promise)
        found = math.sqrt(square) + p.plus_best_weight * best + p.plus_region_weight * region
        return (found + text) / self._scale

    @override
    def lane(self, evidence: Evidence) -> int:
        """Return priorQueue where anchor or context name the topic; an offer may say it, too.

        Methods of the project, section 3, without thresholds of a potential score.
        """
        named = not evidence or evidence[_ANCHOR] or evidence[_CONTEXT]
        return PRIOR if named else NORMAL

    @override
    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        """Return evidence with the scores of the kept texts and region; the parents' stays."""
        scores = self.scorer.score_many([anchor, context])
        regions = evidence[_IN_SITE:]
        return (
            *evidence[:_ANCHOR], *scores, *self._promises([(anchor, context[:MAX_KEPT])]),
            self._regions.expected(regions), *regions,
        )  # fmt: skip

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
