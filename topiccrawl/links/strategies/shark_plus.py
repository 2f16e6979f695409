"""shark-plus: the evidence of all parents, a link-text model and priors of the URL's groups."""

from __future__ import annotations

import math
from operator import add
from typing import TYPE_CHECKING

from typing_extensions import override

from topiccrawl.links.skeletons import group
from topiccrawl.links.strategies.base import MAX_KEPT, BaseStrategy, scored
from topiccrawl.links.strategies.contract import LEARNT, NORMAL, PRIOR, REJECTED
from topiccrawl.links.strategies.link_words import LinkWords
from topiccrawl.links.strategies.mixture import Mixture
from topiccrawl.links.strategies.regions import SourceRegions
from topiccrawl.links.strategies.sections import ONWARD, SectionGuard, is_paging, strength
from topiccrawl.model import Offer
from topiccrawl.text.tokens import shared_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.links.strategies.contract import GroupStats, LinkScorer
    from topiccrawl.links.strategies.parameters import StrategyParameters
    from topiccrawl.model import Evidence, Link, Verdict


_BEST, _OWN, _ANCHOR, _CONTEXT, _REGION, _IN_SITE = 3, 4, 5, 6, 8, 9
_SECTION, _NAME, _ONWARD = 12, 13, 14
"""Places in the evidence; the last three are of revision 3."""

_ABROAD, _ABROAD_SHARE = 5, 0.5
"""Pages of other sites that must have been reached, and their least worth beside the crawl's mean,
before such links count as those within a site."""


