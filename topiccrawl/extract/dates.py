"""Date of publication of an article: from metadata, from the text near its head, from its URL."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.extract.calendars import calendar_of
from topiccrawl.extract.relative import BEIJING, moments

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from selectolax.lexbor import LexborHTMLParser, LexborNode

EARLIEST = 1995
"""First year of publication that is accepted: before it there were no news on the web."""

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
"""Digits of Arabic, Bengali and other scripts, as ASCII ones."""
_FOUR_DIGITS = re.compile(r"\d{4}")
"""A year has them, in digits of any script; a text without them has no date."""
_HEAD = 2
"""Texts around the headline; a relative time in later texts belongs to other articles."""
_ALONE = (30, 50)
"""Characters of lines whose days count before others; one in a sentence is that of an event."""
_DAY_MARKS = "[class*=date i], [class*=publi i], [class*=time i], [id*=date i]"
_DAY_NAME = re.compile(
    r"(?<![a-z])(?:publi\w*|pub|(?:pub)?date(?:time|line|d)?|time(?:stamp)?)(?![a-z])",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LONGEST_DAY, _MOST_DAYS = 100, 50
_DATELINE = 30
"""Characters of a line in the body's head whose day is that of the report; further on it is any."""
_EPOCH = re.compile(r"1\d{9}(?:\d{3})?")
_IN_URL = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)[-/_]?(?P<month>1[0-2]|0[1-9])[-/_]?"
    r"(?P<day>3[01]|[12]\d|0[1-9])(?!\d{1,3}(?:\D|$))"
)


class Moment(NamedTuple):
    """A time as precise as it was written.

    Attributes:
        day: Calendar day in the zone of the page.
        clock: Time of the day as ISO 8601, with the zone if known, or "".
    """

    day: date
    clock: str = ""

    @property
    def iso(self) -> str:
        """ISO 8601, as precise as known."""
        return f"{self.day.isoformat()}T{self.clock}" if self.clock else self.day.isoformat()


def published(
    stated: Iterable[str],
    near: Sequence[str],
    url: str,
    tag: str,
    fetched_at: float = 0.0,
    headline: str = "",
) -> str:
    """Return the time of publication as ISO 8601, or "".

    Metadata comes first, then the text near the headline, then the URL. A written time of the
    URL's own day is preferred to an earlier one of another day, and one with a time of day to one
    without. Pages in Chinese are in Beijing's zone if they name none. If they have no full date,
    one relative to the fetch (昨天 12:30) or without a year (11月21日 08:00) counts.

    Args:
        stated: Dates of the metadata, most trusted first.
        near: Texts to search, most relevant first.
        url: Address of the page.
        tag: Language of the page (``zh``, ``en-GB``): how its days are written.
        fetched_at: Seconds since the epoch; later days are rejected. 0: not known.
        headline: A day in it counts last.

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
    alone = ([_short(text, size, headline) for text in near[:_HEAD]] for size in _ALONE)
    for texts in (stated, *alone, near):
        found = [m for text in texts for m in _moments(text, tag, zone) if _likely(m.day, last)]
        if found:
            return _best(found, dated).iso
    if zone is not None:
        timed = [Moment(*one) for text in near[:_HEAD] for one in moments(text, fetched_at, dated)]
        if timed := [m for m in timed if _likely(m.day, last) and _fits(m.day, dated)]:
            return _best(timed, dated).iso
    return Moment(dated).iso if dated is not None and _likely(dated, last) else ""


def marked_day(tree: LexborHTMLParser, head: str, tag: str, fetched_at: float = 0.0) -> str:
    """Return the day in an element that is named for one, else that of a dateline, or "".

    Args:
        tree: The page.
        head: Beginning of its body.
        tag: As in ``published``.
        fetched_at: As in ``published``.
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
    """Return the lines of a size at most, without the headline."""
    lines = text.split("\n")
    return "\n".join(line for line in lines if len(line) <= size and line != headline)


def _latest(fetched_at: float) -> date:
    if not fetched_at:
        return date.max
    return (datetime.fromtimestamp(fetched_at, tz=UTC) + timedelta(days=1)).date()


def _likely(day: date, last: date) -> bool:
    return day.year >= EARLIEST and day <= last


def _best(found: list[Moment], dated: date | None) -> Moment:
    """Return the first of the URL's day, else the first; with a time of day if that day has one."""
    days = [m.day for m in found]
    close = [day for day in days if dated and abs(day - dated) <= timedelta(days=1)]
    day = dated if dated in days else (*close, *days)[0]
    same = [m for m in found if m.day == day]
    return next((m for m in same if m.clock), same[0])


def _fits(day: date, dated: date | None) -> bool:
    """Return whether a day agrees with the URL's, to within one day."""
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
    except ValueError:  # the 31st of a month that has 30 days
        return None
