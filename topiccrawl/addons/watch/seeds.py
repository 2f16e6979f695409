"""Seeds of a watch, until each was had once: what fails at first is not given up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier.contract import Ending

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from topiccrawl.frontier.contract import Frontier, Lease, Outcome

ON_THEIR_WAY = frozenset({"prior", "normal", "leased"})
"""Queues of URLs that will yet be fetched."""


class Beginnings:
    """Finds seeds that failed, also without a request (robots.txt that cannot be had).

    Args:
        seeds: Canonical URLs that were never had.
        failed: Called once with each that failed, and the frontier's reason; from then on it has a
            state and is due again by that.
    """

    def __init__(self, seeds: Iterable[str], failed: Callable[[str, str], None]) -> None:
        self._left = set(seeds)
        self._all = set(self._left)
        self._failed = failed

    def __contains__(self, url: object) -> bool:
        return url in self._all

    def look(self, frontier: Frontier) -> None:
        """Tell which seeds failed since the last look."""
        for url in tuple(self._left):
            told = frontier.why(url)
            if told is None or told.queue in ON_THEIR_WAY:
                continue
            self._left.discard(url)
            if told.queue == "error":
                self._failed(url, told.reason)

    def settled(self, lease: Lease, outcome: Outcome) -> None:
        """Go on with the page that a seed redirects to."""
        if outcome.ending is Ending.REDIRECTED and lease.url in self._left:
            self._left.discard(lease.url)
            self._left.add(outcome.target)
            self._all.add(outcome.target)
