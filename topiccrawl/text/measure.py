"""Measures of a text from which its relevance to a topic follows (``topics.scorer``).

Measuring a text takes most of the time of scoring it and depends only on the text and on the terms
of the topic. Reader processes therefore measure the pages that they read.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.text.idf import Idf, corpus_idf
from topiccrawl.text.matching import TermMatcher, count
from topiccrawl.text.normal import fold, has_han
from topiccrawl.text.tokens import Cache, latin_words, shared_tokenizer, split

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topiccrawl.text.tokens import Tokenizer

TITLE_WEIGHT = 3
"""Weight of words in the title, relative to words in the text."""

PROSE = 200
"""Characters of a page's own text from which menus and link lists are not scored."""

SAMPLED = 2_000
"""Most characters of a text that are segmented to estimate its vector length.

Topic terms are counted in the whole text. On the longer pages of four collections the score differs
by 2 to 3 % (standard deviation; 5 % on Chinese help pages), the same as with twice as many windows
of twice the length. Mean harvest areas of six sets of topics differ by -0.003 to +0.001 from those
with 4,000 characters. Scoring 30 kB takes a third of the time, and longer texts take no more.
"""

WINDOW = 100
"""Characters of one window; many short windows are used, since the parts of a page differ."""

_BOUNDARY = 30
"""Characters searched for a blank, so that windows do not cut Latin words."""

CACHED_WORDS = 200_000
"""Most words with cached squared IDF, about 20 MB; above it the cache is cleared."""


class Vocabulary(NamedTuple):
    """Words of a topic, as plain hashable values.

    Attributes:
        terms: Distinct folded terms.
        positive: Whether each term counts for the topic; the others count against it.
        synonyms: Terms with the words that count as the term.
        must_not: Folded words that a text on topic must not contain.
        languages: ISO 639-1 codes; single words match in all inflections of these languages.
    """

    terms: tuple[str, ...]
    positive: tuple[bool, ...]
    synonyms: tuple[tuple[str, tuple[str, ...]], ...] = ()
    must_not: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()


class Measures(NamedTuple):
    """Measures of a text.

    Attributes:
        counts: Number of occurrences by index of the term.
        squared_length: Squared length of the text's TF-IDF vector without topic terms; 0 for a text
            without positive terms, which is not segmented.
        forbidden: Whether a ``must_not`` word occurs.
    """

    counts: dict[int, int]
    squared_length: float
    forbidden: bool


