"""Clustering of a site's URL formats, one regular expression per cluster [S4].

The source uses partitional clustering. Here clusters are split until each can be written as one
expression and its pages are of the same kind, so that the number of clusters need not be given.
K-means over URL parts and page outcomes, an earlier version, had the same precision and recall in
five times the time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from topiccrawl.addons.url_patterns.tally import TOPICAL_SHARE, Outcome, Tally
from topiccrawl.links.newsurls import is_hub_like, is_non_news

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_VARIANTS = 3
"""Maximum number of different formats at one position of a cluster's path; names are unlimited."""

SURE_PAGES = 2
"""Minimum number of judged pages before the kind of a format is compared with others."""

_NAME = re.compile(r"[A-Za-z][A-Za-z_'-]*(?:\.[A-Za-z][A-Za-z0-9]{1,5})?")


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
    """Return whether one readable expression covers the cluster.

    The formats must have the same depth, query and look. At most one position may differ, host
    included. If it is not a plain name, it may have at most ``MOST_VARIANTS`` variants.
    """
    shapes = [tally.shape for tally in cluster]
    if len({(len(t.shape.segments), t.shape.query, look(t)) for t in cluster}) > 1:
        return False
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
