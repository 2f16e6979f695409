"""Where a topic's terms stand in a folded text: counts by term, without segmentation.

A Chinese term is found wherever its characters stand, also inside a longer word of the dictionary
(足球 in 足球队): segmentation splits phrases that are no dictionary words and swallows terms that
are parts of one. Counting so instead of by token raised the mean average precision of page scores
from .663 to .669 over 15 topics. A Latin term is found as a whole word, with its plural;
between the words of a phrase a blank or a hyphen may stand.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote_to_bytes

from topiccrawl.text.normal import fold, has_han
from topiccrawl.text.stems import LONGEST_ENDING, language_of, stem
from topiccrawl.text.tokens import inflections, singular

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_LETTER = "[a-z0-9à-ɏ]"
"""What a Latin word may not touch; a Chinese character may stand beside it."""

_SHORT_IN_URL = 4
"""Latin terms of fewer letters must stand alone in a URL: "ai" is not in ``/email/``."""


class Surface(NamedTuple):
    """One way in which a term is written.

    Attributes:
        term: Index of the term.
        literal: Text that stands wherever the surface stands: a cheap first question.
        pattern: What decides; None where the literal does.
        stem: Of what the pattern finds, only words of this stem count; "" for any.
        language: By whose rules they are stemmed.
    """

    term: int
    literal: str
    pattern: re.Pattern[str] | None
    stem: str = ""
    language: str = ""

    def times_in(self, text: str) -> int:
        """How often it stands in a folded text, without overlaps."""
        if self.literal not in text:
            return 0
        if self.pattern is None:
            return text.count(self.literal)
        found = self.pattern.finditer(text)
        if not self.stem:
            return sum(1 for _ in found)
        return sum(stem(word[0], self.language) == self.stem for word in found)


class TermMatcher:
    """Finds the surfaces of all terms.

    Args:
        terms: Folded terms; a term is known by its place here.
        synonyms: Other surfaces of a term, by term; a synonym counts as its term.
        languages: ISO 639-1 codes; single words of an inflected language are found in all forms.
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
            for text in _needed((term, *map(fold, synonyms.get(term, ()))))
        )
        self._url_words = [_url_pattern(term) for term in terms]
        self._texts = (*terms, *(fold(t) for term in terms for t in synonyms.get(term, ())))

    def tokens(self) -> frozenset[str]:
        """The canonical words that a cut may give for a surface, and for nothing else."""
        return frozenset(singular(text) if text.isascii() else text for text in self._texts)

    def within(self, text: str) -> tuple[Surface, ...]:
        """The surfaces that may stand in a folded text or in a part of it."""
        return tuple(surface for surface in self.surfaces if surface.literal in text)

    def contains(self, text: str) -> bool:
        """Whether any surface stands in a folded text."""
        return any(surface.times_in(text) for surface in self.surfaces)

    def contains_url(self, url: str) -> bool:
        """Whether a term stands in a URL: percent signs decoded, any sign between words."""
        readable = fold(_decoded(url))
        spaced = " ".join(_WORD.findall(readable))
        return self.contains(spaced) or any(
            pattern.search(readable) for pattern in self._url_words if pattern
        )


def count(surfaces: Iterable[Surface], text: str, weight: int = 1) -> dict[int, int]:
    """How often each term stands in a folded text, times a weight; absent terms are left out.

    >>> count(TermMatcher(["足球", "car"], {}).surfaces, "足球队 cars, 足球")
    {0: 2, 1: 1}
    """
    found: dict[int, int] = {}
    for surface in surfaces:
        if times := surface.times_in(text):
            found[surface.term] = found.get(surface.term, 0) + weight * times
    return found


def count_all(surfaces: Iterable[Surface], texts: Sequence[str]) -> dict[int, dict[int, int]]:
    """``count`` of each folded text in which a term stands, by its place.

    >>> count_all(TermMatcher(["足球", "car"], {}).surfaces, ["足球队", "新闻", "cars, 足球"])
    {0: {0: 1}, 2: {0: 1, 1: 1}}
    """
    found: dict[int, dict[int, int]] = {}
    for surface in surfaces:
        literal = surface.literal
        for index in [index for index, text in enumerate(texts) if literal in text]:
            if times := surface.times_in(texts[index]):
                counts = found.setdefault(index, {})
                counts[surface.term] = counts.get(surface.term, 0) + times
    return found


_WORD = re.compile(r"[^\W_]+")


def _needed(texts: Iterable[str]) -> list[str]:
    """The texts without those that are found anyway, as another of them is a part of them."""
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
    literal = _common_start(first)
    tails = "|".join(re.escape(form.removeprefix(literal)) for form in first)
    rest = "".join(rf"[\s-]+(?:{'|'.join(map(re.escape, forms))})" for forms in others)
    return Surface(index, literal, _bounded(literal, f"(?:{tails}){rest}"))


def _forms(word: str) -> list[str]:
    return list(inflections(singular(word))) if word.isascii() and word.isalpha() else [word]


def _common_start(texts: Sequence[str]) -> str:
    """The longest text with which all begin."""
    low, high = min(texts), max(texts)
    same = (i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b)
    return low[: next(same, len(low))]


def _bounded(literal: str, rest: str) -> re.Pattern[str]:
    """The literal first, so that the search jumps to it; then what must not stand around."""
    escaped = re.escape(literal)
    left = f"(?<!{_LETTER}{escaped})" if re.match(_LETTER, literal) else ""
    return re.compile(f"{escaped}{left}{rest}(?!(?<={_LETTER}){_LETTER})")


def _url_pattern(term: str) -> re.Pattern[str] | None:
    """A Latin term of some length is found inside a run of letters too: ``/worldfootball/``."""
    letters = "".join(_WORD.findall(term))
    long_enough = len(letters) >= _SHORT_IN_URL and not has_han(letters)
    return re.compile(re.escape(letters)) if long_enough else None


def _decoded(url: str) -> str:
    if "%" not in url:
        return url
    raw = unquote_to_bytes(url)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("gb18030", "replace")
