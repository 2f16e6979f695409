"""Days as pages of a language write them: names of months and the order of day and month.

``12.03.2024`` is the 12th of March everywhere; ``03/12/2024`` is that for readers in the United
States, elsewhere the 3rd of December. Names of months are those of the page's language and English
ones, which templates leave on pages of other languages. ``calendars.json`` has those of the CLDR
(``python -m lab.calendars``).
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
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th|er|\.|º|ª)?"
_OF = r"(?:\s*(?:de|del|of|d[’']))?\s*"
_NUMBERS = re.compile(
    rf"(?<![\d./-])(?P<one>\d\d?)(?P<mark>[./-])\s?(?P<two>\d\d?)(?P=mark)\s?{_YEAR}(?!\d)"
)
_TIME = re.compile(
    r"[\s,|–—·-]{0,4}(?:um|at|kl\.?|o|à|às|alle|ore|a las)?\s*"
    r"(?P<hour>2[0-3]|[01]?\d)[:.h](?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?!\d|[./]\d)"
)
_MONTHS = 12


class Calendar(NamedTuple):
    """The ways of one language to write a day.

    Attributes:
        patterns: Days with the month's name.
        months: Names of months, lower case, without a full stop, and their numbers.
        day_first: The day is written before the month.
    """

    patterns: tuple[re.Pattern[str], ...]
    months: Mapping[str, int]
    day_first: bool

    def days(self, text: str) -> Iterator[tuple[date, str]]:
        """Yield each day in a text with its time of day ("" if missing), names first.

        >>> list(calendar_of("de").days("Stand: 3. März 2024, 14:05 Uhr"))
        [(datetime.date(2024, 3, 3), '14:05:00')]
        >>> [str(day) for day, _ in calendar_of("en-US").days("03/12/2024, 13.12.2024")]
        ['2024-03-12', '2024-12-13']
        >>> [str(day) for day, _ in calendar_of("pl").days("12 sierpnia 2024")]
        ['2024-08-12']
        """
        for pattern in self.patterns:
            for match in pattern.finditer(text):
                month = self.months[match["name"].lower().rstrip(".")]
                yield from _day(match, int(match["day"]), month, text)
        for match in _NUMBERS.finditer(text):
            one, two = int(match["one"]), int(match["two"])
            first = self.day_first or match["mark"] == "."
            if one > _MONTHS or two > _MONTHS:
                first = one > _MONTHS
            yield from _day(match, *((one, two) if first else (two, one)), text)


@lru_cache(maxsize=64)
def calendar_of(tag: str) -> Calendar:
    """Return the calendar of a language tag (``de``, ``pt-BR``); English for unknown ones.

    >>> calendar_of("en-GB").day_first, calendar_of("en").day_first, calendar_of("xx").day_first
    (True, False, False)
    """
    language, known = _language(tag), _known()
    own, day_first = known[language]
    months = {**known["en"][0], "sept": 9, **own}
    name = "|".join(map(re.escape, sorted(months, key=len, reverse=True)))
    named = rf"(?P<name>{name})"
    patterns = (
        re.compile(rf"(?<!\d){_DAY}{_OF}{named}\b\.?,?{_OF}{_YEAR}\b", re.IGNORECASE),
        re.compile(rf"\b{named}\b\.?\s*{_DAY},?\s+{_YEAR}\b", re.IGNORECASE),
        re.compile(rf"\b{_YEAR}\.?,?\s*{named}\b\.?\s*{_DAY}", re.IGNORECASE),
    )
    variants = _known_orders()
    return Calendar(patterns, months, variants.get(tag.lower().replace("_", "-"), day_first))


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
    time = _TIME.match(text, match.end())
    clock = f"{int(time['hour']):02}:{time['minute']}:{time['second'] or '00'}" if time else ""
    yield found, clock
