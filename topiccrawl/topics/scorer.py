"""Relevance of a text: the cosine of its TF-IDF vector and the topic's vector.

As in [S2, S3; methods section 1]: the topic's weights are the user's (1 by default), IDF acts on
the text's side, both are L2-normalised. Choices that the sources leave open:

- ``tf`` is the square root of a word's count. Over 15 topics of three collections its mean
  average precision was .669, of the plain count .658, of 1 + ln(count) .662. It also makes the
  squared length of a text a plain sum over its words, so a text needs no table of counts.
- A title's words count ``TITLE_WEIGHT`` times (.673 instead of .669).
- A synonym counts as its term. A negative term subtracts; the topic's length is that of its
  positive weights; the sum is cut at 0.
- A term's count is that of its surfaces in the text (``matching``), and its tokens are not counted
  again. A phrase is a term besides its words, with the IDF of its words taken as independent.
- Numbers, stop words and single characters do not count unless they are terms.
- A text without any term scores 0 and is never segmented.

Links are scored by the same cosine as pages, in a batch, not by an approximation.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Self
from zlib import crc32

from topiccrawl.model import Page, Verdict
from topiccrawl.text.idf import Idf, corpus_idf
from topiccrawl.text.normal import fold, has_han
from topiccrawl.text.tokens import is_plain, latin_words, shared_tokenizer, split, stop_words
from topiccrawl.topics.matching import Surface, TermMatcher, count, count_all
from topiccrawl.topics.pagekind import own_share
from topiccrawl.topics.samples import sample
from topiccrawl.topics.vector import TopicVector

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from topiccrawl.text.tokens import Tokenizer
    from topiccrawl.topics.contract import Reasons
    from topiccrawl.topics.sitewords import SiteWords
    from topiccrawl.topics.topic import Topic

LOWER_LIMIT = 0.05
"""Page relevance from which a page is relevant, unless the topic has its own limit.

Over 15 topics of three collections F1 is flat and highest from .05 (precision .54, recall .77) to
.06 (.58, .72); the lower one loses fewer pages. Half of the relevant pages of a topic score .05
to .17, and 95 % of the others stay below .04 in most topics.
"""

PROSE = 200
"""Characters of a page's own text from which its menus are left out of the score."""

UPPER_LIMIT = 0.10
"""Page relevance above which a page is certainly on topic: precision .71 there, recall .48."""

TITLE_WEIGHT = 3
"""Weight of a title's words, as a multiple of the text's."""

_MEASURED = 64
"""Texts whose words are kept as counted: a page is judged before its article is taken, and after,
and counted for its site."""

_CACHED_WORDS = 200_000
"""Words whose mass is cached, about 20 MB; then the cache is cleared."""

_CACHED_TEXTS = 20_000
"""Texts of links whose score is cached, about 5 MB: menus are on every page of a site."""


