"""Counts of URL formats, their links and the outcomes of their pages, and their clusters [S4].

The source uses partitional clustering. Here clusters are split until each can be written as one
expression and its pages are of the same kind, so that the number of clusters need not be given.
K-means over URL parts and page outcomes, an earlier version, had the same precision and recall in
five times the time.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

from topiccrawl.links.newsurls import is_hub_like, is_non_news, news_likelihood
from topiccrawl.links.skeletons import Skeleton, skeleton

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MOST_VARIANTS = 3
"""Maximum number of different formats at one position of a cluster's path; names are unlimited."""

SURE_PAGES = 2
"""Minimum number of judged pages before the kind of a format is compared with others."""

_MIN_GAIN = 4.0
"""Minimum gain in log-likelihood of a cut; exceeded by chance once in 200."""

_NAME = re.compile(r"[A-Za-z][A-Za-z_'-]*(?:\.[A-Za-z][A-Za-z0-9]{1,5})?")

PRIOR_PAGES = 4.0
"""Weight of the look of a URL, in judged pages."""

NEWS_SHARE = 0.5
"""Minimum expected share of articles of a news pattern."""

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
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Return the tally for a result of ``to_json``."""
        example = value["example"]
        shape, likelihood = skeleton(example), news_likelihood(example)
        years = {int(year): list(counts) for year, counts in value["years"].items()}
        pages = Counter({str(key): int(number) for key, number in value["pages"].items()})
        return cls(shape, example, likelihood, int(value["seen"]), pages, years)


def expected(
    articles: float, judged: float, likelihood: float, prior: float = PRIOR_PAGES
) -> float:
    """Return the expected share of articles, given the judged pages and the likelihood.

    ``prior`` is the weight of the likelihood in judged pages.

    >>> round(expected(0, 4, 0.95), 3)
    0.475
    """
    return (articles + prior * likelihood) / (judged + prior)


def pooled(tallies: Iterable[Tally]) -> tuple[Counter[str], float]:
    """Return the judged pages of several formats by outcome, and the mean likelihood."""
    pages: Counter[str] = Counter()
    weighed = weight = 0.0
    for tally in tallies:
        pages += tally.pages
        weighed += tally.likelihood * (tally.seen + 1)
        weight += tally.seen + 1
    return pages, weighed / weight if weight else 0.0


def clusters(tallies: Sequence[Tally]) -> list[list[Tally]]:
    """Partition the formats into non-empty clusters; deterministic."""
    waiting, done = _initial_groups(tallies), []
    while waiting:
        cluster = waiting.pop()
        if len(cluster) == 1 or (is_one_format(cluster) and agrees(cluster)):
            done.append(cluster)
        else:
            waiting.extend(_split(cluster))
    return sorted(done, key=lambda cluster: cluster[0].shape.text)


def _initial_groups(tallies: Sequence[Tally]) -> list[list[Tally]]:
    """Group the formats so that each group may be covered by one expression."""
    groups: dict[tuple[object, ...], list[Tally]] = {}
    for tally in tallies:
        *before, last = tally.shape.segments
        end = last.rpartition(".")[2] if is_name(last) else last
        groups.setdefault((len(before), tally.shape.query, look(tally), end), []).append(tally)
    return list(groups.values())


def is_one_format(cluster: Sequence[Tally]) -> bool:
    """Return whether one readable expression covers formats of the same depth, query and look.

    At most one position may differ, host included. If it is not a plain name, it may have at most
    ``MOST_VARIANTS`` variants.
    """
    shapes = [tally.shape for tally in cluster]
    hosts = {shape.host for shape in shapes}
    if len({host.count(".") for host in hosts}) > 1:
        return False
    places = [set(place) for place in zip(*(s.segments for s in shapes), strict=True)]
    varied = [place for place in places if len(place) > 1]
    if not varied or len(varied) + (len(hosts) > 1) > 1:
        return not varied
    return all(map(is_name, varied[0])) or len(varied[0]) <= MOST_VARIANTS


def look(tally: Tally) -> str:
    """Return the kind of a format by the look of its URLs: ``aside``, ``hub`` or ``""``."""
    if is_non_news(tally.example):
        return "aside"
    return "hub" if is_hub_like(tally.example) else ""


def is_name(segment: str) -> bool:
    """Return whether a path segment is a plain name, such as of a section or a page.

    >>> is_name("sport"), is_name("Abu_Dhabi"), is_name("text_rotate.html"), is_name("{n}.html")
    (True, True, True, False)
    """
    return _NAME.fullmatch(segment) is not None


def agrees(cluster: Sequence[Tally]) -> bool:
    """Return whether all formats with enough judged pages have the same kind of pages."""
    return len({kind(tally) for tally in cluster if tally.judged >= SURE_PAGES}) <= 1


def kind(tally: Tally) -> Outcome:
    """Return the most frequent outcome of a format's pages.

    Articles and hubs win ties. TOPICAL wins over OTHER from ``TOPICAL_SHARE`` of the judged pages.
    """
    most = max(Outcome, key=lambda outcome: tally.pages[outcome])
    topical = tally.pages[Outcome.TOPICAL]
    if most is Outcome.OTHER and topical and topical >= TOPICAL_SHARE * tally.judged:
        return Outcome.TOPICAL
    return most


def _split(cluster: Sequence[Tally]) -> list[list[Tally]]:
    """Split by the fixed path segments and the kind of pages, or else into single formats."""
    groups: dict[tuple[object, ...], list[Tally]] = {}
    for tally in cluster:
        fixed = tuple("" if is_name(segment) else segment for segment in tally.shape.segments)
        sure = kind(tally) if tally.judged >= SURE_PAGES else ""
        groups.setdefault((tally.shape.host.count("."), fixed, sure), []).append(tally)
    return list(groups.values()) if len(groups) > 1 else [[tally] for tally in cluster]


def change_points(cluster: Sequence[Tally]) -> list[int]:
    """Return the years in which the pages of a cluster changed their kind, ascending.

    Pages change their kind for example when archives are moved.
    """
    years: dict[int, list[Sequence[int]]] = {}
    for tally in cluster:
        for year, counts in tally.years.items():
            years.setdefault(year, []).append(counts)
    _, likelihood = pooled(cluster)
    summed = [(year, _sum(counts)) for year, counts in sorted(years.items())]
    return _cut(summed, likelihood)


def _cut(years: Sequence[tuple[int, Sequence[int]]], likelihood: float) -> list[int]:
    """Split recursively where two periods differ most, in the year after the older period."""
    whole = _sum([counts for _, counts in years])
    best, chosen = _MIN_GAIN, 0
    for place in range(1, len(years)):
        old = _sum([counts for _, counts in years[:place]])
        new = (whole[0] - old[0], whole[1] - old[1])
        gain = _log_likelihood(*old) + _log_likelihood(*new) - _log_likelihood(*whole)
        # the look of a format that changed is weak evidence
        news = [expected(side[0], sum(side), likelihood, 1) >= NEWS_SHARE for side in (old, new)]
        if gain > best and news[0] != news[1]:
            best, chosen = gain, place
    if not chosen:
        return []
    before, after = (_cut(part, likelihood) for part in (years[:chosen], years[chosen:]))
    return [*before, years[chosen - 1][0] + 1, *after]


def _sum(counts: Sequence[Sequence[int]]) -> tuple[int, int]:
    return sum(count[0] for count in counts), sum(count[1] for count in counts)


def _log_likelihood(articles: int, others: int) -> float:
    """Return the maximum log-likelihood of the counts."""
    total = articles + others
    return sum(n * math.log(n / total) for n in (articles, others) if n)
