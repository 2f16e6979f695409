"""Relative and incomplete times: 5分钟前, 昨天 12:30, 11月21日 without a year."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

BEIJING = timezone(timedelta(hours=8))
"""Default time zone of Chinese pages (Asia/Shanghai has had no summer time since 1991)."""

_START = r"(?:^|[\s　:：|｜·•(（])"
_CLOCK = r"(?P<hour>2[0-3]|[01]?\d)\s*[:：]\s*(?P<minute>[0-5]\d)(?:[:：](?P<second>[0-5]\d))?"
_AGO = re.compile(
    rf"{_START}(?P<number>\d{{1,3}}|半|一|两|几)\s*个?\s*(?P<unit>秒钟?|分钟?|小时|天|周|星期)之?前(?![一-鿿])",
    re.MULTILINE,
)
_NOW = re.compile(rf"{_START}刚刚(?=[\s|｜]|$)", re.MULTILINE)
_DAY_AND_TIME = re.compile(rf"{_START}(?P<name>今天|今日|昨天|昨日|前天)\s*{_CLOCK}", re.MULTILINE)
_DAY_ONLY = re.compile(r"^\s*(?P<name>今天|今日|昨天|昨日|前天)\s*$", re.MULTILINE)
_YEARLESS = re.compile(
    rf"{_START}(?P<month>1[0-2]|0?[1-9])\s*(?:月\s*(?P<day>3[01]|[12]\d|0?[1-9])\s*日|"
    rf"[-/](?P<other>3[01]|[12]\d|0[1-9])(?=\s))\s*(?:{_CLOCK})?",
    re.MULTILINE,
)
_SECONDS = {"秒": 1, "分": 60, "小": 3600, "天": 86400, "周": 604800, "星": 604800}
_NUMBERS = {"半": 0.5, "一": 1.0, "两": 2.0, "几": 3.0}
_DAYS = {"今": 0, "昨": 1, "前": 2}
_COARSE = 86400
"""Seconds of the smallest unit without time of day."""


def relative_dates(
    text: str, fetched_at: float, in_url: date | None = None
) -> Iterator[tuple[date, str]]:
    """Yield dates and times of day ("" if missing) that are relative to the fetch or lack the year.

    Times are in Beijing time. A date without a year is the last such date before the fetch, or in
    the year of the URL's date. Without a time of day it is accepted only if the URL has the same
    date.

    Args:
        text: Lines near a headline.
        fetched_at: Seconds since the epoch; 0 if unknown.
        in_url: Date in the URL of the page, or None.

    >>> list(relative_dates("5分钟前", 1_700_000_000.0))
    [(datetime.date(2023, 11, 15), '06:08:20+08:00')]
    >>> list(relative_dates("昨天 12:30", 1_700_000_000.0))
    [(datetime.date(2023, 11, 14), '12:30:00+08:00')]
    """
    if fetched_at:
        yield from _relative(text, datetime.fromtimestamp(fetched_at, tz=UTC).astimezone(BEIJING))
    for match in _YEARLESS.finditer(text):
        day = _add_year(
            int(match["month"]), int(match["day"] or match["other"]), fetched_at, in_url
        )
        if day is not None and (match["hour"] or day == in_url):
            yield day, _clock(match)


def _relative(text: str, now: datetime) -> Iterator[tuple[date, str]]:
    for match in _AGO.finditer(text):
        unit = _SECONDS[match["unit"][0]]
        number = _NUMBERS.get(match["number"]) or float(match["number"])
        then = now - timedelta(seconds=number * unit)
        yield then.date(), "" if unit >= _COARSE else then.strftime("%H:%M:%S+08:00")
    if _NOW.search(text):
        yield now.date(), now.strftime("%H:%M:%S+08:00")
    for match in _DAY_AND_TIME.finditer(text):
        yield now.date() - timedelta(days=_DAYS[match["name"][0]]), _clock(match)
    for match in _DAY_ONLY.finditer(text):
        yield now.date() - timedelta(days=_DAYS[match["name"][0]]), ""


def _clock(match: re.Match[str]) -> str:
    if match["hour"] is None:
        return ""
    return f"{int(match['hour']):02}:{match['minute']}:{match['second'] or '00'}+08:00"


def _add_year(month: int, day: int, fetched_at: float, in_url: date | None) -> date | None:
    if in_url is not None:
        years = [in_url.year]
        last = date.max
    elif fetched_at:
        today = datetime.fromtimestamp(fetched_at, tz=UTC).astimezone(BEIJING).date()
        years = [today.year, today.year - 1]
        last = today
    else:
        return None
    found = (_day(year, month, day) for year in years)
    return next((one for one in found if one is not None and one <= last), None)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:  # the 30th of February
        return None
