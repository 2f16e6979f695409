"""Facts: numbers, dates and places, and contradictions between two texts in them.

Daily reports of one template share most of their text but are another story each day; an edited
reprint may share less of its text but is the same one. They differ in the facts of the *same
slot*: "新增病例#例" with 3 here and 5 there, or "@新增病例" with 湖北 and 湖南.
A slot is the text just before and after a fact, facts themselves left out. A fact in a slot that
the other text lacks does not count, since trimming and rewriting remove slots.

Four kinds of facts are counted separately, so that many of one do not hide a few of another:
figures; number words (Chinese numerals, English numbers); dates (months and days of the week too);
places. Places are the words that jieba's dictionary (MIT) marks ``ns``, searched letter by letter,
since the cut of a sentence into words depends on the text around the place; in English all words
with a capital letter that do not begin a sentence, names of persons and firms among them.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from topiccrawl.text.normal import fold, has_han, normalise

BEFORE = 4
"""Letters before a fact that make its slot."""

AFTER = 2
"""Letters after a fact that make its slot."""

FEW = 2
"""Contradictions from which the smaller share ``MANY`` decides; one alone may be a correction."""

MANY = 0.1
"""Share of contradictions among the slots compared from which two texts are two stories. Of 50
hand-labelled reprints none has two contradictions; of 34 daily reports of one template the one
with the smallest share has .18."""

MOST = 0.3
"""The same for a single contradiction, which decides only for texts with few facts. Among the
reprints the largest share of a single one is .25."""

_ENGLISH = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred thousand million billion first second third"
)
_CALENDAR = (
    "january february march april june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday"
)
_FIGURE = r"[0-9]+(?:\.[0-9]+)?"
_DATE = r"(?<![0-9第])(?:[0-9]{1,2}月)?[0-9]{1,2}[日号](?!线)|(?<=[周期拜])[一二三四五六日天]"
_HAN_FACT = re.compile(rf"@([^@]+)@|{_DATE}|{_FIGURE}|[〇零一二三四五六七八九十百千两]+")
_WORD = rf"\b(?:{'|'.join(f'{_ENGLISH} {_CALENDAR}'.split())})\b"
_LATIN_FACT = re.compile(rf"@([^@]+)@|{_FIGURE}|{_WORD}")
_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][A-Za-z]+")
_NUMERAL = re.compile(r"一|[〇零二三四五六七八九十百千两]+$")
_PLACE = re.compile(r"^(\w{2,5}) \d+ ns$", re.MULTILINE)
_NO_LETTERS = re.compile(r"[^\w#@]+|_+")
_MARK = re.compile("[#@]")
_MARKS = str.maketrans("", "", "#@")
_EDGE = "^" * BEFORE
_TWO = 2
_LONGEST = 5

Slots = dict[str, set[str]]
"""Facts by slot; the first character of a slot is the mark of its kind."""


class Agreement(NamedTuple):
    """Agreement of two texts in facts of one kind.

    Attributes:
        same: Facts that are in the same slot of both.
        other: Facts of one that are in a slot in which the other text has other ones.
    """

    same: int
    other: int

    @property
    def contradicts(self) -> bool:
        """True if these contradictions make two stories.

        >>> Agreement(same=12, other=2).contradicts, Agreement(same=12, other=1).contradicts
        (True, False)
        """
        share = self.other / max(1, self.same + self.other)
        return share >= (MANY if self.other >= FEW else MOST)


class Comparison(NamedTuple):
    """Agreement of two texts in each kind of fact."""

    figures: Agreement
    words: Agreement
    dates: Agreement
    places: Agreement

    @property
    def contradicts(self) -> bool:
        """True if several contradictions of a kind, or a weighty single one, make two stories.

        A single one is weighed in figures and number words together.
        """
        numbers = Agreement(
            self.figures.same + self.words.same, self.figures.other + self.words.other
        )
        several = any(kind.other >= FEW and kind.contradicts for kind in self)
        return several or any(k.contradicts for k in (numbers, self.dates, self.places))

    @property
    def contradictions(self) -> int:
        """Contradictions of all kinds."""
        return sum(kind.other for kind in self)


def slots(text: str) -> Slots:
    """Return the facts of a text by their slots.

    >>> slots("3月1日湖北省新增2,000例")
    {'d^^^^@省': {'3月1日'}, '@^^^#省新': {'湖北'}, '#@省新增例$': {'2000'}}
    """
    facts, marked = _marked(text.translate(_MARKS))
    masked = f"{_EDGE}{_NO_LETTERS.sub('', marked)}$$"
    found: Slots = {}
    for fact, mark in zip(facts, _MARK.finditer(masked), strict=True):
        at = mark.start()
        kind = "@" if mark[0] == "@" else _kind(fact, masked[at - 1])
        slot = kind + masked[at - BEFORE : at] + masked[at + 1 : at + 1 + AFTER]
        found.setdefault(slot, set()).add(fact)
    return found


def compare(one: Slots, other: Slots) -> Comparison:
    """Compare the facts of two texts in the slots that both have.

    >>> compare(slots("新增病例3例，死亡1例"), slots("新增病例5例，死亡1例")).figures
    Agreement(same=1, other=1)
    """
    counts = {"#": [0, 0], "w": [0, 0], "d": [0, 0], "@": [0, 0]}
    for slot in one.keys() & other.keys():
        mine, theirs = one[slot], other[slot]
        both = len(mine & theirs) if slot[0] != "d" else _dates_of_both(mine, theirs)
        kind = counts[slot[0]]
        kind[0] += both
        kind[1] += min(len(mine), len(theirs)) - both
    return Comparison(*(Agreement(*pair) for pair in counts.values()))


def _dates_of_both(mine: set[str], theirs: set[str]) -> int:
    """Return the number of dates in both; one without a month matches that day of any month."""
    both = mine & theirs
    days = [{fact.rpartition("月") for fact in facts - both} for facts in (mine, theirs)]
    loose = sum(
        any(day == other and not (month and others) for others, _, other in days[1])
        for month, _, day in days[0]
    )
    return len(both) + loose


def _kind(fact: str, before: str) -> str:
    """Return the mark of a number's kind: ``#`` figure, ``d`` day or month, ``w`` word."""
    if fact[0].isdecimal():
        return "#" if fact[-1].isdecimal() else "d"
    return "d" if fact in _CALENDAR or before in "周期拜" else "w"


