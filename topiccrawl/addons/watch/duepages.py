"""Due pages of a watch: each is requeued into the frontier once when it is due."""

from __future__ import annotations

import logging
import math
import time
from itertools import islice
from typing import TYPE_CHECKING

from topiccrawl.addons.watch.pagestates import TOLERANCE, set_back, visits_of
from topiccrawl.storage.pages import PageState, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from topiccrawl.addons.watch.tracker import VisitTracker
    from topiccrawl.scheduler.context import CrawlContext

logger = logging.getLogger(__name__)

HUB_VALUE = 1.0
"""Score of a due hub, above all links."""

MAX_IN_FRONTIER = 1_000
"""Maximum number of requeued pages in the frontier."""

BATCH = 1_000
"""Number of states read at a time after the clock was set back."""

SCAN_SECONDS = 600.0
"""Seconds between two scans of all overdue pages, which find lost ones."""

HANDOVER_SECONDS = 4.0
"""Seconds after which visits by the previous node of a host are stored (``DURABLE_SECONDS``)."""

CHECK_SECONDS = 60.0
"""Maximum time between two checks, within which a clock change is detected, in seconds."""

SEEDS = 20
"""Number of seeds that are checked at a time, in turn, until they are fetched."""

_FAR_FUTURE = 1e12


