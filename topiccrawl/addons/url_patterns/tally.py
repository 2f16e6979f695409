"""Counts of one URL format: its links, and the outcomes of their pages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from topiccrawl.links.skeletons import Skeleton

PRIOR_PAGES = 4.0
"""Weight of the look of a URL, in judged pages."""


TOPICAL_SHARE = 0.1
"""Minimum share of on-topic pages among a pattern's judged pages at which its URLs are fetched even
if they are not news."""


class Outcome(StrEnum):
    """Outcome of a fetched page.

    ARTICLE: An article was extracted. HUB: No article, but more links to articles than articles
    have. TOPICAL: Neither, but on topic, such as a blog post or an encyclopedia page. OTHER: None
    of these, such as an advert, comments, a form, a gallery or an error page.
    """

    ARTICLE = "article"
    HUB = "hub"
    TOPICAL = "topical"
    OTHER = "other"


@dataclass(slots=True)
class Tally:
    """Counts of one URL format.

    Attributes:
        shape: The format.
        example: The first URL of the format.
        likelihood: Likelihood of an article, by the look of the first URL, in [0, 1].
        seen: Number of found links; repeated URLs are counted once if still cached.
        pages: Number of judged pages by outcome.
        years: Number of judged articles and other pages, by the year of the URL's date.
    """

    shape: Skeleton
    example: str
    likelihood: float
    seen: int = 0
    pages: Counter[str] = field(default_factory=Counter)
    years: dict[int, list[int]] = field(default_factory=dict)

    @property
    def judged(self) -> int:
        """Number of judged pages."""
        return self.pages.total()

    @property
    def articles(self) -> int:
        """Number of judged pages that are articles."""
        return self.pages[Outcome.ARTICLE]

    @property
    def share(self) -> float:
        """Expected share of articles in [0, 1], by judged pages and by the look of the URL."""
        return expected(self.articles, self.judged, self.likelihood)

    def add(self, outcome: Outcome, year: int) -> None:
        """Count a judged page; ``year`` is 0 if its URL has no date."""
        self.pages[outcome] += 1
        if year:
            self.years.setdefault(year, [0, 0])[outcome is not Outcome.ARTICLE] += 1

    def copy(self) -> Self:
        """Return an independent copy."""
        years = {year: list(counts) for year, counts in self.years.items()}
        return replace(self, pages=Counter(self.pages), years=years)

    def to_json(self) -> dict[str, Any]:
        """Return plain values for ``from_json``."""
        return {
            "example": self.example, "seen": self.seen, "pages": dict(self.pages),
            "years": {str(year): counts for year, counts in self.years.items()},
        }  # fmt: skip

    @classmethod
    def from_json(cls, value: Mapping[str, Any], shape: Skeleton, likelihood: float) -> Self:
        """Return the tally for a result of ``to_json``."""
        years = {int(year): list(counts) for year, counts in value["years"].items()}
        pages = Counter({str(key): int(number) for key, number in value["pages"].items()})
        return cls(shape, value["example"], likelihood, int(value["seen"]), pages, years)


def expected(articles: float, judged: float, likelihood: float) -> float:
    """Return the expected share of articles, given the judged pages and the likelihood.

    >>> round(expected(0, 4, 0.95), 3)
    0.475
    """
    return (articles + PRIOR_PAGES * likelihood) / (judged + PRIOR_PAGES)


def pooled(tallies: Iterable[Tally]) -> tuple[Counter[str], float]:
    """Return the judged pages of several formats by outcome, and the mean likelihood."""
    pages: Counter[str] = Counter()
    weighed = weight = 0.0
    for tally in tallies:
        pages += tally.pages
        weighed += tally.likelihood * (tally.seen + 1)
        weight += tally.seen + 1
    return pages, weighed / weight if weight else 0.0
