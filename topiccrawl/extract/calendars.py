"""Days as pages of a language write them: names of months and the order of day and month.

``12.03.2024`` is the 12th of March everywhere; ``03/12/2024`` is that for readers in the United
States, elsewhere the 3rd of December. Names of months are those of the page's language, and of the
languages of much news: templates leave them on pages of others, and not every page names its own.
``calendars.json`` has those of the CLDR (``python -m lab.calendars``).
"""

from __future__ import annotations

import json
import re
from datetime import date
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])"
_BETWEEN = r"(?P<name>[^\d\n]{2,40}?)"
_NAMED = (
    re.compile(rf"(?<![\d.:/-]){_DAY}{_BETWEEN}{_YEAR}(?!\d)"),
    re.compile(
        rf"(?<![^\W\d_])(?P<name>[^\W\d_][^\s\d]{{0,39}}+)\s*{_DAY}(?:\s?[a-z]{{2}})?[\s.,]+{_YEAR}(?!\d)"
    ),
    re.compile(rf"(?<!\d){_YEAR}{_BETWEEN}{_DAY}(?!\d)"),
)
_NUMBERS = re.compile(
    rf"(?<![\d./-])(?P<one>\d\d?)(?P<mark>[./-])\s?(?P<two>\d\d?)(?P=mark)\s?{_YEAR}(?!\d)"
)
_TIME = re.compile(
    r"[\s,|–—·-]{0,4}(?:um|at|kl\.?|o|à|às|alle|ore|a las)?\s*"
    r"(?P<hour>2[0-3]|[01]?\d)[:.h](?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?!\d|[./]\d)"
    r"(?:\s?(?P<half>[ap])\.?m\b)?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\s/.,'’()|-]+")
_MONTHS = _NOON = 12
_PARTICLE = 3
"""Letters of the longest word beside a month's name: of, del, ter."""
_COMMON = (
    "en es pt fr de it nl pl ru uk cs sk sl hr sr bg ro hu tr el ar he hi bn ur th vi id "
    "sv da nb fi et lv lt ca apc"
)
"""Languages of much news, whose names of months are known on pages of all others."""


class Calendar(NamedTuple):
    """The ways of one language to write a day.

    Attributes:
        months: Names of months, lower case, without a full stop, and their numbers.
        day_first: The day is written before the month.
    """

    months: Mapping[str, int]
    day_first: bool

    def days(self, text: str) -> Iterator[tuple[date, str]]:
        """Yield each day in a text with its time of day ("" if missing), names first.

        >>> list(calendar_of("de").days("Stand: 3. März 2024, 14:05 Uhr"))
        [(datetime.date(2024, 3, 3), '14:05:00')]
        >>> [str(day) for day, _ in calendar_of("en-US").days("03/12/2024, 13.12.2024")]
        ['2024-03-12', '2024-12-13']
        >>> list(calendar_of("xx").days("12 sierpnia 2024 3:05 PM, 40 died by May 2024"))
        [(datetime.date(2024, 8, 12), '15:05:00')]
        """
        for pattern in _NAMED:
            for match in pattern.finditer(text):
                if month := self._month(match["name"]):
                    yield from _day(match, int(match["day"]), month, text)
        for match in _NUMBERS.finditer(text):
            one, two = int(match["one"]), int(match["two"])
            first = self.day_first or match["mark"] == "."
            if one > _MONTHS or two > _MONTHS:
                first = one > _MONTHS
            yield from _day(match, *((one, two) if first else (two, one)), text)

    def _month(self, name: str) -> int:
        """Return the month that a text names beside particles alone, 0 for other texts."""
        lower = name.lower().strip(" .,")
        if lower in self.months:
            return self.months[lower]
        words = _WORD.findall(lower)
        found = {self.months[word] for word in words if word in self.months}
        rest = (word for word in words if word not in self.months)
        return found.pop() if len(found) == 1 and all(len(w) <= _PARTICLE for w in rest) else 0


@lru_cache(maxsize=64)
def calendar_of(tag: str) -> Calendar:
    """Return the calendar of a language tag (``de``, ``pt-BR``); English for unknown ones.

    >>> calendar_of("en-GB").day_first, calendar_of("en").day_first, calendar_of("xx").day_first
    (True, False, False)
    """
    own, day_first = _known()[_language(tag)]
    months = {**_common(), "sept": 9, **own}
    variants = _known_orders()
    return Calendar(months, variants.get(tag.lower().replace("_", "-"), day_first))


@cache
def _common() -> dict[str, int]:
    """Return the names of common languages that are of one month in all; English ones of all."""
    found: dict[str, int] = {}
    for months in (_known()[one][0] for one in _COMMON.split()):
        found |= {
            name: 0 if found.get(name, number) != number else number
            for name, number in months.items()
        }
    return {name: number for name, number in found.items() if number} | _known()["en"][0]


def _language(tag: str) -> str:
    language = re.split(r"[-_]", tag.lower())[0]
    return language if language in _known() else "en"


@cache
def _stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        files(__package__).joinpath("calendars.json").read_text("utf-8")
    )
    return found


def _known() -> dict[str, tuple[dict[str, int], bool]]:
    """Return names of months, and whether days come first, by language."""
    found: dict[str, tuple[dict[str, int], bool]] = _stored()["languages"]
    return found


def _known_orders() -> dict[str, bool]:
    """Return whether days come first, for language tags with a country of another order."""
    found: dict[str, bool] = _stored()["orders"]
    return found


def _day(match: re.Match[str], day: int, month: int, text: str) -> Iterator[tuple[date, str]]:
    try:
        found = date(int(match["year"]), month, day)
    except ValueError:  # no month has 31 days in June
        return
    yield found, _clock(_TIME.match(text, match.end()))


def _clock(time: re.Match[str] | None) -> str:
    if time is None:
        return ""
    hour, half = int(time["hour"]), (time["half"] or "").lower()
    if half and hour <= _NOON:
        hour = hour % _NOON + (_NOON if half == "p" else 0)
    return f"{hour:02}:{time['minute']}:{time['second'] or '00'}"
