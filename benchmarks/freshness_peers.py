"""Peers of ``benchmarks.freshness``: schedules of other crawlers, and the oracle.

A schedule gives the time when a hub is due; the benchmark takes the hub that is due first, also
before its time, so that all spend the same requests. Times in hours.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.freshness_web import Hub, Numbers, Visit

MINUTE = 1 / 60


class Dated:
    """A schedule of dates: the hub that is due first is next.

    Args:
        early: Whether a hub is visited before its date where nothing is due.
    """

    def __init__(self, *, early: bool = False) -> None:
        self._early = early
        self._heap: list[tuple[float, int]] = []

    def add(self, hub: int, now: float) -> None:
        """Add a hub, which is due at once."""
        heapq.heappush(self._heap, (now, hub))

    def take(self, now: float, free: Callable[[int], bool]) -> int | None:
        """Return the next hub of those whose host is free now."""
        waiting = []
        found = None
        while self._heap and found is None and (self._early or self._heap[0][0] <= now):
            entry = heapq.heappop(self._heap)
            if free(entry[1]):
                found = entry[1]
            else:
                waiting.append(entry)
        for entry in waiting:
            heapq.heappush(self._heap, entry)
        return found

    def saw(self, hub: int, now: float, visit: Visit) -> None:
        """Record the result of a visit."""
        heapq.heappush(self._heap, (self.due(hub, now, visit), hub))

    def due(self, hub: int, now: float, visit: Visit) -> float:  # noqa: ARG002 - others use them
        """Return the time when the hub is due again; here: after all others."""
        return now


class Adaptive(Dated):
    """Schedule with an interval for each hub, which follows its changes.

    Args:
        first: First interval in hours.
        early: See ``Dated``.
    """

    def __init__(self, first: float, *, early: bool = False) -> None:
        super().__init__(early=early)
        self.intervals: defaultdict[int, float] = defaultdict(lambda: first)


class Nutch(Adaptive):
    """``AdaptiveFetchSchedule`` of Apache Nutch with its own defaults but the first interval.

    A page that changed is due after 0.8 of its interval, another after 1.4 of it, and 0.3 of the
    time since its last change earlier (``sync_delta``); from 60 s to 365 days. Its first interval
    of 30 days would never be left; here it is what an even split of the budget gives.
    """

    def __init__(self, first: float, *, early: bool = False) -> None:
        super().__init__(first, early=early)
        self._modified: dict[int, float] = {}

    @override
    def due(self, hub: int, now: float, visit: Visit) -> float:
        if visit.new:
            self._modified[hub] = now
        since = now - self._modified.get(hub, now)
        interval = self.intervals[hub] * (0.8 if visit.new else 1.4)
        self.intervals[hub] = interval = min(max(interval, since, MINUTE), 365 * 24.0)
        return now - 0.3 * since + interval


class Storm(Adaptive):
    """``AdaptiveScheduler`` of Apache StormCrawler: 0.5 of the interval, or 1.5 times.

    Up to two weeks, as it has it; from one minute, where its default is an hour, and first what an
    even split of the budget gives.
    """

    @override
    def due(self, hub: int, now: float, visit: Visit) -> float:
        interval = self.intervals[hub]
        interval = max(interval * 0.5, MINUTE) if visit.new else min(interval * 1.5, 14 * 24.0)
        self.intervals[hub] = interval
        return now + interval


class Proportional(Dated):
    """Visits hubs in proportion to their articles per hour, and spends exactly the budget.

    What the two above aim at, without their steps: the rate is estimated from counts.
    """

    def __init__(self, requests: float) -> None:
        super().__init__()
        self._requests = requests
        self._counts: dict[int, float] = {}
        self._since: dict[int, float] = {}
        self._rates: dict[int, float] = {}

    @override
    def due(self, hub: int, now: float, visit: Visit) -> float:
        since = self._since.setdefault(hub, now)
        self._counts[hub] = self._counts.get(hub, 0.0) + (visit.new if now > since else 0)
        self._rates[hub] = (self._counts[hub] + 0.5) / (now - since + 1.0)
        total = sum(self._rates.values())
        return now + total / (self._requests * self._rates[hub])


class Oracle:
    """Knows the rate of on-topic articles of each hub at each hour, bursts and deaths included.

    Articles that wait at a hub cost their number per hour; a visit takes them away. At a price W of
    a visit it pays to wait until the integral of (time since the visit) times rate reaches W
    (Whittle's index; with steady rates: visits in proportion to the root of the rate, evenly
    spaced, the split that minimises the mean delay). Each request goes where that is most. A visit
    before a list overflows also saves the articles that would be lost.
    """

    def __init__(self, hubs: Sequence[Hub], lost: float = 6.0) -> None:
        self._rates = np.stack([hub.rates for hub in hubs])
        self._all = np.stack([hub.all_rates for hub in hubs])
        self._shown = np.array([hub.shown for hub in hubs], dtype=float)
        self._known = np.zeros(len(hubs), dtype=bool)
        self._last = np.zeros(len(hubs))
        self._index = np.zeros(len(hubs))
        self._waiting = np.zeros(len(hubs))
        self._now = 0.0
        self._lost = lost

    def add(self, hub: int, now: float) -> None:
        """See ``Dated.add``."""
        self._known[hub] = True
        self._last[hub] = now

    def take(self, now: float, free: Callable[[int], bool]) -> int | None:
        """See ``Dated.take``."""
        self._pass(now)
        index = self._index + self._losses()
        index[~self._known] = -1.0
        for hub in np.argsort(-index):
            if index[hub] >= 0 and free(int(hub)):
                return int(hub)
        return None

    def saw(self, hub: int, now: float, visit: Visit) -> None:  # noqa: ARG002 - it knows
        """See ``Dated.saw``."""
        self._last[hub] = now
        self._index[hub] = self._waiting[hub] = 0.0

    def _pass(self, now: float) -> None:
        """Advance the clock; rates are those of the hour."""
        hour = min(int(self._now), self._rates.shape[1] - 1)
        step = now - self._now
        self._index += (self._now - self._last + step / 2) * self._rates[:, hour] * step
        self._waiting += self._all[:, hour] * step
        self._now = now

    def _losses(self) -> Numbers:
        """Return the expected loss where lists are nearly full: articles times ``lost`` hours."""
        hour = min(int(self._now), self._rates.shape[1] - 1)
        near = self._waiting > 0.7 * self._shown
        since = self._now - self._last
        return np.asarray(near * self._rates[:, hour] * since * self._lost)


Schedule = Dated | Oracle


def bound(hubs: Sequence[Hub], requests: float) -> float:
    """Return the lower bound of the mean delay, in hours, if no list overflows and no host is slow.

    It splits the budget of each hour so that the delay is minimal, and averages over articles.
    """
    rates = np.stack([hub.rates for hub in hubs])
    hours = np.arange(rates.shape[1])
    rates = rates * (hours[None, :] >= np.array([hub.born for hub in hubs])[:, None])
    return float((np.sqrt(rates).sum(axis=0) ** 2).sum() / (2 * requests * rates.sum()))
