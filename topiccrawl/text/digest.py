"""Digests of texts by letters and digits, to detect equal texts."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from topiccrawl.text.normal import normalise

SHORTEST = 20
"""Minimum letters and digits of a text with a digest. Shorter texts (captions, notices) may be
equal by chance, so they are never the same story."""
_PLAIN = re.compile(r"[^\W_]+")
"""Runs of letters and digits."""
_COMMON_PUNCTUATION = "，。！？、；：（）《》“”‘’…—·"
"""Common Chinese punctuation; most texts need no normalization after its removal."""


@lru_cache(maxsize=16)  # several stages fold the same article's text
def fold(text: str) -> str:
    """Reduce a text to letters and digits in one width and case, for comparison.

    >>> fold("“Ａ股 2020 年”，")
    'a股2020年'
    """
    text = "".join(text.split())
    for mark in _COMMON_PUNCTUATION:
        text = text.replace(mark, "")
    return "".join(_PLAIN.findall(normalise(text).casefold()))


def digest_of(text: str) -> str:
    """Return the hexadecimal MD5 of the folded text [S1 incremental update]; "" if too short.

    >>> digest_of("新能源汽车销量在一月创下新高，同比增长两成。") == digest_of(
    ...     "新能源汽车销量 在一月创下新高 同比增长两成")
    True
    >>> digest_of("图")
    ''
    """
    folded = fold(text)
    if len(folded) < SHORTEST:
        return ""
    data = folded.encode("utf-8", "replace")
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
