"""Yield policy: the more new on-topic articles an hour on a hub, the more often it is visited.

The cost of an article on a hub is its waiting time. With ``r`` of them a second, visits every ``t``
seconds and a budget of visits, the mean wait is least if ``t`` is ``sqrt(2 W / r)`` for all hubs
alike: visits in proportion to the root of the yield (Cho and Garcia-Molina 2003; Azar et al. 2018).
``W``, the price of a visit in article-seconds, is chosen so that all hubs together spend the
budget.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from topiccrawl.addons.watch.budget import Budget
from topiccrawl.addons.watch.counting import counted
from topiccrawl.addons.watch.rates import HALF_LIVES, Rate
from topiccrawl.addons.watch.uniform import DETAIL_DAYS, DETAIL_SECONDS, MISS_SECONDS, recheck
from topiccrawl.storage.pages import Role

if TYPE_CHECKING:
    from topiccrawl.addons.watch.contract import Observation, Visits

SHORTEST = 60.0
LONGEST = 86_400.0
"""Seconds between two visits of a hub, unless the budget is too small for that."""

STRETCH = 8.0
"""Longest wait of a hub in mean waits, if that is more than ``LONGEST``."""

LINKS = HALF_LIVES[1]
"""Seconds after which a new link weighs half."""

FULL = 0.5
"""Fraction of a list that new links may fill: at noon they come twice as fast as on average."""

LOST = 6 * 3600.0
"""Seconds of waiting that count for an article that is never found."""

AVERAGE = 1 / 86_400
"""On-topic articles a second that are assumed for the first hub of all."""


class YieldRevisits:
    """Visits hubs in proportion to the root of their yield; articles as ``UniformRevisits``.

    A hub with few observations is assumed to be an average one, which is better than most: it is
    visited until its yield shows.

    Args:
        budget: Visits for all hubs together.
        shortest: Seconds between two visits of a hub at least.
        longest: Seconds between two visits of a hub at most; see ``STRETCH``.
        detail: See ``UniformRevisits``.
        days: See ``UniformRevisits``.
        miss: See ``UniformRevisits``.
    """

    def __init__(
        self,
        budget: Budget | None = None,
        *,
        shortest: float = SHORTEST,
        longest: float = LONGEST,
        detail: float = DETAIL_SECONDS,
        days: float = DETAIL_DAYS,
        miss: float = MISS_SECONDS,
    ) -> None:
        self.budget = Budget() if budget is None else budget  # an empty one is false
        self._bounds = (shortest, longest)
        self._details = (detail, days, miss)

    def due(self, page: Visits) -> float:
        """See ``RevisitPolicy.due``."""
        if page.role is Role.DETAIL:
            return recheck(page, *self._details)
        rate = Rate.of(page.memory[2:])
        mean = rate.mean(self.budget.mean() or AVERAGE)
        delayed = 2.0 ** min(page.misses, 4)
        self.budget.note(page.url, mean, 1 / delayed)
        wait = min(self.budget.wait(mean), self._over(page, rate, mean))
        shortest, longest = self._bounds
        longest = max(longest, STRETCH * len(self.budget) / self.budget.pace)
        return page.visited_at + min(max(wait, shortest), longest) * delayed

    def learn(self, page: Visits, seen: Observation) -> Visits:
        """See ``RevisitPolicy.learn``."""
        after = counted(page, seen)
        if page.role is Role.DETAIL:
            return after
        links, most = page.memory[:2] or (0.0, 0.0)
        rate = Rate.of(page.memory[2:])
        if seen.visit:
            self.budget.spent(seen.at)
            seconds = max(0.0, seen.at - page.visited_at)
            rate = rate.after(seconds, self.budget.mean() or AVERAGE)
            links = links * 0.5 ** (seconds / LINKS) + seen.offered
            most = max(most, seen.offered)
        return replace(after, memory=(links, most, *rate.plus(seen.gained).numbers))

    def _over(self, page: Visits, rate: Rate, mean: float) -> float:
        """Return the seconds until the list may overflow; inf if the loss is not worth a visit."""
        links, most = page.memory[:2] or (0.0, 0.0)
        span = rate.spans[1] + rate.span
        if not links or not span:
            return math.inf
        seconds = FULL * most * span / links
        worth = mean * seconds * (seconds / 2 + LOST)
        return seconds if worth > self.budget.price() else math.inf
