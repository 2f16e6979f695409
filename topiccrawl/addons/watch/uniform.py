"""Uniform policy: all hubs are visited equally often; articles ever less often as they age."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topiccrawl.storage.pages import Role

if TYPE_CHECKING:
    from topiccrawl.addons.watch.contract import Observation, Visits

HOST_PACE = 1 / 60
"""Visits per second of all hubs of one host, if no total is set."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Settings of the frequency of visits.

    Attributes:
        rate: Visits per second of all hubs together (``yield``); 0 uses ``host_rate``.
        host_rate: Visits per second of one host's hubs, if ``rate`` is 0.
        shortest: Minimum time between two visits of a hub in seconds (``yield``).
        longest: Maximum time between two visits of a hub in seconds (``yield``), unless the rate
            is too small.
        hub: Seconds between two visits of a hub (``uniform``), doubled with each consecutive
            failure.
        detail: Seconds until the first revisit of an article.
        days: Age in days after which an article is no longer revisited; 0 for no revisits.
        miss: Seconds until the retry of a failed visit of an article, doubled with each further
            failure.
    """

    rate: float = 0.0
    host_rate: float = HOST_PACE
    shortest: float = 60.0
    longest: float = 86_400.0
    hub: float = 3600.0
    detail: float = 6 * 3600.0
    days: float = 30.0
    miss: float = 600.0


def recheck(page: Visits, pace: Pace) -> float:
    """Return the time of an article's next visit: after ``detail`` seconds, then at twice its age.

    >>> from topiccrawl.addons.watch.contract import Observation, Visits
    >>> page = Visits("http://a.test/1", Role.DETAIL, 0.0, 0.0)
    >>> dues = [recheck(page, Pace(detail=10.0))]
    >>> for _ in range(3):
    ...     page = page.after(Observation(dues[-1]))
    ...     dues.append(recheck(page, Pace(detail=10.0)))
    >>> dues
    [10.0, 20.0, 40.0, 80.0]
    """
    if page.misses:
        return page.visited_at + pace.miss * 2.0 ** min(page.misses - 1, 10)
    age = page.visited_at - page.first_seen
    if age > pace.days * 86_400.0 or not pace.days:
        return math.inf
    return page.visited_at + max(pace.detail, age)


class UniformRevisits:
    """Visits all hubs equally often; the baseline for other policies.

    Args:
        pace: Frequency of visits.
    """

    def __init__(self, pace: Pace | None = None) -> None:
        self.pace = pace or Pace()

    def due(self, page: Visits) -> float:
        """See ``RevisitPolicy.due``."""
        if page.role is Role.DETAIL:
            return recheck(page, self.pace)
        return page.visited_at + self.pace.hub * 2.0 ** min(page.misses, 4)

    def learn(self, page: Visits, seen: Observation) -> Visits:
        """See ``RevisitPolicy.learn``; counts do not decay."""
        return page.after(seen)
