"""Letters and digits of a text, and their digest: whether two texts are the same."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache

SHORTEST = 20
"""Letters and digits a text must have to be compared; shorter ones (a caption, a notice) are never
called the same story, for chance alone makes them equal."""
_NEITHER = re.compile(r"[\W_]+")
"""What is neither letters nor digits."""
_USUAL = re.compile(r"[\s，。！？、；：（）《》“”‘’…—·]+")
"""What of it most Chinese texts have: without it nothing is left there to be normalised."""


@lru_cache(maxsize=16)  # of an article's text by all who ask in turn
def fold(text: str) -> str:
    """Letters and digits of a text in one width and case: what makes two texts the same text.

    >>> fold("“Ａ股 2020 年”，")
    'a股2020年'
    """
    folded = unicodedata.normalize("NFKC", _USUAL.sub("", text)).casefold()
    return _NEITHER.sub("", folded)


def digest_of(text: str) -> str:
    """MD5 of the folded text as hexadecimal digits [S1 incremental update]; "" if too short.

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
