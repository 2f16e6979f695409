"""Publication date of an article, from metadata, the text near the headline, or the URL."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.extract.calendars import calendar_of
from topiccrawl.extract.relative import BEIJING, relative_dates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from selectolax.lexbor import LexborHTMLParser, LexborNode

EARLIEST = 1995
"""Earliest accepted year of publication."""

_DAY = (
    r"(?P<year>(?:19|20)\d\d)\s*[-/.年]\s*(?P<month>1[0-2]|0?[1-9])\s*[-/.月]\s*"
    r"(?P<day>3[01]|[12]\d|0?[1-9])(?!\d)\s*日?"
)
_TIME = (
    r"(?P<hour>2[0-3]|[01]?\d)\s*[:：时]\s*(?P<minute>[0-5]\d)(?:\s*[:：分]\s*(?P<second>[0-5]\d))?"
)
_ZONE = r"(?P<zone>Z|[+-][01]\d:?[0-5]\d)"
_WRITTEN = re.compile(
    rf"(?<!\d){_DAY}(?:[T\s,，]*(?:[(（]?(?:星期|周).[)）]?\s*)?{_TIME}(?:\.\d+)?\s*{_ZONE}?)?"
)
_DIGITS = {
    number: str(unicodedata.decimal(chr(number)))
    for number in range(0x80, 0x1_0000)
    if chr(number).isdecimal()
}
"""Digits of Arabic, Bengali and other scripts, mapped to ASCII."""
_FOUR_DIGITS = re.compile(r"\d{4}")
"""Test for a year, in digits of any script."""
_HEAD = 2
"""Texts near the headline; relative times in later texts belong to other articles."""
_SHORT_LINES = (30, 50)
"""Most characters of lines whose dates are preferred; dates in sentences are those of events."""
_DAY_MARKS = "[class*=date i], [class*=publi i], [class*=time i], [id*=date i]"
_DAY_NAME = re.compile(
    r"(?<![a-z])(?:publi\w*|pub|(?:pub)?date(?:time|line|d)?|time(?:stamp)?)(?![a-z])",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LONGEST_DAY, _MOST_DAYS = 100, 50
_DATELINE = 30
"""Most characters at the start of the first lines of a body in which a dateline is searched."""
_EPOCH = re.compile(r"1\d{9}(?:\d{3})?")
_IN_URL = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)[-/_]?(?P<month>1[0-2]|0[1-9])[-/_]?"
    r"(?P<day>3[01]|[12]\d|0[1-9])(?!\d{1,3}(?:\D|$))"
)


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


def published(
    stated: Iterable[str],
    near: Sequence[str],
    url: str,
    tag: str,
    fetched_at: float = 0.0,
    headline: str = "",
) -> str:
    """Return the time of publication in ISO 8601, or "".

    Metadata is used first, then the text near the headline, then the URL. Dates equal to the date
    in the URL are preferred to other dates, and dates with a time of day to dates without. The
    default time zone of Chinese pages is Beijing's. If a Chinese page has no full date, a date
    relative to the fetch (昨天 12:30) or without a year (11月21日 08:00) is used.

    Args:
        stated: Dates in metadata, most trusted first.
        near: Texts to search, most relevant first.
        url: URL of the page.
        tag: Language tag of the page (``zh``, ``en-GB``), which determines date formats.
        fetched_at: Seconds since the epoch; later dates are rejected. 0 if unknown.
        headline: Headline; a date in it is used last.

    >>> published((), ["2016年01月12日 10:23 来源"], "http://a.test/x", "zh")
    '2016-01-12T10:23:00+08:00'
    >>> published(["2019-11-19T10:00:06.000Z"], (), "http://a.test/x", "en")
    '2019-11-19T10:00:06+00:00'
    >>> storm = "The storm of 2 May 2016 came without a warning on that day"
    >>> published((), [storm, "4 May 2016"], "", "en")
    '2016-05-04'
    >>> published((), ["no date"], "http://a.test/a/20160112/1.htm", "zh")
    '2016-01-12'
    """
    zone = BEIJING if tag.partition("-")[0] == "zh" else None
    last = _latest(fetched_at)
    dated = _in_url(url)
    short = ([_short(text, size, headline) for text in near[:_HEAD]] for size in _SHORT_LINES)
    for texts in (stated, *short, near):
        found = [m for text in texts for m in _moments(text, tag, zone) if _valid(m.day, last)]
        if found:
            return _best(found, dated).iso
    if zone is not None:
        timed = [
            Moment(*one) for text in near[:_HEAD] for one in relative_dates(text, fetched_at, dated)
        ]
        if timed := [m for m in timed if _valid(m.day, last) and _near(m.day, dated)]:
            return _best(timed, dated).iso
    return Moment(dated).iso if dated is not None and _valid(dated, last) else ""


def marked_day(tree: LexborHTMLParser, head: str, tag: str, fetched_at: float = 0.0) -> str:
    """Return the date in an element with a date-related name, else the date of a dateline, or "".

    Args:
        tree: The parsed page.
        head: Beginning of the body.
        tag: See ``published``.
        fetched_at: See ``published``.
    """
    marked = filter(_is_named_for_a_day, tree.css(_DAY_MARKS)[:_MOST_DAYS])
    short = [text for one in marked if len(text := one.text(strip=True)) <= _LONGEST_DAY]
    lines = (line[:_DATELINE] for line in head.split("\n"))
    days = (published((), [text], "", tag, fetched_at) for text in (*short, *lines))
    return next(filter(None, days), "")


def _is_named_for_a_day(element: LexborNode) -> bool:
    names = f"{element.attributes.get('class') or ''} {element.attributes.get('id') or ''}"
    return bool(_DAY_NAME.search(_CAMEL.sub("-", names)))


def _short(text: str, size: int, headline: str) -> str:
    """Return the lines with at most ``size`` characters, without the headline."""
    lines = text.split("\n")
    return "\n".join(line for line in lines if len(line) <= size and line != headline)


def _latest(fetched_at: float) -> date:
    if not fetched_at:
        return date.max
    return (datetime.fromtimestamp(fetched_at, tz=UTC) + timedelta(days=1)).date()


def _valid(day: date, last: date) -> bool:
    return day.year >= EARLIEST and day <= last


def _best(found: list[Moment], dated: date | None) -> Moment:
    """Return the first moment with the URL's date, else the first; prefer one with time of day."""
    days = [m.day for m in found]
    close = [day for day in days if dated and abs(day - dated) <= timedelta(days=1)]
    day = dated if dated in days else (*close, *days)[0]
    same = [m for m in found if m.day == day]
    return next((m for m in same if m.clock), same[0])


