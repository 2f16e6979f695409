"""Counts of visits, common to all policies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topiccrawl.addons.watch.contract import Observation, Visits

FAILED = 400
"""Lowest HTTP status of a failed visit; a visit without a response (0) has failed as well."""


def counted(page: Visits, seen: Observation, keep: float = 1.0) -> Visits:
    """Return the record after an observation.

    Args:
        page: The record so far.
        seen: The new observation.
        keep: Fraction of the earlier counts that is kept, in [0, 1]; 1 means no decay.

    >>> from topiccrawl.addons.watch.contract import Observation, Visits
    >>> from topiccrawl.storage.pages import Role
    >>> page = Visits("http://a.test/", Role.HUB, 0.0, 0.0)
    >>> page = counted(page, Observation(60.0, changed=True, offered=3))
    >>> page = counted(page, Observation(65.0, gained=2, visit=False))
    >>> page.visits, page.looks, page.changes, page.gains, page.watched, page.gained_at
    (2, 1.0, 1.0, 2.0, 60.0, 65.0)
    """
    gained_at = seen.at if seen.gained else page.gained_at
    if not seen.visit:
        return replace(page, gains=page.gains + seen.gained, gained_at=gained_at)
    failed = seen.status == 0 or seen.status >= FAILED
    return replace(
        page,
        visited_at=seen.at,
        visits=page.visits + 1,
        gains=keep * page.gains + seen.gained,
        changes=keep * page.changes + seen.changed,
        looks=keep * page.looks + 1.0,
        watched=keep * page.watched + max(0.0, seen.at - page.visited_at),
        gained_at=gained_at,
        changed_at=seen.at if seen.changed else page.changed_at,
        misses=page.misses + 1 if failed else 0,
    )