class SharkPlus(BaseStrategy):
    """Worth of all parents and the best one, anchor, context, link text, region, section, prior.

    A page of relevance r has the worth ``s = r / (r + half)``: cosines are small, and the step from
    0 to .1 matters more than that from .3 to .4. The score of a URL with n parents is
    ``b * parents + a * anchor + x * context + w * promise + r * region + c * section + onward``.

    ``parents`` is a mixture (``mixture``) of the best s and of ``sqrt((sum of s^2 + c * m^2) /
    (n + c))``, where m is the mean worth of all pages crawled when the URL was offered (averaged
    over its offers): without evidence a URL gets the crawl's average, not 0. All parents tell most
    where pages have many, the best one where lists of all kinds link to a page: the crawl's own
    outcomes move the mixture. The promise comes from the link-text model (``link_words``): the
    worth of pages behind links with such words, topic words or not; the region (``regions``) is
    that of pages behind links in such places. A page has the name of the best anchor that led to
    it, and a further page of a list that of the list; the section is the sum of the squared names
    of the parents by the root of their number, and counts as far as pages behind named ones proved
    better than their parents predict (``sections``). A link to a further page of a list gains by
    the list's own worth. The prior is the mean worth of the narrowest
    directory, shrunk towards the wider ones, the host and the crawl. Scores and priors are divided
    by their largest sum.

    In-links count by the relevance of the pages that they come from: a page that only irrelevant
    pages link to does not gain by their number, as it does in Liu et al. 2009.
    """

    name = "shark-plus"
    revision = 3
    fields: tuple[str, ...] = (
        "inlinks", "worth", "means", "best", "own_site", "anchor", "context", "promise", "region",
        "in_site", "in_directory", "in_page", "section", "name", "onward",
    )  # fmt: skip

    def __init__(
        self, scorer: LinkScorer | None = None, parameters: StrategyParameters | None = None
    ) -> None:
        super().__init__(scorer, parameters)
        p = self.parameters
        self.share = (p.plus_prior_share, p.plus_normal_share)
        self.slack = p.plus_slack
        self._bounded = p.plus_min_prior < 1 or p.min_normal > 0
        texts = p.plus_anchor_weight + p.plus_context_weight + 2 * p.plus_promise_weight
        places = p.plus_region_weight + p.plus_section_weight + p.plus_prior_weight
        self._scale = p.plus_parents_weight + texts + places + ONWARD
        self._stretch = self._scale / (self._scale - p.plus_section_weight - ONWARD)
        self._topic_version = 0
        self._mean = 0.0
        self._words = LinkWords(p.plus_promise_shrink)
        self._regions = SourceRegions(p.shrinkage)
        self._parents = Mixture()
        self._sections = SectionGuard()
        self._abroad = [0, 0.0]
        self._pays = False
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
        own = _current(evidence) if evidence else ()
        name = max(own[_NAME], own[_ANCHOR]) if own else 0.0
        section = strength(name)
        scores = scored(links, self.scorer)
        promises = self._promises(
            [(li.anchor, s.text) for li, s in zip(links, scores, strict=True)]
        )
        expected = {regions: self._regions.expected(regions) for regions in {li[4] for li in links}}
        offers = []
        for link, s, promise in zip(links, scores, promises, strict=True):
            inside = float(not link.foreign)
            list_name, onward = (name, worth) if is_paging(link.anchor) else (0.0, 0.0)
            new = (
                1.0, square, means, worth, inside, s.anchor, s.context, promise,
                expected[link.regions], *link.regions, section, list_name, onward,
            )  # fmt: skip
            relevant = verdict.relevant and verdict.relevance >= self.parameters.plus_upper_limit
            known = relevant and (inside or self._pays)
            lane = PRIOR if known else self.lane(new)
            offers.append(Offer(link.url, lane, new, link.anchor, s.text))
        return offers

    @override
    def learn(self, anchor: str, context: str, relevance: float) -> None:
        """Learn the worth of the page that a link with these words led to."""
        if self.parameters.plus_promise_weight and (anchor or context):
            context = context[:MAX_KEPT]
            known = self._words_of([anchor, context])
            words = known[anchor] | _with_itself(known, context)
            before = self._words.version
            self._words.learn(words, self.worth(relevance))
            if self._words.version != before:
                self._parents.settle()
                self._sections.settle()

    @override
    def reached(self, evidence: Evidence, relevance: float) -> None:
        """Learn from the worth of a page by its parents, its site, and the places of its links."""
        if not evidence:
            return
        evidence = _current(evidence)
        worth = self.worth(relevance)
        self._parents.learn(self._everyone(evidence), evidence[_BEST], worth)
        self._sections.learn(_section(evidence), worth - self._by_parents(evidence))
        if evidence[_IN_SITE]:
            self._regions.learn(evidence[_IN_SITE:_SECTION], worth)
        if not evidence[_OWN]:
            self._abroad[0] += 1
            self._abroad[1] += worth
            pages, total = self._abroad
            self._pays = pages >= _ABROAD and total >= _ABROAD_SHARE * pages * self._mean

    @override
    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return sums of in-links, worth, means, section; the best of all else, the best region."""
        if not known:
            return new
        known, new = _current(known), _current(new)
        return (
            *map(add, known[:_BEST], new[:_BEST]),
            *map(max, known[_BEST:_REGION], new[_BEST:_REGION]),
            *max(known[_REGION:_SECTION], new[_REGION:_SECTION]),
            known[_SECTION] + new[_SECTION], *map(max, known[_NAME:], new[_NAME:]),
        )  # fmt: skip

    @override
    def value(self, evidence: Evidence) -> float:
        """Return the score in [0, 1]; a seed gets the largest possible one."""
        p = self.parameters
        if not evidence:
            return (self._scale - p.plus_prior_weight) / self._scale
        evidence = _current(evidence)
        anchor, context, promise, region = evidence[_ANCHOR : _REGION + 1]
        text = p.plus_anchor_weight * anchor + p.plus_context_weight * context
        text += p.plus_promise_weight * (1.0 + promise)
        found = p.plus_parents_weight * self._by_parents(evidence) + p.plus_region_weight * region
        found += p.plus_section_weight * self._sections.share * _section(evidence)
        found += ONWARD * evidence[_ONWARD]
        return (found + text) / self._scale

    def _by_parents(self, evidence: Evidence) -> float:
        """Return what all parents and the best one predict of the page's worth."""
        share = self._parents.share
        return (1 - share) * self._everyone(evidence) + share * evidence[_BEST]

    def _everyone(self, evidence: Evidence) -> float:
        """Return the root of the mean square of the parents' worth, shrunk to the crawl's mean."""
        parents, square, means = evidence[:_BEST]
        shrink = self.parameters.plus_shrink
        return math.sqrt((square + shrink * means / parents) / (parents + shrink))

    @override
    def lane(self, evidence: Evidence) -> int:
        """Return priorQueue where anchor or context name the topic; offers of relevant pages, too.

        Methods of the project, section 3; a topic's thresholds of the potential score hold for the
        score by evidence. To another site only the anchor counts, until pages reached in this way
        were worth it: a site's own links come before those to unknown hosts.
        """
        if not evidence or (evidence := _current(evidence))[_ANCHOR]:
            return PRIOR
        if evidence[_CONTEXT] and (evidence[_OWN] or self._pays):
            return PRIOR
        return self._by_score(evidence) if self._bounded else NORMAL

    def _by_score(self, evidence: Evidence) -> int:
        """Return the lane of a URL that nothing names, by thresholds of its score.

        They are of a score without section and onward, which most URLs have none of.
        """
        p, score = self.parameters, self.value(evidence) * self._stretch
        if score >= p.plus_min_prior:
            return PRIOR
        return NORMAL if score >= p.min_normal else REJECTED

    @override
    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        """Return evidence with the scores of the kept texts and region; the parents' stays."""
        evidence = _current(evidence)
        scores = self.scorer.score_many([anchor, context])
        regions = evidence[_IN_SITE:_SECTION]
        return (
            *evidence[:_ANCHOR], *scores, *self._promises([(anchor, context[:MAX_KEPT])]),
            self._regions.expected(regions), *regions, *evidence[_SECTION:],
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


def _section(evidence: Evidence) -> float:
    """Return how far a URL is of sections that the topic names, in [0, 1]."""
    return min(1.0, evidence[_SECTION] / math.sqrt(evidence[0]))


def _current(evidence: Evidence) -> Evidence:
    """Return evidence as this revision has it; that of revision 2 lacks the last numbers."""
    return evidence + (0.0,) * (len(SharkPlus.fields) - len(evidence))
