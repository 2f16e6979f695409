"""Relevance of a text: cosine of its TF-IDF vector and the topic vector.

As in [S2, S3; methods section 1], the topic's weights are set by the user (1 by default), IDF is
applied to the text, and both vectors are L2-normalized. Decisions that the sources leave open:

- ``tf`` is the square root of a word's count. Over 15 topics of three collections, the mean average
  precision was 0.669, compared with 0.658 for the plain count and 0.662 for 1 + ln(count). The
  square root also makes the squared length a plain sum over words, so no table of counts is needed.
- The words of a title count ``TITLE_WEIGHT`` times (0.673 instead of 0.669).
- A synonym counts as its term. A negative term is subtracted. Only positive weights count for the
  length of the topic vector. Negative sums become 0.
- The count of a term is the number of matches in the text (``matching``); its tokens are not
  counted again. A phrase is an additional term, and its IDF assumes independent words.
- Numbers, stop words and single characters do not count unless they are terms.
- A text without any term scores 0 and is not segmented.

Links are scored in batches by the same exact cosine as pages.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from itertools import compress
from operator import mul
from statistics import fmean
from typing import TYPE_CHECKING, Self
from zlib import crc32

from topiccrawl.errors import expect
from topiccrawl.model import Page, Verdict
from topiccrawl.text.idf import Idf, corpus_idf
from topiccrawl.text.matching import TermMatcher, count_all
from topiccrawl.text.measure import TITLE_WEIGHT, Measurer, Measures, Vocabulary, judged_text
from topiccrawl.text.normal import fold
from topiccrawl.text.tokens import BatchCache, shared_tokenizer
from topiccrawl.topics.linked import with_links
from topiccrawl.topics.pagekind import own_share
from topiccrawl.topics.topic import Topic
from topiccrawl.topics.vector import TopicVector

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from topiccrawl.text.tokens import Tokenizer
    from topiccrawl.topics.contract import Reasons
    from topiccrawl.topics.sitewords import SiteWords

LOWER_LIMIT = 0.05
"""Default relevance from which a page is relevant.

