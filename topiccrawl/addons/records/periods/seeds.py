"""The list of a period's seeds: found, numbered, drawn by their probability [S1, step 3.1]."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.addons.records.periods.chance import luck, probability
from topiccrawl.addons.records.periods.periods import Period, Periods, Phase, Seed, Stage
from topiccrawl.addons.records.periods.visits import Child, Work

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_BATCH = 500
"""Seeds read or written at once."""
_OFFERED = (Stage.SKIPPED, Stage.OPEN, Stage.AGAIN, Stage.DONE, Stage.FAILED)
"""Stages of an earlier period from which seeds are offered again; the last two, if useful."""
_LATE = 10**15
"""Rank from which seeds are placed that the search did not find again."""


@dataclass(frozen=True, slots=True)
class Manner:
    """Rules by which a template's seeds are drawn.

    Attributes:
        at_once: Seeds in work at the same time; bounds memory and the delay until a failure shows.
        chance: Draw seeds by their probability [S1]; else each is crawled.
        luck: Seed of the draws.
    """

    at_once: int = 32
    chance: bool = True
    luck: int = 1


@dataclass(frozen=True, slots=True)
class Hits:
    """Seeds that were found; the item that a spider yields of a result page."""

    found: tuple[Hit, ...]


class Hit(NamedTuple):
    """A seed that was found: its place in the results, URL and title."""

    rank: int
    url: str
    title: str = ""


class SeedList:
    """One template's seeds in one period.

    A probability depends on the outcomes of all seeds before it, also where many are in work at
    once: a seed is decided when no outcome of those still open can change its draw, else it waits.

    Args:
        template: Its name.
        store: Their store.
        clock: Seconds since the epoch.
        manner: Rules by which they are drawn.

    Attributes:
        period: The period.
        finished: Seeds that are finished.
        records: Records that they gave.
        skipped: Seeds that chance skipped.
    """

    period: Period

    def __init__(
        self, template: str, store: Periods, clock: Callable[[], float], manner: Manner
    ) -> None:
        self._template = template
        self._store = store
        self._clock = clock
        self._manner = manner
        self._useless: list[int] = []
        self._settled: list[int] = []
        self.finished = 0
        self.records = 0
        self.skipped = 0

    async def open(self, number: int) -> None:
        """Open the period of that number, new or begun by an earlier process."""
        last = await self._store.last(self._template)
        if last is None or last.number != number:
            while seeds := await self._store.select(self._template, Stage.WAITING, _BATCH):
                await self._store.save([replace(seed, stage=Stage.SKIPPED) for seed in seeds])
            last = Period(self._template, number, started=self._clock())
            await self._store.put(last)
        self.period = last
        for place, stage, _, useful in await self.outcomes():
            self.skipped += stage is Stage.SKIPPED
            if stage not in {Stage.WAITING, Stage.OPEN}:
                self._note(place, stage, useful)

    async def found(self, hits: Sequence[Hit]) -> None:
        """Store the seeds that the search found; the best place of a URL counts."""
        known = await self._store.get(self._template, [hit.url for hit in hits])
        changed: dict[str, Seed] = {}
        for hit in hits:
            seed = changed.get(hit.url) or known.get(hit.url) or Seed(self._template, hit.url)
            if seed.period == self.period.number:
                changed[hit.url] = replace(seed, rank=min(seed.rank, hit.rank))
            else:
                changed[hit.url] = self._offered(seed, hit.rank, hit.title)
        await self._store.save(list(changed.values()))

    async def number(self, most: int) -> None:
        """Number the seeds found, in the search's order, at most so many; the list is complete.

        Behind them come the seeds skipped in earlier periods, and those that gave records and were
        not found this time.
        """
        for stage in _OFFERED:
            useful = stage in {Stage.DONE, Stage.FAILED}
            while seeds := await self._store.select(self._template, stage, _BATCH, useful=useful):
                again = [self._offered(seed, _LATE + seed.number, "") for seed in seeds]
                await self._store.save(again)
        total = len(await self.outcomes())
        while left := min(_BATCH, (most or _LATE) - total):
            seeds = await self._store.select(
                self._template, Stage.FOUND, left, period=self.period.number, rank=True
            )
            if not seeds:
                break
            numbered = [
                replace(seed, number=place, stage=Stage.WAITING)
                for place, seed in enumerate(seeds, total + 1)
            ]
            await self._store.save(numbered)
            total += len(seeds)
        await self.enter(Phase.CRAWLING, total=total)

    async def draw(self, most: int) -> list[Seed]:
        """Draw the next seeds, at most so many: OPEN with their own page, or SKIPPED.

        Those whose draw depends on seeds in work are left out.
        """
        seeds = await self.select(Stage.WAITING, most)
        drawn = [one for one in map(self._drawn, seeds) if one.stage is not Stage.WAITING]
        await self._store.save(drawn)
        return drawn

    async def save(self, seed: Seed) -> None:
        """Store a seed as it is now."""
        await self._store.save([seed])

    async def select(self, stage: Stage, most: int) -> list[Seed]:
        """Seeds of this period in a stage, by number."""
        return await self._store.select(self._template, stage, most, period=self.period.number)

    async def outcomes(self) -> list[tuple[int, Stage, float, int]]:
        """Number, stage, chance and records of each seed of this period."""
        return await self._store.outcomes(self._template, self.period.number)

    async def enter(self, phase: Phase, *, total: int = -1, finished: float = 0.0) -> None:
        """Go on to a phase."""
        total = self.period.total if total < 0 else total
        self.period = replace(self.period, phase=phase, total=total, finished=finished)
        await self._store.put(self.period)

    async def record_chances(self) -> None:
        """Store the probabilities of seeds that were drawn before all outcomes were known."""
        if not self._manner.chance:
            return
        stages = {
            stage
            for number, stage, chance, _ in await self.outcomes()
            if chance and chance != self._chance(number)
        }
        for stage in sorted(stages):
            seeds = await self.select(stage, self.period.total)
            await self._store.save([replace(s, chance=self._chance(s.number)) for s in seeds])

    def ended(self, seed: Seed) -> None:
        """Count a seed that left work; its usefulness changes the probability of those behind."""
        self._note(seed.number, seed.stage, seed.useful)

    def _note(self, number: int, stage: Stage, useful: int) -> None:
        place = bisect_left(self._settled, number)
        if self._settled[place : place + 1] != [number]:
            self._settled.insert(place, number)
        if stage not in {Stage.DONE, Stage.FAILED}:
            return
        self.finished += 1
        self.records += useful if stage is Stage.DONE else 0
        if stage is Stage.FAILED or not useful:
            insort(self._useless, number)

    def _chance(self, number: int, failing: int = 0) -> float:
        """Return a seed's probability if so many of those before it that are open will fail."""
        failed = bisect_left(self._useless, number) + failing
        return probability(number, failed, max(self.period.total, number))

    def _drawn(self, seed: Seed) -> Seed:
        """Return a seed as it is drawn; unchanged where that depends on seeds before it."""
        number, chance = seed.number, 1.0
        if self._manner.chance:
            draw = luck(self._manner.luck, self.period.number, number)
            open_ = number - 1 - bisect_left(self._settled, number)
            chance = self._chance(number)
            if draw >= chance:
                self.skipped += 1
                self._note(number, Stage.SKIPPED, 0)
                return replace(seed, stage=Stage.SKIPPED, chance=chance)
            if draw >= self._chance(number, open_):
                return seed
        work = Work.of(seed)
        work.add(Child(seed.url, 0))
        return replace(work.seed(Stage.OPEN), chance=chance)

    def _offered(self, seed: Seed, rank: int, title: str) -> Seed:
        return replace(
            seed, rank=rank, title=title or seed.title, period=self.period.number,
            stage=Stage.FOUND, number=0, chance=0.0,
        )  # fmt: skip
