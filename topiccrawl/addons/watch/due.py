"""Pages of a watch that are due: handed back to the frontier, when they are, each once."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from topiccrawl.addons.watch.clockset import count_from
from topiccrawl.addons.watch.jumps import Jumps, visited_at
from topiccrawl.scheduler.scheduler import FrontierScheduler
from topiccrawl.storage.pages import Role

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

    from topiccrawl.addons.watch.visited import Visited
    from topiccrawl.storage.pages import PageState

HUB_VALUE = 1.0
"""Value of a hub that is due: before all links that are only promising."""

MOST = 1_000
"""Pages that are handed out at a time."""

AFRESH = 600.0
"""Seconds between two looks at all that is overdue: what got lost."""

TAKEN = 2.0
"""Seconds after which what the last node of hosts saw of them is in the store (see ``SETTLED``)."""

PAUSE = 60.0
"""Seconds that nothing is looked at, at most: so soon it is seen that the clock was set."""

_END = 1e12


class Due:
    """Hands out what is due.

    Args:
        crawler: Whose frontier.
        visited: Has the states; its ``kept`` and ``moved`` are to be passed on.
        wake: Called when it may be worth while to look before ``next_look``.
        count: Takes the name of what happened.
        once: Hand out what is due at the start, and a second look at what is missing; no more.

    Attributes:
        next_at: When the next page is due, seconds since the epoch; None: none is.
        missing: Pages that failed once and are due again, and when.
    """

    def __init__(
        self,
        crawler: Crawler,
        visited: Visited,
        wake: Callable[[], None],
        count: Callable[[str], None],
        *,
        once: bool,
    ) -> None:
        self.once = once
        self.next_at: float | None = None
        self.missing: dict[str, float] = {}
        self._crawler = crawler
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
        """The crawl begins: with ``once``, what is due now is meant."""
        self._until = time.time()

    # -- When ------------------------------------------------------------------------------------

    @property
    def waits(self) -> bool:
        """Whether anything will be handed out yet."""
        due = self.missing if self.once else self.next_at is not None
        return bool(due) or self._look_at < math.inf

    def next_look(self) -> float:
        """When to look at what is due, seconds since the epoch."""
        soonest = math.inf if self._full or self.next_at is None else self.next_at
        return min(soonest, self._look_at, self._whole + AFRESH, time.time() + PAUSE)

    def look_soon(self) -> None:
        """Look in ``TAKEN`` seconds at all that is overdue."""
        self._look_at = time.time() + TAKEN

    @property
    def is_early(self) -> bool:
        """Whether that time has not come yet, or none is told."""
        return time.time() < self._look_at

    # -- Handing out -----------------------------------------------------------------------------

    def has_links_of(self, url: str) -> bool:
        """Whether the frontier had all of a page's links when it was handed out."""
        return self._out.get(url, False)

    async def hand_out(self) -> None:
        """Put what is due back into the frontier, and find out what is due next.

        Raises:
            StorageError: States could not be read.
        """
        if self._jumps.look():
            await self.set_back()
        now, look_at = time.time(), self._look_at
        # with several nodes others may write late what they saw
        afresh = AFRESH if self._scheduler.courier is None else PAUSE
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
            self._scheduler.alarm.now()

    async def _give_all(self, now: float) -> int:
        """Give back what is due, up to ``MOST`` pages on their way; how many were given."""
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
        """Note until when all is handed out, but what was written while that was read."""
        self._handed = min(until, math.nextafter(self._low, 0.0))

    def _give(self, state: PageState) -> bool:
        """Give a page back to the frontier; whether it was not there yet."""
        later = self.once and state.due > self._until and state.url not in self.missing
        if state.due + self._jumps.lead(visited_at(state)) > time.time():
            later = True  # what is due by a clock that was set forward is found again: AFRESH
        if later or state.url in self._out or self._visited.waits(state.url):
            return False
        value = HUB_VALUE if state.role is Role.HUB else None
        with self._scheduler.book.writing() as frontier:
            told = frontier.why(state.url)
            if frontier.requeue(state.url, value):
                self._out[state.url] = told is not None and told.queue == "crawled"
                self._count("handed_out")
                return True
        self.missing.pop(state.url, None)  # on its way already, or another node's
        return False

    async def set_back(self) -> None:
        """Count from now, since the clock was set back; raises StorageError."""
        now = time.time()
        await count_from(now, self._visited)
        self.missing = dict.fromkeys(self.missing, now)
        self._look_at = min(self._look_at, now + TAKEN)
        self._whole, self._handed = now, 0.0

    async def _call_off(self) -> None:
        """Note pages that went into errorQueue without a lease: robots.txt, crashes, bounds.

        Forget those that another node has, or had, and those forgotten by hand.
        """
        for url in tuple(self._out):
            told = self._scheduler.frontier.why(url)
            if told is None or (told.queue == "crawled" and not self._visited.waits(url)):
                self._out.pop(url, None)
            elif told.queue == "error":
                await self._visited.missed(url, told.reason)

    def lost(self) -> list[tuple[str, str]]:
        """Pages that were handed out and will not be visited, and why."""
        told = ((url, self._scheduler.frontier.why(url)) for url in self._out)
        return [(url, one.reason) for url, one in told if one is not None and one.queue == "error"]

    # -- What became of it -----------------------------------------------------------------------

    def kept(self, state: PageState) -> None:
        """Look again at what is due after a state was written."""
        self._out.pop(state.url, None)
        second = self.once and state.url in self.missing  # one is enough for a crawl that ends
        if state.misses and not (state.gone_at or second):
            self.missing[state.url] = state.due
        else:
            self.missing.pop(state.url, None)
        self.moved(state)

    def moved(self, state: PageState) -> None:
        """Look again where a page that is not on its way may be due at another time."""
        if state.url in self._out:
            return
        self._low = min(self._low, state.due or math.inf)
        if 0.0 < state.due <= self._handed:
            self._handed = math.nextafter(state.due, 0.0)
        sooner = state.due and (self.next_at is None or state.due < self.next_at)
        if (self._full and len(self._out) <= MOST // 2) or (sooner and not self._full):
            self._wake()

    @property
    def _scheduler(self) -> FrontierScheduler:
        scheduler = self._crawler.engine.scheduler
        assert isinstance(scheduler, FrontierScheduler)  # noqa: S101  (the project's own)
        return scheduler
