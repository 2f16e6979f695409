"""Turns of sites at the readers, by the seconds that their pages take."""

from __future__ import annotations

from typing import NamedTuple

_MOST = 10_000
"""Sites that are remembered."""
_MANY = 32
"""Pages of all sites that count for a new one."""


class Turn(NamedTuple):
    """A page's place among those that wait.

    Attributes:
        due: Its end in virtual time; the page with the least goes first.
        start: Its start in virtual time.
        site: Whose page it is.
        guess: Seconds that it should take, by the pages of its site before it; of a new site, by
            those of all.
    """

    due: float
    start: float
    site: str
    guess: float


class Turns:
    """Fair queueing by processing time (A. Demers et al., SIGCOMM 1989).

    A site keeps its share of the readers' time, however many others send pages that are dear.
    Virtual time is the start of the latest page that is being read, as in start-time fair queueing
    (P. Goyal et al., SIGCOMM 1996); order is by ends, so that a cheap page need not wait for a
    dear one of each other site.

    >>> turns = Turns()
    >>> for site, seconds in ("dear.test", 2.0), ("good.test", 0.01):
    ...     turns.end(turns.take(site), seconds)
    >>> turns.take("dear.test").due > turns.take("good.test").due
    True
    """

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._ends: dict[str, float] = {}
        self._now = self._usual = 0.0

    def take(self, site: str, *, first: bool = False) -> Turn:
        """Return the place of a page that comes now, before all others where it is to go first."""
        if len(self._ends) >= _MOST:
            self._ends.clear()
            self._seconds.clear()
        start = max(self._now, self._ends.get(site, 0.0))
        guess = self._seconds.get(site, self._usual)
        self._ends[site] = start + guess
        return Turn(-1.0, 0.0, site, guess) if first else Turn(start + guess, start, site, guess)

    def begin(self, turn: Turn) -> None:
        """Note that a page is being read."""
        self._now = max(self._now, turn.start)

    def end(self, turn: Turn, seconds: float) -> None:
        """Note the seconds that a page took, 0 of one given up; of those before it half counts."""
        self._ends[turn.site] = self._ends.get(turn.site, self._now) + seconds - turn.guess
        if seconds:
            self._seconds[turn.site] = (self._seconds.get(turn.site, seconds) + seconds) / 2
            self._usual += (seconds - self._usual) / _MANY
