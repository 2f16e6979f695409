"""Date formats by language: names of months, and order of day and month.

``12.03.2024`` is 12 March everywhere. ``03/12/2024`` is 12 March in the United States and 3
December elsewhere. Names of months are those of the page's language and of common news languages,
since templates may be in another language and not every page declares its language.
``calendars.json`` has the data of the CLDR (``python -m lab.calendars``).
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
_WITH_NAME = (
    re.compile(rf"(?<![\d.:/-]){_DAY}{_BETWEEN}{_YEAR}(?!\d)"),
    re.compile(
        rf"(?<![^\W\d_])(?P<name>[^\W\d_][^\s\d]{{0,39}}+)\s*{_DAY}(?:\s?[a-z]{{2}})?[\s.,]+{_YEAR}(?!\d)"
    ),
    re.compile(rf"(?<!\d){_YEAR}{_BETWEEN}{_DAY}(?!\d)"),
)
_NUMERIC = re.compile(
    rf"(?<![\d./-])(?P<one>\d\d?)(?P<mark>[./-])\s?(?P<two>\d\d?)(?P=mark)\s?{_YEAR}(?!\d)"
)
_ZONES = {
    "Z": 0, "UTC": 0, "GMT": 0, "BST": 1, "CET": 1, "CEST": 2, "EST": -5, "EDT": -4, "CDT": -5,
    "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
}  # fmt: skip
"""Hours from UTC of zones whose names have one meaning on news pages."""
_AFTERNOON = "pP下中傍晚"
ZONE = (
    r"(?P<zone>(?-i:Z\b|[+-][01]\d:?[0-5]\d|(?:UTC|GMT)[+-]\d\d?(?!\d)"
    rf"|(?:{'|'.join(_ZONES)})(?![\w+-])))"
)
"""Pattern of a zone after a time of day, in capitals: est and cet are French words."""
_CLOCK = (
    r"(?P<hour>2[0-3]|[01]?\d)[:.h](?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?!\d|[./]\d)"
    rf"(?:\s?(?P<half>[ap])\.?m\b\.?)?(?:\s?\(?{ZONE})?"
)
_TIME = re.compile(
    rf"[\s,|–—·-]{{0,4}}(?:um|at|kl\.?|o|à|às|alle|ore|a las)?\s*{_CLOCK}", re.IGNORECASE
)
_TIME_BEFORE = re.compile(
    rf"(?<![\d:.]){_CLOCK}(?: [A-Z]{{2}}(?=[ ,]))?[\s,|–—·-]{{1,4}}(?:[a-z]{{3,9}}\.?[\s,]+)?$",
    re.IGNORECASE,
)
_BEFORE = 40
"""Characters before a date that are searched for its time of day."""
_WORD = re.compile(r"[^\s/.,'’()|-]+")
_MONTHS = _NOON = 12
_PARTICLE = 3
"""Most letters of a word next to a month's name, such as of, del, ter."""
_COMMON = (
    "en es pt fr de it nl pl ru uk cs sk sl hr sr bg ro hu tr el ar he hi bn ur th vi id "
    "sv da nb fi et lv lt ca apc"
)
"""Common news languages, whose names of months are accepted on all pages."""


class Moment(NamedTuple):
    """A date with optional time of day.

    Attributes:
        day: Date in the time zone of the page.
        clock: Time of the day as ISO 8601, with the zone if known, or "".
    """

    day: date
    clock: str = ""

    @property
    def iso(self) -> str:
        """Date, and time of day if known, in ISO 8601."""
        return f"{self.day.isoformat()}T{self.clock}" if self.clock else self.day.isoformat()


