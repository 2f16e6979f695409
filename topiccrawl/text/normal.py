"""Normalization of texts for comparison: width, case, Chinese script and blanks.

``fold(text)`` applies NFKC (full width to half width, compatibility forms), lower case, conversion
of traditional to simplified Chinese (OpenCC ``t2s``, Apache-2.0, with phrases, so that 乾隆 stays
乾隆), and replaces runs of blanks by one space. Each step is skipped if a quick check finds nothing
to change, as on most pages. A page of 10,000 characters takes about 0.3 ms; NFKC alone would take
1.3 ms.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

import opencc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_FREQUENT = {
    char: unicodedata.normalize("NFKC", char) for char in "，：；！？（）／％～…\u3000\xa0０１２"
}
"""Compatibility characters on nearly all Chinese pages, replaced individually."""

_HAN = ((0x3400, 0x4DC0), (0x4E00, 0xA000))
_ROUNDS = 3
"""Most passes of OpenCC, which is repeated until nothing changes: 藴 becomes 蕰, then 蕴."""
_SURROGATES = re.compile("[\ud800-\udfff]")
_JAMO = range(0x1160, 0x1200)
_SELECTORS = range(0xFE00, 0xFE10)
_ASTRAL = re.compile("[\U00010000-\U0001f2ff\U0001fb00-\U0001fbff\U0002f800-\U0002fa1f]")
"""Blocks beyond the basic plane that NFKC may change: all except emoji and ideographs."""


def fold(text: str) -> str:
    """Normalize a text for comparison: NFKC, lower case, simplified Chinese, single blanks.

    Never raises; idempotent. The length may change.

    >>> fold("ＡＢＣ　新能源汽車，２０２６ 年")
    'abc 新能源汽车,2026 年'
    """
    return " ".join(_fold_letters(text).split())


def fold_all(texts: Sequence[str]) -> list[str]:
    """Return ``[fold(t) for t in texts]`` in one pass: a tenth of the time for a page's anchors.

    >>> fold_all(["足球", "ＮＢＡ 籃球"])
    ['足球', 'nba 篮球']
    """
    joined = "\n".join(texts)
    if joined.count("\n") != len(texts) - 1:
        joined = "\n".join([text.replace("\n", " ") for text in texts])
    lines = _fold_letters(joined).split("\n") if texts else []
    return [" ".join(line.split()) for line in lines]


def normalise(text: str) -> str:
    """Return the NFKC form like ``unicodedata.normalize``, but several times faster on Chinese.

    >>> normalise("２０２６年，㎞")
    '2026年,km'
    """
    if text.isascii():
        return text
    text = _without_frequent(text)
    special, combining = _compatibility()
    if _beyond_basic_plane(text) and _ASTRAL.search(text):
        return unicodedata.normalize("NFKC", text)
    if not special.search(text):
        return text
    if combining.search(text):
        return unicodedata.normalize("NFKC", text)
    return special.sub(_nfkc_match, text)


def simplify(text: str) -> str:
    """Convert a text to simplified Chinese, if it has traditional characters.

    Lone surrogates become U+FFFD.

    >>> simplify("臺灣的乾隆")
    '台湾的乾隆'
    """
    if text.isascii():
        return text
    traditional, convert = _converter()
    for _ in range(_ROUNDS):
        if not traditional.search(text):
            break
        text = _SURROGATES.sub("\ufffd", text)  # OpenCC cannot process lone surrogates
        if (simpler := convert(text)) == text:
            break
        text = simpler
    return text


def simplify_aligned(text: str) -> str:
    """Convert a text to simplified Chinese if its length is unchanged; else return it as is."""
    plain = simplify(text)
    return plain if len(plain) == len(text) else text


def has_han(text: str) -> bool:
    """Return whether the text contains a Chinese character.

    >>> has_han("5G 手机"), has_han("5G")
    (True, False)
    """
    return _HAN_PATTERN.search(text) is not None


_HAN_PATTERN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")


def _fold_letters(text: str) -> str:
    """Fold a text except for blanks; one search determines whether slow steps are needed."""
    if text.isascii():
        return text.lower()
    text = _without_frequent(text)
    if _beyond_basic_plane(text) or _needs_slow_path().search(text):
        return simplify(normalise(text).replace("İ", "i").lower())
    return text.lower()


def _without_frequent(text: str) -> str:
    for char, plain in _FREQUENT.items():
        text = text.replace(char, plain)
    return text


def _beyond_basic_plane(text: str) -> bool:
    """Return whether a character needs more than 16 bits; much faster than a regex search."""
    return len(text.encode("utf-16-le", "surrogatepass")) != 2 * len(text)


def _nfkc_match(found: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", found[0])


@cache
def _compatibility() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of characters that NFKC may change, and that it may combine with others.

    Only the latter require normalization of the whole text: combining marks, vowel signs, Hangul
    jamo, and compatibility characters that begin with one of them.
    """
    plane = [*range(0x80, 0xD800), *range(0xE000, 0x10000)]
    combining = [code for code in plane if _combines(code)]
    special = sorted({*combining, *(code for code in plane if _nfkc_changes(code))})
    return (
        re.compile(f"[{_ranges(special)}]"),
        re.compile(f"[{_ranges(combining)}]"),
    )


@cache
def _needs_slow_path() -> re.Pattern[str]:
    """Return a pattern of characters that need more than ``_without_frequent`` and lower case.

    Characters beyond the basic plane are excluded, since they double the time of a search.
    """
    special, _ = _compatibility()
    traditional, _ = _converter()
    basic = traditional.pattern.partition("\U00020000")[0]
    return re.compile(f"[{special.pattern[1:-1]}{basic[1:]}İ]")


def _nfkc_changes(code: int) -> bool:
    char = chr(code)
    return unicodedata.normalize("NFKC", char) != char


def _combines(code: int) -> bool:
    if code in _SELECTORS:
        return False
    first = unicodedata.normalize("NFKD", chr(code))[0]
    return unicodedata.category(first)[0] == "M" or ord(first) in _JAMO


def _ranges(codes: Iterable[int]) -> str:
    """Format code points as the content of a regex character class."""
    runs: list[list[int]] = []
    for code in codes:
        if runs and runs[-1][1] == code - 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in runs)


@cache
def _converter() -> tuple[re.Pattern[str], Callable[[str], str]]:
    """Return a pattern of characters that ``t2s`` may change, and the conversion function."""
    convert: Callable[[str], str] = opencc.OpenCC("t2s").convert
    chars = [chr(code) for start, end in _HAN for code in range(start, end)]
    simple = convert("\n".join(chars)).split("\n")
    changed = [ord(char) for char, other in zip(chars, simple, strict=True) if char != other]
    return re.compile(f"[{_ranges(changed)}\U00020000-\U0003ffff]"), convert
