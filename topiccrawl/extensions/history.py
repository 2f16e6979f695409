"""History of a crawl in bounded memory."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

WINDOW = 100
"""Pages that the recent harvest rate is about."""
POINTS = 600
"""Maximum of points of the history: at twice as many, every second one is dropped."""


class Point(NamedTuple):
    """The crawl at one moment.

    Attributes:
        at: Seconds since the run began.
        pages: Pages parsed so far.
        relevant: Of these, on topic.
        recent: Harvest rate of the last ``WINDOW`` pages, in [0, 1].
        articles: Stories stored so far.
    """

    at: float
    pages: int
    relevant: int
    recent: float
    articles: int


class Figures:
    """Counts what happens, and keeps a history that gets coarser instead of longer.

    Args:
        window: Pages of the recent rate.
        points: Of the history.
        every: Seconds between two points at first.

    >>> figures = Figures(points=2, every=1.0)
    >>> for second in range(9):
    ...     figures.page(relevant=second % 2 == 0)
    ...     figures.sample(float(second))
    >>> [point.pages for point in figures.history]
    [1, 5, 9]
    >>> figures.every
    4.0
    """

    def __init__(self, window: int = WINDOW, points: int = POINTS, every: float = 1.0) -> None:
        self.pages = 0
        self.relevant = 0
        self.articles = 0
        self.every = every
        self.history: list[Point] = []
        self._points = points
        self._recent: deque[bool] = deque(maxlen=window)

    def page(self, *, relevant: bool) -> None:
        """Count a judged page."""
        self.pages += 1
        self.relevant += relevant
        self._recent.append(relevant)

    def recent(self) -> float:
        """Harvest rate of the last pages, in [0, 1]."""
        return sum(self._recent) / len(self._recent) if self._recent else 0.0

    def sample(self, at: float, *, last: bool = False) -> None:
        """Add a point, if it is time for one; the last one replaces one too near before it."""
        if self.history and at - self.history[-1].at < self.every * 0.99:
            if not last:
                return
            self.history.pop()
        point = Point(
            round(at, 1), self.pages, self.relevant, round(self.recent(), 4), self.articles
        )
        self.history.append(point)
        if len(self.history) > 2 * self._points:
            self.history = self.history[::2]
            self.every *= 2


def merged(histories: Sequence[tuple[float, Sequence[Point]]]) -> list[Point]:
    """The history of several nodes together; times count from the first one's beginning.

    Args:
        histories: When a run began, seconds since the epoch, and its points.

    >>> one, two = Point(0.0, 0, 0, 0.0, 0), Point(10.0, 8, 4, 0.5, 1)
    >>> [(p.at, p.pages, p.recent) for p in merged([(100.0, [one, two]), (105.0, [one, two])])]
    [(0.0, 0, 0.0), (5.0, 0, 0.0), (10.0, 8, 0.5), (15.0, 16, 0.5)]
    """
    first = min((began for began, _ in histories), default=0.0)
    events = sorted(
        (began - first + point.at, node, point)
        for node, (began, points) in enumerate(histories)
        for point in points
    )
    latest: dict[int, Point] = {}
    found: dict[float, Point] = {}
    for at, node, point in events:
        latest[node] = point
        found[round(at, 1)] = _sum(round(at, 1), list(latest.values()))
    points = list(found.values())
    step = -(-len(points) // POINTS)
    return points if step <= 1 else [*points[:-1:step], points[-1]]


def _sum(at: float, points: list[Point]) -> Point:
    seen = [point for point in points if point.pages]
    recent = sum(point.recent for point in seen) / len(seen) if seen else 0.0
    pages, relevant, articles = (
        sum(getattr(point, name) for point in points) for name in ("pages", "relevant", "articles")
    )
    return Point(at, pages, relevant, round(recent, 4), articles)
