"""Numbers in headlines: parts of a series, yesterday's figure and today's."""

from __future__ import annotations

import re

from topiccrawl.text.normal import fold

LEAST = 4
"""Letters of a headline that must be equal beside its numbers."""

_HAN = "〇零一二三四五六七八九十百千两"
_ENGLISH = "one|two|three|four|five|six|seven|eight|nine|ten|i{1,3}|iv|vi{0,3}"
_NUMBER = re.compile(rf"[0-9]+(?:\.[0-9]+)?|[{_HAN}]+|(?<=\()[上中下](?=\))|[上中下]$")
_PART = re.compile(
    rf"(?:[之第](?P<a>[{_HAN}]+|[0-9]+)|[(【\[](?P<b>[上中下]|[{_HAN}]+|[0-9]{{1,3}})[)】\]]"
    rf"|\bpart (?P<c>{_ENGLISH}|[0-9]+)\b)"
)
_NO_LETTERS = re.compile(r"[\W_]+")


def other_part(one: str, other: str) -> bool:
    """Return whether two headlines differ in the part of a series, or only in numbers.

    >>> other_part("走进老街（之一）：打铁铺", "走进老街（之二）：修笔店")
    True
    >>> other_part("沪指收涨0.42%", "沪指收涨0.51%"), other_part("走进老街（之一）", "走进老街")
    (True, False)
    """
    first, second = fold(one), fold(other)
    if first == second:
        return False
    return _of_series(first, second) or _but_for_numbers(first, second)


def _of_series(one: str, other: str) -> bool:
    mine, theirs = _PART.search(one), _PART.search(other)
    if mine is None or theirs is None or mine[0] == theirs[0]:
        return False
    stems = [_NO_LETTERS.sub("", found.string[: found.start()]) for found in (mine, theirs)]
    return len(stems[0]) > 1 and stems[0] == stems[1]


def _but_for_numbers(one: str, other: str) -> bool:
    letters = _NO_LETTERS.sub("", _NUMBER.sub("", one))
    if len(letters) < LEAST or letters != _NO_LETTERS.sub("", _NUMBER.sub("", other)):
        return False
    return _NUMBER.findall(one) != _NUMBER.findall(other)