@cache
def place_names() -> frozenset[str]:
    """Return jieba's names of places of two to five characters, without the ending 省, 市 or 县.

    >>> {"湖北", "石家庄"} <= place_names()
    True
    """
    spec = find_spec("jieba")
    if spec is None or spec.origin is None:
        return frozenset()
    text = (Path(spec.origin).parent / "dict.txt").read_text(encoding="utf-8")
    names = {
        name[:-1] if len(name) > _TWO and name[-1] in "省市县" else name
        for name in _PLACE.findall(text)
    }
    return frozenset(name for name in names if not _NUMERAL.match(name))


@cache
def _beginnings() -> frozenset[str]:
    return frozenset(name[:_TWO] for name in place_names())


def _with_places(folded: str) -> str:
    """Return the text with every name of a place between two marks, the longest name first."""
    names, beginnings = place_names(), _beginnings()
    parts: list[str] = []
    done = at = 0
    while at < len(folded) - 1:
        if folded[at : at + _TWO] not in beginnings:
            at += 1
            continue
        for length in range(_LONGEST, _TWO - 1, -1):
            name = folded[at : at + length]
            if name in names:
                parts += (folded[done:at], "@", name, "@")
                done = at = at + len(name)
                break
        else:
            at += 1
    return "".join([*parts, folded[done:]])


def _marked(text: str) -> tuple[list[str], str]:
    """Return the facts of a text in order, and the folded text with a mark in place of each."""
    facts: list[str] = []

    def mark(found: re.Match[str]) -> str:
        facts.append(found[1] or found[0].replace("号", "日"))
        return "@" if found[1] else "#"

    if has_han(text):
        return facts, _HAN_FACT.sub(mark, _with_places(_THOUSANDS.sub("", fold(text))))
    named = _NAME.sub(r"@\g<0>@", normalise(text))
    return facts, _LATIN_FACT.sub(mark, _THOUSANDS.sub("", named).lower())
