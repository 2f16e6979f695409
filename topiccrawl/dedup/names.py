"""Names: detection of two texts that differ only in the person or thing they are about.

Notices of one kind share nearly every word and differ in a name: "经查，高某失职" and
"经查，陈某失职". Chinese marks no names, and lists of them are never complete. A name shows by a
*swap*: the same words before and after, another word between, several times, while neither text
has the other's word anywhere. An editor's synonym may be swapped as consistently, but it is a
common word: a swap counts by how many of its sides are no common words, alone or after one surname.
"""

from __future__ import annotations

from collections import Counter

from topiccrawl.text.idf import DEFAULT_IDF, corpus_idf

BEFORE = 4
"""Letters that are equal before a swap."""

BEHIND = 3
"""Letters that are equal after a swap."""

LONGEST = 4
"""Most letters of a name."""

TIMES = (1_000_000, 3, 2)
"""Least places of a swap, by how many of its sides are no common word; a swap in one place may be
a correction or a turn of speech."""

_PLACES = 3  # places with the same letters before them that are checked
_GIVEN = 2
_SIZES = sorted(
    ((one, other) for one in range(1, LONGEST + 1) for other in range(1, LONGEST + 1)), key=sum
)
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏"
    "魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵"
    "万钱严覃武戴莫孔向汤"
)


def renamed(one: str, other: str) -> bool:
    """Return whether one text has a name throughout where the other has another one.

    Args:
        one: Letters of a text, folded, without blanks and punctuation.
        other: Letters of the other text.

    >>> story = "昨天下午{}在研究室里复盘，教练这样说{}的心态"
    >>> renamed(story.format("王思远", "王思远"), story.format("林若溪", "林若溪"))
    True
    >>> renamed(story.format("王思远", "王思远"), story.format("这名棋手", "他"))
    False
    """
    counts: Counter[tuple[str, str]] = Counter()
    for (before, mine, theirs, behind), count in swaps(one, other).items():
        counts[mine, theirs] += count
        if max(len(mine), len(theirs)) > _GIVEN:
            continue
        if before in _SURNAMES:  # 高建平, 高远明
            counts[before + mine, before + theirs] += count
        if mine[0] in _SURNAMES and theirs[0] in _SURNAMES:  # 高某, 陈某
            counts[mine + behind, theirs + behind] += count
    return any(
        count >= TIMES[_names(mine, theirs)] and mine not in other and theirs not in one
        for (mine, theirs), count in counts.items()
    )


def swaps(one: str, other: str) -> Counter[tuple[str, str, str, str]]:
    """Count the words that the other text replaces, with the letter before and after each.

    >>> swaps("昨天上午甲乙说了话", "昨天上午丙说了话")
    Counter({('午', '甲乙', '丙', '说'): 1})
    """
    behind: dict[str, list[int]] = {}
    for at in range(BEFORE, len(other) - BEHIND):
        places = behind.setdefault(other[at - BEFORE : at], [])
        if len(places) < _PLACES:
            places.append(at)
    found: Counter[tuple[str, str, str, str]] = Counter()
    for at in range(BEFORE, len(one) - BEHIND):
        for place in behind.get(one[at - BEFORE : at], ()):
            if one[at] != other[place]:
                mine, theirs = _sizes(one, at, other, place)
                if mine:
                    words = one[at : at + mine], other[place : place + theirs]
                    found[(one[at - 1], *words, one[at + mine])] += 1
    return found


def _sizes(one: str, at: int, other: str, place: int) -> tuple[int, int]:
    """Return the letters until both texts agree again; 0 and 0 if they do not soon."""
    for mine, theirs in _SIZES:
        behind = one[at + mine : at + mine + BEHIND]
        if behind and behind == other[place + theirs : place + theirs + BEHIND]:
            return mine, theirs
    return 0, 0


def _names(mine: str, theirs: str) -> int:
    """Return how many of the two are probably names: no common words, or such as 王某."""
    if min(len(mine), len(theirs)) < _GIVEN or not (mine + theirs).isalpha():
        return 0
    idf = corpus_idf()
    return sum(word[-1] == "某" or idf(word) == DEFAULT_IDF for word in (mine, theirs))