Over 15 topics of three collections F1 is flat and highest from 0.05 (precision 0.54, recall 0.77)
to 0.06 (0.58, 0.72); 0.05 loses fewer pages. Half of the relevant pages of a topic score 0.05 to
0.17, and 95 % of the other pages score below 0.04 in most topics.
"""

UPPER_LIMIT = 0.10
"""Relevance above which a page is very likely on topic: precision 0.71, recall 0.48."""

MEASURED = 128
"""Texts with recorded measures: a page and its article are scored before and in the callback, and
counted for the site."""

_CACHED_TEXTS = 20_000
"""Most link texts with cached scores, about 5 MB, since menus repeat on all pages of a site."""


class Scorer:
    """Scorer of texts against one topic. Immutable except for caches and ``adopt``.

    Args:
        topic: Topic with terms, synonyms, negative terms and lower limit.
        tokenizer: Tokenizer; None for the shared tokenizer of the process.
        idf: Inverse document frequencies; None for the bundled table.
        vector: Adapted topic vector that replaces the topic's own.
        lower_limit: Adapted lower limit that replaces the topic's own.
        sites: Document frequencies of the terms by site, updated by ``observe``; None to weight
            terms equally on all sites.

    Attributes:
        version: Number below 2**24 that changes with the topic (see ``Topic.version``) and with
            adopted terms.
        vocabulary: Words that readers need to measure a text.
        scorers: This scorer alone, as in ``MultiScorer``.
    """

    _most_measures, _most_links = MEASURED, _CACHED_TEXTS

    def __init__(
        self,
        topic: Topic,
        tokenizer: Tokenizer | None = None,
        idf: Idf | None = None,
        *,
        vector: TopicVector | None = None,
        lower_limit: float | None = None,
        sites: SiteWords | None = None,
    ) -> None:
        expect(topic, Topic, "the topic must be a Topic", "see topiccrawl.find_topic")
        self.topic = topic
        self.sites = sites
        self.scorers = (self,)
        self.tokenizer = tokenizer or shared_tokenizer()
        self.idf = idf or corpus_idf()
        limit = topic.thresholds.lower_limit if lower_limit is None else lower_limit
        self.lower_limit = LOWER_LIMIT if limit is None else limit
        self.adopt(vector or TopicVector.of_topic(topic))
        self.version = topic.version

    def adopt(self, vector: TopicVector) -> None:
        """Replace the topic vector, for example with terms derived from examples."""
        topic = self.topic
        self.vector = vector
        self.version = crc32(repr(vector).encode()) % 2**24
        terms, positive = vector.terms, tuple(weight > 0 for weight in vector.weights)
        synonyms = {fold(term): words for term, words in topic.synonyms.items()}
        forbidden = tuple(map(fold, topic.must_not))
        self.vocabulary = Vocabulary(
            terms, positive, tuple(synonyms.items()), forbidden, topic.languages
        )
        self._measurer = Measurer(self.vocabulary, self.tokenizer, self.idf)
        wanted = tuple(compress(terms, positive))
        self._positive = TermMatcher(wanted, synonyms, topic.languages)
        self._idf = self._measurer.idf_of_terms
        self._squares = tuple(idf**2 for idf in self._idf)
        self._weights: tuple[float, ...] = tuple(map(mul, vector.weights, self._idf))
        self._equal_weights = (1.0,) * len(self.vector.terms)
        self._norm = self.vector.norm
        places = {term: index for index, term in enumerate(self.vector.terms)}
        self._groups = _groups(topic, places)
        self._link_scores = BatchCache(self._score_new, self._most_links)
        self._measures: dict[int, Measures] = {}

    def with_vector(self, vector: TopicVector, *, lower_limit: float | None = None) -> Self:
        """Return a new scorer of the same topic with other terms and weights."""
        scorer = type(self)(
            self.topic, self.tokenizer, self.idf, vector=vector, lower_limit=lower_limit
        )
        scorer.sites = self.sites
        return scorer

    def score_text(self, text: str, title: str = "", url: str = "") -> Verdict:
        """Score a text; return its relevance and the terms that explain it.

        Args:
            text: Visible text of the page, in any width, case or script.
            title: Title of the page; may also be part of the text.
            url: URL of the page, for term weights by site (see ``sites``).

        Returns:
            The cosine in [0, 1]; whether it reaches the lower limit; and the terms found with their
            contributions to the cosine (negative for negative terms), largest first. A text that
            does not match all groups of the topic, or has fewer than ``min_terms`` terms, stays
            below the lower limit; its links inherit the cosine if it only lacks terms. A text with
            a word of ``must_not`` scores 0.
        """
        counts, squared_length, forbidden = self._measured(text, title)
        if not self._measurer.has_positive(counts):
            return Verdict(0.0, self.lower_limit <= 0.0 and not forbidden, self._terms(counts, {}))
        scale = self._scale(squared_length, counts)
        factors = self._site_factors(url)
        terms = self._terms(counts, {index: scale * factors[index] for index in counts})
        cosine = self._cosine(counts, scale, factors)
        if forbidden:
            return Verdict(0.0, relevant=False, terms=terms)
        met = [not group.isdisjoint(counts) for group in self._groups]
        if not all(met):
            score = _below(cosine * fmean(met), self.lower_limit)
            return Verdict(score, relevant=False, terms=terms)
        whole = Verdict(cosine, cosine >= self.lower_limit, terms)
        found = sum(self.vector.weights[index] > 0 for index in counts)
        if found < self.topic.min_terms:
            score = _below(cosine * found / self.topic.min_terms, self.lower_limit)
            return Verdict(score, relevant=False, terms=terms, by_words=whole)
        return whole

    def score_page(self, page: Page) -> Verdict:
        """Score a page; menus and link lists are left out if the remaining text is long enough.

        Menus name all subjects of a site on every page, which is noise on articles. The content of
        a hub are its links, so the whole text is scored if the prose is shorter than ``PROSE``
        characters. ``article`` is the page's article share. The links to the page count if
        ``expected`` is given (``topics.linked``), but not against groups and ``must_not``.
        """
        expect(page, Page, "the page must be a Page", "see topiccrawl.read_page")
        verdict = self.score_text(self.judged_text(page), page.title, page.url)
        article = own_share(page)
        by_words = verdict.by_words and verdict.by_words._replace(article=article)
        verdict = verdict._replace(article=article, by_words=by_words)
        if page.expected is None or self._excludes(page):
            return verdict
        return with_links(verdict, page.expected, self.lower_limit)

    def topics_on(self, page: Page, verdict: Verdict) -> list[tuple[Topic, float]]:  # noqa: ARG002
        """Return the only topic with the relevance of a page that was judged relevant."""
        return [(self.topic, verdict.relevance)]

    def explain(self, page: Page) -> Reasons:
        """Return the terms on the page with their contributions to the cosine."""
        return self.score_page(page).terms

    def signature(self) -> str:
        """Return a text that identifies topic, vector and limit, but not the site statistics."""
        scored = f"{self.topic.version} {self.vector} {self.lower_limit}"
        return f"words-{hashlib.sha256(scored.encode()).hexdigest()[:12]}"

    def observe(self, page: Page) -> None:
        """Count the page in the site statistics (see ``sites``); call it once for each page."""
        if self.sites is not None:
            counts, _, _ = self._measured(self.judged_text(page), page.title)
            self.sites.observe(page.url, (self.vector.terms[index] for index in counts))

    @staticmethod
    def judged_text(page: Page) -> str:
        """Return the text of a page that ``score_page`` uses."""
        return judged_text(page.text, page.prose)

    def score_short(self, text: str) -> float:
        """Return ``score_text(text).relevance`` for an anchor or a context; see ``score_many``."""
        expect(text, str, "a link text is text", "see topiccrawl.decode")
        return self.score_many([text])[0]

    def score_many(self, texts: Sequence[str]) -> list[float]:
        """Return ``score_text(text).relevance`` for each text, in one batch.

        A batch of a page's anchors and contexts takes a fraction of the time of single calls. Texts
        with cached scores, such as a site's menu, take almost no time.
        """
        return self._link_scores(texts)

    def _score_new(self, texts: Sequence[str]) -> list[float]:
        lines = self.tokenizer.lines(texts)
        scores = [0.0] * len(lines)
        found = [
            (i, counts)
            for i, counts in count_all(
                self._measurer.matcher.candidates_in("\n".join(lines)), lines
            ).items()
            if self._measurer.has_positive(counts)
        ]
        cuts = self.tokenizer.cut_all([lines[i] for i, _ in found])
        for (i, counts), pieces in zip(found, cuts, strict=True):
            squared_length = sum(map(self._measurer.squared_idf.__getitem__, pieces))
            scores[i] = self._cosine(counts, self._scale(squared_length, counts))
        return scores

    def contains(self, text: str) -> bool:
        """Return whether an anchor text or a URL contains a topic keyword [S2].

        A text with ``://`` is treated as a URL and percent-decoded (UTF-8, else GBK). Keywords are
        terms with positive weights and their synonyms.
        """
        if "://" in text:
            return self._positive.contains_url(text)
        return self._positive.contains(fold(text))

    def page_vector(self, text: str, title: str = "") -> dict[str, float]:
        """Return the TF-IDF vector of a text: words and terms to weights, with L2 norm 1.

        ``score_text`` computes the cosine of this vector; adaptation learns from it.
        """
        folded, heading = fold(text), fold(title)
        counts: dict[str, int] = {}
        for part, weight in ((folded, 1), (heading, TITLE_WEIGHT)):
            for piece, times in Counter(self._measurer.pieces(part)).items():
                for word in self._measurer.counted_words(piece):
                    counts[word] = counts.get(word, 0) + weight * times
        squares = {word: times * self.idf(word) ** 2 for word, times in counts.items()}
        for index, times in self._measurer.counts(folded, heading).items():
            squares[self.vector.terms[index]] = times * self._squares[index]
        norm = math.sqrt(sum(squares.values()))
        return {word: math.sqrt(square) / norm for word, square in squares.items()}

    def page_words(self, text: str, title: str = "") -> set[str]:
        """Return the distinct canonical words of a text, without words of topic terms."""
        pieces = set(self._measurer.pieces(fold(f"{title}\n{text}")))
        return {word for piece in pieces for word in self._measurer.counted_words(piece)}

    def record(self, page: Page, vocabulary: Vocabulary, measures: Measures) -> None:
        """Record what a reader process has measured, unless this scorer would measure otherwise.

        It would after its vocabulary has changed, and with a tokenizer or frequencies of its own.
        """
        standard = self.tokenizer is shared_tokenizer() and self.idf is corpus_idf()
        if standard and vocabulary == self.vocabulary:
            self._record(hash((judged_text(page.text, page.prose), page.title)), measures)

    def _record(self, key: int, measures: Measures) -> None:
        if len(self._measures) >= self._most_measures:
            for oldest in list(self._measures)[: 1 - self._most_measures]:
                self._measures.pop(oldest, None)  # another thread may have removed it
        self._measures[key] = measures

    def _measured(self, text: str, title: str) -> Measures:
        key = hash((text, title))  # not the text itself, which may have megabytes
        found = self._measures.get(key)
        if found is None:
            found = self._measurer.measure(text, title)
            self._record(key, found)
        return found

    def _excludes(self, page: Page) -> bool:
        """Return whether the topic's groups or ``must_not`` exclude a page."""
        counts, _, forbidden = self._measured(self.judged_text(page), page.title)
        return forbidden or any(group.isdisjoint(counts) for group in self._groups)

    def _scale(self, squared_length: float, counts: dict[int, int]) -> float:
        """Return 1 / (length of the text vector * length of the topic vector)."""
        squared_length += sum(times * self._squares[index] for index, times in counts.items())
        return 1.0 / (math.sqrt(squared_length) * self._norm)

    def _cosine(
        self, counts: dict[int, int], scale: float, factors: Sequence[float] | None = None
    ) -> float:
        by_site = factors or self._equal_weights
        dot = sum(self._summand(index, n) * by_site[index] for index, n in counts.items())
        return min(1.0, max(0.0, dot * scale))

    def _summand(self, index: int, times: int) -> float:
        return self._weights[index] * math.sqrt(times)

    def _site_factors(self, url: str) -> Sequence[float]:
        """Return the term weights for a page's site, scaled to keep the topic vector's length.

        Negative terms have weight 1.
        """
        if self.sites is None or not url:
            return self._equal_weights
        terms = self.vector.terms
        factors = [self.sites.factor(url, *term) for term in zip(terms, self._idf, strict=True)]
        pairs = list(zip(self.vector.weights, factors, strict=True))
        squares = sum((weight * factor) ** 2 for weight, factor in pairs if weight > 0)
        rescale = self._norm / math.sqrt(squares) if squares else 1.0
        return [factor * rescale if weight > 0 else 1.0 for weight, factor in pairs]

    def _terms(
        self, counts: dict[int, int], scales: Mapping[int, float]
    ) -> tuple[tuple[str, float], ...]:
        terms = [
            (self.vector.terms[index], self._summand(index, times) * scales.get(index, 0.0))
            for index, times in counts.items()
        ]
        return tuple(sorted(terms, key=lambda pair: -abs(pair[1])))


def record_all(
    scorers: Iterable[Scorer],
    vocabularies: Iterable[Vocabulary],
    page: Page,
    measures: Iterable[Measures],
) -> None:
    """Record what a reader process has measured on a page, for each scorer."""
    for scorer, vocabulary, found in zip(scorers, vocabularies, measures, strict=True):
        scorer.record(page, vocabulary, found)


def _groups(topic: Topic, places: Mapping[str, int]) -> tuple[frozenset[int], ...]:
    """Return the topic's groups as sets of term indexes; a synonym counts as its term."""
    term_of = {fold(word): fold(term) for term, words in topic.synonyms.items() for word in words}
    folded = ([term_of.get(fold(word), fold(word)) for word in group] for group in topic.groups)
    groups = (frozenset(places[word] for word in words if word in places) for words in folded)
    return tuple(filter(None, groups))


def _below(score: float, limit: float) -> float:
    """Map a score to a value below a limit, preserving the order.

    >>> _below(0.9, 0.05) < 0.05, _below(0.9, 0.05) > _below(0.1, 0.05) > 0.0, _below(0.5, 0.0)
    (True, True, 0.0)
    """
    return score * limit / (score + limit) if score else 0.0
