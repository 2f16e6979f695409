"""Seeds of a period: stored, numbered, and sampled by their probability [S1, step 3.1].

The probability of a seed falls with its rank and earlier failures.
"""

from __future__ import annotations

import random
from bisect import bisect_left, insort
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from topiccrawl.addons.records.periods.periods import Period, Periods, Phase, Seed, Stage
from topiccrawl.addons.records.periods.visits import Visit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_BATCH = 500
"""Number of seeds read or written in one operation."""
_REOFFERED = (Stage.SKIPPED, Stage.OPEN, Stage.AGAIN, Stage.DONE, Stage.FAILED)
"""Stages from which seeds of earlier periods are added again; the last two only if useful."""
_UNRANKED = 10**15
"""Lowest rank of seeds of earlier periods that the search did not find again."""


def probability(number: int, failed: int, total: int) -> float:
    """Return the probability of crawling a seed: P = 1 - (s + f)/(2n), in [0, 1] [S1, step 3.1].

    Args:
        number: Position s of the seed in the list, from 1.
        failed: Number f of earlier seeds that were finished without a record.
        total: Number n of seeds in the list.

    Raises:
        ValueError: If a number is out of range.

    >>> [probability(s, int(s > 8), 10) for s in (1, 7, 8, 9, 10)]
    [0.95, 0.65, 0.6, 0.5, 0.45]
    """
    if not (1 <= number <= total and 0 <= failed < number):
        raise ValueError(f"no seed {number} of {total} with {failed} failed before it")
    return (2 * total - number - failed) / (2 * total)


def random_draw(seed: int, period: int, number: int) -> float:
    """Return the random number in [0, 1) of one seed in one period; deterministic.

    A seed is crawled if this number is below its probability. Each seed has its own random
    generator, so that a resumed crawl samples the same seeds.

    >>> random_draw(1, 1, 5) == random_draw(1, 1, 5) != random_draw(1, 2, 5)
    True
    """
    return random.Random(f"{seed}/{period}/{number}").random()  # noqa: S311  (sampling, not cryptography)


def estimate_skipped(skipped: int, crawled: Iterable[tuple[float, bool]]) -> float:
    """Estimate the number of useful seeds among the skipped ones from the crawled ones.

    Each useful crawled seed represents 1/P similar seeds, itself included (Horvitz and Thompson
    1952). The estimate is unbiased, since P is never below 0, and capped at ``skipped``.

    Args:
        skipped: Number of skipped seeds.
        crawled: Probability and usefulness of each finished seed.

    >>> estimate_skipped(1, [(1.0, True), (0.5, True), (0.5, False)])
    1.0
    """
    like = sum(1 / chance - 1 for chance, useful in crawled if useful and chance > 0)
    return min(float(skipped), like)


@dataclass(frozen=True, slots=True)
class SamplingRules:
    """Rules by which a template's seeds are sampled.

    Attributes:
        concurrency: Number of seeds crawled concurrently; bounds memory use and the delay until
            failures are counted.
        chance: Whether seeds are sampled by their probability [S1]; if not, all are crawled.
        random_seed: Seed of the random generator.
    """

    concurrency: int = 32
    chance: bool = True
    random_seed: int = 1


@dataclass(frozen=True, slots=True)
class Hits:
    """Item with the seeds of a search result page."""

    found: tuple[Hit, ...]


class Hit(NamedTuple):
    """A search result: its rank, URL and title."""

    rank: int
    url: str
    title: str = ""


