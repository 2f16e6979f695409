"""Matching of topic terms in folded texts, without word segmentation.

A Chinese term matches wherever its characters occur, also inside a longer dictionary word (足球 in
足球队), since segmentation splits phrases that are not in the dictionary and misses terms within
words. Compared with counting tokens, this raised the mean average precision of page scores from
0.663 to 0.669 over 15 topics. A Latin term matches whole words and plurals; the words of a phrase
may be separated by blanks or hyphens.

Words of inflected languages are stemmed with Snowball (snowballstemmer, BSD). English is not: only
plurals are folded (see ``text.tokens``), so that words with different meanings in news stay
separate. Cyrillic words are Russian unless the topic's languages include sr.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from os.path import commonprefix
from typing import TYPE_CHECKING, NamedTuple

import snowballstemmer

from topiccrawl.text.decode import percent_decoded
from topiccrawl.text.normal import fold, has_han
from topiccrawl.text.tokens import inflections, singular

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ALGORITHMS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "es": "spanish", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish",
}  # fmt: skip
"""Snowball's name by ISO 639-1 code."""

LONGEST_ENDING = 12
"""Most letters of a form after its stem; endings with suffixes have up to nine."""

_CYRILLIC = re.compile(r"[а-яё]")
_LETTERS = re.compile(r"[^\W\d_]+")

_LETTER = "[a-z0-9à-ɏ]"
"""Characters that may not be next to a Latin word; Chinese characters may."""

_SHORT_IN_URL = 4
"""Shorter Latin terms must be whole words in a URL: "ai" does not match ``/email/``, but "football"
matches ``/worldfootball/``."""


class Surface(NamedTuple):
    """One spelling of a term.

    Attributes:
        term: Index of the term.
        literal: Text contained in every match, for a cheap first test.
        pattern: Pattern of the matches; None to match the literal.
        stem: Required stem of matches; "" for any.
        language: Language of the stemmer.
    """

    term: int
    literal: str
    pattern: re.Pattern[str] | None
    stem: str = ""
    language: str = ""

    def times_in(self, text: str) -> int:
        """Count non-overlapping occurrences in a folded text."""
        if self.pattern is None:
            return text.count(self.literal)
        if self.literal not in text:
            return 0
        found = self.pattern.finditer(text)
        if not self.stem:
            return sum(1 for _ in found)
        return sum(stem(word[0], self.language) == self.stem for word in found)


class TermMatcher:
    """Matcher of the surfaces of all terms.

    Args:
        terms: Folded terms; the index of a term here identifies it.
        synonyms: Synonyms by term; an occurrence counts for the term.
        languages: ISO 639-1 codes; single words match in all inflections of these languages.
    """

    def __init__(
        self,
        terms: Sequence[str],
        synonyms: Mapping[str, Iterable[str]],
        languages: Sequence[str] = (),
    ) -> None:
        self.surfaces = tuple(
            _surface(index, text, languages)
            for index, term in enumerate(terms)
            for text in _without_redundant((term, *map(fold, synonyms.get(term, ()))))
        )
        joined = ("".join(_WORD.findall(term)) for term in terms)
        self._url_words = [w for w in joined if len(w) >= _SHORT_IN_URL and not has_han(w)]
        self._texts = (*terms, *(fold(t) for term in terms for t in synonyms.get(term, ())))

    def tokens(self) -> frozenset[str]:
        """Return the canonical words that the tokenizer may return for a surface."""
        return frozenset(map(singular, self._texts))

    def candidates_in(self, text: str) -> tuple[Surface, ...]:
        """Return the surfaces that may occur in a folded text."""
        return tuple(surface for surface in self.surfaces if surface.literal in text)

    def contains(self, text: str) -> bool:
        """Return whether a folded text contains any surface."""
        return any(surface.times_in(text) for surface in self.surfaces)

    def contains_url(self, url: str) -> bool:
        """Return whether a percent-decoded URL contains a term, with any separators of words."""
        readable = fold(percent_decoded(url))
        spaced = " ".join(_WORD.findall(readable))
        return self.contains(spaced) or any(word in readable for word in self._url_words)


