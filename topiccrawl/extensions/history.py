"""History of a crawl in bounded memory."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

WINDOW = 100
"""Number of pages in the recent harvest rate."""
POINTS = 600
"""Target number of points. At twice as many, every second point is dropped."""


class Point(NamedTuple):
    """Figures of a crawl at one time.

    Attributes:
        at: Seconds since the start of the run.
        pages: Number of pages parsed so far.
        relevant: Number of pages on topic so far.
        recent: Harvest rate of the last ``WINDOW`` pages, in [0, 1].
        articles: Number of stories stored so far.
    """

    at: float
    pages: int
    relevant: int
    recent: float
    articles: int


class CrawlHistory:
    """Counters of a crawl, and their history in at most twice ``points`` points.

    Args:
        points: Target number of points.

    Attributes:
        every: Seconds between two points; doubled each time that points are dropped.

    >>> history = CrawlHistory(points=2)
    >>> for second in range(9):
    ...     history.page(relevant=second % 2 == 0)
    ...     history.sample(float(second))
    >>> [point.pages for point in history.points]
    [1, 5, 9]
    >>> history.every
    4.0
    """

    def __init__(self, points: int = POINTS) -> None:
        self.pages = 0
        self.relevant = 0
        self.articles = 0
        self.every = 1.0
        self.points: list[Point] = []
        self._target = points
        self._recent: deque[bool] = deque(maxlen=WINDOW)

    def page(self, *, relevant: bool) -> None:
        """Count a scored page."""
        self.pages += 1
        self.relevant += relevant
        self._recent.append(relevant)

    def recent(self) -> float:
        """Return the harvest rate of the last pages, in [0, 1]."""
        return sum(self._recent) / len(self._recent) if self._recent else 0.0

    def sample(self, at: float, *, last: bool = False) -> None:
        """Add a point if ``every`` seconds have passed.

        Args:
            at: Seconds since the start of the run.
            last: Whether this is the final point; it replaces the previous one if that is too near.
        """
        if self.points and at - self.points[-1].at < self.every * 0.99:
            if not last:
                return
            self.points.pop()
        point = Point(
            round(at, 1), self.pages, self.relevant, round(self.recent(), 4), self.articles
        )
        self.points.append(point)
        if len(self.points) > 2 * self._target:
            self.points = self.points[::2]
            self.every *= 2
