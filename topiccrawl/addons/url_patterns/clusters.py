"""Formats of one site in clusters that each make one regular expression [S4].

The source clusters URLs by partition. Here a site's formats are parted as long as a cluster's
formats cannot be written as one expression, or their pages disagree; so the number of clusters need
not be given. K-means over the parts of URLs and the outcomes of pages stood here before: it gave
the same precision and recall in five times the time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from topiccrawl.addons.url_patterns.tally import TOPICAL_SHARE, Outcome, Tally
from topiccrawl.links.newsurls import is_hub_like, is_non_news

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_VARIANTS = 3
"""Different formats at one place of a cluster's path; plain names may be any number."""

SURE_PAGES = 2
"""Pages judged before a format disagrees with others."""

_NAME = re.compile(r"[A-Za-z][A-Za-z_'-]*(?:\.[A-Za-z][A-Za-z0-9]{1,5})?")


def clusters(tallies: Sequence[Tally]) -> list[list[Tally]]:
    """Return the formats in clusters; every format is in one, none is empty.

    Deterministic.
    """
    waiting, done = _kinds_of_url(tallies), []
    while waiting:
        cluster = waiting.pop()
        if len(cluster) == 1 or (is_one_format(cluster) and agrees(cluster)):
            done.append(cluster)
        else:
            waiting.extend(_parts(cluster))
    return sorted(done, key=lambda cluster: cluster[0].shape.text)


def _kinds_of_url(tallies: Sequence[Tally]) -> list[list[Tally]]:
    """Formats that no expression could cover together apart."""
    groups: dict[tuple[object, ...], list[Tally]] = {}
    for tally in tallies:
        *before, last = tally.shape.segments
        end = last.rpartition(".")[2] if is_name(last) else last
        groups.setdefault((len(before), tally.shape.query, look(tally), end), []).append(tally)
    return list(groups.values())


def is_one_format(cluster: Sequence[Tally]) -> bool:
    """Return whether one readable expression covers the cluster.

    Same depth, same names in the query, the same look; one place differs at most, host included,
    and one that is no plain name in ``MOST_VARIANTS`` ways at most.
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
    """Return the kind of a format by its look alone: ``aside``, ``hub`` or ``""``."""
    if is_non_news(tally.example):
        return "aside"
    return "hub" if is_hub_like(tally.example) else ""


def is_name(segment: str) -> bool:
    """Return whether a segment of a path is a plain name, such as a channel's or a page's.

    >>> is_name("sport"), is_name("Abu_Dhabi"), is_name("text_rotate.html"), is_name("{n}.html")
    (True, True, True, False)
    """
    return _NAME.fullmatch(segment) is not None


def agrees(cluster: Sequence[Tally]) -> bool:
    """Return whether the formats with enough judged pages had the same kind of pages."""
    return len({kind(tally) for tally in cluster if tally.judged >= SURE_PAGES}) <= 1


def kind(tally: Tally) -> Outcome:
    """Return the outcome of most pages of a format.

    Articles and hubs win ties; pages on topic win over others by a share of the judged pages.
    """
    most = max(Outcome, key=lambda outcome: tally.pages[outcome])
    topical = tally.pages[Outcome.TOPICAL]
    if most is Outcome.OTHER and topical and topical >= TOPICAL_SHARE * tally.judged:
        return Outcome.TOPICAL
    return most


def _parts(cluster: Sequence[Tally]) -> list[list[Tally]]:
    """Split by the fixed parts of the path and by the pages' kind; else into single formats."""
    groups: dict[tuple[object, ...], list[Tally]] = {}
    for tally in cluster:
        fixed = tuple("" if is_name(segment) else segment for segment in tally.shape.segments)
        sure = kind(tally) if tally.judged >= SURE_PAGES else ""
        groups.setdefault((tally.shape.host.count("."), fixed, sure), []).append(tally)
    return list(groups.values()) if len(groups) > 1 else [[tally] for tally in cluster]
