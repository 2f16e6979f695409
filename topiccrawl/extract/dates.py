"""Publication date of an article, from metadata, the text near the headline, or the URL.

Times near the headline may be relative or incomplete: 5分钟前, 昨天 12:30, 11月21日 without a year.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from itertools import islice
from typing import TYPE_CHECKING

from topiccrawl.extract.blocks import names_of
from topiccrawl.extract.calendars import ZONE, Moment, calendar_of, clock_of, day_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from selectolax.lexbor import LexborHTMLParser, LexborNode

BEIJING = timezone(timedelta(hours=8))
"""Default time zone of Chinese pages (Asia/Shanghai has had no summer time since 1991)."""

_START = r"(?:^|[\s　:：|｜·•(（])"
_HALF = r"(?P<half>上午|下午|凌晨|清晨|早上|早晨|中午|傍晚|晚上|晚间|[AP]M)"
_CLOCK = (
    rf"(?:{_HALF}\s*)?(?P<hour>2[0-3]|[01]?\d)\s*[:：]\s*(?P<minute>[0-5]\d)"
    r"(?:[:：](?P<second>[0-5]\d))?"
)
_VERB = r"(?:发布|發布|发表|發表|更新|编辑)"
_AGO = re.compile(
    rf"(?:{_START}|{_VERB}[于於]\s*)(?P<number>\d{{1,3}}|半|一|两|几)\s*[个個]?\s*"
    rf"(?P<unit>秒[钟鐘]?|分[钟鐘]?|小[时時]|天|周|星期)之?前(?:(?![一-鿿])|(?={_VERB}|阅读))",
    re.MULTILINE,
)
_AGO_ENGLISH = re.compile(
    r"^[^\w\n]*+(?:(?:first |last )?(?:published|posted|updated|modified)[^\w\n]+)?"
    r"(?P<number>\d{1,3}|an?)\s?(?P<unit>s|m|h|d|w)(?:ec|econd|in|inute|r|our|ay|eek)?s?\s+ago\b"
    r"(?![ \t]+\w)",
    re.MULTILINE | re.IGNORECASE,
)
_NOW = re.compile(rf"{_START}刚刚(?=[\s|｜]|{_VERB}|$)", re.MULTILINE)
_DAY_AND_TIME = re.compile(rf"{_START}(?P<name>今天|今日|昨天|昨日|前天)\s*{_CLOCK}", re.MULTILINE)
_DAY_ONLY = re.compile(r"^\s*(?P<name>今天|今日|昨天|昨日|前天)\s*$", re.MULTILINE)
_YEARLESS = re.compile(
    rf"{_START}(?P<month>1[0-2]|0?[1-9])\s*(?:月\s*(?P<day>3[01]|[12]\d|0?[1-9])\s*日|"
    rf"[-/](?P<other>3[01]|[12]\d|0[1-9])(?=\s))\s*(?:{_CLOCK})?",
    re.MULTILINE,
)
_SECONDS = {"秒": 1, "分": 60, "小": 3600, "天": 86400, "周": 604800, "星": 604800} | {
    "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800,
}  # fmt: skip
_NUMBERS = {"半": 0.5, "一": 1.0, "两": 2.0, "几": 3.0, "a": 1.0, "an": 1.0}
_DAYS = {"今": 0, "昨": 1, "前": 2}
_COARSE = 86400
"""Seconds of the smallest unit without time of day."""
_OFFSET = "+08:00"
"""Offset of Beijing's time from UTC."""
_TODAY_LENGTH = 12
"""Characters before a date that are searched for such a text."""

EARLIEST = 1995
"""Earliest accepted year of publication."""

