"""Detection of texts that are alike and belong to headlines about different things.

A text can be alike without being the story: a legal notice under photos, the footer of a page
without text, a form or a dividend table whose subject is only in the headline, an announcement from
a template. Then the headlines differ, and neither text has the words of the other headline. It is
used for short texts only (``verified``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from topiccrawl.text.normal import fold
from topiccrawl.text.tokens import shared_tokenizer

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

MIN_WORDS = 2
"""Minimum number of words that a headline has and the other one lacks; a single one may be a
synonym or a correction."""

MAX_FOUND = 1 / 3
"""Maximum share of these words in the text of the other headline."""

STEM = 4
"""Number of letters of a word that are searched, as languages change its end."""

_NUMBER = re.compile(r"[\d〇零一二三四五六七八九十百千万两]")
"""Begin of a number, which has many spellings: 三成, 30%."""

_NOT_LETTERS = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W_\u0e00-\u109f\u1780-\u17ff\u2e80-\U0010ffff]+")
"""Word of a script with blanks between words. The excluded ranges are Thai to Burmese, Khmer, and
the scripts of East Asia."""


def spaced(text: str) -> str:
    """Return the folded letters of a text, with a blank before each word.

    >>> spaced("Part 2：第3段文字。")
    ' part 2 第 3段文字 '
    """
    return _WORD.sub(r" \g<0>", _NOT_LETTERS.sub(" ", fold(text))).replace("  ", " ")


def differ_in_headline(headlines: tuple[str, str], texts: tuple[str, str]) -> bool:
    """Return whether neither of two texts has the words of the other headline.

    Both texts must have the words of their own headline, or neither: if one has them, the other
    headline may be a mistake.

    Args:
        headlines: Headlines of the articles.
        texts: Their texts in the form of ``spaced``.

    >>> table = spaced("Div 20 cts vs 20 cts. Pay April 15. Record March 23.")
    >>> differ_in_headline(("Oakmill Foods sets dividend", "Regular payout at Harbor Bank"),
    ...                    (table, table))
    True
    >>> differ_in_headline(("Oakmill Foods sets dividend", "April payments of 20 cts"),
    ...                    (table, table))
    False
    """
    mine, theirs = _words_of(*headlines), _words_of(*reversed(headlines))
    text, other = texts
    differ = _is_missing(mine, other) and _is_missing(theirs, text)
    return differ and _is_missing(mine, text) == _is_missing(theirs, other)


def _words_of(headline: str, other: str) -> Collection[str]:
    """Return the words of a headline that the other one lacks, except numbers."""
    words = sorted(set(shared_tokenizer().words(headline)))
    return _missing([word for word in words if not _NUMBER.match(word)], spaced(other))


def _is_missing(words: Collection[str], text: str) -> bool:
    """Return whether there are several words, most of which a text lacks."""
    missing = len(_missing(words, text))
    return len(words) >= MIN_WORDS and len(words) - missing <= MAX_FOUND * len(words)


def _missing(words: Collection[str], text: str) -> Sequence[str]:
    """Return the words that a text in the form of ``spaced`` lacks."""
    return [word for word in words if _start_of(word) not in text]


def _start_of(word: str) -> str:
    start = word.removesuffix("y")[:STEM]  # the tokenizer writes cities as city
    return f" {start}" if _WORD.match(word) else start
