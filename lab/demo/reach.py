"""Pages of a demo web that a polite crawler can reach, and their paths."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lab.demo.plan import Kind, Plan
from lab.demo.robots import allowed
from topiccrawl.addons.simulate.oracle import Reach, find_reach

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lab.demo.linkage import Linkage

_FAILING = frozenset({"refused", "drop", "busy"})


def works(plan: Plan, number: int) -> bool:
    """Return whether an entry is allowed and finally gets a response, possibly a redirect."""
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

    return find_reach(len(plan.entries), seeds, onward)


def is_content(kind: Kind) -> bool:
    """Return whether pages of a kind can be relevant to a topic."""
    return kind in {Kind.ARTICLE, Kind.BLOG, Kind.COPY, Kind.HUB}
