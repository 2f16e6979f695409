"""Stemming of inflected languages with Snowball (snowballstemmer, BSD).

English is not stemmed; only plurals are folded (see ``text.tokens``), so that words with different
meanings in news stay separate. Cyrillic words are Russian unless the topic's languages include sr.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import snowballstemmer

if TYPE_CHECKING:
    from collections.abc import Iterable

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
_WORD = re.compile(r"[^\W\d_]+")


def language_of(word: str, languages: Iterable[str] = ()) -> str:
    """Return the language of a folded word's stemmer, or "" for none.

    Args:
        word: A single word.
        languages: Languages of the topic; the first with a stemmer is used.

    >>> language_of("электромобили"), language_of("wahlen", ["en", "de"]), language_of("cars")
    ('ru', 'de', '')
    """
    if not _WORD.fullmatch(word):
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