class SeedList:
    """Seeds of one template in one period.

    The probability of a seed depends on the outcomes of all seeds before it. With concurrent seeds,
    a seed is sampled as soon as no outcome of an open seed can change the result.

    Args:
        template: Name of the template.
        store: Store of seeds.
        rules: Rules by which seeds are sampled.

    Attributes:
        period: The period.
        finished: Number of finished seeds.
        records: Number of their records.
        skipped: Number of skipped seeds.
    """

    period: Period

    def __init__(self, template: str, store: Periods, rules: SamplingRules) -> None:
        self._template = template
        self._store = store
        self._rules = rules
        self._useless: list[int] = []
        self._settled: list[int] = []
        self.finished = 0
        self.records = 0
        self.skipped = 0

    async def open(self, number: int, now: float) -> None:
        """Start the period with this number at the time ``now``, or resume it."""
        last = await self._store.last(self._template)
        if last is None or last.number != number:
            while seeds := await self._store.select(self._template, Stage.WAITING, _BATCH):
                await self._store.save([replace(seed, stage=Stage.SKIPPED) for seed in seeds])
            last = Period(self._template, number, started=now)
            await self._store.put(last)
        self.period = last
        for place, stage, _, useful in await self.outcomes():
            self.skipped += stage is Stage.SKIPPED
            if stage not in {Stage.WAITING, Stage.OPEN}:
                self.record_end(place, stage, useful)

    async def add_hits(self, hits: Sequence[Hit]) -> None:
        """Store search results as seeds; a URL found twice gets its best rank."""
        known = await self._store.get(self._template, [hit.url for hit in hits])
        changed: dict[str, Seed] = {}
        for hit in hits:
            seed = changed.get(hit.url) or known.get(hit.url) or Seed(self._template, hit.url)
            if seed.period == self.period.number:
                changed[hit.url] = replace(seed, rank=min(seed.rank, hit.rank))
            else:
                changed[hit.url] = self._offer(seed, hit.rank, hit.title)
        await self._store.save(list(changed.values()))

    async def assign_numbers(self, most: int) -> None:
        """Complete the list: number up to ``most`` seeds (0: all) by their rank in the search.

        They are followed by seeds that earlier periods skipped, and by seeds with records that the
        search did not find in this period.
        """
        for stage in _REOFFERED:
            useful = stage in {Stage.DONE, Stage.FAILED}
            while seeds := await self._store.select(self._template, stage, _BATCH, useful=useful):
                again = [self._offer(seed, _UNRANKED + seed.number, "") for seed in seeds]
                await self._store.save(again)
        total = len(await self.outcomes())
        while left := min(_BATCH, (most or _UNRANKED) - total):
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
        await self.set_phase(Phase.CRAWLING, total=total)

    async def sample(self, most: int) -> list[Seed]:
        """Sample up to ``most`` seeds, and return those that are now OPEN or SKIPPED.

        An OPEN seed has a visit for its own page. Seeds whose result still depends on open seeds
        stay WAITING and are not returned.
        """
        seeds = await self.select(Stage.WAITING, most)
        sampled = [one for one in map(self._sample_one, seeds) if one.stage is not Stage.WAITING]
        await self._store.save(sampled)
        return sampled

    async def save(self, seed: Seed) -> None:
        """Store a seed."""
        await self._store.save([seed])

    async def select(self, stage: Stage, most: int) -> list[Seed]:
        """Return seeds of this period in a stage, by number."""
        return await self._store.select(self._template, stage, most, period=self.period.number)

    async def outcomes(self) -> list[tuple[int, Stage, float, int]]:
        """Return number, stage, probability and record count of each seed of this period."""
        return await self._store.outcomes(self._template, self.period.number)

    async def set_phase(self, phase: Phase, **changes: Any) -> None:  # noqa: ANN401 - fields
        """Set and store the phase of the period, and other fields of it."""
        self.period = replace(self.period, phase=phase, **changes)
        await self._store.put(self.period)

    async def store_probabilities(self) -> None:
        """Store the final probabilities of seeds sampled before all earlier outcomes were known."""
        if not self._rules.chance:
            return
        stages = {
            stage
            for number, stage, chance, _ in await self.outcomes()
            if chance and chance != self._chance(number)
        }
        for stage in sorted(stages):
            seeds = await self.select(stage, self.period.total)
            await self._store.save([replace(s, chance=self._chance(s.number)) for s in seeds])

    def record_end(self, number: int, stage: Stage, useful: int) -> None:
        """Record the outcome of a seed, on which the probabilities of later ones depend."""
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
        """Return a seed's probability if ``failing`` open seeds before it fail."""
        failed = bisect_left(self._useless, number) + failing
        return probability(number, failed, max(self.period.total, number))

    def _sample_one(self, seed: Seed) -> Seed:
        """Return a seed as OPEN or SKIPPED; unchanged if that depends on open seeds before it."""
        number, chance = seed.number, 1.0
        if self._rules.chance:
            draw = random_draw(self._rules.random_seed, self.period.number, number)
            open_ = number - 1 - bisect_left(self._settled, number)
            chance = self._chance(number)
            if draw >= chance:
                self.skipped += 1
                self.record_end(number, Stage.SKIPPED, 0)
                return replace(seed, stage=Stage.SKIPPED, chance=chance)
            if draw >= self._chance(number, open_):
                return seed
        seed.add(Visit(seed.url))
        return replace(seed, stage=Stage.OPEN, chance=chance)

    def _offer(self, seed: Seed, rank: int, title: str) -> Seed:
        return replace(
            seed, rank=rank, title=title or seed.title, period=self.period.number,
            stage=Stage.FOUND, number=0, chance=0.0,
        )  # fmt: skip
