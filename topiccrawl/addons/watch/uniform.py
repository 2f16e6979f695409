"""Uniform policy: all hubs are visited equally often; articles ever less often as they age."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from topiccrawl.addons.watch.counting import counted
from topiccrawl.storage.pages import Role

if TYPE_CHECKING:
    from topiccrawl.addons.watch.contract import Observation, Visits

HUB_SECONDS = 3600.0
DETAIL_SECONDS = 6 * 3600.0
DETAIL_DAYS = 30.0
MISS_SECONDS = 600.0


def recheck(
    page: Visits,
    first: float = DETAIL_SECONDS,
    days: float = DETAIL_DAYS,
    miss: float = MISS_SECONDS,
) -> float:
    """Return the time of an article's next visit: after ``first`` seconds, then at twice its age.

    Args:
        page: A detail page.
        first: Seconds until the first revisit.
        days: Age in days after which it is no longer revisited; 0 for no revisits.
        miss: Seconds until the retry of a failed visit, doubled with each further failure.

    >>> from topiccrawl.addons.watch.contract import Observation, Visits
    >>> page = Visits("http://a.test/1", Role.DETAIL, 0.0, 0.0)
    >>> dues = [recheck(page, 10.0)]
    >>> for _ in range(3):
    ...     page = counted(page, Observation(dues[-1]))
    ...     dues.append(recheck(page, 10.0))
    >>> dues
    [10.0, 20.0, 40.0, 80.0]
    """
    if page.misses:
        return page.visited_at + miss * 2.0 ** min(page.misses - 1, 10)
    if page.visited_at - page.first_seen > days * 86_400.0 or not days:
        return math.inf
    return page.visited_at + max(first, page.visited_at - page.first_seen)


class UniformRevisits:
    """Visits all hubs equally often; the baseline for other policies.

    Args:
        hub: Seconds between two visits of a hub, doubled with each consecutive failure.
        detail: Seconds until the first revisit of an article; see ``recheck``.
        days: Age in days after which an article is no longer revisited.
        miss: Seconds until the retry of a failed visit of an article, doubled with each further
            failure.
    """

    def __init__(
        self,
        hub: float = HUB_SECONDS,
        detail: float = DETAIL_SECONDS,
        days: float = DETAIL_DAYS,
        miss: float = MISS_SECONDS,
    ) -> None:
        self.hub = hub
        self.detail = detail
        self.days = days
        self.miss = miss

    def due(self, page: Visits) -> float:
        """See ``RevisitPolicy.due``."""
        if page.role is Role.DETAIL:
            return recheck(page, self.detail, self.days, self.miss)
        return page.visited_at + self.hub * 2.0 ** min(page.misses, 4)

    def learn(self, page: Visits, seen: Observation) -> Visits:
        """See ``RevisitPolicy.learn``; counts do not decay."""
        return counted(page, seen)
