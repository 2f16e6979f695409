"""Slow start: few requests in flight until the crawl has judged some pages.

While nothing is known of a site, all links of its home page look alike, and each further request in
flight is a guess that the next page could have answered. Pages given by the user are no guesses.
"""

from __future__ import annotations

LONG = 3.0
"""Seconds after which a page in progress no longer counts, so that hosts that do not respond do not
delay the crawl."""


class SlowStart:
    """Bound of the pages in progress that were found by links.

    >>> start = SlowStart(4)
    >>> start.allows(0), start.allows(1)
    (True, False)
    >>> for _ in range(4):
    ...     start.count()
    >>> start.allows(1), start.allows(2), SlowStart(0).allows(99)
    (True, False, True)

    Args:
        pages: Crawled pages for each further page in progress after the first; 0: no bound.
        crawled: Pages crawled in earlier runs.
    """

    def __init__(self, pages: int, crawled: int = 0) -> None:
        self._pages, self._crawled = pages, crawled

    def count(self) -> None:
        """Count a crawled page."""
        self._crawled += 1

    def allows(self, in_progress: int) -> bool:
        """Return whether one more page may be requested.

        Args:
            in_progress: Pages found by links that are requested and not judged yet.
        """
        return not self._pages or in_progress <= self._crawled // self._pages
