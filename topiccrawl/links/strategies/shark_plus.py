"""Strategy shark-plus: evidence of all parents, a link-text model and priors of URL groups."""

from __future__ import annotations

import math
from itertools import chain
from operator import add
from typing import TYPE_CHECKING

from typing_extensions import override

from topiccrawl.links.skeletons import group
from topiccrawl.links.strategies import learned
from topiccrawl.links.strategies.contract import LEARNT, NORMAL, PRIOR, REJECTED, BaseStrategy
from topiccrawl.links.strategies.link_texts import (
    MAX_KEPT,
    is_paging,
    listed_scores,
    score_links,
)
from topiccrawl.model import Evidence, Link, Offer, Verdict
from topiccrawl.text.tokens import BatchCache, shared_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.links.strategies.contract import GroupStats, LinkScorer
    from topiccrawl.links.strategies.parameters import StrategyParameters

_BEST, _WITHIN_SITE, _ANCHOR, _CONTEXT, _REGION, _IN_SITE = 3, 4, 5, 6, 8, 9
_SECTION, _NAME, _LISTED = 12, 13, 15
"""Indexes in the evidence. Revision 3 added three numbers, revision 5 the last one in place of the
one before, which is 0 and not used: queues of revisions 3 and 4 have another number there."""

_SURE_VALUE, _SHARE_OF_MEAN = 0.36, 0.15
"""Value from which links say that a page is on topic, and the share of the crawl's mean page score
that is subtracted before: where much is on topic, all values are higher."""

_CACHED_PROMISES = 10_000
"""Most link texts with cached promises, about 2 MB; every learned page clears the cache."""

_MIN_FOREIGN, _FOREIGN_SHARE = 5, 0.5
"""Pages reached from other sites, and their minimum mean score relative to the crawl's mean, before
links to other sites count like links within a site."""