_DAY = (
    r"(?P<year>(?:19|20)\d\d)\s*[-－/.年]\s*(?P<month>1[0-2]|0?[1-9])\s*[-－/.月]\s*"
    r"(?P<day>3[01]|[12]\d|0?[1-9])(?!\d)\s*日?"
)
_TIME = (
    rf"(?:{_HALF}\s*)?(?P<hour>2[0-3]|[01]?\d)\s*[:：时時点點]\s*(?P<minute>[0-5]\d)"
    r"(?:\s*[:：分]\s*(?P<second>[0-5]\d))?"
)
_WEEKDAY = r"(?:[(（]?(?:星期|周|週).[)）]?|[(（].(?:曜日?)?[)）])"
_WRITTEN = re.compile(
    rf"(?<!\d){_DAY}(?:(?:[T\s,，]*+|\s[-–]\s)(?:{_WEEKDAY}\s*)?{_TIME}(?:\.\d+)?"
    rf"(?:\s?(?P<later>[ap])\.?m\b)?(?:\s*{ZONE})?)?",
    re.IGNORECASE,
)
_ERA_YEAR = re.compile(r"(?P<era>令和|平成|民[国國])\s*(?P<year>元|\d{1,3})(?=\s*年\s*\d)")
_ERAS = {"令": 2018, "平": 1988, "民": 1911}
"""Years before the first year of Japanese eras and of the Republic of China (Taiwan)."""
_HAN_DIGITS = "〇一二三四五六七八九"
_HAN_DATE = re.compile(
    r"(?<![历曆歷])(?P<year>[一二][〇○零0一二三四五六七八九]{3})年\s*"
    r"(?P<month>元|十[一二]?|[一二三四五六七八九])月\s*"
    r"(?P<day>(?:[二三]?十|廿)?[一二三四五六七八九]|[二三]?十|廿)[日号號](?![,，])"
)
"""A date in Chinese numerals, as of official documents; not of the lunar calendar or a sentence."""
_ROC_YEAR = re.compile(
    r"(?<![\d./-])(?P<year>1\d\d)(?=([-/.])(?:1[0-2]|0?[1-9])\2(?:3[01]|[12]\d|0?[1-9])(?!\d|[./-]\d))"
)
_SHORT_YEAR = re.compile(
    r"(?<=[间間期布][:：])\s*(?=[012]\d-(?:1[0-2]|0[1-9])-(?:3[01]|[12]\d|0[1-9])(?!\d))"
)
"""Place of the missing century in a date after its label (发布时间：18-03-08)."""
_TODAY = re.compile(r"(?:今天|今日|现在|当前)(?:是|时间|日期)[\s:：]*$")
"""Text before a date that the page shows to its reader: the day of the visit."""
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
_IN_SCRIPT = re.compile(
    r"(?<![a-z])(?:publish|pub|create|release)[a-z]{0,4}_?(?:time|date|at)[\"']?\s*[:=]\s*[\"']?"
    r"(?P<time>1\d{9}(?:\d{3})?(?!\d)|20\d\d[-/]\d\d?[-/]\d\d?[\w :.+-]{0,20})",
    re.IGNORECASE,
)
_IN_URL = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)[-/_]?(?P<month>1[0-2]|0[1-9])[-/_]?"
    r"(?P<day>3[01]|[12]\d|0[1-9])(?!\d{1,3}(?:\D|$))"
)


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
    default time zone of Chinese pages is Beijing's. If a page has no full date, a date relative to
    the fetch (昨天 12:30, 3 hours ago) is used, or on a Chinese page one without a year (11月21日
    08:00). Dates in Chinese numerals are read last, and only in short lines.

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
    short = [[_short(text, size, headline) for text in near[:_HEAD]] for size in _SHORT_LINES]
    confirmed = short[-1] if dated is not None else ()
    for texts in (stated, confirmed, *short, near):
        found = [m for text in texts for m in _moments(text, tag, zone) if _valid(m.day, last)]
        if found and (texts is not confirmed or any(m.day == dated for m in found)):
            best = _best(found, dated)
            return (best if best.clock else _with_clock(best, near, tag, zone)).iso
    relative = relative_dates if zone is not None else _english_ago
    timed = [m for text in near[:_HEAD] for m in relative(text, fetched_at, dated)]
    if timed := [m for m in timed if _valid(m.day, last) and _near(m.day, dated)]:
        return _best(timed, dated).iso
    if dated is not None and _valid(dated, last):
        return Moment(dated).iso
    lines = (_short(text, _SHORT_LINES[0], headline) for text in (*stated, *near))
    formal = (_HAN_DATE.sub(_arabic_date, text) for text in lines)
    found = [m for text in formal for m in _moments(text, tag, zone) if _valid(m.day, last)]
    return _best(found, None).iso if found else ""


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