class Calendar(NamedTuple):
    """Date format of one language.

    Attributes:
        months: Numbers of months by name, in lower case without full stop.
        day_first: Whether the day precedes the month.
    """

    months: Mapping[str, int]
    day_first: bool

    def days(self, text: str) -> Iterator[Moment]:
        """Yield the dates in a text with their times of day; dates with names come first.

        >>> [moment.iso for moment in calendar_of("de").days("Stand: 3. März 2024, 14:05 Uhr")]
        ['2024-03-03T14:05:00']
        >>> [str(day) for day, _ in calendar_of("en-US").days("03/12/2024, 13.12.2024")]
        ['2024-03-12', '2024-12-13']
        >>> [m.iso for m in calendar_of("xx").days("12 sierpnia 2024 3:05 PM, 40 died by May 2024")]
        ['2024-08-12T15:05:00']
        >>> [m.iso for m in calendar_of("en").days("Nov. 5, 2026, 8:22 p.m. EST")]
        ['2026-11-05T20:22:00-05:00']
        """
        for pattern in _WITH_NAME:
            for match in pattern.finditer(text):
                if month := self._month(match["name"]):
                    yield from _moments(match, int(match["day"]), month, text)
        for match in _NUMERIC.finditer(text):
            one, two = int(match["one"]), int(match["two"])
            first = self.day_first or match["mark"] == "."
            if one > _MONTHS or two > _MONTHS:
                first = one > _MONTHS
            yield from _moments(match, *((one, two) if first else (two, one)), text)

    def _month(self, name: str) -> int:
        """Return the month in a text that otherwise has only particles; 0 for other texts."""
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
    tag = tag.lower().replace("_", "-")
    languages = _stored()["languages"]
    own, day_first = languages.get(tag.partition("-")[0], languages["en"])
    months = {**_common(), "sept": 9, **own}
    return Calendar(months, _stored()["orders"].get(tag, day_first))


@cache
def _common() -> dict[str, int]:
    """Return month names of common languages that are unambiguous, and all English names."""
    languages: dict[str, tuple[dict[str, int], bool]] = _stored()["languages"]
    found: dict[str, int] = {}
    for language in _COMMON.split():
        for name, number in languages[language][0].items():
            found[name] = number if found.get(name, number) == number else 0
    return {name: number for name, number in found.items() if number} | languages["en"][0]


@cache
def _stored() -> dict[str, Any]:
    """Return names of months and whether the day comes first, by language; orders by tag."""
    text = files(__package__).joinpath("calendars.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _moments(match: re.Match[str], day: int, month: int, text: str) -> Iterator[Moment]:
    found = day_of(match["year"], month, day)
    if found is not None:
        time = _TIME.match(text, match.end())
        before = text[max(0, match.start() - _BEFORE) : match.start()]
        yield Moment(found, clock_of(time or _TIME_BEFORE.search(before)))


def day_of(year: int | str, month: int | str, day: int | str) -> date | None:
    """Return the date, or None for an invalid date, such as 31 June."""
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def clock_of(time: re.Match[str] | None, offset: str = "") -> str:
    """Return the time of day in a match as ISO 8601, or "".

    Args:
        time: Match with groups such as ``hour`` and ``minute``.
        offset: Offset from UTC if the match has no zone.
    """
    parts = time.groupdict("") if time else {}
    if not parts.get("hour"):
        return ""
    hour = hour_of(int(parts["hour"]), parts.get("half") or parts.get("later", ""))
    stated = offset_of(parts.get("zone", "")) or offset
    return f"{hour:02}:{parts['minute']}:{parts['second'] or '00'}{stated}"


def hour_of(hour: int, half: str) -> int:
    """Return the hour of the day for an hour with am or pm, or with a Chinese part of the day.

    >>> hour_of(8, "p"), hour_of(12, "AM"), hour_of(3, "下午"), hour_of(11, "中午"), hour_of(20, "")
    (20, 0, 15, 11, 20)
    """
    if not half or hour > _NOON or (half == "中午" and hour >= _NOON - 1):
        return hour
    return hour % _NOON + (_NOON if half[0] in _AFTERNOON else 0)


def offset_of(zone: str) -> str:
    """Return the offset of a zone in ISO 8601; "" for an unknown one.

    >>> offset_of("EST"), offset_of("GMT+8"), offset_of("-0330"), offset_of("Z"), offset_of("")
    ('-05:00', '+08:00', '-03:30', '+00:00', '')
    """
    if zone[:1] in {"+", "-"}:
        return f"{zone[:3]}:{zone[-2:]}"
    hours = int(zone[3:]) if zone[3:4] in {"+", "-"} else _ZONES.get(zone)
    return "" if hours is None else f"{hours:+03}:00"
