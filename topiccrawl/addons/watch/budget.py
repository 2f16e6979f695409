"""Budget of visits a second, shared among hubs of different yield."""

from __future__ import annotations

import math
from urllib.parse import urlsplit

HOST_PACE = 1 / 60
"""Visits a second of one host's hubs together, if no total is set."""

GAIN = 0.02
"""Gain of the correction at one visit."""

MOST = 1.25
"""Upper bound of the correction; its inverse is the lower bound."""


class Budget:
    """Gives each hub a wait in proportion to the inverse root of its yield, all spending the pace.

    Yields vary, and with them waits, so visits are fewer than the mean yields predict. The visits
    really made therefore correct the waits, by a quarter at most: a stopped crawl or slow hosts
    are no reason to hurry.

    Args:
        pace: Visits a second, all hubs together; 0: ``host_pace`` for each host that has hubs.
        host_pace: Visits a second of one host's hubs, if ``pace`` is 0.
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
        """Visits a second, all hubs together.

        >>> budget = Budget(host_pace=0.1)
        >>> for url in ("http://a.test/", "http://a.test/auto/", "http://b.test/"):
        ...     budget.note(url, 0.02)
        >>> budget.pace
        0.2
        """
        return self._pace or self._host_pace * max(1, len(self._hosts))

    def note(self, url: str, rate: float, share: float = 1.0) -> None:
        """Record a hub's yield.

        Args:
            url: Of the hub.
            rate: Events a second, more than 0.
            share: Fraction that the hub gets of the visits due to its yield, in [0, 1].
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
        """Return the price of a visit: events times the seconds of waiting that it must end.

        >>> budget = Budget(pace=0.1)
        >>> budget.note("http://a.test/", 0.02)
        >>> budget.wait(0.02), round(budget.price(), 6)  # one hub: every ten seconds
        (10.0, 1.0)
        """
        return (self._correction * self._root / self.pace) ** 2 / 2

    def spent(self, at: float) -> None:
        """Record a visit at a time in seconds."""
        if self._rates and not math.isnan(self._last):
            gap = min(max(0.0, at - self._last) * self.pace, 2.0)  # 1: exactly the pace
            step = GAIN / math.sqrt(len(self._rates))
            moved = self._correction * math.exp(step * (1.0 - gap))
            self._correction = min(max(moved, 1 / MOST), MOST)
        self._last = at
