"""Facts of texts: numbers, dates and places, and contradictions between two texts.

Daily reports from one template share most of their text but are different stories. An edited
reprint may share less of its text but is the same story. Different stories have different facts in
the *same slot*: "新增病例#例" with 3 and 5, or "@新增病例" with 湖北 and 湖南. A slot is the text
just before and after a fact, without facts. A slot that the other text lacks is ignored, since
trimming and rewriting remove slots.

Four kinds of facts are counted separately, so that many facts of one kind do not hide a few of
another: figures, number words (Chinese numerals, English numbers), dates (with months and days of
the week) and places. Chinese places are the words with the tag ``ns`` in jieba's dictionary (MIT).
They are searched by character, since word segmentation depends on the text around a place. In
scripts with capital letters, places are all capitalized words inside sentences, including names of
persons and companies. Figures are those of any script.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from topiccrawl.text.normal import fold, has_han, normalise

BEFORE = 4
"""Number of letters before a fact in its slot."""

AFTER = 2
"""Number of letters after a fact in its slot."""

SEVERAL = 2
"""Minimum number of contradictions for ``MAX_SHARE``; a single one may be a correction."""

MAX_SHARE = 0.1
"""Share of contradictions among the compared slots from which two texts are different stories. None
of 50 hand-labelled reprints has two contradictions. Of 34 daily reports of one template, the
smallest share is 0.18."""

MAX_SINGLE_SHARE = 0.3
"""The same for a single contradiction, which decides only for texts with few facts. The largest
share of a single contradiction among the reprints is 0.25."""

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
_CASED = [chr(code) for code in range(0x2000) if chr(code).isalpha()]
_UPPER, _LOWER = ("".join(filter(case, _CASED)) for case in (str.isupper, str.islower))
_NAME = re.compile(rf"(?<=[{_LOWER},;] )[{_UPPER}][{_UPPER}{_LOWER}]+")
_FOREIGN_DIGIT = re.compile(r"[^\D0-9]")
_NUMERAL = re.compile(r"一|[〇零二三四五六七八九十百千两]+$")
_PLACE = re.compile(r"^(\w{2,5}) \d+ ns$", re.MULTILINE)
_NOT_LETTERS = re.compile(r"[^\w#@]+|_+")
_MARK = re.compile("[#@]")
_MARKS = str.maketrans("٫٬", ".,", "#@")
_EDGE = "^" * BEFORE
_TWO = 2
_LONGEST = 5

Slots = dict[str, set[str]]
"""Facts by slot; the first character of a slot is its kind."""


class Agreement(NamedTuple):
    """Comparison of two texts in facts of one kind.

    Attributes:
        same: Number of equal facts in common slots.
        other: Number of different facts in common slots (contradictions).
    """

    same: int
    other: int

    @property
    def contradicts(self) -> bool:
        """True if the contradictions imply different stories.

        >>> Agreement(same=12, other=2).contradicts, Agreement(same=12, other=1).contradicts
        (True, False)
        """
        share = self.other / max(1, self.same + self.other)
        return share >= (MAX_SHARE if self.other >= SEVERAL else MAX_SINGLE_SHARE)


class Comparison(NamedTuple):
    """Comparison of two texts in each kind of fact."""

    figures: Agreement
    words: Agreement
    dates: Agreement
    places: Agreement

    @property
    def contradicts(self) -> bool:
        """True if the contradictions imply different stories.

        Several contradictions count per kind; a single one in figures and number words together.
        """
        numbers = Agreement(
            self.figures.same + self.words.same, self.figures.other + self.words.other
        )
        several = any(kind.other >= SEVERAL and kind.contradicts for kind in self)
        return several or any(k.contradicts for k in (numbers, self.dates, self.places))

    @property
    def contradictions(self) -> int:
        """Number of contradictions of all kinds."""
        return sum(kind.other for kind in self)


def slots(text: str) -> Slots:
    """Return the facts of a text by slot.

    >>> slots("3月1日湖北省新增2,000例")
    {'d^^^^@省': {'3月1日'}, '@^^^#省新': {'湖北'}, '#@省新增例$': {'2000'}}
    """
    facts, marked = _mask_facts(with_ascii_digits(normalise(text)).translate(_MARKS))
    masked = f"{_EDGE}{_NOT_LETTERS.sub('', marked)}$$"
    found: Slots = {}
    for fact, mark in zip(facts, _MARK.finditer(masked), strict=True):
        at = mark.start()
        kind = "@" if mark[0] == "@" else _kind(fact, masked[at - 1])
        slot = kind + masked[at - BEFORE : at] + masked[at + 1 : at + 1 + AFTER]
        found.setdefault(slot, set()).add(fact)
    return found


def with_ascii_digits(text: str) -> str:
    """Return a text with the digits of all scripts in ASCII.

    >>> with_ascii_digits("۱۲ نفر")
    '12 نفر'
    """
    return _FOREIGN_DIGIT.sub(lambda digit: str(int(digit[0])), text)


def compare(one: Slots, other: Slots) -> Comparison:
    """Compare the facts of two texts in the slots that both have.

    >>> compare(slots("新增病例3例，死亡1例"), slots("新增病例5例，死亡1例")).figures
    Agreement(same=1, other=1)
    """
    same, most = Counter[str](), Counter[str]()
    for slot in one.keys() & other.keys():
        mine, theirs, kind = one[slot], other[slot], slot[0]
        same[kind] += _count_common_dates(mine, theirs) if kind == "d" else len(mine & theirs)
        most[kind] += min(len(mine), len(theirs))
    return Comparison(*(Agreement(same[kind], most[kind] - same[kind]) for kind in "#wd@"))


def _count_common_dates(mine: set[str], theirs: set[str]) -> int:
    """Return the number of common dates; a day without month matches it in any month."""
    both = mine & theirs
    days = [{fact.rpartition("月") for fact in facts - both} for facts in (mine, theirs)]
    without_month = sum(
        any(day == other and not (month and others) for others, _, other in days[1])
        for month, _, day in days[0]
    )
    return len(both) + without_month


def _kind(fact: str, before: str) -> str:
    """Return the kind of a number: ``#`` figure, ``d`` date, ``w`` number word."""
    if fact[0].isdecimal():
        return "#" if fact[-1].isdecimal() else "d"
    return "d" if fact in _CALENDAR or before in "周期拜" else "w"


@cache
def place_names() -> frozenset[str]:
    """Return place names of jieba with two to five characters, without suffix 省, 市 or 县.

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
def _prefixes() -> frozenset[str]:
    return frozenset(name[:_TWO] for name in place_names())


def _mark_places(folded: str) -> str:
    """Return the text with ``@`` around each place name; longer names take precedence."""
    names, prefixes = place_names(), _prefixes()
    parts: list[str] = []
    done = at = 0
    while at < len(folded) - 1:
        if folded[at : at + _TWO] not in prefixes:
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


def _mask_facts(text: str) -> tuple[list[str], str]:
    """Return the facts of a text in order, and the folded text with facts masked."""
    facts: list[str] = []

    def mark(found: re.Match[str]) -> str:
        facts.append(found[1] or found[0].replace("号", "日"))
        return "@" if found[1] else "#"

    if has_han(text):
        return facts, _HAN_FACT.sub(mark, _mark_places(_THOUSANDS.sub("", fold(text))))
    named = _NAME.sub(r"@\g<0>@", normalise(text))
    return facts, _LATIN_FACT.sub(mark, _THOUSANDS.sub("", named).lower())
