"""A template crawl without a network: the test answers the controller's requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from topiccrawl.addons.records.periods.controller import PeriodController, Stores
from topiccrawl.addons.records.periods.periods import Phase, Stage
from topiccrawl.addons.records.periods.seeds import Hit, SamplingRules, random_draw
from topiccrawl.addons.records.periods.visits import Child, PageRequest, PageResult, Result
from topiccrawl.addons.records.record import FoundValue, Record
from topiccrawl.addons.records.records import Records
from topiccrawl.addons.records.templates.template import Limits, Template
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.addons.records.records import StoredRecord

TEMPLATE = Template(
    name="t",
    seeds=("http://s1.test/",),
    filter=({"联系": ()},),
    crawl={"电话": {"kind": "telephone"}},  # type: ignore[dict-item]  # as a file says it
)
Answers = Callable[[PageRequest], PageResult]


def step(wanted: PageRequest, result: Result, phone: str = "", **more: Any) -> PageResult:
    """What became of a page; with a telephone number where it holds values."""
    found = (FoundValue("电话", phone, confidence=0.9),) if phone else ()
    records = (Record("t", "", found, (wanted.url,)),) if found else None
    digest = phone if records else ""
    return PageResult(wanted.seed, wanted.name, result, wanted.layer, wanted.url, digest=digest,
                records=records, **more)  # fmt: skip


class World:
    """Sites by host: a telephone number on the contact page; dead, empty, left or moved."""

    def __init__(self, **sites: str) -> None:
        self.sites = {f"http://{name}.test/": what for name, what in sites.items()}
        self.asked: list[str] = []

    def answer(
        self, controller: PeriodController, wanted: PageRequest
    ) -> tuple[list[PageRequest], PageResult]:
        """Children that were admitted, and the step."""
        self.asked.append(wanted.url)
        what = self.sites[wanted.seed]
        if what == "dead":
            return [], step(wanted, Result.FAILED, note="dns")
        if what == "left" or (what == "moved" and wanted.url.endswith("/lx")):
            return [], step(wanted, Result.MISSING)
        if wanted.layer == 0:
            path = {"empty": None, "moved": "neu"}.get(what, "lx")
            children = [Child(f"{wanted.seed}{path}", 1)] if path else []
            return controller.admit(wanted.seed, children), step(wanted, Result.READ)
        known = controller.visit(wanted.seed, wanted.name)
        phone = "9" if what == "moved" else what
        if known is not None and known.digest == phone:
            return [], step(wanted, Result.UNCHANGED)
        return [], step(wanted, Result.READ, phone)


async def period(
    folder: Path, world: World, number: int, *, stop: int = 0, rules: SamplingRules | None = None,
    template: Template = TEMPLATE,
) -> PeriodController:  # fmt: skip
    """Conduct a period to its end, or until so many pages have been answered; as a spider does."""
    stores = Stores.of(SqliteStorage(folder))
    clock = iter(range(1000 * number, 1000 * number + 900))
    controller = PeriodController(
        template,
        stores,
        lambda: float(next(clock)),
        rules or SamplingRules(concurrency=3, chance=False),
    )
    await controller.open(number)
    queue = await controller.resume()
    if controller.period.phase is Phase.SEARCHING:
        await controller.add_hits([Hit(place, url) for place, url in enumerate(world.sites)])
    while True:
        while queue:
            wanted = queue.pop(0)
            children, taken = world.answer(controller, wanted)
            queue += children
            queue += await controller.store_results([taken])
            if stop and len(world.asked) >= stop:
                await controller.close()
                return controller
        queue = await controller.idle(lambda _: "lost")
        if not queue:
            break
    await controller.close()
    return controller


async def kept(folder: Path) -> dict[str, StoredRecord]:
    """All records, gone ones too."""
    store = Records(SqliteStorage(folder))
    await store.open()
    found = {one.entity: one async for one in store.select(gone=True)}
    await store.close()
    return found


def test_two_periods_tell_new_changed_gone_and_what_cannot_be_told(tmp_path: Path) -> None:
    async def law() -> None:
        sites = {"s1": "1", "s2": "2", "s3": "3", "s4": "4", "s5": "5", "s6": "empty", "s7": "7"}
        await period(tmp_path, World(**sites), 1)
        world = World(s1="1", s2="22", s3="left", s4="dead", s5="moved", s6="6", s7="7", s8="8")
        await period(tmp_path, world, 2)
        now = await kept(tmp_path)
        phones = {one.entity: one.record.values("电话") for one in now.values() if not one.gone_at}
        assert phones == {
            "s1.test": ("1",), "s2.test": ("22",), "s4.test": ("4",), "s5.test": ("9",),
            "s6.test": ("6",), "s7.test": ("7",), "s8.test": ("8",),
        }  # fmt: skip
        assert now["s3.test"].gone_at
        new = {one.entity for one in now.values() if one.first_seen >= 2000}
        changed = {o.entity for o in now.values() if o.changed_at >= 2000} - new
        assert (new, changed) == ({"s6.test", "s8.test"}, {"s2.test", "s5.test"})
        assert world.asked.count("http://s3.test/lx") == 2  # it must say so twice

    asyncio.run(law())


def test_what_the_search_finds_no_more_is_offered_again_where_it_was_useful(
    tmp_path: Path,
) -> None:
    async def law() -> None:
        await period(tmp_path, World(s1="1", s2="2", s3="empty"), 1)
        stores = Stores.of(SqliteStorage(tmp_path))
        controller = PeriodController(TEMPLATE, stores, lambda: 2000.0, SamplingRules(chance=False))
        await controller.open(2)
        await controller.add_hits([Hit(0, "http://s4.test/")])
        queue = await controller.idle(lambda _: "lost")
        numbers = {one.seed for one in queue}
        assert numbers == {"http://s4.test/", "http://s1.test/", "http://s2.test/"}
        await controller.close()

    asyncio.run(law())


@pytest.mark.parametrize("stop", [1, 2, 5, 8, 11])
def test_stopped_anywhere_and_begun_again_the_records_are_the_same(
    stop: int, tmp_path: Path
) -> None:
    sites = {f"s{n}": str(n) for n in range(1, 8)}

    async def law() -> None:
        await period(tmp_path / "whole", World(**sites), 1)
        world = World(**sites)
        await period(tmp_path / "cut", world, 1, stop=stop)
        await period(tmp_path / "cut", world, 1)
        whole, cut = await kept(tmp_path / "whole"), await kept(tmp_path / "cut")
        assert {n: o.record for n, o in whole.items()} == {n: o.record for n, o in cut.items()}

    asyncio.run(law())


def test_a_bound_of_records_holds_for_a_period_that_was_stopped_and_went_on(tmp_path: Path) -> None:
    sites = {f"s{n}": str(n) for n in range(1, 13)}
    bound = TEMPLATE.model_copy(update={"limits": Limits(records=3)})

    async def law() -> None:
        one = SamplingRules(concurrency=1, chance=False)
        await period(tmp_path, World(**sites), 1, stop=4, rules=one, template=bound)
        await period(tmp_path, World(**sites), 1, rules=one, template=bound)
        assert len(await kept(tmp_path)) == 3

    asyncio.run(law())


def test_a_search_that_goes_on_says_how_many_results_there_are(tmp_path: Path) -> None:
    async def law() -> None:
        stores = Stores.of(SqliteStorage(tmp_path))
        controller = PeriodController(TEMPLATE, stores, lambda: 1000.0, SamplingRules())
        await controller.open(1)
        await controller.add_hits([Hit(1, "http://a.test/"), Hit(2, "http://b.test/")])
        for said in (controller.progress(), *await controller.summary()):
            assert "searching" in said
            assert "2 results" in said
        await controller.close()

    asyncio.run(law())


def test_seeds_passed_over_by_chance_are_kept_for_the_next_period(tmp_path: Path) -> None:
    sites = {f"s{n}": str(n) for n in range(1, 31)}

    async def law() -> None:
        first = await period(tmp_path, World(**sites), 1, rules=SamplingRules(concurrency=4))
        passed = first.counts["seeds/skipped"]
        assert 3 <= passed <= 15
        for store in first.stores:
            await store.open()
        outcomes = await first.seeds.outcomes()
        lines = "\n".join([*await first.summary(), first.progress()])
        assert f"{passed} seeds skipped until the next period" in lines
        assert "-a chance=0 crawls all" in lines
        await first.close()
        chances = [chance for _, _, chance, _ in outcomes]
        assert chances[0] == pytest.approx(1 - 1 / 60)
        assert chances == sorted(chances, reverse=True)
        skipped = {number for number, stage, _, _ in outcomes if stage is Stage.SKIPPED}
        world = World(**sites)
        await period(tmp_path, world, 2, rules=SamplingRules(concurrency=4, chance=False))
        assert {f"http://s{n}.test/" for n in skipped} <= set(world.asked)
        assert len(await kept(tmp_path)) == 30

    asyncio.run(law())


def test_failures_before_a_seed_lower_its_probability(tmp_path: Path) -> None:
    sites = {f"s{n}": "dead" if n < 6 else str(n) for n in range(1, 11)}

    async def law() -> None:
        done = await period(
            tmp_path, World(**sites), 1, rules=SamplingRules(concurrency=1, random_seed=3)
        )
        await done.stores.periods.open()
        outcomes = await done.seeds.outcomes()
        await done.close()
        failed = 0
        for number, stage, chance, _ in outcomes:
            assert chance == pytest.approx(1 - (number + failed) / 20)
            failed += stage is Stage.FAILED
        assert failed > 1

    asyncio.run(law())


def test_limits_bound_what_is_fetched_for_a_seed(tmp_path: Path) -> None:
    async def law() -> None:
        stores = Stores.of(SqliteStorage(tmp_path))
        controller = PeriodController(TEMPLATE, stores, lambda: 1.0, SamplingRules(chance=False))
        await controller.open(1)
        await controller.add_hits([Hit(0, "http://s1.test/")])
        (home,) = await controller.idle(lambda _: "")
        children = [Child(f"http://s1.test/{n % 40}", 1) for n in range(100)]
        admitted = controller.admit(home.seed, children)
        assert len(admitted) == TEMPLATE.limits.pages_per_seed - 1
        assert len({one.role for one in admitted}) == len(admitted)
        assert controller.admit(home.seed, children[:5]) == []  # twice equals once
        far = Child("http://s1.test/far", 0, TEMPLATE.limits.next_pages + 1)
        assert controller.admit(home.seed, [far]) == []
        await controller.close()

    asyncio.run(law())


def _sites(*dead: int) -> dict[str, str]:
    return {f"s{n}": "dead" if n in dead else str(n) for n in range(1, 11)}


def test_the_table_of_the_source_holds_however_many_seeds_are_in_work(tmp_path: Path) -> None:
    """All ten seeds are drawn before the eighth fails [S1, table 2]."""
    percent = [95, 90, 85, 80, 75, 70, 65, 60, 50, 45]
    lucky = next(n for n in range(9999) if all(
        100 * random_draw(n, 1, s) < p for s, p in enumerate(percent, 1)
    ))  # fmt: skip

    async def law() -> None:
        for concurrency in (1, 3, 32):
            folder, rules = (
                tmp_path / str(concurrency),
                SamplingRules(concurrency, chance=True, random_seed=lucky),
            )
            await period(folder, World(**_sites(8)), 1, rules=rules)
            seeds = await _outcomes(folder)
            assert [round(100 * chance) for _, _, chance, _ in seeds] == percent, concurrency

    asyncio.run(law())


@pytest.mark.parametrize("stop", [0, 4])
def test_the_same_seeds_are_drawn_however_many_are_in_work(tmp_path: Path, stop: int) -> None:
    async def law() -> None:
        for lucky in range(12):
            sampled = []
            for concurrency in (1, 4, 32):
                folder, rules = (
                    tmp_path / f"{lucky}-{concurrency}",
                    SamplingRules(concurrency, chance=True, random_seed=lucky),
                )
                sites = _sites(1, 2, 5, 6)
                if stop:
                    await period(folder, World(**sites), 1, rules=rules, stop=stop)
                await period(folder, World(**sites), 1, rules=rules)
                sampled.append(await _outcomes(folder))
            assert sampled[0] == sampled[1] == sampled[2], lucky

    asyncio.run(law())


async def _outcomes(folder: Path) -> list[tuple[int, Stage, float, int]]:
    stores = Stores.of(SqliteStorage(folder))
    await stores.periods.open()
    found = await stores.periods.outcomes("t", 1)
    await stores.periods.close()
    return sorted(found)
