"""How a number of visits a second is shared among hubs of different yield."""

from __future__ import annotations

import math
from urllib.parse import urlsplit

HOST_PACE = 1 / 60
"""Visits a second of one host's hubs together, where nobody says how many in all."""

GAIN = 0.02
"""How far one visit moves the correction."""

MOST = 1.25
"""The correction at most, and its inverse at least."""


class Budget:
    """Gives each hub a wait in proportion to the inverse root of its yield, all spending the pace.

    Yields go up and down, and with them waits, by which visits are fewer than the mean yields
    promise; so what is really spent corrects the waits, by a quarter at most: a crawl that stands
    still or hosts that are slow are no reason for haste.

    Args:
        pace: Visits a second, all hubs together; 0: so many for each host that has hubs.
        host_pace: Visits a second of one host's hubs, where ``pace`` is 0.
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
        """A hub's yield.

        Args:
            url: Of the hub.
            rate: Events a second, more than 0.
            share: Part of the visits that its yield is worth which it gets, in [0, 1].
        """
        root = share * math.sqrt(rate)
        self._rate += rate - self._rates.get(url, 0.0)
        self._root += root - self._roots.get(url, 0.0)
        self._rates[url], self._roots[url] = rate, root
        self._hosts.add(urlsplit(url).netloc)

    def mean(self) -> float:
        """The mean yield of all hubs; 0 where none is known."""
        return self._rate / len(self._rates) if self._rates else 0.0

    def wait(self, rate: float) -> float:
        """Seconds between two visits of a hub with this yield."""
        return self._correction * self._root / (self.pace * math.sqrt(rate))

    def price(self) -> float:
        """What a visit must bring: events times the seconds of waiting that it ends.

        >>> budget = Budget(pace=0.1)
        >>> budget.note("http://a.test/", 0.02)
        >>> budget.wait(0.02), round(budget.price(), 6)  # one hub: every ten seconds
        (10.0, 1.0)
        """
        return (self._correction * self._root / self.pace) ** 2 / 2

    def spent(self, at: float) -> None:
        """A visit took place, at a time in seconds."""
        if self._rates and not math.isnan(self._last):
            gap = min(max(0.0, at - self._last) * self.pace, 2.0)  # 1: just as paid for
            step = GAIN / math.sqrt(len(self._rates))
            moved = self._correction * math.exp(step * (1.0 - gap))
            self._correction = min(max(moved, 1 / MOST), MOST)
        self._last = at
