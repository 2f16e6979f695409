"""A site's patterns: regular expressions with labels and the evidence they rest on."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from topiccrawl.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping


class Label(StrEnum):
    """Kind of a pattern's URLs.

    NEWS: articles. HUB: pages that list articles. OTHER: neither, not downloaded.
    OPEN: too little evidence; they are fetched.
    """

    NEWS = "news"
    HUB = "hub"
    OTHER = "other"
    OPEN = "open"


class Pattern(NamedTuple):
    """One regular expression.

    Attributes:
        expression: For the whole URL.
        label: Kind of its URLs.
        articles: Pages judged that were articles; so for the next two.
        hubs: Pages that list articles.
        others: Pages that were neither.
        seen: Links found.
        example: A URL it matches.
        by_hand: Whether a person wrote it; such a pattern wins over all learnt ones.
        topical: Pages judged that were neither, but on a crawl's topic.
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
        """Pages judged."""
        return self.articles + self.hubs + self.topical + self.others

    def to_json(self) -> dict[str, Any]:
        """Return plain values for ``from_json``."""
        return self._asdict()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Return the pattern that ``to_json`` gave, or that a person wrote.

        Raises:
            ConfigurationError: If the label is unknown or the expression is none.
        """
        known = {name: value[name] for name in cls._fields if name in value}
        try:
            re.compile(known["expression"])
            return cls(**{**known, "label": Label(known["label"])})
        except (KeyError, TypeError, ValueError, re.error) as error:
            raise ConfigurationError(
                "pattern {value!r}: {error}; give an expression and a label, one of {choices}",
                value=dict(value),
                error=error,
                choices=", ".join(Label),
            ) from error


class PatternSet:
    """The patterns of a site; the first that matches a URL decides.

    Args:
        patterns: Those by hand first, then the most specific ones.
    """

    def __init__(self, patterns: tuple[Pattern, ...] = ()) -> None:
        self.patterns = tuple(sorted(patterns, key=_rank))

    @cached_property
    def _compiled(self) -> list[tuple[re.Pattern[str], Pattern]]:
        return [(re.compile(pattern.expression), pattern) for pattern in self.patterns]

    @property
    def by_hand(self) -> tuple[Pattern, ...]:
        """Patterns that a person wrote."""
        return tuple(pattern for pattern in self.patterns if pattern.by_hand)

    def match(self, url: str, *, by_hand: bool = False) -> Pattern | None:
        r"""Return the first pattern (of those by hand only) that matches the whole URL, or None.

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
    """Return the sort key: by hand first, then by literal characters, then by links found."""
    literal = re.sub(r"\\[dw]|\[[^\]]*\][+*]?|\(\?:19\|20\)|[{}()|?+*\\]", "", pattern.expression)
    return (not pattern.by_hand, -len(literal), -pattern.seen)