def scripted_day(html: str, tag: str, fetched_at: float = 0.0) -> str:
    """Return the time of publication in the scripts of a page, or "" if they name several days.

    Args:
        html: The page; its scripts set variables such as ``createTime`` and ``publish_time``.
        tag: See ``published``.
        fetched_at: See ``published``.

    >>> scripted_day("<script>var createTime = '2026-01-12 10:23';</script>", "zh")
    '2026-01-12T10:23:00+08:00'
    >>> scripted_day('<script>[{"pubTime":1452567780},{"pubTime":1552567780}]</script>', "zh")
    ''
    """
    scripts = (part.partition("</script")[0] for part in html.split("<script")[1:])
    stated = dict.fromkeys(m["time"] for one in scripts for m in _IN_SCRIPT.finditer(one))
    read = (published([one], (), "", tag, fetched_at) for one in islice(stated, _MOST_DAYS))
    times = list(filter(None, read))
    return times[0] if len({time[:10] for time in times}) == 1 else ""


def _is_named_for_a_day(element: LexborNode) -> bool:
    return bool(_DAY_NAME.search(_CAMEL.sub("-", names_of(element))))


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
    close = [day for day in days if dated and _near(day, dated)]
    day = dated if dated in days else (*close, *days)[0]
    same = [m for m in found if m.day == day]
    return next((m for m in same if m.clock), same[0])


def _with_clock(best: Moment, near: Sequence[str], tag: str, zone: tzinfo | None) -> Moment:
    """Return the moment with the time of day of the same date in a short line near the headline."""
    texts = (_short(text, _SHORT_LINES[-1], "") for text in near[:_HEAD])
    same = (m for text in texts for m in _moments(text, tag, zone) if m.day == best.day)
    return next((m for m in same if m.clock), best)


def _near(day: date, dated: date | None) -> bool:
    """Return whether a date differs from the URL's date by at most one day."""
    return dated is None or abs(day - dated) <= timedelta(days=1)


def _moments(text: str, tag: str, zone: tzinfo | None) -> Iterator[Moment]:
    text = _with_western_years(text, tag)
    if not _FOUR_DIGITS.search(text):
        return
    text = text if text.isascii() else text.translate(_DIGITS)
    if _EPOCH.fullmatch(text.strip()):
        then = datetime.fromtimestamp(int(text.strip()[:10]), tz=zone or UTC)
        yield Moment(then.date(), then.timetz().isoformat())
    for match in _WRITTEN.finditer(text):
        day = day_of(match["year"], match["month"], match["day"])
        before = text[max(0, match.start() - _TODAY_LENGTH) : match.start()]
        if day is not None and not _TODAY.search(before):
            yield Moment(day, clock_of(match, _OFFSET if zone else ""))
    yield from calendar_of(tag).days(text)


def _with_western_years(text: str, tag: str) -> str:
    """Replace the years of Japanese eras and of Taiwan: 令和8年, 民國115年, in Taiwan 115/01/12.

    Years of two digits after a Chinese label get their century.

    >>> _with_western_years("令和元年5月1日 中華民國115年1月12日", "ja")
    '2019年5月1日 中華2026年1月12日'
    >>> _with_western_years("發布日期：115-01-12", "zh-Hant-TW")
    '發布日期：2026-01-12'
    >>> _with_western_years("发布时间：18-03-08 23:16", "zh")
    '发布时间：2018-03-08 23:16'
    """
    if "年" in text:
        text = _ERA_YEAR.sub(_western_year, text)
    if tag.startswith("zh"):
        text = _SHORT_YEAR.sub("20", text)
    if tag.lower().startswith(("zh-tw", "zh-hant")):
        text = _ROC_YEAR.sub(lambda match: str(_ERAS["民"] + int(match["year"])), text)
    return text