class Measurer:
    """Measurer of texts for one vocabulary. Immutable except for a cache.

    Args:
        vocabulary: Words of the topic.
        tokenizer: Tokenizer; None for the shared tokenizer of the process.
        idf: Inverse document frequencies; None for the bundled table.
        most: Most words with cached squared IDF.

    Attributes:
        matcher: Matcher of the terms.
        idf_of_terms: IDF of each term.
        squared_idf: Contribution of a token to the squared length of a text vector.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        tokenizer: Tokenizer | None = None,
        idf: Idf | None = None,
        *,
        most: int = CACHED_WORDS,
    ) -> None:
        self._tokenizer = tokenizer or shared_tokenizer()
        self._idf = idf or corpus_idf()
        self._idf_of = self._idf.__call__  # bound: a call of the object takes three times as long
        self._positive = frozenset(i for i, counts in enumerate(vocabulary.positive) if counts)
        synonyms = dict(vocabulary.synonyms)
        self.matcher = TermMatcher(vocabulary.terms, synonyms, vocabulary.languages)
        self._forbidden = TermMatcher(vocabulary.must_not, {}, vocabulary.languages)
        self.idf_of_terms = tuple(map(self._term_idf, vocabulary.terms))
        self._tokens = self.matcher.tokens()
        self.squared_idf = Cache(self._squared_idf_of, most)

    def measure(self, text: str, title: str = "") -> Measures:
        """Measure a text and its title."""
        prepared = _prepared(self._tokenizer, text, title, len(self._tokenizer.added))
        counts = self.counts(prepared.text, prepared.title)
        contains = self._forbidden.contains
        forbidden = contains(prepared.text) or contains(prepared.title)
        if not self.has_positive(counts):
            return Measures(counts, 0.0, forbidden)
        pieces, share = prepared.sampled
        squared_length = self._squared_length(pieces) / share
        squared_length += TITLE_WEIGHT * self._squared_length(prepared.title_pieces)
        return Measures(counts, squared_length, forbidden)

    def counts(self, text: str, title: str) -> dict[int, int]:
        """Return the occurrences of terms in a folded text and title, by index of the term."""
        counts = count(self.matcher.surfaces, text)
        for index, times in count(self.matcher.surfaces, title).items():
            counts[index] = counts.get(index, 0) + TITLE_WEIGHT * times
        return counts

    def has_positive(self, counts: Iterable[int]) -> bool:
        """Return whether one of the terms counts for the topic."""
        return not self._positive.isdisjoint(counts)

    def pieces(self, folded: str) -> list[str]:
        """Segment a folded text."""
        return _pieces(self._tokenizer, folded)

    def counted_words(self, piece: str) -> list[str]:
        """Return the words of a piece that count, without terms, which are counted apart."""
        return [w for w in split(piece) if w not in self._tokens and not w.isdecimal()]

    def _squared_length(self, pieces: Iterable[str]) -> float:
        """Return the squared length of the text vector, without topic terms."""
        return sum(map(self.squared_idf.__getitem__, pieces))

    def _squared_idf_of(self, piece: str) -> float:
        total = 0.0
        for word in split(piece):
            if word not in self._tokens and not word.isdecimal():
                total += self._idf_of(word) ** 2
        return total

    def _term_idf(self, term: str) -> float:
        words = self._tokenizer.words(term)
        return self._idf.phrase(words) if len(words) > 1 else self._idf(words[0] if words else term)


class _PreparedText:
    """Folded forms of a text and, on first use, its pieces; the same for all topics.

    Args:
        tokenizer: Tokenizer of the pieces.
        text: Text.
        title: Its title.
        _added: Number of words added to the tokenizer, so that a new one leads to other pieces.
    """

    def __init__(self, tokenizer: Tokenizer, text: str, title: str, _added: int) -> None:
        self._tokenizer = tokenizer
        self.text, self.title = fold(text), fold(title)

    @cached_property
    def sampled(self) -> tuple[list[str], float]:
        """Pieces of the sample of the text, and the share of the text in the sample."""
        windows = sample(self.text)
        share = sum(map(len, windows)) / max(1, len(self.text))
        return _pieces(self._tokenizer, "\n".join(windows)), share or 1.0

    @cached_property
    def title_pieces(self) -> list[str]:
        """Pieces of the title."""
        return _pieces(self._tokenizer, self.title)


_prepared = lru_cache(maxsize=1)(_PreparedText)  # a page is measured for all topics in a row


def _pieces(tokenizer: Tokenizer, folded: str) -> list[str]:
    """Segment a text; texts without Chinese need no dictionary."""
    return tokenizer.cut(folded) if has_han(folded) else latin_words(folded)


def judged_text(text: str, prose: str) -> str:
    """Return the part of a page's text by which it is judged: its prose, or all if that is short.

    >>> judged_text("menu, prose", "prose"), len(judged_text("menu, prose", 200 * "p"))
    ('menu, prose', 200)
    """
    return prose if len(prose) >= PROSE else text


def sample(text: str) -> list[str]:
    """Return the whole text, or evenly spaced windows with ``SAMPLED`` characters in total.

    The squared vector length is a sum over words, so it can be estimated from a sample.

    >>> sum(map(len, sample("新" * 10_000))), sample("short")
    (2000, ['short'])
    """
    if len(text) <= SAMPLED:
        return [text]
    windows = SAMPLED // WINDOW
    stride = (len(text) - WINDOW) / (windows - 1)
    return [_window(text, round(number * stride)) for number in range(windows)]


def _window(text: str, start: int) -> str:
    """Return a window, with its ends moved to blanks."""
    end = start + WINDOW
    first = text.find(" ", start, start + _BOUNDARY) if start else -1
    last = text.rfind(" ", end - _BOUNDARY, end) if end < len(text) else -1
    return text[start if first < 0 else first : end if last < 0 else last]
