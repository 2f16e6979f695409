"""Which pages of a demo web a polite crawler can come to, and by what path."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from topiccrawl.demo.plan import Kind, Plan
from topiccrawl.demo.robots import allowed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from topiccrawl.demo.linkage import Linkage

_FAILING = frozenset({"refused", "drop", "busy"})


class Reach(NamedTuple):
    """How each entry is come to.

    Attributes:
        depth: Links (redirects count) from the nearest seed; -1 where none leads there.
        parent: Entry it was first found on; -1 for seeds.
    """

    depth: Sequence[int]
    parent: Sequence[int]


def works(plan: Plan, number: int) -> bool:
    """Return whether an entry is allowed and in the end answered (a redirect is an answer)."""
    entry, trait = plan.entries[number], plan.trait(number)
    parts = urlsplit(entry.url)
    host = plan.hosts[parts.netloc]
    if host.fault in _FAILING or not allowed(host, parts.path):
        return False
    if trait.flaky or trait.target:
        return True
    return trait.status == 200 and not trait.cut  # noqa: PLR2004  (OK)


def reach(plan: Plan, linkage: Linkage, seeds: Iterable[int], by_url: Mapping[str, int]) -> Reach:
    """Return depth and parent of every entry, breadth first from the seeds."""

    def onward(number: int) -> Iterable[int]:
        target = plan.trait(number).target
        if target:
            return (by_url[target],)
        return linkage.followed(number) if works(plan, number) else ()

    return spread(len(plan.entries), seeds, onward)


def spread(size: int, seeds: Iterable[int], onward: Callable[[int], Iterable[int]]) -> Reach:
    """Return depth and parent of every node of a graph, breadth first.

    >>> list(spread(4, [0], {0: [1, 2], 1: [2], 2: [], 3: []}.__getitem__).depth)
    [0, 1, 1, -1]
    """
    depth, parent = array("i", [-1]) * size, array("i", [-1]) * size
    layer = list(dict.fromkeys(seeds))
    for seed in layer:
        depth[seed] = 0
    while layer:
        following = []
        for number in layer:
            for target in onward(number):
                if depth[target] < 0:
                    depth[target] = depth[number] + 1
                    parent[target] = number
                    following.append(target)
        layer = following
    return Reach(depth, parent)


def is_content(kind: Kind) -> bool:
    """Return whether pages of a kind can be relevant to a topic."""
    return kind in {Kind.ARTICLE, Kind.BLOG, Kind.COPY, Kind.HUB}
