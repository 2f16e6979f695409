"""Shingles: hashes of the overlapping runs of letters of a text.

The shingles of two texts measure how much of one text the other contains (containment; Broder
1997). The *keys* of a text are the runs with the smallest hashes (bottom-k sketch). Two texts that
share a fraction ``j`` of their runs share about the same fraction of their keys, so that an index
of keys finds them. Keys are made of longer runs than shingles: a stock phrase occurs in thousands
of articles, but a run of ten characters is rarely in two articles by chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topiccrawl.text.normal import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.uint64]

KEYS = 20
"""Number of keys per article. Of the pairs of texts that share a fifth of their runs, one in a
hundred has no common key."""


class Lengths(NamedTuple):
    """Lengths of runs in letters.

    Attributes:
        shingle: Length of shingles.
        key: Length of the runs for keys.
    """

    shingle: int
    key: int


HAN = Lengths(6, 10)
"""Lengths for Chinese: about three and five words."""

LATIN = Lengths(15, 28)
"""Lengths for other scripts, with as many words in English."""

_LATIN_BELOW = 0x2E80
_WORDS = np.array(
    [0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93],
    dtype=np.uint64,
)
_BASE = np.uint64(0x9FB21C651E98DF25)
_32 = np.uint64(32)
_29 = np.uint64(29)
_LOW = np.uint64(0xFFFFFFFF)


_ALNUM = np.fromiter((chr(code).isalnum() for code in range(0x10000)), np.bool_, 0x10000)
"""True for each code point of the basic multilingual plane that is a letter or digit."""


def letters(text: str) -> Codes:
    """Return the code points of the folded letters and digits of a text."""
    data = fold(text).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(data, dtype=np.uint32)
    # beyond the basic multilingual plane, all characters count as letters
    kept = codes[_ALNUM[np.minimum(codes, 0xFFFF)] | (codes > np.uint32(0xFFFF))]
    return kept.astype(np.uint64)


def shingles(text: str) -> Codes:
    """Return the distinct hashes of all shingles of a text, ascending.

    >>> len(shingles("新能源汽车一月销量创下新高"))
    8
    """
    codes = letters(text)
    return np.unique(_runs(codes, _lengths(codes).shingle))


def keys_of(text: str) -> NDArray[np.uint32]:
    """Return the keys of a text, at most ``KEYS``, in [0, 2**32).

    >>> one, two = keys_of("新能源汽车一月销量创下新高"), keys_of("新能源汽车 一月销量创下新高。")
    >>> bool((one == two).all()), len(one)
    (True, 4)
    """
    codes = letters(text)
    hashes = _runs(codes, _lengths(codes).key)
    if len(hashes) > 2 * KEYS:
        hashes = np.partition(hashes, 2 * KEYS)[: 2 * KEYS]  # with margin for repeated runs
    return (np.unique(hashes)[:KEYS] & _LOW).astype(np.uint32)


def count_common(one: Codes, other: Codes) -> int:
    """Return the number of common elements of two ascending arrays without duplicates."""
    return len(np.intersect1d(one, other, assume_unique=True))


def share_in(text: str, hashes: Codes) -> float:
    """Return the share of the runs of a text among shingles of another text; 1 if it has no run.

    >>> share_in("一月销量创下新高", shingles("新能源汽车一月销量创下新高"))
    1.0
    """
    codes = letters(text)
    runs = _runs(codes, _lengths(codes).shingle)
    return float(np.isin(runs, hashes).mean()) if len(runs) else 1.0


def _lengths(codes: Codes) -> Lengths:
    """Return the lengths of the script that at least half of the letters have."""
    return HAN if 2 * int((codes >= _LATIN_BELOW).sum()) >= len(codes) else LATIN


def _runs(codes: Codes, length: int) -> Codes:
    """Return the hashes of all runs of ``length`` codes, in order; none if the text is shorter.

    Hashes are combined from runs of half the length; the cost grows with the logarithm.
    """
    if len(codes) < length:
        return np.empty(0, dtype=np.uint64)
    parts: Codes | None = None
    done = 0
    block, size = codes * _WORDS[2], 1
    block ^= block >> _32
    while True:
        if length & size:
            part = block[done : done + len(codes) - length + 1]
            parts = part if parts is None else parts * _BASE + part
            done += size
        if 2 * size > length:
            break
        block = block[:-size] * _WORDS[size.bit_length() % 4] + block[size:]
        block ^= block >> _29
        size *= 2
    return _mix(parts if parts is not None else block)


def _mix(hashes: Codes) -> Codes:
    """Mix hashes so that each bit depends on every bit (finaliser of SplitMix64)."""
    hashes = (hashes ^ (hashes >> np.uint64(30))) * _WORDS[0]
    hashes = (hashes ^ (hashes >> np.uint64(27))) * _WORDS[1]
    return hashes ^ (hashes >> np.uint64(31))
