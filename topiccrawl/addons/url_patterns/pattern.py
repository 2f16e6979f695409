"""URL patterns of a site: regular expressions of clusters of URL formats, labelled and counted."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from topiccrawl.addons.url_patterns.tally import is_name
from topiccrawl.errors import ConfigurationError, translated
from topiccrawl.links.skeletons import DAY, MONTH, NUMBER, OPAQUE, SLUG, YEAR, Skeleton
from topiccrawl.messages import NameList, message

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MANY = 3
"""Number of different names at one position from which any name matches."""
_ANY_NAME = "[A-Za-z][A-Za-z_'-]*"
_ANY_LABEL = "[a-z0-9-]+"
_PLACEHOLDER = re.compile(r"(\{\w+\})")
_META = re.compile(r"([.^$*+?{}\[\]\\|()])")
_YEARS = r"(?:19|20)\d\d"
_EXPRESSIONS = {
    YEAR: _YEARS, MONTH: rf"{_YEARS}\d\d", DAY: rf"{_YEARS}\d{{4}}",
    NUMBER: r"\d+", SLUG: r"[^/?]+", OPAQUE: r"[0-9A-Za-z]+",
}  # fmt: skip


class Label(StrEnum):
    """Kind of a pattern's URLs.

    NEWS: articles. HUB: pages that list articles. OTHER: neither; not fetched.
    OPEN: not enough evidence; fetched.
    """

    NEWS = "news"
    HUB = "hub"
    OTHER = "other"
    OPEN = "open"


class Pattern(NamedTuple):
    """A labelled regular expression.

    Attributes:
        expression: Regular expression for the whole URL.
        label: Kind of the matching URLs.
        articles: Number of judged pages that are articles.
        hubs: Number of judged pages that are hubs.
        others: Number of judged pages that are neither.
        seen: Number of found links.
        example: A matching URL.
        by_hand: Whether the user wrote it; such patterns take precedence over learnt ones.
        topical: Number of judged pages that are neither, but on the crawl's topic.
    """

    expression: str
    label: Label
    articles: int = 0
    hubs: int = 0
    others: int = 0
    seen: int = 0
    example: str = ""
    by_hand: bool = False
    topical: int = 0

    @property
    def judged(self) -> int:
        """Number of judged pages."""
        return self.articles + self.hubs + self.topical + self.others

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Return the pattern for a result of ``_asdict`` or for values written by the user.

        Raises:
            ConfigurationError: If the label is unknown, or the expression is missing or invalid.
        """
        known = {name: value[name] for name in cls._fields if name in value}
        text = message(
            "pattern {value!r}: {error}; specify an expression and a label, one of {choices}"
        )
        causes = (KeyError, TypeError, ValueError, re.error)
        about = {"value": dict(value), "choices": NameList(Label)}
        with translated(ConfigurationError, text, causes, **about):
            re.compile(known["expression"])
            return cls(**{**known, "label": Label(known["label"])})


class PatternSet:
    """The patterns of a site, manual ones first, then the most specific ones.

    Args:
        patterns: The patterns, in any order.
    """

    def __init__(self, patterns: tuple[Pattern, ...] = ()) -> None:
        self.patterns = tuple(sorted(patterns, key=_rank))

    @cached_property
    def _compiled(self) -> list[tuple[re.Pattern[str], Pattern]]:
        return [(re.compile(pattern.expression), pattern) for pattern in self.patterns]

    @property
    def by_hand(self) -> tuple[Pattern, ...]:
        """Patterns written by the user."""
        return tuple(pattern for pattern in self.patterns if pattern.by_hand)

    def match(self, url: str, *, by_hand: bool = False) -> Pattern | None:
        r"""Return the first (manual, with ``by_hand``) pattern that matches a whole URL, or None.

        >>> news = Pattern(r"https?://a\.test/\d+\.html", Label.NEWS)
        >>> PatternSet((news,)).match("http://a.test/7.html").label.value
        'news'
        """
        for compiled, pattern in self._compiled:
            if by_hand and not pattern.by_hand:
                return None
            if compiled.fullmatch(url):
                return pattern
        return None