def _near(day: date, dated: date | None) -> bool:
    """Return whether a date differs from the URL's date by at most one day."""
    return dated is None or abs(day - dated) <= timedelta(days=1)


def _moments(text: str, tag: str, zone: tzinfo | None) -> Iterator[Moment]:
    if not _FOUR_DIGITS.search(text):
        return
    text = text if text.isascii() else text.translate(_DIGITS)
    if _EPOCH.fullmatch(text.strip()):
        then = datetime.fromtimestamp(int(text.strip()[:10]), tz=zone or UTC)
        yield Moment(then.date(), then.time().isoformat() + then.strftime("%z")[:3] + ":00")
    for match in _WRITTEN.finditer(text):
        day = _day(match["year"], match["month"], match["day"])
        if day is not None:
            yield Moment(day, _clock(match, zone))
    for day, clock in calendar_of(tag).days(text):
        yield Moment(day, clock)


def _clock(match: re.Match[str], zone: tzinfo | None) -> str:
    if match["hour"] is None:
        return ""
    clock = f"{int(match['hour']):02}:{match['minute']}:{match['second'] or '00'}"
    stated = match["zone"]
    if stated is not None:
        return clock + ("+00:00" if stated == "Z" else f"{stated[:3]}:{stated[-2:]}")
    return clock + ("+08:00" if zone is BEIJING else "")


def _in_url(url: str) -> date | None:
    match = _IN_URL.search(url)
    return None if match is None else _day(match["year"], match["month"], match["day"])


def _day(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:  # invalid date, such as 31 June
        return None
