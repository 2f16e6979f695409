"""Tracking of visits in a crawl: computes the states of watched pages and writes them crash-safe.

A state with validators (ETag, Last-Modified) means that all of the page is recorded. So validators
may be written only after the page's articles are stored and its links are durable in the frontier;
otherwise a page that is fetched again after a kill could get a 304. On the other hand, a page in
the frontier without a state would never be revisited. Hence the state of a new page is written
twice: without validators before its lease is settled, and completely some seconds later.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from topiccrawl.addons.watch.pagestates import PageStates, VisitResult, was_fetched
from topiccrawl.errors import StorageAwayError, StorageError
from topiccrawl.frontier.contract import Ending, Outcome
from topiccrawl.model import Kind, Lease
from topiccrawl.scheduler.requests import is_distinct
from topiccrawl.storage.pages import Change, PageState, Role, change_between

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable

    from topiccrawl.addons.watch.pagebuffer import PageBuffer

logger = logging.getLogger(__name__)

DURABLE_SECONDS = 2.5
"""Seconds after which the effect of ``finish`` is durable, also in a shared frontier: at most one
until its commit starts, and one more until the commit has ended."""


@dataclass(slots=True)
class Visit:
    """A visit of a page, from the request until its state is completely written.

    Attributes:
        known: State of the page before the visit, or None.
        unread: Whether the store was unavailable at the request, so that ``known`` is not known.
        seen: Result of the visit, after the response.
        state: State of the page after the visit, once its articles are stored.
    """

    known: PageState | None = None
    unread: bool = False
    seen: VisitResult | None = None
    state: PageState | None = None


class VisitTracker:
    """Tracks the visits of a crawl and the states of their pages.

    Args:
        ledger: Computes states.
        pages: Store of the states.
        count: Called with the name of each event to count.
        on_change: Called with each change of an article.

    Attributes:
        seeds: URLs that are retried even if they were never fetched.
        on_written: Called with each state that was written after a visit.
        on_rescheduled: Called with each state that was written for other reasons, as its due time
            may have changed.
    """

    def __init__(
        self,
        ledger: PageStates,
        pages: PageBuffer,
        count: Callable[[str], None],
        on_change: Callable[[Change], None],
    ) -> None:
        self.seeds: set[str] = set()
        self.ledger = ledger
        self.pages = pages
        self.count = count
        self.on_written: Callable[[PageState], None] = lambda _: None
        self.on_rescheduled: Callable[[PageState], None] = lambda _: None
        self._on_change = on_change
        self._visits: dict[str, Visit] = {}
        self._pending: dict[str, Visit] = {}
        self._failing: set[str] = set()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._tasks: set[asyncio.Task[None]] = set()
        self._ending = asyncio.Event()

    def __len__(self) -> int:
        return len(self._tasks)

    def is_pending(self, url: str) -> bool:
        """Return whether a page was visited and its state is not completely written yet."""
        return url in self._pending

    async def current_state(self, url: str) -> PageState | None:
        """Return the state of a page, or None; wait while the store is unavailable."""
        if url in self._pending:
            return self._pending[url].state
        return (await self.pages.find(self.ledger.owner, [url])).get(url)

    async def load_state(self, url: str) -> PageState | None:
        """Return the state of a page that will be requested, and keep it with its visit.

        If the store is unavailable, return None: the page is then fetched unconditionally, and
        compared when the store is available again.
        """
        visit = self._visits[url] = Visit()
        try:
            pending = self._pending.get(url)
            found = {} if pending else await self.pages.get(self.ledger.owner, [url])
            visit.known = pending.state if pending else found.get(url)
        except StorageAwayError:
            visit.unread = True
        return visit.known

    def visit(self, url: str) -> Visit:
        """Return the visit of a requested page, which takes its result; a new one if unknown."""
        return self._visits.setdefault(url, Visit())

    async def page_done(self, lease: Lease) -> None:
        """Compute the state of a page whose articles are stored, before its lease is settled.

        Raises:
            StorageError: If the state of a new page cannot be written.
        """
        visit = self._visits.get(lease.url)
        if visit is None or visit.seen is None or is_distinct(lease.url):
            return  # no page, or a separate request, which cannot be repeated
        async with self._lock(lease.url):
            if visit.unread:
                visit.known = await self.current_state(lease.url)
            if visit.known is not None:  # it may have been credited since
                known = await self.current_state(lease.url) or visit.known
                changed = self.ledger.is_changed(known, visit.seen)
                self.count(f"{known.role}s_changed" if changed else "unchanged")
                visit.state = self.ledger.revisit(known, visit.seen)
            elif state := self.ledger.first_visit(lease.url, visit.seen):
                await self.pages.save(_without_validators(state))
                visit.state = state
            if visit.state is not None:
                self._pending[lease.url] = visit

    def settled(self, lease: Lease, outcome: Outcome) -> None:
        """Write the states of settled pages, and record failed visits."""
        if lease.kind is not Kind.PAGE:
            return
        visit = self._visits.pop(lease.url, None)
        if visit is not None and visit is self._pending.get(lease.url):  # not an earlier visit
            if outcome.ending is Ending.CRAWLED:
                self._start(self._write_settled(lease.url, visit))
            else:
                del self._pending[lease.url]
        if outcome.ending in {Ending.ERROR, Ending.REDIRECTED}:
            self.visit_failed(lease.url, outcome.reason)

    async def credit(self, hub: str, seen: VisitResult) -> None:
        """Credit the page that linked to an article first, which makes it a hub."""
        known, state = await self._revise(hub, lambda one: self.ledger.credit(hub, one, seen))
        if known is None:
            self.count("hubs")
        if state is not None:
            try:
                await self.pages.save(state)
            finally:
                self.on_rescheduled(state)

    def compare_whole(self, url: str, at: float, digest: str) -> None:
        """Compare an article of several pages in the background, after all pages were read."""
        self._start(self._compare_whole(url, at, digest))

    async def _compare_whole(self, url: str, at: float, digest: str) -> None:
        with suppress(TimeoutError):  # its first page may not be recorded yet
            await asyncio.wait_for(self._ending.wait(), 2 * DURABLE_SECONDS)
        known, state = await self._revise(
            url, lambda one: one and self.ledger.whole_article(one, at, digest)
        )
        if state is not None:
            await self.pages.save(state)
            if self._report_change(known, state):
                self.count("details_changed")

    async def close(self) -> None:
        """Write all pending states; the frontier must be closed, so that its content is durable."""
        self._ending.set()
        self.pages.stop_waiting()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self.pages.close()

    async def _write_settled(self, url: str, visit: Visit) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ending.wait(), DURABLE_SECONDS)
        if visit is self._pending.get(url):  # else there was another visit since
            del self._pending[url]
        state, seen = visit.state, visit.seen
        assert state and seen  # noqa: S101, PT018 - a pending visit has both
        await self._write(state, visit.known)
        if state.first_seen == seen.at:
            self.count(f"{state.role}s")
            if state.role is Role.DETAIL and seen.found_on:
                await self.credit(seen.found_on, seen)

    def visit_failed(self, url: str, reason: str) -> None:
        """Record a failed visit in the background, unless that is being done already.

        Args:
            url: URL of a page. A page without a state is ignored, unless it is one of ``seeds``.
            reason: Reason from the frontier, such as ``http-404``.
        """
        if url not in self._failing:
            self._failing.add(url)
            self._start(self._record_failure(url, reason))

    async def _record_failure(self, url: str, reason: str) -> None:
        try:
            known, state = await self._revise(url, lambda one: self._failed(url, reason, one))
            if state is not None:
                await self._write(state, known or state)
        finally:
            self._failing.discard(url)

    def _failed(self, url: str, reason: str, known: PageState | None) -> PageState | None:
        """Return the state of a page after a failed visit, which is counted; None: no state."""
        now = time.time()
        if known is None:
            if url not in self.seeds:
                return None
            self.count("hubs")
            state = self.ledger.unfetched(url, now)
        else:
            status = reason.removeprefix("http-")
            state = self.ledger.failed_visit(known, now, int(status) if status.isdigit() else 0)
            if state.gone_at and not known.gone_at:
                self.count("gone")
        if not was_fetched(state):
            at = time.strftime("%H:%M:%S", time.localtime(state.due))
            logger.warning("%s cannot be fetched (%s): it is retried at %s", url, reason, at)
        return state

    async def amend(self, urls: Iterable[str], change: Callable[[PageState], PageState]) -> None:
        """Rewrite states that are not pending."""

        async def one(url: str) -> None:
            async with self._lock(url):
                known = await self.current_state(url)
            if known is not None and not self.is_pending(url):
                await self.pages.save(change(known))

        await asyncio.gather(*map(one, urls))

    async def _revise(
        self, url: str, revised: Callable[[PageState | None], PageState | None]
    ) -> tuple[PageState | None, PageState | None]:
        """Compute another state of a page; a pending state is replaced, and written with its visit.

        Returns:
            The state before, and the new one if the caller has to save it. From the call of
            ``save`` on, the buffer returns the new state, so no lock is needed.
        """
        async with self._lock(url):
            known = await self.current_state(url)
            state = revised(known)
            if state is not None and url in self._pending:
                self._pending[url].state = state
                state = None
        return known, state

    async def _write(self, state: PageState, before: PageState | None) -> None:
        """Write a state and report the change of an article; after an error, its page stays due."""
        try:
            await self.pages.save(state)
        except StorageError:
            self.on_written(state)
            raise
        self._report_change(before, state)
        self.on_written(state)

    def _report_change(self, before: PageState | None, state: PageState) -> bool:
        """Report the change of an article; return whether there is one."""
        change = change_between(before, state) if state.role is Role.DETAIL else None
        if change is not None:
            self._on_change(change)
        return change is not None

    def _lock(self, url: str) -> asyncio.Lock:
        """Return the lock of a page's state, which is deleted when no task uses it."""
        return self._locks.setdefault(url, asyncio.Lock())

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _logged(work: Coroutine[None, None, None]) -> None:
    """Run work in the background and log an error of the store."""
    try:
        await work
    except StorageError as error:
        logger.error("A visit was not recorded: %s", error)  # noqa: TRY400


def _without_validators(state: PageState) -> PageState:
    """Return a state without data that a response 304 or a comparison would rely on."""
    more = {name: value for name, value in state.more.items() if name != "links"}
    return replace(state, etag="", last_modified="", digest="", more=more)