class Scorer:
    """Scorer of texts against one topic. Immutable except for caches and ``adopt``.

    Args:
        topic: Gives terms, synonyms, negative terms and the lower limit.
        tokenizer: Tokenizer; None for the process's shared one.
        idf: Document frequencies; None for the shipped ones.
        vector: An adapted topic vector in place of the topic's own.
        lower_limit: An adapted lower limit in place of the topic's own.
        sites: Document frequencies of the terms by site; None: a term counts the same on all
            sites. ``observe`` updates it.

    Attributes:
        version: Number below 2**24 that changes with the topic (see ``Topic.version``), and with
            the terms that are adopted later.
    """

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
        self.topic = topic
        self.sites = sites
        self.tokenizer = tokenizer or shared_tokenizer()
        self.idf = idf or corpus_idf()
        limit = topic.thresholds.lower_limit if lower_limit is None else lower_limit
        self.lower_limit = LOWER_LIMIT if limit is None else limit
        self._forbidden = TermMatcher(tuple(map(fold, topic.must_not)), {}, topic.languages)
        self.adopt(vector or TopicVector.of_topic(topic))
        self.version = topic.version

    def adopt(self, vector: TopicVector) -> None:
        """Score by other terms from now on, such as those derived from examples."""
        topic = self.topic
        self.vector = vector
        self.version = crc32(repr(vector).encode()) % 2**24
        synonyms = {fold(term): words for term, words in topic.synonyms.items()}
        self._matcher = TermMatcher(self.vector.terms, synonyms, topic.languages)
        self._positive = TermMatcher(
            tuple(term for term, weight in self.vector.items() if weight > 0),
            synonyms,
            topic.languages,
        )
        self._idf = tuple(self._term_idf(term) for term in self.vector.terms)
        self._alike = (1.0,) * len(self.vector.terms)
        self._norm = self.vector.norm
        places = {term: index for index, term in enumerate(self.vector.terms)}
        self._groups = _groups(topic, places)
        self._mass = _Mass(self.idf, self._matcher.tokens())
        self._known: dict[str, float] = {}
        self._measured = lru_cache(_MEASURED)(self._measure)

    def with_vector(self, vector: TopicVector, *, lower_limit: float | None = None) -> Self:
        """Return a scorer of the same topic with other terms and weights; this one is unchanged."""
        moved = type(self)(
            self.topic, self.tokenizer, self.idf, vector=vector, lower_limit=lower_limit
        )
        moved.sites = self.sites
        return moved

    def score_text(self, text: str, title: str = "", url: str = "") -> Verdict:
        """Return the relevance of a text, and the terms that explain it.

        Args:
            text: Visible text of the page, in any width, case or script.
            title: Its title; may be in the text as well.
            url: The page's URL: its site's words count less (see ``sites``).

        Returns:
            The cosine in [0, 1]; whether it reaches the lower limit; and each term found with its
            summand of the cosine (negative for a negative term), heaviest first. A text that does
            not meet each of the topic's groups stays below the lower limit; one with a word of
            ``must_not`` scores 0.
        """
        counts, mass, forbidden = self._measured(text, title)
        if not self._speak_for_it(counts):
            return Verdict(0.0, self.lower_limit <= 0.0, self._terms(counts, {}))
        scale = self._scale(mass, counts)
        factors = self._site_factors(url)
        terms = self._terms(counts, {index: scale * factors[index] for index in counts})
        cosine = self._cosine(counts, scale, factors)
        if forbidden:
            return Verdict(0.0, relevant=False, terms=terms)
        met = sum(not group.isdisjoint(counts) for group in self._groups)
        if met < len(self._groups):
            share = met / len(self._groups)
            return Verdict(_below(cosine * share, self.lower_limit), relevant=False, terms=terms)
        return Verdict(cosine, cosine >= self.lower_limit, terms)

    def score_page(self, page: Page) -> Verdict:
        """Return the relevance of a page, without its menus and link lists if the rest is long.

        A menu names every subject of its site on every page: on articles it is noise. A hub has
        hardly any text of its own; there the links are its content. If the prose is shorter than
        ``PROSE`` characters, the whole text is judged. ``article`` is the page's article share.
        """
        verdict = self.score_text(self.judged_text(page), page.title, page.url)
        return verdict._replace(article=own_share(page))

    def topics_on(self, page: Page, verdict: Verdict) -> list[tuple[Topic, float]]:  # noqa: ARG002
        """Return the topics that a page judged relevant is on, with its relevance: the only one."""
        return [(self.topic, verdict.relevance)]

    def explain(self, page: Page) -> Reasons:
        """Return the topic's terms on the page, each with its summand of the cosine."""
        return self.score_page(page).terms

    def signature(self) -> str:
        """Return a text that changes with the topic, vector and limit, not with site words."""
        scored = f"{self.topic.version} {self.vector} {self.lower_limit}"
        return f"words-{hashlib.sha256(scored.encode()).hexdigest()[:12]}"

    def observe(self, page: Page) -> None:
        """Count the page for its site (see ``sites``); each page once, in any order."""
        if self.sites is not None:
            counts, _, _ = self._measured(self.judged_text(page), page.title)
            self.sites.observe(page.url, (self.vector.terms[index] for index in counts))

    @staticmethod
    def judged_text(page: Page) -> str:
        """Return the text of a page that ``score_page`` judges."""
        return page.prose if len(page.prose) >= PROSE else page.text

    def score_short(self, text: str) -> float:
        """Return ``score_text(text).relevance`` of an anchor or a context; see ``score_many``."""
        return self.score_many([text])[0]

    def score_many(self, texts: Sequence[str]) -> list[float]:
        """Return ``score_text(text).relevance`` of each text, folded and cut in one pass.

        A page's anchors and contexts together cost a fraction of one by one; cached ones, such as
        a site's menu, cost nearly nothing.
        """
        known = self._known
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            if len(known) + len(new) > _CACHED_TEXTS:
                known.clear()
                new = list(dict.fromkeys(texts))
            known.update(zip(new, self._score_new(new), strict=True))
        return [known[text] for text in texts]

    def _score_new(self, texts: Sequence[str]) -> list[float]:
        lines = self.tokenizer.lines(texts)
        scores = [0.0] * len(lines)
        found = [
            (i, counts)
            for i, counts in count_all(self._matcher.within("\n".join(lines)), lines).items()
            if self._speak_for_it(counts)
        ]
        cuts = self.tokenizer.cut_all([lines[i] for i, _ in found])
        for (i, counts), pieces in zip(found, cuts, strict=True):
            mass = sum(map(self._mass.__getitem__, pieces))
            scores[i] = self._cosine(counts, self._scale(mass, counts))
        return scores

    def contains(self, text: str) -> bool:
        """Return whether an anchor text or a URL contains a topic keyword [S2].

        A text with ``://`` is a URL; its percent signs are decoded (UTF-8, else GBK). Keywords are
        the terms with a weight above 0 and their synonyms.
        """
        if "://" in text:
            return self._positive.contains_url(text)
        return self._positive.contains(fold(text))

    def page_vector(self, text: str, title: str = "") -> dict[str, float]:
        """Return the text's vector: canonical words and terms to weights, L2 norm 1 (or empty).

        ``score_text`` takes the cosine of this vector; adaptation learns from it.
        """
        folded, heading = fold(text), fold(title)
        counts: dict[str, int] = {}
        for part, weight in ((folded, 1), (heading, TITLE_WEIGHT)):
            for piece, times in Counter(self._pieces(part)).items():
                for word in self._mass.words(piece):
                    counts[word] = counts.get(word, 0) + weight * times
        squares = {word: times * self.idf(word) ** 2 for word, times in counts.items()}
        for index, times in self._counts(folded, heading, self._matcher.surfaces).items():
            squares[self.vector.terms[index]] = times * self._idf[index] ** 2
        norm = math.sqrt(sum(squares.values()))
        return {word: math.sqrt(square) / norm for word, square in squares.items()}

    def page_words(self, text: str, title: str = "") -> set[str]:
        """Return the text's different canonical words, without those of the topic's terms."""
        pieces = set(self._pieces(fold(f"{title}\n{text}")))
        return {word for piece in pieces for word in self._mass.words(piece)}

    def _measure(self, text: str, title: str) -> tuple[dict[int, int], float, bool]:
        """Return counts of the terms, the text's squared length, and if a word forbids the text.

        The length is 0 for a text that nothing speaks for.
        """
        folded, heading = fold(text), fold(title)
        counts = self._counts(folded, heading, self._matcher.surfaces)
        if not self._speak_for_it(counts):
            return counts, 0.0, False
        windows = sample(folded)
        share = sum(map(len, windows)) / max(1, len(folded))
        mass = self._mass_of("\n".join(windows)) / (share or 1.0)
        mass += TITLE_WEIGHT * self._mass_of(heading)
        forbidden = self._forbidden.contains(folded) or self._forbidden.contains(heading)
        return counts, mass, forbidden

    def _counts(self, text: str, title: str, surfaces: Iterable[Surface]) -> dict[int, int]:
        counts = count(surfaces, text)
        for index, times in count(surfaces, title).items():
            counts[index] = counts.get(index, 0) + TITLE_WEIGHT * times
        return counts

    def _speak_for_it(self, counts: dict[int, int]) -> bool:
        return any(self.vector.weights[index] > 0 for index in counts)

    def _scale(self, mass: float, counts: dict[int, int]) -> float:
        """Return one over the product of both vectors' lengths."""
        mass += sum(times * self._idf[index] ** 2 for index, times in counts.items())
        return 1.0 / (math.sqrt(mass) * self._norm)

    def _cosine(
        self, counts: dict[int, int], scale: float, factors: Sequence[float] | None = None
    ) -> float:
        by_site = factors or self._alike
        dot = sum(self._summand(index, n) * by_site[index] for index, n in counts.items())
        return min(1.0, max(0.0, dot * scale))

    def _summand(self, index: int, times: int) -> float:
        return self.vector.weights[index] * self._idf[index] * math.sqrt(times)

    def _site_factors(self, url: str) -> Sequence[float]:
        """Return what each term counts on a page's site, so that the topic's length stays.

        Terms against the topic count as elsewhere.
        """
        if self.sites is None or not url:
            return self._alike
        terms = self.vector.terms
        factors = [self.sites.factor(url, *term) for term in zip(terms, self._idf, strict=True)]
        pairs = list(zip(self.vector.weights, factors, strict=True))
        squares = sum((weight * factor) ** 2 for weight, factor in pairs if weight > 0)
        rise = self._norm / math.sqrt(squares) if squares else 1.0
        return [factor * rise if weight > 0 else 1.0 for weight, factor in pairs]

    def _terms(
        self, counts: dict[int, int], scales: Mapping[int, float]
    ) -> tuple[tuple[str, float], ...]:
        terms = [
            (self.vector.terms[index], self._summand(index, times) * scales.get(index, 0.0))
            for index, times in counts.items()
        ]
        return tuple(sorted(terms, key=lambda pair: -abs(pair[1])))

    def _term_idf(self, term: str) -> float:
        words = self.tokenizer.words(term)
        return self.idf.phrase(words) if len(words) > 1 else self.idf(words[0] if words else term)

    def _pieces(self, folded: str) -> list[str]:
        """Return the pieces of a text; a text without Chinese needs no dictionary."""
        return self.tokenizer.cut(folded) if has_han(folded) else latin_words(folded)

    def _mass_of(self, folded: str) -> float:
        """Return the squared length of the text's vector, without terms."""
        return sum(map(self._mass.__getitem__, self._pieces(folded)))