def count(surfaces: Iterable[Surface], text: str) -> dict[int, int]:
    """Count the occurrences of terms in a folded text.

    >>> count(TermMatcher(["足球", "car"], {}).surfaces, "足球队 cars, 足球")
    {0: 2, 1: 1}
    """
    return count_all(surfaces, [text]).get(0, {})


def count_all(surfaces: Iterable[Surface], texts: Sequence[str]) -> dict[int, dict[int, int]]:
    """Return the ``count`` of each folded text that contains a term, by index of the text.

    >>> count_all(TermMatcher(["足球", "car"], {}).surfaces, ["足球队", "新闻", "cars, 足球"])
    {0: {0: 1}, 2: {0: 1, 1: 1}}
    """
    found: dict[int, dict[int, int]] = {}
    for surface in surfaces:
        literal = surface.literal
        for index, text in enumerate(texts):
            if literal in text and (times := surface.times_in(text)):
                counts = found.setdefault(index, {})
                counts[surface.term] = counts.get(surface.term, 0) + times
    return found


_WORD = re.compile(r"[^\W_]+")


def _without_redundant(texts: Iterable[str]) -> list[str]:
    """Remove texts that contain another Chinese text and are therefore redundant."""
    kept: list[str] = []
    for text in sorted(filter(None, texts), key=len):
        if not any(_is_han(other) and other in text for other in kept) and text not in kept:
            kept.append(text)
    return kept


def _is_han(text: str) -> bool:
    return all(map(has_han, text))


def _surface(index: int, text: str, languages: Sequence[str]) -> Surface:
    if _is_han(text):
        return Surface(index, text, None)
    if language := language_of(text, languages):
        found = stem(text, language)
        forms = re.compile(rf"(?<!\w){re.escape(found)}\w{{0,{LONGEST_ENDING}}}(?!\w)")
        return Surface(index, found, forms, found, language)
    if has_han(text):
        return Surface(index, text, _bounded(text, ""))
    first, *others = [_forms(word) for word in re.split(r"[\s-]+", text)]
    literal = commonprefix(first)  # noqa: RUF071 - of words
    tails = "|".join(re.escape(form.removeprefix(literal)) for form in first)
    rest = "".join(rf"[\s-]+(?:{'|'.join(map(re.escape, forms))})" for forms in others)
    return Surface(index, literal, _bounded(literal, f"(?:{tails}){rest}"))


def _forms(word: str) -> list[str]:
    return list(inflections(singular(word))) if word.isalpha() else [word]


def _bounded(literal: str, rest: str) -> re.Pattern[str]:
    """Return a pattern of whole words that begins with the literal, for a fast search."""
    escaped = re.escape(literal)
    left = f"(?<!{_LETTER}{escaped})" if re.match(_LETTER, literal) else ""
    return re.compile(f"{escaped}{left}{rest}(?!(?<={_LETTER}){_LETTER})")


def language_of(word: str, languages: Iterable[str] = ()) -> str:
    """Return the language of a folded word's stemmer, or "" for none.

    Args:
        word: A single word.
        languages: Languages of the topic; the first with a stemmer is used.

    >>> language_of("электромобили"), language_of("wahlen", ["en", "de"]), language_of("cars")
    ('ru', 'de', '')
    """
    if not _LETTERS.fullmatch(word):
        return ""
    if _CYRILLIC.search(word):
        return "sr" if "sr" in languages else "ru"
    return next((code for code in languages if code in ALGORITHMS and code not in "ru sr"), "")


@lru_cache(maxsize=50_000)
def stem(word: str, language: str) -> str:
    """Stem a folded word repeatedly until it does not change.

    One pass is not enough: Snowball treats the ending of электромобили as a verb ending and that of
    электромобилей as a noun ending, and only their second stems are equal.

    >>> stem("электромобили", "ru") == stem("электромобилей", "ru")
    True
    """
    stemmer = _stemmer(language)
    while (shorter := stemmer.stemWord(word)) != word:
        word = shorter
    return word


@cache
def _stemmer(language: str) -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer(ALGORITHMS[language])
