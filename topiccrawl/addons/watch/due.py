"""Pages of a watch that are due: each is requeued into the frontier once, when it is due."""

from __future__ import annotations

import logging
import math
import time
from typing import TYPE_CHECKING

from topiccrawl.addons.watch.jumps import LEAST, Jumps, set_back, visited_at
from topiccrawl.storage.pages import PageState, Role

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.addons.watch.visited import Visited
    from topiccrawl.scheduler.context import CrawlContext

logger = logging.getLogger(__name__)

HUB_VALUE = 1.0
"""Score of a hub that is due: above all links that are merely promising."""

MOST = 1_000
"""Pages of the watch in the frontier at a time."""

READ = 1_000
"""States read at a time after the clock was set back."""

AFRESH = 600.0
"""Seconds between two looks at all overdue pages, to find lost ones."""

TAKEN = 4.0
"""Seconds after which the visits of a host's last node are in the store (see ``SETTLED``)."""

PAUSE = 60.0
"""Seconds between two looks at most; a clock change is detected within that time."""

_END = 1e12


class Due:
    """Requeues due pages.

    Args:
        context: The crawl.
        visited: Has the states; its ``kept`` and ``moved`` are to be passed on.
        wake: Called when a look before ``next_look`` may be useful.
        count: Called with the name of each event.
        once: Requeue only what is due at the start, and failed pages once more.

    Attributes:
        next_at: When the next page is due, seconds since the epoch; None: none is.
        missing: Pages that failed once, and when they are due again.
    """

    def __init__(
        self,
        context: CrawlContext,
        visited: Visited,
        wake: Callable[[], None],
        count: Callable[[str], None],
        *,
        once: bool,
    ) -> None:
        self.once = once
        self.next_at: float | None = None
        self.missing: dict[str, float] = {}
        self._context = context
        self._visited = visited
        self._pages, self._owner = visited.pages.pages, visited.ledger.owner
        self._wake = wake
        self._count = count
        self._out: dict[str, bool] = {}
        self._jumps = Jumps()
        self._until = self._handed = self._whole = 0.0
        self._look_at = self._low = math.inf
        self._full = False

    def begin(self) -> None:
        """Start with the crawl: with ``once``, only what is due now is requeued."""
        self._until = time.time()

    # -- Times -----------------------------------------------------------------------------------

    @property
    def waits(self) -> bool:
        """True while anything may still be requeued."""
        due = self.missing if self.once else self.next_at is not None
        return bool(due) or self._look_at < math.inf

    def next_look(self) -> float:
        """Return the time of the next look at what is due, seconds since the epoch."""
        soonest = math.inf if self._full or self.next_at is None else self.next_at
        return min(soonest, self._look_at, self._whole + AFRESH, time.time() + PAUSE)

    def look_soon(self) -> None:
        """Look at all overdue pages in ``TAKEN`` seconds."""
        self._look_at = time.time() + TAKEN

    @property
    def is_early(self) -> bool:
        """True if the time that ``look_soon`` set has not come yet, or none is set."""
        return time.time() < self._look_at

    # -- Requeueing ------------------------------------------------------------------------------

    def has_links_of(self, url: str) -> bool:
        """Return whether the frontier had all of a page's links when the page was requeued."""
        return self._out.get(url, False)

    async def hand_out(self) -> None:
        """Requeue what is due into the frontier, and determine what is due next.

        Raises:
            StorageError: States could not be read.
        """
        if self._jumps.look():
            await self.set_back()
        now, look_at = time.time(), self._look_at
        # with several nodes, others may write their visits late
        afresh = AFRESH if self._context.sync is None else PAUSE
        if now - self._whole > afresh or now >= look_at:
            self._whole, self._handed = now, 0.0
            await self._call_off()
        given = await self._give_all(now)
        soonest = [] if self.once else await self._pages.due(self._owner, _END, 1, self._handed)
        ahead = [due for url, due in self.missing.items() if url not in self._out]
        ahead += [self._low] if self._low < math.inf else []
        self.next_at = min([state.due for state in soonest] + ahead, default=None)
        looked = look_at == self._look_at and now >= look_at
        if looked:
            self._look_at = math.inf
        if given or looked:
            self._context.alarm.now()

    async def _give_all(self, now: float) -> int:
        """Requeue due pages, up to ``MOST`` not yet visited ones; return how many."""
        given, most = 0, MOST
        self._full = False
        while not self._full:
            self._low = math.inf
            found = await self._pages.due(self._owner, now, most, self._handed)
            given += sum(self._give(state) for state in found)
            if len(found) < most:
                self._pass(now)
                break
            if found[0].due == found[-1].due:  # as many more may be due in the same moment
                most *= 2
            self._pass(math.nextafter(found[-1].due, 0.0))
            self._full = len(self._out) >= MOST
        return given

    def _pass(self, until: float) -> None:
        """Record until when all is requeued, except states written during that read."""
        self._handed = min(until, math.nextafter(self._low, 0.0))

    def _give(self, state: PageState) -> bool:
        """Requeue a page into the frontier; return whether it was requeued."""
        later = self.once and state.due > self._until and state.url not in self.missing
        if state.due + self._jumps.lead(visited_at(state)) > time.time():
            later = True  # a page due by a clock that was set forward is found again: AFRESH
        if later or state.url in self._out or self._visited.waits(state.url):
            return False
        value = HUB_VALUE if state.role is Role.HUB else None
        with self._context.book.writing() as frontier:
            known = frontier.why(state.url)
            if frontier.requeue(state.url, value):
                self._out[state.url] = known is not None and known.queue == "crawled"
                self._count("handed_out")
                return True
        self.missing.pop(state.url, None)  # on its way already, or another node's
        return False

    async def set_back(self) -> None:
        """Reschedule from now, after the clock was set back; raises StorageError."""
        now = time.time()
        await count_from(now, self._visited)
        self.missing = dict.fromkeys(self.missing, now)
        self._look_at = min(self._look_at, now + TAKEN)
        self._whole, self._handed = now, 0.0

    async def _call_off(self) -> None:
        """Record pages that went into errorQueue without a lease: robots.txt, crashes, bounds.

        Drop those that another node has, or had, and those deleted by hand.
        """
        for url in tuple(self._out):
            known = self._context.frontier.why(url)
            if known is None or (known.queue == "crawled" and not self._visited.waits(url)):
                self._out.pop(url, None)
            elif known.queue == "error":
                await self._visited.missed(url, known.reason)

    def lost(self) -> list[tuple[str, str]]:
        """Return requeued pages that will not be visited, with the reasons."""
        known = ((url, self._context.frontier.why(url)) for url in self._out)
        return [(url, one.reason) for url, one in known if one is not None and one.queue == "error"]

    # -- Results ---------------------------------------------------------------------------------

    def kept(self, state: PageState) -> None:
        """Update what is due after a state was written by a visit."""
        self._out.pop(state.url, None)
        second = self.once and state.url in self.missing  # one is enough for a crawl that ends
        if state.misses and not (state.gone_at or second):
            self.missing[state.url] = state.due
        else:
            self.missing.pop(state.url, None)
        self.moved(state)

    def moved(self, state: PageState) -> None:
        """Update what is due after a page's due time may have changed, unless it is requeued."""
        if state.url in self._out:
            return
        self._low = min(self._low, state.due or math.inf)
        if 0.0 < state.due <= self._handed:
            self._handed = math.nextafter(state.due, 0.0)
        sooner = state.due and (self.next_at is None or state.due < self.next_at)
        if (self._full and len(self._out) <= MOST // 2) or (sooner and not self._full):
            self._wake()


async def count_from(now: float, visited: Visited) -> None:
    """Reschedule pages that were visited "in the future" by the clock as it was set.

    Raises:
        StorageError: States could not be read or written.
    """
    logger.warning("The clock was set back: what is due is counted from now")
    pages, owner = visited.pages.pages, visited.ledger.owner
    most, after = READ, 0.0
    while found := await pages.due(owner, _END, most, after):
        ahead = [state.url for state in found if visited_at(state) > now + LEAST]
        await visited.amend(ahead, lambda state: set_back(state, now))
        if len(found) < most:
            break
        if found[0].due == found[-1].due:  # as many more may be due in the same moment
            most *= 2
        after = math.nextafter(found[-1].due, 0.0)
