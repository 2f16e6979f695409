"""Formats of one site in clusters that each make one regular expression [S4].

The source clusters URLs by partition. Here a site's formats are split in two by k-means as long
as a cluster's formats cannot be written as one expression, or their pages disagree; so the number
of clusters need not be given. Features are a URL's parts and the outcomes of its pages.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from topiccrawl.addons.url_patterns.tally import TOPICAL_SHARE, Outcome, Tally
from topiccrawl.links.newsurls import is_aside, is_hub_like

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_VARIANTS = 3
"""Different formats at one place of a cluster's path; plain names may be any number."""

SURE_PAGES = 2
"""Pages judged before a format disagrees with others."""

_NAME = re.compile(r"[A-Za-z][A-Za-z_'-]*(?:\.[A-Za-z][A-Za-z0-9]{1,5})?")
_EVIDENCE = 2.0  # weight of what pages were, beside 1 for a part of the URL


def clusters(tallies: Sequence[Tally]) -> list[list[Tally]]:
    """Return the formats in clusters; every format is in one, none is empty.

    Deterministic. At most one k-means of two centres per cluster.
    """
    waiting, done = _kinds_of_url(tallies), []
    while waiting:
        cluster = waiting.pop()
        if len(cluster) == 1 or (is_one_format(cluster) and agrees(cluster)):
            done.append(cluster)
        else:
            waiting.extend(_halves(cluster))
    return sorted(done, key=lambda cluster: cluster[0].shape.text)


def _kinds_of_url(tallies: Sequence[Tally]) -> list[list[Tally]]:
    """Formats that no expression could cover together apart, so that less is left to k-means."""
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
    if is_aside(tally.example):
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


def _halves(cluster: Sequence[Tally]) -> list[list[Tally]]:
    """Split in two by k-means; into single formats where their parts do not differ."""
    matrix, differ = _matrix(cluster)
    if not differ:
        return [[tally] for tally in cluster]
    model = _sklearn("cluster").KMeans(n_clusters=2, n_init=2, random_state=0)
    weights = [1.0 + min(tally.seen + tally.judged, 100) for tally in cluster]
    sides = model.fit_predict(matrix, sample_weight=weights)
    halves = [[t for t, own in zip(cluster, sides, strict=True) if own == s] for s in (0, 1)]
    return halves if all(halves) else [[tally] for tally in cluster]


def _matrix(cluster: Sequence[Tally]) -> tuple[Any, bool]:
    """Features, one row a format, and whether any two rows differ."""
    matrix = _sklearn("feature_extraction").DictVectorizer(sparse=False)
    rows = matrix.fit_transform([features(tally) for tally in cluster])
    return rows, any((a != b).any() for a, b in pairwise(rows))


def features(tally: Tally) -> dict[str, float]:
    """Return a format's features: depth, host, every place of the path, query, its pages."""
    shape = tally.shape
    found = {f"depth {len(shape.segments)}": 1.5, f"host {shape.host}": 0.5}
    found[f"look {look(tally)}"] = 1.5
    for place, segment in enumerate(shape.segments):
        plain = is_name(segment)
        found[f"{place} {'name' if plain else segment}"] = 1.0
        if plain:
            found[f"{place} name {segment}"] = 0.3
    found |= {f"query {name}={value}": 1.0 for name, value in shape.query}
    if tally.judged:
        found |= {f"was {o}": _EVIDENCE * n / tally.judged for o, n in tally.pages.items()}
    return found


@cache
def _sklearn(module: str) -> Any:  # noqa: ANN401  (it has no types)
    """Import a part of scikit-learn when it is needed: it takes a second."""
    return import_module(f"sklearn.{module}")
