"""URL patterns of a site: regular expressions with labels and counts of judged pages."""

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

    def to_json(self) -> dict[str, Any]:
        """Return plain values for ``from_json``."""
        return self._asdict()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Return the pattern for a result of ``to_json`` or for values written by the user.

        Raises:
            ConfigurationError: If the label is unknown, or the expression is missing or invalid.
        """
        known = {name: value[name] for name in cls._fields if name in value}
        try:
            re.compile(known["expression"])
            return cls(**{**known, "label": Label(known["label"])})
        except (KeyError, TypeError, ValueError, re.error) as error:
            raise ConfigurationError(
                "pattern {value!r}: {error}; specify an expression and a label, one of {choices}",
                value=dict(value),
                error=error,
                choices=", ".join(Label),
            ) from error


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
