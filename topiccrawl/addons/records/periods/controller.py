"""Controller of a template crawl: chooses the next requests and stores the results of pages.

There is one controller per process; its methods run in one event loop. A crawl can resume from the
stored state at any time. Children of a page are requested first, then the result of the page is
stored, then its lease is settled. Each of these steps may be repeated.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from topiccrawl.addons.records.periods.outcome import update_records
from topiccrawl.addons.records.periods.periods import Period, Periods, Phase, Seed, Stage
from topiccrawl.addons.records.periods.seeds import Hit, SamplingRules, SeedList, estimate_skipped
from topiccrawl.addons.records.periods.visits import (
    PageRequest,
    PageResult,
    Result,
    State,
    Visit,
    name_of,
)
from topiccrawl.addons.records.records import Records
from topiccrawl.messages import counted
from topiccrawl.storage.pages import Pages, PageState, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from topiccrawl.addons.records.templates.template import Template
    from topiccrawl.storage.contract import Storage


class PeriodController:
    """Controls the crawl of one template.

    Args:
        template: The template to crawl.
        storage: The configured storage.
        clock: Returns the time in seconds since the epoch.
        rules: Rules by which seeds are sampled.
        send: Called with each request, except those for links (see ``admit``).

    Attributes:
        seeds: Seeds of the period.
        counts: Counts of this process: ``records/new`` ..., ``seeds/done`` ..., ``results``,
            ``pages``.
    """

    def __init__(
        self, template: Template, storage: Storage, clock: Callable[[], float],
        rules: SamplingRules, send: Callable[[PageRequest], object],
    ) -> None:  # fmt: skip
        self.template = template
        self.clock = clock
        self._send = send
        self.counts: Counter[str] = Counter()
        self._pages, self._records, periods = Pages(storage), Records(storage), Periods(storage)
        self._stores = periods, self._pages, self._records
        self.seeds = SeedList(template.name, periods, rules)
        self._concurrency = rules.concurrency
        self._last = len(template.filter)
        self._active: dict[str, Seed] = {}
        self._sampling = asyncio.Lock()
        self._locks: dict[str, asyncio.Lock] = {}

    @property
    def period(self) -> Period:
        """The current period."""
        return self.seeds.period

    async def open(self, number: int) -> None:
        """Open the stores and the period with this number."""
        for store in self._stores:
            await store.open()
        await self.seeds.open(number, self.clock())

    async def close(self) -> None:
        """Close the stores; idempotent."""
        for store in self._stores:
            await store.close()

    async def resume(self) -> None:
        """Send the unfinished requests of an earlier process; most are still in the frontier."""
        for seed in await self.seeds.select(Stage.OPEN, 2 * self._concurrency):
            self._activate(seed)
            if not seed.open:
                await self._finish_seed(seed)

    async def add_hits(self, hits: Sequence[Hit]) -> None:
        """Store the seeds that the search found."""
        self.counts["results"] += len(hits)
        await self.seeds.add_hits(hits)

    async def sample(self) -> None:
        """Sample the next seeds, up to the limit of concurrent seeds."""
        async with self._sampling:
            while self.period.phase is Phase.CRAWLING and not self._limit_reached():
                free = self._concurrency - len(self._active)
                sampled = await self.seeds.sample(free) if free > 0 else []
                if not sampled:
                    break
                for seed in sampled:
                    if seed.stage is Stage.SKIPPED:
                        self.counts["seeds/skipped"] += 1
                    else:
                        self._activate(seed)

    def _activate(self, seed: Seed) -> None:
        """Keep a seed while it is crawled, and send its open requests."""
        self._active[seed.url] = seed
        for request in seed.requests(seed.open, self.template.version):
            self._send(request)

    def _limit_reached(self) -> bool:
        most = self.template.limits.records
        return bool(most) and self.seeds.records >= most

    # -- Pages -----------------------------------------------------------------------------------

    def admit(self, seed: str, children: Iterable[Visit]) -> list[PageRequest]:
        """Return requests for the links of a page that are new in this period, within limits."""
        active, limits = self._active.get(seed), self.template.limits
        if active is None:
            return []
        names: list[str] = []
        for child in children:
            if limits.pages_per_seed and sum(1 for _ in active.current()) >= limits.pages_per_seed:
                self.counts["pages/beyond_limit"] += 1
                break
            far = 0 < limits.next_pages < child.hop
            name = None if far else active.add(child)
            names += [name] if name is not None else []
        return active.requests(names, self.template.version)

    def visit(self, seed: str, name: str) -> Visit | None:
        """Return the stored visit of a page of an active seed, or None."""
        active = self._active.get(seed)
        return None if active is None else active.visits.get(name)

    async def store_results(self, results: Sequence[PageResult]) -> None:
        """Store the results of a seed's pages, and go on with the next pages or seeds."""
        async with self._locks.setdefault(results[0].seed, asyncio.Lock()):
            active = self._active.get(results[0].seed)
            if active is None:  # a repeated result: the seed has finished
                return
            states = [self._page_state(active, result) for result in results]
            self.counts["pages"] += len(results)
            await self._pages.save([state for state in states if state is not None])
            if active.open:
                await self.seeds.save(active)
                return
            await self._finish_seed(active)
        await self.sample()

    def _page_state(self, seed: Seed, result: PageResult) -> PageState | None:
        """Record a result; return the state of its page if values were extracted from it."""
        now = self.clock()
        known = seed.visits.get(result.name) or Visit(result.url, result.layer)
        one = replace(known, period=seed.period).after(result, self.template.version, now)
        seed.visits[result.name] = one
        self.counts[f"pages/{result.result}"] += 1
        if not one.digest or result.result is Result.FAILED:
            return None
        return PageState(
            owner=self.template.name, url=one.url, role=Role.DETAIL, first_seen=one.first,
            checked_at=now, changed_at=one.changed, misses=one.misses, etag=one.etag,
            gone_at=now if one.state is State.GONE else 0.0, last_modified=one.modified,
            digest=one.digest, found_on=seed.url,
        )  # fmt: skip

    # -- Finished seeds --------------------------------------------------------------------------

    async def _finish_seed(self, seed: Seed) -> None:
        """Finish a seed without open pages: check vanished pages first, then store its records."""
        home = seed.visits.get(name_of(seed.url, 0, seed.url))
        if home is None or home.state is State.FAILED:
            await self._store_finished(seed, Stage.FAILED, seed.useful)
            return
        if vanished := seed.vanished(self._last) if seed.crawled else []:
            for one in vanished:
                seed.add(Visit(one.url, one.layer))
            await self.seeds.save(seed)
            self._activate(seed)
            return
        missing = any(one.state is State.MISSING and one.records for one in seed.current())
        found = await update_records(self.template, self._records, seed, self.clock())
        for change, many in found.items():
            self.counts[f"records/{change}"] += many
        useful = found.total() - found["gone"] - found["forgotten"]
        await self._store_finished(seed, Stage.AGAIN if missing else Stage.DONE, useful)

    async def _store_finished(self, seed: Seed, stage: Stage, useful: int) -> None:
        """Store a finished seed."""
        crawled = seed.crawled if stage is Stage.FAILED else self.period.number
        seed.prune(self._last)
        await self.seeds.save(replace(seed, stage=stage, useful=useful, crawled=crawled))
        del self._active[seed.url]
        self._locks.pop(seed.url, None)
        self.counts[f"seeds/{stage}"] += 1
        self.seeds.record_end(seed.number, stage, useful)

    # -- Idle ------------------------------------------------------------------------------------

    async def idle(self) -> bool:
        """Go on when the frontier is empty; return whether requests are open.

        Pages that were requested and have no result have failed.
        """
        if self.period.phase is Phase.SEARCHING:
            await self.seeds.assign_numbers(self.template.limits.seeds)
        for active in list(self._active.values()):
            if results := [PageResult(active.url, name, Result.FAILED) for name in active.open]:
                await self.store_results(results)
        await self.sample()
        if not self._active and self.period.phase is Phase.CRAWLING:
            await self.seeds.store_probabilities()
            await self.seeds.set_phase(Phase.CHECKING)
        if not self._active and self.period.phase is Phase.CHECKING:
            await self._retry_missing()
            if not self._active:
                await self.seeds.set_phase(Phase.FINISHED, finished=self.clock())
        return any(seed.open for seed in self._active.values())

    async def _retry_missing(self) -> None:
        """Send second requests for pages with records that answered 404 or 410."""
        for seed in await self.seeds.select(Stage.AGAIN, self._concurrency):
            seed.stage = Stage.OPEN
            for name, one in seed.visits.items():
                if one.state is State.MISSING and one.period == seed.period and one.records:
                    seed.visits[name] = replace(one, state=State.OPEN)
            await self.seeds.save(seed)
            self._activate(seed)

    def progress(self) -> str:
        """Return the progress line."""
        counts, seeds, period = self.counts, self.seeds, self.period
        if period.phase is Phase.SEARCHING:
            return f"period {period.number} searching · {_results(counts)}"
        pages = counted("{pages} pages", pages=counts["pages"])
        return (
            f"period {period.number} {period.phase} · seeds {seeds.finished}"
            f"/{period.total} ({seeds.skipped} skipped) · "
            f"{pages} · {counted('{new} new records', new=counts['records/new'])}, "
            f"{counts['records/changed']} changed, {counts['records/gone']} gone"
        )

    async def summary(self) -> list[str]:
        """Return the summary: outcomes of seeds and records, and an estimate for skipped seeds."""
        outcomes = await self.seeds.outcomes()
        stages = Counter(stage for _, stage, _, _ in outcomes)
        crawled = [
            (chance, bool(useful) and stage is Stage.DONE)
            for _, stage, chance, useful in outcomes
            if stage in {Stage.DONE, Stage.FAILED}
        ]
        useful = sum(1 for _, good in crawled if good)
        period, counts = self.period, self.counts
        tally = await self._records.count_changes(self.template.name, period.started)
        if period.phase is Phase.SEARCHING:
            found = f"searching: {_results(counts)}; repeat the command to continue"
            return [f"  period {period.number}   {found}"]
        waiting = sum(stages[one] for one in (Stage.WAITING, Stage.OPEN, Stage.AGAIN))
        lines = [
            (
                f"  period {period.number}   {period.phase}: "
                f"{counted('{n} seeds', n=len(outcomes))}, "
                f"{len(crawled)} crawled ({useful} useful, {stages[Stage.FAILED]} failed), "
                f"{waiting} remaining"
            ),
            (
                f"  records    {tally['here']} stored; in this period {tally['new']} new, "
                f"{tally['changed']} changed, {tally['gone']} gone"
            ),
            (
                f"  pages      {counts['pages']} in this run, "
                f"{counts['pages/unchanged']} unchanged, "
                f"{counts['pages/missing']} missing, {counts['pages/failed']} failed"
            ),
        ]
        if skipped := stages[Stage.SKIPPED]:
            lines.append(
                f"  sampling   {counted('{n} seeds', n=skipped)} skipped until the next period; "
                f"about {estimate_skipped(skipped, crawled):.0f} of them would have been useful; "
                "-a chance=0 crawls all"
            )
        return lines


def _results(counts: Mapping[str, int]) -> str:
    return counted("{results} results in this run", results=counts["results"])