def _groups(topic: Topic, places: Mapping[str, int]) -> tuple[frozenset[int], ...]:
    """Return the topic's groups as indexes of their terms; a synonym counts as its term."""
    term_of = {fold(word): fold(term) for term, words in topic.synonyms.items() for word in words}
    folded = ([term_of.get(fold(word), fold(word)) for word in group] for group in topic.groups)
    groups = (frozenset(places[word] for word in words if word in places) for words in folded)
    return tuple(filter(None, groups))


def _below(score: float, limit: float) -> float:
    """Map a score to below a limit, in the same order.

    >>> _below(0.9, 0.05) < 0.05, _below(0.9, 0.05) > _below(0.1, 0.05) > 0.0, _below(0.5, 0.0)
    (True, True, 0.0)
    """
    return score * limit / (score + limit) if score else 0.0


class _Mass(dict[str, float]):
    """Cache of a piece's part in the squared length of a text: its words' squared IDF.

    Args:
        idf: Document frequencies.
        terms: Words that are counted as terms, and so not here.
    """

    def __init__(self, idf: Idf, terms: frozenset[str]) -> None:
        super().__init__()
        self._idf = idf
        self._terms = terms
        self._nothing = terms | stop_words()

    def __missing__(self, piece: str) -> float:
        if len(self) >= _CACHED_WORDS:
            self.clear()
        mass = self[piece] = sum([self._idf(word) ** 2 for word in self.words(piece)])
        return mass

    def words(self, piece: str) -> list[str]:
        """Return the words of a piece that count."""
        if is_plain(piece) and piece not in self._nothing:
            return [piece]
        return [w for w in split(piece) if w not in self._terms and not w.isdecimal()]