class DuePages:
    """Requeues due pages into the frontier.

    Args:
        context: The crawl.
        visited: Tracker with the states, whose written states are followed.
        wake: Called when a check before ``next_check`` may be useful.
        once: Whether to requeue only pages that are due at the start, and failed pages once more.

    Attributes:
        next_at: Time when the next page is due, seconds since the epoch; None if no page is.
        missing: Pages that failed once, with the times of their retries.
    """

    def __init__(
        self,
        context: CrawlContext,
        visited: VisitTracker,
        wake: Callable[[], None],
        *,
        once: bool,
    ) -> None:
        self.once = once
        self.next_at: float | None = None
        self.missing: dict[str, float] = {}
        self._context = context
        self._visited = visited
        visited.on_written, visited.on_rescheduled = self.visit_written, self.rescheduled
        self._pages, self._owner = visited.pages.pages, visited.ledger.owner
        self._wake = wake
        self._in_frontier: dict[str, bool] = {}
        self._unfetched: dict[str, None] = {}
        self._offset = time.time() - _steady()
        self._started_at = self._done_until = self._scanned_at = 0.0
        self._check_at = self._earliest = math.inf
        self._full = False

    def begin(self) -> None:
        """Record the start of the crawl; with ``once``, pages due later are not requeued."""
        self._started_at = time.time()

    # -- Times -----------------------------------------------------------------------------------

    @property
    def waits(self) -> bool:
        """True if any page may still be requeued."""
        due = self.missing if self.once else self.next_at is not None
        return bool(due) or self._check_at < math.inf

    def next_check(self) -> float:
        """Return the time of the next check, seconds since the epoch."""
        soonest = math.inf if self._full or self.next_at is None else self.next_at
        return min(
            soonest, self._check_at, self._scanned_at + SCAN_SECONDS, time.time() + CHECK_SECONDS
        )

    def check_soon(self) -> None:
        """Schedule a scan of all overdue pages in ``HANDOVER_SECONDS``."""
        self._check_at = time.time() + HANDOVER_SECONDS

    @property
    def is_early(self) -> bool:
        """True if no scan was scheduled by ``check_soon``, or its time has not come."""
        return time.time() < self._check_at

    # -- Requeueing ------------------------------------------------------------------------------

    def follow(self, seeds: Iterable[str]) -> None:
        """Record failures of seeds that were never fetched, until they are fetched."""
        self._visited.seeds.update(seeds)
        self._unfetched.update(dict.fromkeys(seeds))

    def has_links_of(self, url: str) -> bool:
        """Return whether all links of a page were in the frontier when the page was requeued.

        Otherwise a 304 would lose links: the state of a page may be older than the frontier
        (``-a fresh=1``), or newer than its content.
        """
        return self._in_frontier.get(url, False)

    async def requeue_due(self) -> None:
        """Requeue due pages, and determine when the next page is due.

        Raises:
            StorageError: If states cannot be read.
        """
        if self._is_set_back():
            await self.set_back()
        now, check_at = time.time(), self._check_at
        # Other nodes may write their visits late.
        period = SCAN_SECONDS if self._context.sync is None else CHECK_SECONDS
        if now - self._scanned_at > period or now >= check_at:
            self._scanned_at, self._done_until = now, 0.0
            self._check(self._in_frontier)
        self._check_seeds()
        requeued = await self._requeue_all(now)
        soonest = (
            []
            if self.once
            else await self._pages.due(self._owner, _FAR_FUTURE, 1, self._done_until)
        )
        ahead = [due for url, due in self.missing.items() if url not in self._in_frontier]
        ahead += [self._earliest] if self._earliest < math.inf else []
        self.next_at = min([state.due for state in soonest] + ahead, default=None)
        scanned = check_at == self._check_at and now >= check_at
        if scanned:
            self._check_at = math.inf
        if requeued or scanned:
            self._context.alarm.now()

    async def _requeue_all(self, now: float) -> int:
        """Requeue due pages while fewer than ``MAX_IN_FRONTIER`` wait; return their number."""
        requeued, most = 0, MAX_IN_FRONTIER
        self._full, self._earliest = False, math.inf
        async for found in self._pages.all_due(self._owner, now, most, self._done_until):
            requeued += sum(self._requeue(state) for state in found)
            if len(self._in_frontier) >= most:
                self._full = True
                self._mark_requeued(math.nextafter(found[-1].due, 0.0))
                return requeued
        self._mark_requeued(now)
        return requeued

    def _mark_requeued(self, until: float) -> None:
        """Record that pages due until a time are requeued, except states written meanwhile."""
        self._done_until = min(until, math.nextafter(self._earliest, 0.0))

    def _requeue(self, state: PageState) -> bool:
        """Requeue a page; return whether it was requeued."""
        later = self.once and state.due > self._started_at and state.url not in self.missing
        if later or state.url in self._in_frontier or self._visited.is_pending(state.url):
            return False
        value = HUB_VALUE if state.role is Role.HUB else None
        with self._context.book.writing() as frontier:
            known = frontier.why(state.url)
            if frontier.requeue(state.url, value):
                self._in_frontier[state.url] = known is not None and known.queue == "crawled"
                self._visited.count("leased")
                return True
        self.missing.pop(state.url, None)  # already queued, or served by another node
        return False

    def _is_set_back(self) -> bool:
        """Return whether the system clock was set back since the last call."""
        before, self._offset = self._offset, time.time() - _steady()
        return self._offset < before - TOLERANCE

    async def set_back(self) -> None:
        """Reschedule pages after the clock was set back; may raise StorageError."""
        now = time.time()
        await reschedule_from(now, self._visited)
        self.missing = dict.fromkeys(self.missing, now)
        self._check_at = min(self._check_at, now + HANDOVER_SECONDS)
        self._scanned_at, self._done_until = now, 0.0

    def check_requeued(self) -> None:
        """Record pages that went to the errorQueue without a lease (robots.txt, crash, limit).

        Drop pages that another node serves or has visited, and pages deleted by the operator.
        """
        self._check((*self._in_frontier, *self._unfetched))

    def _check_seeds(self) -> None:
        """Check the next unfetched seeds: with thousands, a check of all would block the crawl."""
        urls = tuple(islice(self._unfetched, SEEDS))
        for url in urls:
            self._unfetched[url] = self._unfetched.pop(url)
        self._check(urls)

    def _check(self, urls: Iterable[str]) -> None:
        """See ``check_requeued``."""
        for url in tuple(urls):
            known = self._context.frontier.why(url)
            if known is not None and known.queue == "error":
                self._visited.visit_failed(url, known.reason)
            elif known is None or (known.queue == "crawled" and not self._visited.is_pending(url)):
                self._in_frontier.pop(url, None)
                if known is not None:  # seeds are queued after the watch has started
                    self._unfetched.pop(url, None)

    # -- Results ---------------------------------------------------------------------------------

    def visit_written(self, state: PageState) -> None:
        """Update the schedule after a visit's state was written."""
        self._in_frontier.pop(state.url, None)
        self._unfetched.pop(state.url, None)
        retried = self.once and state.url in self.missing
        if state.misses and not (state.gone_at or retried):
            self.missing[state.url] = state.due
        else:
            self.missing.pop(state.url, None)
        self.rescheduled(state)

    def rescheduled(self, state: PageState) -> None:
        """Update the schedule after the due time of a page may have changed."""
        if state.url in self._in_frontier:
            return
        self._earliest = min(self._earliest, state.due or math.inf)
        if 0.0 < state.due <= self._done_until:
            self._done_until = math.nextafter(state.due, 0.0)
        sooner = state.due and (self.next_at is None or state.due < self.next_at)
        if (self._full and len(self._in_frontier) <= MAX_IN_FRONTIER // 2) or (
            sooner and not self._full
        ):
            self._wake()


async def reschedule_from(now: float, visited: VisitTracker) -> None:
    """Reschedule the pages that were visited "in the future", after the clock was set back.

    Raises:
        StorageError: If states cannot be read or written.
    """
    logger.warning("The system clock was set back: due times are shifted accordingly")
    pages, owner = visited.pages.pages, visited.ledger.owner
    async for found in pages.all_due(owner, _FAR_FUTURE, BATCH):
        ahead = [state.url for state in found if visits_of(state).visited_at > now + TOLERANCE]
        await visited.amend(ahead, lambda state: set_back(state, now))


def _steady() -> float:
    """Return monotonic seconds, which include suspend time if the system supports it."""
    boot: int | None = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)