def _rank(pattern: Pattern) -> tuple[bool, int, int]:
    """Return the sort key: manual patterns first, then by literal characters and found links."""
    literal = re.sub(r"\\[dw]|\[[^\]]*\][+*]?|\(\?:19\|20\)|[{}()|?+*\\]", "", pattern.expression)
    return (not pattern.by_hand, -len(literal), -pattern.seen)


def expression(shapes: Sequence[Skeleton], *, years: str = "", general: bool = True) -> str:
    r"""Return a readable regular expression that matches all URLs of the formats.

    Args:
        shapes: Formats with the same depth and query, and as many labels in their hosts.
        years: Expression for the year of the first date; "" for any year.
        general: Whether ``MANY`` names at one position are generalised to any name.

    >>> from topiccrawl.links.skeletons import skeleton
    >>> urls = ["http://a.test/nev/20130304/n1.shtml", "http://a.test/ev/20130305/n22.shtml"]
    >>> expression([skeleton(url) for url in urls])
    'https?://a\\.test/(?:ev|nev)/(?:19|20)\\d\\d\\d{4}/n\\d+\\.shtml'
    """
    hosts = _hosts({shape.host for shape in shapes}, general=general)
    places = zip(*(shape.segments for shape in shapes), strict=True)
    path = "/".join(_position(set(place), general=general) for place in places)
    if years:
        path = path.replace(_YEARS, years, 1)
    query = "&".join(
        f"{_quoted(name)}={_value(value)}" if value else f"{_value(name)}=?"
        for name, value in shapes[0].query
    )
    return f"https?://{hosts}/{path}" + (rf"\?{query}" if query else "")


def year_span(first: int, last: int) -> str:
    r"""Return an expression for the years from first to last, both in 1980 to 2049.

    >>> year_span(1980, 2006), year_span(2007, 2049)
    ('(?:19[89]\\d|200[0-6])', '(?:200[7-9]|20[1-4]\\d)')
    """
    parts: list[tuple[int, str]] = []
    whole: list[int] = []
    for decade, group in groupby(range(first, last + 1), lambda year: year // 10):
        years = list(group)
        if len(years) == 10:  # noqa: PLR2004
            whole.append(decade)
        else:
            parts.append((decade, f"{decade}{_last_digits(years)}"))
    for century, group in groupby(whole, lambda decade: decade // 10):
        decades = list(group)
        span = "[89]" if decades == [198, 199] else _last_digits(decades)
        parts.append((decades[0], rf"{century}{span}\d"))
    return f"(?:{'|'.join(text for _, text in sorted(parts))})"


def _last_digits(numbers: Sequence[int]) -> str:
    low, high = numbers[0] % 10, numbers[-1] % 10
    return str(low) if low == high else f"[{low}-{high}]"


def _hosts(hosts: set[str], *, general: bool) -> str:
    labels = [host.split(".") for host in sorted(hosts)]
    places = [sorted(set(place)) for place in zip(*labels, strict=True)]
    return r"\.".join(
        _ANY_LABEL if general and len(place) >= MANY else _choice(place) for place in places
    )


def _position(variants: set[str], *, general: bool) -> str:
    if general and len(variants) >= MANY and all(map(is_name, variants)):
        ends = {"".join(name.partition(".")[1:]) for name in variants}
        if len(ends) == 1:
            return _ANY_NAME + _quoted(ends.pop())
    return _choice(variants)


def _choice(variants: Iterable[str]) -> str:
    texts = sorted(map(_format_expression, variants))
    return texts[0] if len(texts) == 1 else f"(?:{'|'.join(texts)})"


def _value(value: str) -> str:
    return r"[^&]*" if value == SLUG else _format_expression(value)


def _format_expression(text: str) -> str:
    """Return the expression for a segment's format."""
    parts = _PLACEHOLDER.split(text)
    return "".join(_EXPRESSIONS.get(part) or _quoted(part) for part in parts)


def _quoted(text: str) -> str:
    return _META.sub(r"\\\1", text)
