"""Detection of texts that differ only in the name of a person or thing.

Notices of one kind share nearly all words and differ in a name: "经查，高某失职" and
"经查，陈某失职". Chinese does not mark names, and lists of names are never complete. So names are
detected by *swaps*: different words between the same words, several times, where neither text
has the word of the other anywhere. Synonyms may be swapped as consistently, but they are common
words. The required number of swaps depends on how many of the two words are not common.
"""

from __future__ import annotations

from collections import Counter

from topiccrawl.text.idf import DEFAULT_IDF, corpus_idf
from topiccrawl.text.surnames import SURNAMES

BEFORE = 4
"""Number of equal letters before a swap."""

AFTER = 3
"""Number of equal letters after a swap."""

MAX_LENGTH = 4
"""Maximum number of letters of a name."""

MIN_SWAPS = (1_000_000, 3, 2)
"""Minimum number of swaps, by how many of the two words are not common (0, 1, 2). A single swap may
be a correction or a paraphrase."""

_MAX_PLACES = 3  # positions with the same preceding letters that are checked
_GIVEN = 2
_LENGTHS = range(1, MAX_LENGTH + 1)
_SIZES = sorted(((one, other) for one in _LENGTHS for other in _LENGTHS), key=sum)


def differ_in_name(one: str, other: str) -> bool:
    """Return whether two texts consistently differ in a name.

    Args:
        one: Folded letters of a text, without blanks and punctuation.
        other: Folded letters of the other text.

    >>> story = "昨天下午{}在研究室里复盘，教练这样说{}的心态"
    >>> differ_in_name(story.format("王思远", "王思远"), story.format("林若溪", "林若溪"))
    True
    >>> differ_in_name(story.format("王思远", "王思远"), story.format("这名棋手", "他"))
    False
    """
    counts: Counter[tuple[str, str]] = Counter()
    for (before, mine, theirs, behind), count in swaps(one, other).items():
        counts[mine, theirs] += count
        if max(len(mine), len(theirs)) > _GIVEN:
            continue
        if before in SURNAMES:  # 高建平, 高远明
            counts[before + mine, before + theirs] += count
        if mine[0] in SURNAMES and theirs[0] in SURNAMES:  # 高某, 陈某
            counts[mine + behind, theirs + behind] += count
    return any(
        count >= MIN_SWAPS[_count_names(mine, theirs)] and mine not in other and theirs not in one
        for (mine, theirs), count in counts.items()
    )


def swaps(one: str, other: str) -> Counter[tuple[str, str, str, str]]:
    """Count swapped words: letter before, word of each text, letter after.

    >>> swaps("昨天上午甲乙说了话", "昨天上午丙说了话")
    Counter({('午', '甲乙', '丙', '说'): 1})
    """
    behind: dict[str, list[int]] = {}
    for at in range(BEFORE, len(other) - AFTER):
        places = behind.setdefault(other[at - BEFORE : at], [])
        if len(places) < _MAX_PLACES:
            places.append(at)
    found: Counter[tuple[str, str, str, str]] = Counter()
    for at in range(BEFORE, len(one) - AFTER):
        for place in behind.get(one[at - BEFORE : at], ()):
            if one[at] != other[place]:
                mine, theirs = _swap_lengths(one, at, other, place)
                if mine:
                    words = one[at : at + mine], other[place : place + theirs]
                    found[(one[at - 1], *words, one[at + mine])] += 1
    return found


def _swap_lengths(one: str, at: int, other: str, place: int) -> tuple[int, int]:
    """Return the lengths of the swapped words; (0, 0) if the texts do not agree after them."""
    for mine, theirs in _SIZES:
        behind = one[at + mine : at + mine + AFTER]
        if behind and behind == other[place + theirs : place + theirs + AFTER]:
            return mine, theirs
    return 0, 0


def _count_names(mine: str, theirs: str) -> int:
    """Return how many of two words are probably names: not common, or such as 王某."""
    if min(len(mine), len(theirs)) < _GIVEN or not (mine + theirs).isalpha():
        return 0
    idf = corpus_idf()
    return sum(word[-1] == "某" or idf(word) == DEFAULT_IDF for word in (mine, theirs))
