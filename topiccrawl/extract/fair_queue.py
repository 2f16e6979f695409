"""Fair queueing of pages by site, based on the time that readers need for them."""

from __future__ import annotations

from typing import NamedTuple

_MAX_SITES = 10_000
"""Most sites stored; above it all are forgotten."""
_AVERAGE_WINDOW = 32
"""Window in pages of the moving average over all sites, used for new sites."""


class Entry(NamedTuple):
    """Virtual times of a page in the queue.

    Attributes:
        finish: Virtual finish time; the page with the smallest is read first.
        start: Virtual start time.
        site: Site of the page.
        estimate: Estimated seconds for the page, from earlier pages of the site, or of all sites
            for a new site.
    """

    finish: float
    start: float
    site: str
    estimate: float


class FairQueue:
    """Fair queueing of sites by processing time (A. Demers et al., SIGCOMM 1989).

    A site keeps its share of the readers' time, even if other sites have many expensive pages.
    Virtual time is the start of the latest page in progress, as in start-time fair queueing
    (P. Goyal et al., SIGCOMM 1996). Pages are ordered by virtual finish time, so that a cheap page
    does not wait for an expensive page of each other site.

    >>> queue = FairQueue()
    >>> for site, seconds in ("slow.test", 2.0), ("fast.test", 0.01):
    ...     queue.finish(queue.enqueue(site), seconds)
    >>> queue.enqueue("slow.test").finish > queue.enqueue("fast.test").finish
    True
    """

    def __init__(self) -> None:
        self._estimates: dict[str, float] = {}
        self._ends: dict[str, float] = {}
        self._now = self._mean = 0.0

    def enqueue(self, site: str, *, first: bool = False) -> Entry:
        """Return the virtual times of a new page; with ``first`` it precedes all other pages."""
        if len(self._ends) >= _MAX_SITES:
            self._ends.clear()
            self._estimates.clear()
        start = max(self._now, self._ends.get(site, 0.0))
        estimate = self._estimates.get(site, self._mean)
        self._ends[site] = start + estimate
        return (
            Entry(-1.0, 0.0, site, estimate)
            if first
            else Entry(start + estimate, start, site, estimate)
        )

    def start(self, entry: Entry) -> None:
        """Advance virtual time when a reader starts with a page."""
        self._now = max(self._now, entry.start)

    def finish(self, entry: Entry, seconds: float) -> None:
        """Record the seconds that a page took (0 if cancelled); updates the estimates."""
        self._ends[entry.site] = self._ends.get(entry.site, self._now) + seconds - entry.estimate
        if seconds:
            self._estimates[entry.site] = (self._estimates.get(entry.site, seconds) + seconds) / 2
            self._mean += (seconds - self._mean) / _AVERAGE_WINDOW
