"""Budget of visits per second, shared by hubs of different yields."""

from __future__ import annotations

import math
from urllib.parse import urlsplit

HOST_PACE = 1 / 60
"""Visits per second of all hubs of one host, if no total is set."""

GAIN = 0.02
"""Gain of the correction per visit."""

MAX_CORRECTION = 1.25
"""Upper bound of the correction; its inverse is the lower bound."""


class Budget:
    """Computes waits of hubs, in inverse proportion to the square root of their yields.

    As yields and so waits vary, there are fewer visits than the mean yields predict. Therefore
    waits are corrected by the number of actual visits, but by a quarter at most, so that a stopped
    crawl or slow hosts do not cause a burst.

    Args:
        pace: Visits per second of all hubs together; 0 uses ``host_pace`` for each host with hubs.
        host_pace: Visits per second of one host's hubs, if ``pace`` is 0.
    """

    def __init__(self, pace: float = 0.0, host_pace: float = HOST_PACE) -> None:
        self._pace = pace
        self._host_pace = host_pace
        self._hosts: set[str] = set()
        self._rates: dict[str, float] = {}
        self._roots: dict[str, float] = {}
        self._rate = self._root = 0.0
        self._last = math.nan
        self._correction = 1.0

    def __len__(self) -> int:
        return len(self._rates)

    @property
    def pace(self) -> float:
        """Visits per second of all hubs together.

        >>> budget = Budget(host_pace=0.1)
        >>> for url in ("http://a.test/", "http://a.test/auto/", "http://b.test/"):
        ...     budget.set_yield(url, 0.02)
        >>> budget.pace
        0.2
        """
        return self._pace or self._host_pace * max(1, len(self._hosts))

    def set_yield(self, url: str, rate: float, share: float = 1.0) -> None:
        """Set the yield of a hub.

        Args:
            url: URL of the hub.
            rate: Events per second, more than 0.
            share: Fraction of the visits by its yield that the hub gets, in [0, 1].
        """
        root = share * math.sqrt(rate)
        self._rate += rate - self._rates.get(url, 0.0)
        self._root += root - self._roots.get(url, 0.0)
        self._rates[url], self._roots[url] = rate, root
        self._hosts.add(urlsplit(url).netloc)

    def mean(self) -> float:
        """Return the mean yield of all hubs; 0 if there is no hub."""
        return self._rate / len(self._rates) if self._rates else 0.0

    def wait(self, rate: float) -> float:
        """Return the seconds between two visits of a hub with this yield."""
        return self._correction * self._root / (self.pace * math.sqrt(rate))

    def price(self) -> float:
        """Return the price of a visit in event-seconds of waiting.

        >>> budget = Budget(pace=0.1)
        >>> budget.set_yield("http://a.test/", 0.02)
        >>> budget.wait(0.02), round(budget.price(), 6)  # one hub: every ten seconds
        (10.0, 1.0)
        """
        return (self._correction * self._root / self.pace) ** 2 / 2

    def record_visit(self, at: float) -> None:
        """Record a visit at a time in seconds."""
        if self._rates and not math.isnan(self._last):
            gap = min(max(0.0, at - self._last) * self.pace, 2.0)  # 1: exactly the pace
            step = GAIN / math.sqrt(len(self._rates))
            moved = self._correction * math.exp(step * (1.0 - gap))
            self._correction = min(max(moved, 1 / MAX_CORRECTION), MAX_CORRECTION)
        self._last = at
