"""Seeds of a watch, until each was fetched once: a seed that fails at first is retried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier.contract import Ending

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from topiccrawl.frontier.contract import Frontier, Lease, Outcome

ON_THEIR_WAY = frozenset({"prior", "normal", "leased"})
"""Queues of URLs that will yet be fetched."""


class Beginnings:
    """Finds seeds that failed, also without a request (robots.txt that cannot be fetched).

    Args:
        seeds: Canonical URLs that were never fetched.
        failed: Called once with each failed seed and the frontier's reason; from then on the seed
            has a state, which sets its next visit.
    """

    def __init__(self, seeds: Iterable[str], failed: Callable[[str, str], None]) -> None:
        self._left = set(seeds)
        self._all = set(self._left)
        self._failed = failed

    def __contains__(self, url: object) -> bool:
        return url in self._all

    def look(self, frontier: Frontier) -> None:
        """Report the seeds that failed since the last look."""
        for url in tuple(self._left):
            known = frontier.why(url)
            if known is None or known.queue in ON_THEIR_WAY:
                continue
            self._left.discard(url)
            if known.queue == "error":
                self._failed(url, known.reason)

    def settled(self, lease: Lease, outcome: Outcome) -> None:
        """Replace a redirected seed by its target."""
        if outcome.ending is Ending.REDIRECTED and lease.url in self._left:
            self._left.discard(lease.url)
            self._left.add(outcome.target)
            self._all.add(outcome.target)
