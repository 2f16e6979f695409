"""States of watched pages in a crawl: judged when a page is done, written safe against kills.

A state's validators mean "all of this page is recorded". So they may be written only when the
page's articles are stored and its links are in the frontier durably: a page that is fetched again
after a kill must not get a 304. On the other hand, a page in the frontier without a state would
never be revisited. Hence the state of a new page is written twice: without validators before its
lease is settled, and complete a moment after.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary

from topiccrawl.addons.watch.ledger import Ledger, Seen, was_had
from topiccrawl.errors import StorageAwayError, StorageError
from topiccrawl.frontier.contract import Ending, Outcome
from topiccrawl.model import Kind, Lease
from topiccrawl.scheduler.requests import is_distinct
from topiccrawl.storage.events import Change, change_between
from topiccrawl.storage.pages import PageState, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Coroutine, Iterable

    from topiccrawl.addons.watch.pagebuffer import PageBuffer

logger = logging.getLogger(__name__)

SETTLED = 2.5
"""Seconds after which the effect of ``finish`` is durable, also in a shared frontier: one until its
commit begins, one more until the next has to wait for it."""


class Visit(NamedTuple):
    """One visit, until its page is done.

    Attributes:
        known: The page's state before, or None.
        seen: Its result.
    """

    known: PageState | None
    seen: Seen


class _Judged(NamedTuple):
    """A visit that was judged and whose state is not completely written yet."""

    state: PageState
    seen: Seen
    before: PageState | None


class Visited:
    """Visits of a crawl, and the states of their pages.

    Args:
        ledger: Judges visits.
        pages: Store of the states.
        count: Called with the name of each event to count.
        kept: Called with each state that was written after a visit.
        moved: Called with each state that was written for other reasons: its due time may have
            changed.
        happened: Called with each event.

    Attributes:
        seeds: URLs that are retried even if they were never fetched.
    """

    def __init__(
        self,
        ledger: Ledger,
        pages: PageBuffer,
        count: Callable[[str], None],
        kept: Callable[[PageState], None],
        moved: Callable[[PageState], None],
        happened: Callable[[Change], None],
    ) -> None:
        self.seeds: Container[str] = ()
        self.ledger = ledger
        self.pages = pages
        self._count = count
        self._kept = kept
        self._moved = moved
        self._happened = happened
        self._visits: dict[int, Visit] = {}
        self._asked: dict[str, PageState | None] = {}
        self._judged: dict[str, _Judged] = {}
        self._unread: set[str] = set()
        self._failing: set[str] = set()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._tasks: set[asyncio.Task[None]] = set()
        self._ending = asyncio.Event()

    def __len__(self) -> int:
        return len(self._tasks)

    def waits(self, url: str) -> bool:
        """Return whether a page was visited and its state is not completely written yet."""
        return url in self._judged

    async def known(self, url: str) -> PageState | None:
        """Return the state of a page, or None; wait for a store that is away."""
        judged = self._judged.get(url)
        if judged is not None:
            return judged.state
        return (await self.pages.find(self.ledger.owner, [url])).get(url)

    async def ask(self, url: str) -> PageState | None:
        """Return the state of a page that is about to be requested; ``asked`` returns it again.

        None, too, if the store is away: the page is fetched without conditions, and compared when
        the store is back.
        """
        judged = self._judged.get(url)
        try:
            found = {} if judged else await self.pages.get(self.ledger.owner, [url])
        except StorageAwayError:
            self._unread.add(url)
            found = {}
        known = self._asked[url] = judged.state if judged else found.get(url)
        return known

    def asked(self, url: str) -> PageState | None:
        """Return the state of a page when it was requested, or None."""
        return self._asked.get(url)

    def saw(self, lease: Lease, known: PageState | None, seen: Seen) -> None:
        """Keep the result of a visit until all of the page is stored."""
        self._visits[lease.epoch] = Visit(known, seen)

    async def done(self, lease: Lease) -> None:
        """Judge a page whose articles are stored; its lease is settled after that.

        Raises:
            StorageError: The state of a new page could not be written.
        """
        visit = self._visits.pop(lease.epoch, None)
        if visit is None or is_distinct(lease.url):  # a separate request, which cannot be repeated
            return
        async with self._lock(lease.url):
            if lease.url in self._unread:
                visit = visit._replace(known=await self.known(lease.url))
                self._unread.discard(lease.url)
            state = await self._judge(lease.url, visit)
            if state is not None:
                self._judged[lease.url] = _Judged(state, visit.seen, visit.known)

    async def _judge(self, url: str, visit: Visit) -> PageState | None:
        if visit.known is None:
            state = self.ledger.first(url, visit.seen)
            if state is not None:
                await self.pages.save(_unproven(state))
            return state
        known = await self.known(url) or visit.known  # it may have got credit meanwhile
        changed = self.ledger.is_changed(known, visit.seen)
        self._count(f"{known.role}s_changed" if changed else "unchanged")
        return self.ledger.again(known, visit.seen)

    def settled(self, lease: Lease, outcome: Outcome) -> None:
        """Write judged states, and record failed visits, once the lease has ended."""
        if lease.kind is not Kind.PAGE:
            return
        self._asked.pop(lease.url, None)
        self._unread.discard(lease.url)
        if outcome.ending is Ending.CRAWLED:
            if lease.url in self._judged:
                self._start(self._confirmed(lease.url))
            return
        self._judged.pop(lease.url, None)
        if outcome.ending in {Ending.ERROR, Ending.REDIRECTED}:
            self._start(self.missed(lease.url, outcome.reason))

    async def credit(self, hub: str, seen: Seen) -> None:
        """Credit the page that showed an article first; it becomes a hub by that."""
        async with self._lock(hub):
            known = await self.known(hub)
            state = self.ledger.credit(hub, known, seen)
            if known is None:
                self._count("hubs")
            if state is None:
                return
            judged = self._judged.get(hub)
            if judged is not None:
                self._judged[hub] = judged._replace(state=state)
                return
        try:  # the buffer returns the new state as soon as this begins: no other task interferes
            await self.pages.save(state)
        finally:
            self._moved(state)

    def whole(self, url: str, at: float, digest: str) -> None:
        """Compare, in the background, an article on several pages once all of them were read."""
        self._start(self._wholly(url, at, digest))

    async def _wholly(self, url: str, at: float, digest: str) -> None:
        with suppress(TimeoutError):  # its first page may not be recorded yet
            await asyncio.wait_for(self._ending.wait(), 2 * SETTLED)
        async with self._lock(url):
            known = await self.known(url)
            if known is None:
                return
            state = self.ledger.wholly(known, at, digest)
            judged = self._judged.get(url)
            if judged is not None:
                self._judged[url] = judged._replace(state=state)
                return
        await self.pages.save(state)
        change = change_between(known, state) if state.role is Role.DETAIL else None
        if change is not None:
            self._count("details_changed")
            self._happened(change)

    async def close(self) -> None:
        """Write waiting states; the frontier is closed, so its content is durable."""
        self._ending.set()
        self.pages.part()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self.pages.close()

    async def _confirmed(self, url: str) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ending.wait(), SETTLED)
        state, seen, before = self._judged.pop(url)
        await self._keep(state, before)
        if state.first_seen == seen.at:
            self._count(f"{state.role}s")
            if state.role is Role.DETAIL and seen.found_on:
                await self.credit(seen.found_on, seen)

    async def missed(self, url: str, reason: str, *, first: bool = False) -> None:
        """Record a failed visit. While it is being recorded, another call does nothing.

        Args:
            url: Of a page; one without a state is ignored, except for one of ``seeds``.
            reason: The frontier's, such as ``http-404``.
            first: Ignore a page that has a state.
        """
        if url in self._failing:
            return
        self._failing.add(url)
        try:
            await self._missed(url, reason, first=first)
        finally:
            self._failing.discard(url)

    async def _missed(self, url: str, reason: str, *, first: bool) -> None:
        async with self._lock(url):
            known = await self.known(url)
        if known is not None and first:
            return
        now = time.time()
        if known is None:
            if url not in self.seeds:
                return
            self._count("hubs")
            state = self.ledger.unhad(url, now)
        else:
            status = reason.removeprefix("http-")
            state = self.ledger.missed(known, now, int(status) if status.isdigit() else 0)
            if state.gone_at and not known.gone_at:
                self._count("gone")
        if not was_had(state):
            again = time.strftime("%H:%M:%S", time.localtime(state.due))
            logger.warning("%s cannot be had (%s): it is asked for again at %s", url, reason, again)
        await self._keep(state, known or state)

    def failed(self, url: str, reason: str) -> None:
        """Record a failed visit in the background, as ``missed``."""
        self._start(self.missed(url, reason))

    def failed_first(self, url: str, reason: str) -> None:
        """Record, in the background, the failure of a seed that may never have been fetched."""
        self._start(self.missed(url, reason, first=True))

    async def amend(self, urls: Iterable[str], change: Callable[[PageState], PageState]) -> None:
        """Rewrite states that are not about to be written anyway."""

        async def one(url: str) -> None:
            async with self._lock(url):
                known = await self.known(url)
            if known is not None and not self.waits(url):
                await self.pages.save(change(known))

        await asyncio.gather(*map(one, urls))

    async def _keep(self, state: PageState, before: PageState | None) -> None:
        """Write a state, and report the change of an article; a refused one is due as before."""
        try:
            await self.pages.save(state)
        except StorageError:
            self._kept(state)
            raise
        change = change_between(before, state) if state.role is Role.DETAIL else None
        if change is not None:
            self._happened(change)
        self._kept(state)

    def _lock(self, url: str) -> asyncio.Lock:
        """Return the lock of a page's state; it is deleted when no task holds or waits for it."""
        return self._locks.setdefault(url, asyncio.Lock())

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _logged(work: Coroutine[None, None, None]) -> None:
    """Wait for work that no caller waits for; log what the store refused."""
    try:
        await work
    except StorageError as error:
        logger.error("A visit is not noted: %s", error)  # noqa: TRY400


def _unproven(state: PageState) -> PageState:
    """Return a state for as long as a kill may cause its page to be fetched again."""
    more = {name: value for name, value in state.more.items() if name != "links"}
    return replace(state, etag="", last_modified="", digest="", more=more)
