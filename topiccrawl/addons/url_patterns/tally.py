"""Counts of one format of URLs: its links, and the outcomes of their pages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from topiccrawl.links.skeletons import Skeleton

PRIOR_PAGES = 4.0
"""Pages that the look of a URL counts for, beside the judged ones."""


TOPICAL_SHARE = 0.1
"""Share of pages on topic among a pattern's judged pages from which on its URLs are fetched, news
or not: a crawl is for its topic."""


class Outcome(StrEnum):
    """Outcome of a fetched page.

    ARTICLE: an article was extracted. HUB: none, but it lists more articles than articles do.
    TOPICAL: neither, but on the topic of the crawl that fetched it: a blog's post, an encyclopedia.
    OTHER: none of these: advert, comments, form, gallery, error page.
    """

    ARTICLE = "article"
    HUB = "hub"
    TOPICAL = "topical"
    OTHER = "other"


@dataclass(slots=True)
class Tally:
    """Counts of one format.

    Attributes:
        shape: The format.
        seen: Links of this format found, different URLs as far as possible.
        pages: Pages judged, by outcome.
        years: Pages judged by year of the URL's date: articles and others.
        likelihood: Of an article by the URL's look, in [0, 1], of the first URL.
        example: The first URL.
    """

    shape: Skeleton
    example: str
    likelihood: float
    seen: int = 0
    pages: Counter[str] = field(default_factory=Counter)
    years: dict[int, list[int]] = field(default_factory=dict)

    @property
    def judged(self) -> int:
        """Pages judged."""
        return self.pages.total()

    @property
    def articles(self) -> int:
        """Articles among them."""
        return self.pages[Outcome.ARTICLE]

    @property
    def share(self) -> float:
        """Expected share of articles in [0, 1]: pages judged, and the look as ``PRIOR_PAGES``."""
        return expected(self.articles, self.judged, self.likelihood)

    def add(self, outcome: Outcome, year: int) -> None:
        """Count a judged page; year 0 where its URL has no date."""
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
        """Return the tally that ``to_json`` gave."""
        years = {int(year): list(counts) for year, counts in value["years"].items()}
        pages = Counter({str(key): int(number) for key, number in value["pages"].items()})
        return cls(shape, value["example"], likelihood, int(value["seen"]), pages, years)


def expected(articles: float, judged: float, likelihood: float) -> float:
    """Return the share of articles expected after so many pages were judged.

    >>> round(expected(0, 4, 0.95), 3)
    0.475
    """
    return (articles + PRIOR_PAGES * likelihood) / (judged + PRIOR_PAGES)


def together(tallies: Iterable[Tally]) -> tuple[Counter[str], float]:
    """Return the pages of several formats by outcome, and their mean likelihood."""
    pages: Counter[str] = Counter()
    weighed = weight = 0.0
    for tally in tallies:
        pages += tally.pages
        weighed += tally.likelihood * (tally.seen + 1)
        weight += tally.seen + 1
    return pages, weighed / weight if weight else 0.0
