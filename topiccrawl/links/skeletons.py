"""URL skeletons: URLs with placeholders for dates, numbers, headlines and opaque ids."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

YEAR, MONTH, DAY = "{Y}", "{YM}", "{YMD}"
NUMBER, SLUG, OPAQUE = "{n}", "{slug}", "{id}"
DATES = (YEAR, MONTH, DAY)
"""Placeholders that begin with a year."""

_LONGEST_NAME = 24  # letters of a directory's name; a longer one is a headline
_SLUG_WORDS = 3  # words between hyphens that make a headline
_OPAQUE = re.compile(r"(?=[0-9A-Za-z]{8,}\Z)(?:[A-Za-z]*[0-9]+[A-Za-z]+){2,}[0-9A-Za-z]*")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,5}\Z")
_DAY = r"(?:19[89]|20[0-4])[0-9](?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"
_RUNS = re.compile(rf"(?<![0-9])({_DAY})(?![0-9])|[0-9]+")
_DIGITS = re.compile(r"[0-9]+")
_YEAR = re.compile(r"(?:19[89]|20[0-4])[0-9]")
_MONTH = re.compile(r"(?:19[89]|20[0-4])[0-9](?:0[1-9]|1[0-2])")
_YEAR_MONTH = re.compile(r"((?:19[89]|20[0-4])[0-9])([-_])(0[1-9]|1[0-2])(?=\Z|\2)")
_NAME = re.compile(r"[A-Za-z]+\Z")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]{0,15}\Z")


class Address(NamedTuple):
    """The parts of a URL.

    Attributes:
        host: Host, with the port if the URL has one.
        segments: Path segments; the last is "" if the path ends in a slash.
        query: Parameter names and values, in order.
    """

    host: str
    segments: tuple[str, ...]
    query: tuple[tuple[str, str], ...] = ()


class Skeleton(Address):
    """Format of a URL; URLs with one skeleton differ only in numbers, dates and names.

    Path segments and values of parameters have placeholders such as ``{YMD}`` and ``{n}``.
    """

    __slots__ = ()

    @property
    def text(self) -> str:
        """The skeleton as one string, for display and comparison."""
        query = "&".join(f"{name}={value}" for name, value in self.query)
        return f"{self.host}/{'/'.join(self.segments)}{'?' + query if query else ''}"

    @property
    def dated(self) -> bool:
        """True if the path has a date."""
        return any(date in segment for segment in self.segments for date in DATES)


def address(url: str) -> Address:
    """Split a canonical URL into its parts; accepts any string.

    >>> address("http://a.test/x/1.html?id=7")
    Address(host='a.test', segments=('x', '1.html'), query=(('id', '7'),))
    """
    rest = url.partition("://")[2]
    where, _, query = rest.partition("#")[0].partition("?")
    host, _, path = where.partition("/")
    pairs = (part.partition("=") for part in query.split("&") if part)
    return Address(host, tuple(path.split("/")), tuple((name, value) for name, _, value in pairs))


def skeleton(url: str) -> Skeleton:
    """Return the skeleton of a URL.

    >>> skeleton("http://a.test/news/20130304/n367739936.shtml").text
    'a.test/news/{YMD}/n{n}.shtml'
    >>> skeleton("http://a.test/2016/03/07/a-day-in-town-2/?from=list").text
    'a.test/{Y}/{n}/{n}/{slug}/?from=list'
    >>> skeleton("http://a.test/view.asp?12345").text  # a value without a name
    'a.test/view.asp?{n}='
    """
    host, segments, query = address(url)
    *directories, last = segments
    shapes = [_directory(segment) for segment in directories]
    pairs = ((name[:40] if value else _value(name), _value(value)) for name, value in query[:8])
    return Skeleton(host, (*shapes, _last(last)), tuple(pairs))


def year_of(url: str, shape: Skeleton) -> int:
    """Return the year of the first date in a URL's path, or 0.

    >>> url = "http://a.test/a/2013-03/4.html"
    >>> year_of(url, skeleton(url))
    2013
    """
    for part, form in zip(address(url).segments, shape.segments, strict=True):
        place = min((form.find(date) for date in DATES if date in form), default=-1)
        if place >= 0 and (found := _YEAR.search(part)):
            return int(found[0])
    return 0


def _directory(segment: str) -> str:
    if _YEAR.fullmatch(segment):
        return YEAR
    if _MONTH.fullmatch(segment):
        return MONTH
    return _shape(segment)


def _last(segment: str) -> str:
    match = _EXTENSION.search(segment)
    if match is None:
        return _directory(segment)
    return _shape(segment[: match.start()]) + match[0].lower()


def _shape(text: str) -> str:
    """Replace numbers, headlines and opaque ids of a name by placeholders."""
    if _NAME.match(text) and len(text) <= _LONGEST_NAME:
        return text
    if _OPAQUE.match(text):
        return OPAQUE
    parts = [part for part in re.split(r"[-_+,]", text) if part]
    named = [part for part in parts if not part.isdigit()]
    wordy = len(named) >= _SLUG_WORDS or (len(named) > 1 and len(named) < len(parts))
    if wordy or "%" in text or any(len(part) > _LONGEST_NAME for part in named):
        return SLUG
    text = _YEAR_MONTH.sub(rf"{YEAR}\g<2>{NUMBER}", text)
    return _RUNS.sub(lambda match: DAY if match[1] else NUMBER, text)


def _value(value: str) -> str:
    if value.isdigit():
        return NUMBER
    return value if _WORD.match(value) and not _OPAQUE.match(value) else SLUG if value else ""


def group(url: str, levels: int = 3) -> tuple[str, ...]:
    """Return at most ``levels`` directories of a URL, widest first, with digits replaced by ``#``.

    Related pages of a site often share a directory, but dates create new directories all the time.
    With digits replaced, last year's pages count for this year's directory.

    >>> group("http://example.com/news/2020/05/a.html")
    ('/news/', '/news/#/', '/news/#/#/')
    >>> group("http://example.com/a.html")
    ()
    """
    rest = url.partition("://")[2]
    path = rest.partition("?")[0].partition("#")[0].partition("/")[2]
    return _groups(path[: path.rfind("/") + 1], levels)


@lru_cache(maxsize=4096)
def _groups(directory: str, levels: int) -> tuple[str, ...]:
    parts = [_DIGITS.sub("#", part)[:40] for part in directory.split("/")[:-1][:levels]]
    return tuple("/" + "/".join(parts[: i + 1]) + "/" for i in range(len(parts)))
