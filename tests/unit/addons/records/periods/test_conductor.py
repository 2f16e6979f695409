"""A template crawl without a network: the test answers what the conductor asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from topiccrawl.addons.records.periods.chance import luck
from topiccrawl.addons.records.periods.conductor import Conductor, Stores
from topiccrawl.addons.records.periods.periods import Phase, Stage
from topiccrawl.addons.records.periods.report import lines_of, progress_of
from topiccrawl.addons.records.periods.seeds import Hit, Manner
from topiccrawl.addons.records.periods.visits import Child, Result, Step, Wanted
from topiccrawl.addons.records.record import Found, Record
from topiccrawl.addons.records.records import Records
from topiccrawl.addons.records.templates.template import Limits, Template
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.addons.records.records import Kept

TEMPLATE = Template(
    name="t",
    seeds=("http://s1.test/",),
    filter=({"联系": ()},),
    crawl={"电话": {"kind": "telephone"}},  # type: ignore[dict-item]  # as a file says it
)
Answers = Callable[[Wanted], Step]


def step(wanted: Wanted, result: Result, phone: str = "", **more: Any) -> Step:
    """What became of a page; with a telephone number where it holds values."""
    found = (Found("电话", phone, confidence=0.9),) if phone else ()
    records = (Record("t", "", found, (wanted.url,)),) if found else None
    digest = phone if records else ""
    return Step(wanted.seed, wanted.name, result, wanted.layer, wanted.url, digest=digest,
                records=records, **more)  # fmt: skip


class World:
    """Sites by host: a telephone number on the contact page; dead, empty, left or moved."""

    def __init__(self, **sites: str) -> None:
        self.sites = {f"http://{name}.test/": what for name, what in sites.items()}
        self.asked: list[str] = []

    def answer(self, conductor: Conductor, wanted: Wanted) -> tuple[list[Wanted], Step]:
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
            return conductor.admit(wanted.seed, children), step(wanted, Result.READ)
        known = conductor.visit(wanted.seed, wanted.name)
        phone = "9" if what == "moved" else what
        if known is not None and known.digest == phone:
            return [], step(wanted, Result.UNCHANGED)
        return [], step(wanted, Result.READ, phone)


async def period(
    folder: Path, world: World, number: int, *, stop: int = 0, manner: Manner | None = None,
    template: Template = TEMPLATE,
) -> Conductor:  # fmt: skip
    """Conduct a period to its end, or until so many pages have been answered; as a spider does."""
    stores = Stores.of(SqliteStorage(folder))
    clock = iter(range(1000 * number, 1000 * number + 900))
    conductor = Conductor(
        template, stores, lambda: float(next(clock)), manner or Manner(at_once=3, chance=False)
    )
    await conductor.open(number)
    queue = await conductor.resume()
    if conductor.period.phase is Phase.SEARCHING:
        await conductor.found([Hit(place, url) for place, url in enumerate(world.sites)])
    while True:
        while queue:
            wanted = queue.pop(0)
            children, taken = world.answer(conductor, wanted)
            queue += children
            queue += await conductor.visited([taken])
            if stop and len(world.asked) >= stop:
                await conductor.close()
                return conductor
        queue = await conductor.idle(lambda _: "lost")
        if not queue:
            break
    await conductor.close()
    return conductor


async def kept(folder: Path) -> dict[str, Kept]:
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
        conductor = Conductor(TEMPLATE, stores, lambda: 2000.0, Manner(chance=False))
        await conductor.open(2)
        await conductor.found([Hit(0, "http://s4.test/")])
        queue = await conductor.idle(lambda _: "lost")
        numbers = {one.seed for one in queue}
        assert numbers == {"http://s4.test/", "http://s1.test/", "http://s2.test/"}
        await conductor.close()

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
        one = Manner(at_once=1, chance=False)
        await period(tmp_path, World(**sites), 1, stop=4, manner=one, template=bound)
        await period(tmp_path, World(**sites), 1, manner=one, template=bound)
        assert len(await kept(tmp_path)) == 3

    asyncio.run(law())


def test_a_search_that_goes_on_says_how_many_results_there_are(tmp_path: Path) -> None:
    async def law() -> None:
        stores = Stores.of(SqliteStorage(tmp_path))
        conductor = Conductor(TEMPLATE, stores, lambda: 1000.0, Manner())
        await conductor.open(1)
        await conductor.found([Hit(1, "http://a.test/"), Hit(2, "http://b.test/")])
        for said in (progress_of(conductor), *await lines_of(conductor)):
            assert "searching" in said
            assert "2 results" in said
        await conductor.close()

    asyncio.run(law())


def test_seeds_passed_over_by_chance_are_kept_for_the_next_period(tmp_path: Path) -> None:
    sites = {f"s{n}": str(n) for n in range(1, 31)}

    async def law() -> None:
        first = await period(tmp_path, World(**sites), 1, manner=Manner(at_once=4))
        passed = first.counts["seeds/skipped"]
        assert 3 <= passed <= 15
        for store in first.stores:
            await store.open()
        outcomes = await first.seeds.outcomes()
        lines = "\n".join([*await lines_of(first), progress_of(first)])
        assert f"{passed} seeds passed over until the next period" in lines
        await first.close()
        chances = [chance for _, _, chance, _ in outcomes]
        assert chances[0] == pytest.approx(1 - 1 / 60)
        assert chances == sorted(chances, reverse=True)
        skipped = {number for number, stage, _, _ in outcomes if stage is Stage.SKIPPED}
        world = World(**sites)
        await period(tmp_path, world, 2, manner=Manner(at_once=4, chance=False))
        assert {f"http://s{n}.test/" for n in skipped} <= set(world.asked)
        assert len(await kept(tmp_path)) == 30

    asyncio.run(law())


def test_failures_before_a_seed_lower_its_probability(tmp_path: Path) -> None:
    sites = {f"s{n}": "dead" if n < 6 else str(n) for n in range(1, 11)}

    async def law() -> None:
        done = await period(tmp_path, World(**sites), 1, manner=Manner(at_once=1, luck=3))
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
        conductor = Conductor(TEMPLATE, stores, lambda: 1.0, Manner(chance=False))
        await conductor.open(1)
        await conductor.found([Hit(0, "http://s1.test/")])
        (home,) = await conductor.idle(lambda _: "")
        children = [Child(f"http://s1.test/{n % 40}", 1) for n in range(100)]
        admitted = conductor.admit(home.seed, children)
        assert len(admitted) == TEMPLATE.limits.pages_per_seed - 1
        assert len({one.role for one in admitted}) == len(admitted)
        assert conductor.admit(home.seed, children[:5]) == []  # twice equals once
        far = Child("http://s1.test/far", 0, TEMPLATE.limits.next_pages + 1)
        assert conductor.admit(home.seed, [far]) == []
        await conductor.close()

    asyncio.run(law())


def _sites(*dead: int) -> dict[str, str]:
    return {f"s{n}": "dead" if n in dead else str(n) for n in range(1, 11)}


def test_the_table_of_the_source_holds_however_many_seeds_are_in_work(tmp_path: Path) -> None:
    """All ten seeds are drawn before the eighth fails [S1, table 2]."""
    percent = [95, 90, 85, 80, 75, 70, 65, 60, 50, 45]
    lucky = next(n for n in range(9999) if all(
        100 * luck(n, 1, s) < p for s, p in enumerate(percent, 1)
    ))  # fmt: skip

    async def law() -> None:
        for at_once in (1, 3, 32):
            folder, manner = tmp_path / str(at_once), Manner(at_once, chance=True, luck=lucky)
            await period(folder, World(**_sites(8)), 1, manner=manner)
            seeds = await _outcomes(folder)
            assert [round(100 * chance) for _, _, chance, _ in seeds] == percent, at_once

    asyncio.run(law())


@pytest.mark.parametrize("stop", [0, 4])
def test_the_same_seeds_are_drawn_however_many_are_in_work(tmp_path: Path, stop: int) -> None:
    async def law() -> None:
        for lucky in range(12):
            drawn = []
            for at_once in (1, 4, 32):
                folder, manner = (
                    tmp_path / f"{lucky}-{at_once}",
                    Manner(at_once, chance=True, luck=lucky),
                )
                sites = _sites(1, 2, 5, 6)
                if stop:
                    await period(folder, World(**sites), 1, manner=manner, stop=stop)
                await period(folder, World(**sites), 1, manner=manner)
                drawn.append(await _outcomes(folder))
            assert drawn[0] == drawn[1] == drawn[2], lucky

    asyncio.run(law())


async def _outcomes(folder: Path) -> list[tuple[int, Stage, float, int]]:
    stores = Stores.of(SqliteStorage(folder))
    await stores.periods.open()
    found = await stores.periods.outcomes("t", 1)
    await stores.periods.close()
    return sorted(found)
