"""Conducts a template crawl: chooses the next requests and stores what their pages gave.

One object a process; its methods run in one event loop. A crawl can resume from the stored state at
any time: a page's step is stored before its lease is settled, its children are requested before
that, and all of it may happen twice.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.addons.records.periods.outcome import Entities
from topiccrawl.addons.records.periods.periods import Period, Periods, Phase, Stage
from topiccrawl.addons.records.periods.seeds import Hit, Manner, SeedList
from topiccrawl.addons.records.periods.visits import (
    Child,
    Result,
    State,
    Step,
    Wanted,
    Work,
    name_of,
)
from topiccrawl.addons.records.records import Records
from topiccrawl.storage.pages import Pages, PageState, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from topiccrawl.addons.records.periods.visits import Visit
    from topiccrawl.addons.records.templates.template import Template
    from topiccrawl.storage.contract import Storage


class Stores(NamedTuple):
    """Stores of a template crawl's state."""

    periods: Periods
    pages: Pages
    records: Records

    @classmethod
    def of(cls, storage: Storage) -> Stores:
        """Return the stores of a storage."""
        return cls(Periods(storage), Pages(storage), Records(storage))


class Conductor:
    """Conducts one template's crawl.

    Args:
        template: The template to crawl.
        stores: Stores of its state.
        clock: Seconds since the epoch.
        manner: Rules by which seeds are drawn.

    Attributes:
        seeds: The period's list.
        counts: ``records/new`` ..., ``seeds/done`` ..., ``results``, ``pages``: of this
            process.
    """

    def __init__(
        self, template: Template, stores: Stores, clock: Callable[[], float], manner: Manner
    ) -> None:
        self.template = template
        self.stores = stores
        self.clock = clock
        self.counts: Counter[str] = Counter()
        self.seeds = SeedList(template.name, stores.periods, clock, manner)
        self._at_once = manner.at_once
        self._last = len(template.filter)
        self._entities = Entities(template, stores.records)
        self._work: dict[str, Work] = {}
        self._drawing = asyncio.Lock()
        self._locks: dict[str, asyncio.Lock] = {}

    @property
    def period(self) -> Period:
        """The period that is crawled."""
        return self.seeds.period

    async def open(self, number: int) -> None:
        """Open the stores, and the period of that number."""
        for store in self.stores:
            await store.open()
        await self.seeds.open(number)

    async def close(self) -> None:
        """Close the stores. Twice equals once."""
        for store in self.stores:
            await store.close()

    async def resume(self) -> list[Wanted]:
        """Return the requests that an earlier process left open; most are still queued."""
        wanted: list[Wanted] = []
        for seed in await self.seeds.select(Stage.OPEN, 2 * self._at_once):
            work = self._work[seed.url] = Work.of(seed)
            wanted += self._wanted(work, work.open)
            if not work.open:
                wanted += await self._ended(work)
        return wanted

    async def found(self, hits: Sequence[Hit]) -> None:
        """Store the seeds that the search found."""
        self.counts["results"] += len(hits)
        await self.seeds.found(hits)

    async def draw(self) -> list[Wanted]:
        """Return requests for the next seeds, as many as may be in work; chance skips others."""
        async with self._drawing:
            wanted: list[Wanted] = []
            while self.period.phase is Phase.CRAWLING and not self._enough():
                free = self._at_once - len(self._work)
                drawn = await self.seeds.draw(free) if free > 0 else []
                if not drawn:
                    break
                for seed in drawn:
                    if seed.stage is Stage.SKIPPED:
                        self.counts["seeds/skipped"] += 1
                        continue
                    work = self._work[seed.url] = Work.of(seed)
                    wanted += self._wanted(work, work.open)
            return wanted

    def _enough(self) -> bool:
        most = self.template.limits.records
        return bool(most) and self.seeds.records >= most

    # -- Pages -----------------------------------------------------------------------------------

    def admit(self, seed: str, children: Iterable[Child]) -> list[Wanted]:
        """Requests for the pages that a page leads to: those new in this window, within limits."""
        work, limits = self._work.get(seed), self.template.limits
        if work is None:
            return []
        names: list[str] = []
        for child in children:
            if limits.pages_per_seed and sum(1 for _ in work.now()) >= limits.pages_per_seed:
                self.counts["pages/beyond_limit"] += 1
                break
            far = 0 < limits.next_pages < child.hop
            name = None if far else work.add(child)
            names += [name] if name is not None else []
        return self._wanted(work, names)

    def visit(self, seed: str, name: str) -> Visit | None:
        """Return the stored visit of a page of a seed in work, or None."""
        work = self._work.get(seed)
        return None if work is None else work.visits.get(name)

    async def visited(self, steps: Sequence[Step]) -> list[Wanted]:
        """Store the results of pages of one seed; return the requests that follow."""
        async with self._locks.setdefault(steps[0].seed, asyncio.Lock()):
            work = self._work.get(steps[0].seed)
            if work is None:  # its seed has ended: reported twice
                return []
            states = [self._page(work, step) for step in steps]
            self.counts["pages"] += len(steps)
            await self.stores.pages.save([state for state in states if state is not None])
            if work.open:
                await self.seeds.save(work.seed())
                return []
            wanted = await self._ended(work)
        return [*wanted, *await self.draw()]

    def _page(self, work: Work, step: Step) -> PageState | None:
        """Settle a visit; the state of its page, where values were taken from it."""
        now = self.clock()
        one = work.end(step, self.template.version, now)
        self.counts[f"pages/{step.result}"] += 1
        if not one.digest or step.result is Result.FAILED:
            return None
        return PageState(
            owner=self.template.name, url=one.url, role=Role.DETAIL, first_seen=one.first,
            checked_at=now, changed_at=one.changed, misses=one.misses, etag=one.etag,
            gone_at=now if one.state is State.GONE else 0.0, last_modified=one.modified,
            digest=one.digest, found_on=work.stored.url,
        )  # fmt: skip

    # -- The end of a seed -----------------------------------------------------------------------

    async def _ended(self, work: Work) -> list[Wanted]:
        """End a seed without open pages: request vanished ones, then store its records."""
        home = work.visits.get(name_of(work.stored.url, 0, work.stored.url))
        if home is None or home.state is State.FAILED:
            await self._leave(work, Stage.FAILED, work.stored.useful)
            return []
        if work.stored.crawled and not work.checked:
            work.checked = True
            names = [work.add(Child(one.url, one.layer)) for one in work.vanished(self._last)]
            if names:
                await self.seeds.save(work.seed())
                return self._wanted(work, filter(None, names))
        missing = any(one.state is State.MISSING and one.records for one in work.now())
        found = await self._entities.settle(work, self.clock())
        for change, many in found.items():
            self.counts[f"records/{change}"] += many
        useful = found.total() - found["gone"] - found["forgotten"]
        await self._leave(work, Stage.AGAIN if missing else Stage.DONE, useful)
        return []

    async def _leave(self, work: Work, stage: Stage, useful: int) -> None:
        """Store a seed that is no more in work."""
        crawled = work.stored.crawled if stage is Stage.FAILED else self.period.number
        work.prune(self._last)
        seed = replace(work.seed(stage), useful=useful, crawled=crawled)
        await self.seeds.save(seed)
        del self._work[seed.url]
        self._locks.pop(seed.url, None)
        self.counts[f"seeds/{stage}"] += 1
        self.seeds.ended(seed)

    # -- When nothing is left to fetch -----------------------------------------------------------

    async def idle(self, reason: Callable[[Wanted], str]) -> list[Wanted]:
        """Return the requests for an empty frontier; none: the period has ended.

        Args:
            reason: Gives the reason why a requested page was not fetched, from the frontier.
        """
        if self.period.phase is Phase.SEARCHING:
            await self.seeds.number(self.template.limits.seeds)
        wanted: list[Wanted] = []
        for work in list(self._work.values()):
            steps = [_failed(one, reason(one)) for one in self._wanted(work, work.open)]
            wanted += await self.visited(steps) if steps else []
        wanted += await self.draw()
        if wanted or self._work:
            return wanted
        if self.period.phase is Phase.CRAWLING:
            await self.seeds.record_chances()
            await self.seeds.enter(Phase.CHECKING)
        if self.period.phase is Phase.CHECKING:
            wanted = await self._second()
            if not wanted:
                await self.seeds.enter(Phase.FINISHED, finished=self.clock())
        return wanted

    async def _second(self) -> list[Wanted]:
        """Ask once more for pages with values that were not there."""
        wanted: list[Wanted] = []
        for seed in await self.seeds.select(Stage.AGAIN, self._at_once):
            work = self._work[seed.url] = Work.of(seed)
            work.checked = True
            for name, one in work.visits.items():
                if one.state is State.MISSING and one.period == work.period and one.records:
                    work.visits[name] = replace(one, state=State.OPEN)
            wanted += self._wanted(work, work.open)
            await self.seeds.save(work.seed())
        return wanted

    def _wanted(self, work: Work, names: Iterable[str]) -> list[Wanted]:
        return [work.wanted(name, self.template.version) for name in names]


def _failed(wanted: Wanted, note: str) -> Step:
    return Step(wanted.seed, wanted.name, Result.FAILED, wanted.layer, wanted.url, note)
