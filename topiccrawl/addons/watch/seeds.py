"""Start of a watch: seeds that were not fetched yet, and adoption of crawls."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from topiccrawl.addons.watch.pagestates import PageStates, VisitResult
from topiccrawl.frontier.contract import Ending, Frontier, Outcome
from topiccrawl.storage.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from topiccrawl.model import Lease
    from topiccrawl.storage.contract import ArticleStore
    from topiccrawl.storage.pages import Pages, PageState

QUEUED = frozenset({"prior", "normal", "leased"})
"""Queues of URLs that are not fetched yet."""

BATCH = 500
"""Number of states written in one transaction."""


class SeedFailures:
    """Finds seeds that failed, also those without a request (robots.txt cannot be fetched).

    Args:
        seeds: Canonical URLs that were never fetched.
        failed: Called once with each failed seed and the reason in the frontier; from then on the
            seed has a state, which sets its next visit.
    """

    def __init__(self, seeds: Iterable[str], failed: Callable[[str, str], None]) -> None:
        self._waiting = set(seeds)
        self._all = set(self._waiting)
        self._failed = failed

    def __contains__(self, url: object) -> bool:
        return url in self._all

    def check(self, frontier: Frontier) -> None:
        """Report the seeds that failed since the last call."""
        for url in tuple(self._waiting):
            known = frontier.why(url)
            if known is None or known.queue in QUEUED:
                continue
            self._waiting.discard(url)
            if known.queue == "error":
                self._failed(url, known.reason)

    def settled(self, lease: Lease, outcome: Outcome) -> None:
        """Replace a redirected seed by its target."""
        if outcome.ending is Ending.REDIRECTED and lease.url in self._waiting:
            self._waiting.discard(lease.url)
            self._waiting.add(outcome.target)
            self._all.add(outcome.target)


async def adopt(
    frontier: Frontier, store: ArticleStore, ledger: PageStates, pages: Pages, now: float
) -> None:
    """Create states for the owner's stored articles and the hubs that linked to them.

    The texts of the articles are compared from the second visit on. Existing states are kept. Hubs
    are written last: after a kill, the next run finds no hubs and adopts again.

    Args:
        frontier: Frontier of the crawl; articles that it does not have are skipped.
        store: Store of the articles.
        ledger: Computes the states of the owner's pages.
        pages: Open store of the states.
        now: Current time, seconds since the epoch.

    Raises:
        StorageError: If an article or state cannot be read or written.
    """
    hubs: dict[str, PageState] = {}
    batch: list[PageState] = []
    async for article in store.select(Selection(ledger.owner)):
        state = ledger.first_visit(article.url, VisitResult(article.fetched_at, digest="unknown"))
        if state is None or frontier.why(article.url) is None:
            continue
        batch.append(replace(state, digest=""))
        hub = parent_of(frontier, article.url)
        if hub and hub not in hubs and (first := ledger.credit(hub, None, VisitResult(now))):
            hubs[hub] = first
        if len(batch) >= BATCH:
            await _save(pages, ledger.owner, batch)
            batch = []
    await _save(pages, ledger.owner, [*batch, *hubs.values()])


def parent_of(frontier: Frontier, url: str) -> str:
    """Return the URL of the page that linked to a URL first, or ""."""
    known = frontier.why(url)
    return known.path[-2] if known is not None and len(known.path) > 1 else ""


async def _save(pages: Pages, owner: str, states: list[PageState]) -> None:
    known = await pages.get(owner, [state.url for state in states])
    await pages.save([state for state in states if state.url not in known])