def _western_year(match: re.Match[str]) -> str:
    year = match["year"]
    return str(_ERAS[match["era"][0]] + (1 if year == "元" else int(year)))


def _arabic_date(match: re.Match[str]) -> str:
    year = match["year"].translate({ord("○"): "〇", ord("零"): "〇", ord("0"): "〇"})
    digits = "".join(str(_HAN_DIGITS.index(letter)) for letter in year)
    month, day = _number(match["month"].replace("元", "一")), _number(match["day"])
    return f"{digits}年{month}月{day}日"


def _number(text: str) -> int:
    """Return the number of a Chinese numeral below 100: 二十八, 廿八."""
    tens, ten, ones = text.replace("廿", "二十").rpartition("十")
    return (_HAN_DIGITS.index(tens or "一") * 10 if ten else 0) + _HAN_DIGITS.index(ones or "〇")


def _in_url(url: str) -> date | None:
    match = _IN_URL.search(url)
    return None if match is None else day_of(match["year"], match["month"], match["day"])


def relative_dates(text: str, fetched_at: float, in_url: date | None = None) -> Iterator[Moment]:
    r"""Yield dates and times of day that are relative to the fetch or lack the year.

    Times are in Beijing time. A date without a year is the last such date before the fetch, or in
    the year of the URL's date. Without a time of day it is accepted only if the URL has the same
    date.

    Args:
        text: Lines near a headline.
        fetched_at: Seconds since the epoch; 0 if unknown.
        in_url: Date in the URL of the page, or None.

    >>> [moment.iso for moment in relative_dates("5分钟前\n昨天 12:30", 1_700_000_000.0)]
    ['2023-11-15T06:08:20+08:00', '2023-11-14T12:30:00+08:00']
    """
    if not (fetched_at or in_url):
        return
    now = datetime.fromtimestamp(fetched_at, tz=BEIJING)
    if fetched_at:
        yield from (_before(now, match) for match in _AGO.finditer(text))
        if _NOW.search(text):
            yield Moment(now.date(), now.strftime("%H:%M:%S") + _OFFSET)
        for match in (*_DAY_AND_TIME.finditer(text), *_DAY_ONLY.finditer(text)):
            day = now.date() - timedelta(days=_DAYS[match["name"][0]])
            yield Moment(day, clock_of(match, _OFFSET))
    years, last = ([in_url.year], date.max) if in_url else ([now.year, now.year - 1], now.date())
    for match in _YEARLESS.finditer(text):
        days = (day_of(year, match["month"], match["day"] or match["other"]) for year in years)
        found = next((one for one in days if one is not None and one <= last), None)
        if found is not None and (match["hour"] or found == in_url):
            yield Moment(found, clock_of(match, _OFFSET))


def _english_ago(text: str, fetched_at: float, _in_url: date | None = None) -> Iterator[Moment]:
    """Yield the times of lines such as "Updated 3 hours ago", in UTC."""
    if fetched_at:
        now = datetime.fromtimestamp(fetched_at, tz=UTC)
        yield from (_before(now, match) for match in _AGO_ENGLISH.finditer(text))


def _before(now: datetime, match: re.Match[str]) -> Moment:
    unit = _SECONDS[match["unit"][0].lower()]
    number = _NUMBERS.get(match["number"].lower()) or float(match["number"])
    then = now - timedelta(seconds=number * unit)
    clock = then.replace(microsecond=0).timetz().isoformat()
    return Moment(then.date(), "" if unit >= _COARSE else clock)