class SharkPlus(BaseStrategy):
    """Linear combination of parent scores, link texts, source region, section and group prior.

    The score of a page with relevance r is ``s = r / (r + half)``. It saturates because cosines are
    small: the step from 0 to 0.1 matters more than the step from 0.3 to 0.4. The value of a URL
    with n parents is the sum

    ``b * parents + a * anchor + x * context + w * promise + r * region + c * section + listed``:

    - ``parents`` is a mixture (``Mixture``) of the best s and of ``sqrt((sum of s^2 + c * m^2) / (n
      + c))``, where m is the mean page score of the crawl when the URL was offered, averaged over
      its offers. Without evidence a URL gets the crawl's mean, not 0. The score of all parents is
      the better predictor if pages have many parents, the best parent if lists of all kinds link to
      pages. The weights of the mixture are fitted during the crawl.
    - ``promise`` is the prediction of the link-text model (``LinkWords``): scores of pages behind
      links with the same words, whether topic terms or not.
    - ``region`` is the mean score of pages behind links at the same position (``SourceRegions``).
    - ``section`` is the sum of the squared names of the parents that are lists, divided by the root
      of the number of parents. A page that links to further pages ("2", 下一页, "Next") is a list.
      Its name is the similarity of the best anchor that led to it; further pages of a list have the
      name of the list. The weight of sections falls if pages of named lists have lower scores than
      their parents predict (``SectionWeight``).
    - ``listed`` is ``a * anchor + x * context`` of the links that a list consists of, for links to
      its further pages (``listed_scores``). "2" has no words of its own, and a list is fetched for
      what it leads to: the next ten articles are expected to be like these ten.

    The prior is the mean page score of the narrowest directory, shrunk towards wider directories,
    the host and the crawl. Lists with further pages do not count in directories: the text of a list
    says little of the pages it leads to. Values and priors are divided by their maximum sum.

    In-links count by the relevance of their pages: unlike in Liu et al. 2009, the number of links
    from irrelevant pages does not raise the value.
    """

    name = "shark-plus"
    revision = 6
    fields: tuple[str, ...] = (
        "inlinks", "worth", "means", "best", "own_site", "anchor", "context", "promise", "region",
        "in_site", "in_directory", "in_page", "section", "name", "onward", "listed",
    )  # fmt: skip

    def __init__(
        self, scorer: LinkScorer | None = None, parameters: StrategyParameters | None = None
    ) -> None:
        super().__init__(scorer, parameters)
        p = self.parameters
        self.share = (p.plus_prior_share, p.plus_normal_share)
        self.slack = p.plus_slack
        self._bounded = p.plus_min_prior < 1 or p.min_normal > 0
        words = p.plus_anchor_weight + p.plus_context_weight
        texts, lists = words + 2 * p.plus_promise_weight, words + p.plus_section_weight
        places = p.plus_region_weight + p.plus_prior_weight
        self._scale = p.plus_parents_weight + texts + places + lists
        self._threshold_scale = self._scale / max(self._scale - lists, 1e-9)
        self._topic_version = 0
        self._mean = 0.0
        self._words = learned.LinkWords(p.plus_promise_shrink)
        self._regions = learned.SourceRegions(p.shrinkage)
        self._parents = learned.Mixture()
        self._sections = learned.SectionWeight()
        self._foreign = [0, 0.0]
        self._trusted = False
        self._tokenizer = shared_tokenizer()
        self._promises = BatchCache(self._predict, _CACHED_PROMISES)

    @property  # type: ignore[explicit-override]  # mypy sees no override on a property with setter
    def version(self) -> int:
        """Versions of the topic and of the link-text model, combined in one number."""
        return (self._topic_version + self._words.version * LEARNT) % 2**32

    @version.setter
    def version(self, version: int) -> None:
        self._topic_version = version

    @override
    def worth(self, relevance: float) -> float:
        """Return the page score for a relevance, in [0, 1); 0.5 at ``plus_half``."""
        return relevance / (relevance + self.parameters.plus_half) if relevance > 0 else 0.0

    @override
    def offers(self, verdict: Verdict, evidence: Evidence, links: Sequence[Link]) -> list[Offer]:
        """Return offers with the evidence of this parent."""
        worth, mean = self.worth(verdict.relevance), self._mean
        square, means = worth * worth, mean * mean
        own = _upgrade(evidence) if evidence else ()
        name = max(own[_NAME], own[_ANCHOR]) if own else 0.0
        scores = score_links(links, self.scorer)
        listed = listed_scores(links, scores)
        section = learned.strength(name) if listed else 0.0
        further = (name, 0.0, self._by_texts(*listed)) if listed else (0.0, 0.0, 0.0)
        texts = [(link.anchor, s.text) for link, s in zip(links, scores, strict=True)]
        expected = {regions: self._regions.expected(regions) for regions in {li[4] for li in links}}
        relevant = verdict.relevant and verdict.relevance >= self.parameters.plus_upper_limit
        offers = []
        for link, s, promise in zip(links, scores, self._promises(texts), strict=True):
            inside = float(not link.foreign)
            of_list = further if listed and is_paging(link.anchor) else (0.0, 0.0, 0.0)
            new = (
                1.0, square, means, worth, inside, s.anchor, s.context, promise,
                expected[link.regions], *link.regions, section, *of_list,
            )  # fmt: skip
            known = relevant and (inside or self._trusted)
            lane = PRIOR if known else self.lane(new)
            offers.append(Offer(link.url, lane, new, link.anchor, s.text))
        return offers

    @override
    def learn(self, anchor: str, context: str, relevance: float) -> None:
        """Update the link-text model with the words of a link and the score of its page.

        The other models are fitted again when its version changes, also if its weight is 0.
        """
        if anchor or context:
            words = frozenset[str]()
            if self.parameters.plus_promise_weight:
                context = context[:MAX_KEPT]
                known = self._words_of([anchor, context])
                words = known[anchor] | _context_words(known, context)
            before = self._words.version
            self._words.learn(words, self.worth(relevance))
            self._promises.clear()
            if self._words.version != before:
                self._parents.update_share()
                self._sections.update_share()

    @override
    def reached(self, evidence: Evidence, relevance: float) -> None:
        """Update mixture, section weight and regions with the score of a page."""
        if not evidence:
            return
        evidence = _upgrade(evidence)
        worth = self.worth(relevance)
        self._parents.learn(self._all_parents(evidence), evidence[_BEST], worth)
        self._sections.learn(_section(evidence), worth - self._by_parents(evidence))
        if evidence[_IN_SITE]:
            self._regions.learn(evidence[_IN_SITE:_SECTION], worth)
        if not evidence[_WITHIN_SITE]:
            self._foreign[0] += 1
            self._foreign[1] += worth
            pages, total = self._foreign
            self._trusted = pages >= _MIN_FOREIGN and total >= _FOREIGN_SHARE * pages * self._mean

    @override
    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return sums of in-links, scores, means and sections; the maximum of other numbers."""
        if not known:
            return new
        known, new = _upgrade(known), _upgrade(new)
        return (
            *map(add, known[:_BEST], new[:_BEST]),
            *map(max, known[_BEST:_REGION], new[_BEST:_REGION]),
            *max(known[_REGION:_SECTION], new[_REGION:_SECTION]),
            known[_SECTION] + new[_SECTION], *map(max, known[_NAME:], new[_NAME:]),
        )  # fmt: skip

    @override
    def value(self, evidence: Evidence) -> float:
        """Return the value in [0, 1]; a seed gets the largest possible value."""
        p = self.parameters
        if not evidence:
            return (self._scale - p.plus_prior_weight) / self._scale
        evidence = _upgrade(evidence)
        anchor, context, promise, region = evidence[_ANCHOR : _REGION + 1]
        text = self._by_texts(anchor, context) + evidence[_LISTED]
        text += p.plus_promise_weight * (1.0 + promise)
        found = p.plus_parents_weight * self._by_parents(evidence) + p.plus_region_weight * region
        found += p.plus_section_weight * self._sections.share * _section(evidence)
        return (found + text) / self._scale

    @override
    def expected(self, evidence: Evidence) -> float | None:
        """Return the value relative to ``_SURE_VALUE``; None for a seed."""
        if not evidence:
            return None
        excess = self.value(evidence) - _SHARE_OF_MEAN * self._mean
        return min(1.0, max(0.0, excess / _SURE_VALUE))

    def _by_texts(self, anchor: float, context: float) -> float:
        """Return the weighted sum of the scores of anchor and context."""
        p = self.parameters
        return p.plus_anchor_weight * anchor + p.plus_context_weight * context

    def _by_parents(self, evidence: Evidence) -> float:
        """Predict the page score from all parents and the best parent."""
        share = self._parents.share
        return (1 - share) * self._all_parents(evidence) + share * evidence[_BEST]

    def _all_parents(self, evidence: Evidence) -> float:
        """Return the root mean square of the parents' scores, shrunk to the crawl's mean."""
        parents, square, means = evidence[:_BEST]
        shrink = self.parameters.plus_shrink
        return math.sqrt((square + shrink * means / parents) / (parents + shrink))

    @override
    def lane(self, evidence: Evidence) -> int:
        """Return priorQueue if anchor or context contain topic terms.

        See section 3 of the project's methods; a topic's thresholds of the potential score apply to
        the value. For links to other sites only the anchor counts, until pages reached by such
        links have sufficient scores, so that links within a site come before links to unknown
        hosts. ``offers`` also assigns the links of relevant pages to priorQueue.
        """
        if not evidence or (evidence := _upgrade(evidence))[_ANCHOR]:
            return PRIOR
        if evidence[_CONTEXT] and (evidence[_WITHIN_SITE] or self._trusted):
            return PRIOR
        return self._lane_by_value(evidence) if self._bounded else NORMAL

    def _lane_by_value(self, evidence: Evidence) -> int:
        """Return the lane of a URL without topic terms, by thresholds of its value.

        The thresholds refer to values without section and paging, which most URLs lack.
        """
        p, score = self.parameters, self.value(evidence) * self._threshold_scale
        if score >= p.plus_min_prior:
            return PRIOR
        return NORMAL if score >= p.min_normal else REJECTED

    @override
    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        """Return evidence with new scores of texts and region; parent scores are unchanged."""
        evidence = _upgrade(evidence)
        scores = self.scorer.score_many([anchor, context])
        regions = evidence[_IN_SITE:_SECTION]
        return (
            *evidence[:_ANCHOR], *scores, *self._promises([(anchor, context[:MAX_KEPT])]),
            self._regions.expected(regions), *regions, *evidence[_SECTION:],
        )  # fmt: skip

    @override
    def rescore_all(self, rows: Sequence[tuple[Evidence, str, str]]) -> list[Evidence]:
        """Return ``rescore`` for each row; the texts of all rows are scored in one batch before."""
        self.scorer.score_many([text for _, *texts in rows for text in texts])
        self._promises([(anchor, context[:MAX_KEPT]) for _, anchor, context in rows])
        return super().rescore_all(rows)

    @override
    def group(self, url: str) -> tuple[str, ...]:
        """Return the directories of the URL."""
        return group(url)

    @override
    def bias(self, stats: Sequence[GroupStats]) -> float:
        """Return the mean score of the narrowest group; means are shrunk towards wider groups."""
        if stats and stats[0].pages:
            self._mean = stats[0].relevance / stats[0].pages
        mean, strength = self._mean, self.parameters.shrinkage
        for pages, worth in stats[1:]:
            mean = (worth + strength * mean) / (pages + strength)
        return self.parameters.plus_prior_weight * mean / self._scale

    def _predict(self, texts: Sequence[tuple[str, str]]) -> list[float]:
        """Predict page scores of links by texts (anchor, context), as deviations in [-1, 1]."""
        if not (self._words.version and self.parameters.plus_promise_weight):
            return [0.0] * len(texts)
        known = self._words_of(list(dict.fromkeys(chain.from_iterable(texts))))
        total = self._words.total
        near = {context: _context_words(known, context) for context in {pair[1] for pair in texts}}
        totals = {context: total(words) for context, words in near.items()}
        promises = []
        for anchor, context in texts:
            shared = near[context]
            own = known[anchor] - shared
            promise = (totals[context] + total(own)) / math.sqrt(len(shared) + len(own))
            promises.append(min(1.0, max(-1.0, promise)))
        return promises

    def _words_of(self, texts: Sequence[str]) -> dict[str, frozenset[str]]:
        """Return the distinct words of each text."""
        return dict(zip(texts, self._tokenizer.word_sets(texts), strict=True))


def _context_words(known: dict[str, frozenset[str]], context: str) -> frozenset[str]:
    """Return the words of a context, with the whole context as an additional word.

    The additional word ends with a line break. The links of a block or menu share it, so each
    learns from the pages of the others.
    """
    return known[context] | {context + "\n"}


def _section(evidence: Evidence) -> float:
    """Return the section strength of a URL, in [0, 1]."""
    return min(1.0, evidence[_SECTION] / math.sqrt(evidence[0]))


def _upgrade(evidence: Evidence) -> Evidence:
    """Return evidence with all numbers up to ``_LISTED``; before revision 5, the last are missing.

    A derived strategy has its own numbers after these.
    """
    if len(evidence) > _LISTED:
        return evidence
    known = evidence[: _NAME + 1]
    return known + (0.0,) * (_LISTED + 1 - len(known))
