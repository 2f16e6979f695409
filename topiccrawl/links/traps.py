"""Detection of crawler traps: infinite URL spaces, and files that are no pages [S5].

See section 8 of the project's methods. The source only limits a URL's length and number of slashes.
The checks for repeated segments, calendars, session ids in paths and growing queries are additions.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

from topiccrawl.errors import SettingError

_MEDIA = (
    "jpg jpeg png gif bmp webp avif svg ico tif tiff psd ai eps raw heic mp3 wav flac aac ogg m4a "
    "wma mid amr mp4 m4v avi mov wmv flv f4v mkv webm mpg mpeg 3gp rm rmvb ts m3u8 swf"
)
_DOCUMENTS = (
    "pdf doc docx xls xlsx ppt pptx pps odt ods odp rtf epub mobi azw3 chm csv tsv json xml rss "
    "atom rdf"
)
_PROGRAMS = (
    "zip rar 7z gz bz2 xz tgz tar zst lzma cab jar war iso img dmg exe msi apk ipa deb rpm bin "
    "dll torrent css js mjs map woff woff2 ttf otf eot wasm"
)
NON_PAGE_EXTENSIONS = frozenset(f"{_MEDIA} {_DOCUMENTS} {_PROGRAMS}".split())
"""File name extensions of files that are never pages, in lower case."""


MAX_REPEATS = 2
"""Most occurrences of one path segment in a path; numbers do not count."""

MAX_PARAMS, MAX_SAME_PARAM = 16, 3
"""Most parameters of a query, and occurrences of one parameter name in it."""

FIRST_YEAR = 1990
"""Earliest year of a date in a URL."""


def _next_year() -> int:
    return datetime.now(tz=UTC).year + 1


@dataclass(frozen=True, slots=True, eq=False)
class TrapRules:
    """Thresholds of the trap checks. Dated calendar pages are always traps.

    Attributes:
        max_length: Most characters of a URL; news URLs stay below 200. 0 disables the check.
        max_slashes: Most slashes in a path; news URLs have up to 8. 0 disables the check.
        last_year: Latest year of a date in a URL; next year by default.
        read: Extensions in ``NON_PAGE_EXTENSIONS`` that are accepted nevertheless.
    """

    max_length: int = 512
    max_slashes: int = 12
    last_year: int = field(default_factory=_next_year)
    read: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name in ("max_length", "max_slashes"):
            value = getattr(self, name)
            if value < 0:
                raise SettingError(
                    "Trap rule {name} = {value}: give 0 (no bound) or more.", name=name, value=value
                )


_YEAR_MONTH = re.compile(
    r"(?<![0-9])(1[89][0-9]{2}|2[01][0-9]{2})([-/_.])(0?[1-9]|1[0-2])"
    r"(?:\2(?:0?[1-9]|[12][0-9]|3[01]))?(?![0-9])"
)
_DATED = re.compile(r"[12][0-9]{3}[-/_.][01]?[0-9]")  # part of every date; a cheap first test
_YEAR_PARAM = re.compile(r"[?&](?:year|yr|y|nian)=([0-9]{4,})(?=&|$)", re.IGNORECASE)
_CALENDAR = re.compile(r"calend[ae]r|(?<![a-z])rili(?![a-z])|wannianli", re.IGNORECASE)
_MAX_DATES = 2
_NAMED = r"(?:phpsessid|jsessionid|sessionid|session|sess|sid)"
_PATH_SESSION = re.compile(
    r"/(?:\([a-z]\([0-9a-z]{16,}\)\)"
    rf"|{_NAMED}[-_=:.,/]?(?=[a-z]*[0-9])[0-9a-z]{{16,}}"
    rf"|(?:{_NAMED}|s)[-_=:.,/](?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{{10,}})(?=/|$)",
    re.IGNORECASE,
)


def trap(url: str, rules: TrapRules | None = None) -> str | None:
    """Return the reason why a canonical URL must not be fetched, or None. Never raises.

    Results are cached, since menus repeat on every page; use one TrapRules for a whole crawl.

    Reasons: ``too-long``, ``too-deep``, ``file-type``, ``repeated-path``, ``session-id``,
    ``calendar``, ``growing-query``.

    >>> rules = TrapRules(last_year=2026)
    >>> trap("http://a.test/a/b/a/b/a/b/", rules), trap("http://a.test/cal/2043/05/", rules)
    ('repeated-path', 'calendar')
    >>> trap("http://a.test/news/2025/05/03/a.html", rules) is None
    True
    """
    bounds = rules or _DEFAULT
    return "too-long" if 0 < bounds.max_length < len(url) else _trap(url, bounds)


@lru_cache(maxsize=16_384)
def _trap(url: str, bounds: TrapRules) -> str | None:
    """Return the reason why a URL that is not too long must not be fetched, or None."""
    host, _, rest = url.partition("://")[2].partition("/")
    path, _, query = rest.partition("?")  # the path without its first slash
    ending = path.rpartition(".")[2].lower() if "." in path else ""
    checks = (
        ("too-deep", 0 < bounds.max_slashes < path.count("/") + 1),
        ("file-type", ending in NON_PAGE_EXTENSIONS and ending not in bounds.read),
        ("repeated-path", _repeats(path)),
        ("session-id", "s" in path.lower() and _PATH_SESSION.search(f"/{path}")),
        ("calendar", _is_calendar(host, path, query, bounds.last_year)),
        ("growing-query", _grows(query)),
    )
    return next((reason for reason, is_trap in checks if is_trap), None)


def _repeats(path: str) -> bool:
    segments = path.lower().split("/")
    if len(segments) - len(set(segments)) < MAX_REPEATS:
        return False
    counts = Counter(segments)
    return any(n > MAX_REPEATS and s and not s.isdigit() for s, n in counts.items())


def _is_calendar(host: str, path: str, query: str, last_year: int) -> bool:
    """Return whether a URL is a dated calendar page, or has a date that is impossible for news."""
    text = f"/{path}?{query}" if query else f"/{path}"
    years = [int(match[0]) for match in _YEAR_MONTH.findall(text)] if _DATED.search(text) else []
    dates = len(years)
    if query:
        years.extend(int(year[:6]) for year in _YEAR_PARAM.findall(text))
    if not years:
        return False
    if dates > _MAX_DATES or _CALENDAR.search(host + text):
        return True
    return not all(FIRST_YEAR <= year <= last_year for year in years)


def _grows(query: str) -> bool:
    params = query.split("&")
    if len(params) <= MAX_SAME_PARAM:
        return False
    names = Counter(param.partition("=")[0] for param in params)
    return len(params) > MAX_PARAMS or max(names.values()) > MAX_SAME_PARAM


_DEFAULT = TrapRules()
