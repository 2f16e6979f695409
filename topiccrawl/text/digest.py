"""Letters and digits of a text, and their digest, to detect equal texts."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from topiccrawl.text.normal import normalise

SHORTEST = 20
"""Letters and digits a text must have to be compared; shorter ones (a caption, a notice) are never
the same story, since they may be equal by chance."""
_NEITHER = re.compile(r"[\W_]+")
"""Characters other than letters and digits."""
_USUAL = "，。！？、；：（）《》“”‘’…—·"
"""The usual ones of Chinese texts: without them there is mostly nothing left to normalise."""
_ASCII = {code: None for code in range(0x80) if not chr(code).isalnum()}
"""The same of ASCII, as ``str.translate`` wants them."""


@lru_cache(maxsize=16)  # several stages fold the same article's text
def fold(text: str) -> str:
    """Return the letters and digits of a text in one width and case, to compare texts.

    >>> fold("“Ａ股 2020 年”，")
    'a股2020年'
    """
    if text.isascii():
        return text.translate(_ASCII).lower()
    text = "".join(text.split())
    for mark in _USUAL:
        text = text.replace(mark, "")
    folded = normalise(text).casefold()
    return folded if folded.isalnum() else _NEITHER.sub("", folded)


def digest_of(text: str) -> str:
    """Return the MD5 of the folded text in hexadecimal [S1 incremental update]; "" if too short.

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
