"""Tests of periods without a network: the test answers the controller's requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from topiccrawl.addons.records.periods.controller import PeriodController
from topiccrawl.addons.records.periods.periods import Periods, Phase, Stage
from topiccrawl.addons.records.periods.seeds import Hit, SamplingRules, random_draw
from topiccrawl.addons.records.periods.visits import PageRequest, PageResult, Result, Visit
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


def step(request: PageRequest, result: Result, phone: str = "", **more: Any) -> PageResult:
    """Return the result of a page; with a record if a telephone number is given."""
    found = (FoundValue("电话", phone, confidence=0.9),) if phone else ()
    page = request.visit
    records = (Record("t", "", found, (page.url,)),) if found else None
    digest = phone if records else ""
    return PageResult(request.seed, request.name, result, page.layer, page.url, digest=digest,
                records=records, **more)  # fmt: skip


class FakeSites:
    """Sites by host: a telephone number on the contact page; dead, empty, left or moved."""

    def __init__(self, **sites: str) -> None:
        self.sites = {f"http://{name}.test/": behaviour for name, behaviour in sites.items()}
        self.requested: list[str] = []

    def answer(
        self, controller: PeriodController, request: PageRequest
    ) -> tuple[list[PageRequest], PageResult]:
        """Return the children that were admitted, and the page's result."""
        url = request.visit.url
        self.requested.append(url)
        behaviour = self.sites[request.seed]
        if behaviour == "dead":
            return [], step(request, Result.FAILED)
        if behaviour == "left" or (behaviour == "moved" and url.endswith("/lx")):
            return [], step(request, Result.MISSING)
        if request.visit.layer == 0:
            path = {"empty": None, "moved": "neu"}.get(behaviour, "lx")
            children = [Visit(f"{request.seed}{path}", 1)] if path else []
            return controller.admit(request.seed, children), step(request, Result.READ)
        known = controller.visit(request.seed, request.name)
        phone = "9" if behaviour == "moved" else behaviour
        if known is not None and known.digest == phone:
            return [], step(request, Result.UNCHANGED)
        return [], step(request, Result.READ, phone)


async def period(
    folder: Path, web: FakeSites, number: int, *, stop: int = 0, rules: SamplingRules | None = None,
    template: Template = TEMPLATE,
) -> PeriodController:  # fmt: skip
    """Run a period to its end, or until ``stop`` pages have been answered, as a spider does."""
    clock = iter(range(1000 * number, 1000 * number + 900))
    queue: list[PageRequest] = []
    controller = PeriodController(
        template,
        SqliteStorage(folder),
        lambda: float(next(clock)),
        rules or SamplingRules(concurrency=3, chance=False),
        queue.append,
    )
    await controller.open(number)
    await controller.resume()
    if controller.period.phase is Phase.SEARCHING:
        await controller.add_hits([Hit(place, url) for place, url in enumerate(web.sites)])
    while True:
        while queue:
            request = queue.pop(0)
            children, taken = web.answer(controller, request)
            queue += children
            await controller.store_results([taken])
            if stop and len(web.requested) >= stop:
                await controller.close()
                return controller
        more = await controller.idle()
        assert more == bool(queue)
        if not more:
            break
    await controller.close()
    return controller


async def stored(folder: Path) -> dict[str, StoredRecord]:
    """Return all records by entity, including those that are gone."""
    store = Records(SqliteStorage(folder))
    await store.open()
    found = {one.entity: one async for one in store.select(gone=True)}
    await store.close()
    return found


def test_second_period_finds_new_changed_and_gone_records(tmp_path: Path) -> None:
    async def check() -> None:
        sites = {"s1": "1", "s2": "2", "s3": "3", "s4": "4", "s5": "5", "s6": "empty", "s7": "7"}
        await period(tmp_path, FakeSites(**sites), 1)
        web = FakeSites(s1="1", s2="22", s3="left", s4="dead", s5="moved", s6="6", s7="7", s8="8")
        await period(tmp_path, web, 2)
        now = await stored(tmp_path)
        phones = {one.entity: one.record.values("电话") for one in now.values() if not one.gone_at}
        assert phones == {
            "s1.test": ("1",), "s2.test": ("22",), "s4.test": ("4",), "s5.test": ("9",),
            "s6.test": ("6",), "s7.test": ("7",), "s8.test": ("8",),
        }  # fmt: skip
        assert now["s3.test"].gone_at
        new = {one.entity for one in now.values() if one.first_seen >= 2000}
        changed = {o.entity for o in now.values() if o.changed_at >= 2000} - new
        assert (new, changed) == ({"s6.test", "s8.test"}, {"s2.test", "s5.test"})
        assert web.requested.count("http://s3.test/lx") == 2  # a page is gone after two failures

    asyncio.run(check())


def test_useful_seeds_of_the_last_period_are_added_again(
    tmp_path: Path,
) -> None:
    async def check() -> None:
        await period(tmp_path, FakeSites(s1="1", s2="2", s3="empty"), 1)
        storage = SqliteStorage(tmp_path)
        rules = SamplingRules(chance=False)
        queue: list[PageRequest] = []
        controller = PeriodController(TEMPLATE, storage, lambda: 2000.0, rules, queue.append)
        await controller.open(2)
        await controller.add_hits([Hit(0, "http://s4.test/")])
        assert await controller.idle()
        numbers = {one.seed for one in queue}
        assert numbers == {"http://s4.test/", "http://s1.test/", "http://s2.test/"}
        await controller.close()

    asyncio.run(check())


@pytest.mark.parametrize("stop", [1, 2, 5, 8, 11])
def test_resumed_period_stores_the_same_records(stop: int, tmp_path: Path) -> None:
    sites = {f"s{n}": str(n) for n in range(1, 8)}

    async def check() -> None:
        await period(tmp_path / "whole", FakeSites(**sites), 1)
        web = FakeSites(**sites)
        await period(tmp_path / "cut", web, 1, stop=stop)
        await period(tmp_path / "cut", web, 1)
        whole, cut = await stored(tmp_path / "whole"), await stored(tmp_path / "cut")
        assert {n: o.record for n, o in whole.items()} == {n: o.record for n, o in cut.items()}

    asyncio.run(check())


def test_record_limit_holds_for_a_resumed_period(tmp_path: Path) -> None:
    sites = {f"s{n}": str(n) for n in range(1, 13)}
    limited = TEMPLATE.model_copy(update={"limits": Limits(records=3)})

    async def check() -> None:
        one = SamplingRules(concurrency=1, chance=False)
        await period(tmp_path, FakeSites(**sites), 1, stop=4, rules=one, template=limited)
        await period(tmp_path, FakeSites(**sites), 1, rules=one, template=limited)
        assert len(await stored(tmp_path)) == 3

    asyncio.run(check())


def test_summary_of_a_search_has_the_number_of_results(tmp_path: Path) -> None:
    async def check() -> None:
        storage = SqliteStorage(tmp_path)
        rules = SamplingRules()
        controller = PeriodController(TEMPLATE, storage, lambda: 1000.0, rules, lambda _: None)
        await controller.open(1)
        for number, found in enumerate(("1 result in", "2 results in"), 1):
            await controller.add_hits([Hit(number, f"http://{number}.test/")])
            for text in (controller.progress(), *await controller.summary()):
                assert "searching" in text
                assert found in text
        await controller.close()

    asyncio.run(check())


def test_skipped_seeds_are_crawled_in_the_next_period(tmp_path: Path) -> None:
    sites = {f"s{n}": str(n) for n in range(1, 31)}

    async def check() -> None:
        first = await period(tmp_path, FakeSites(**sites), 1, rules=SamplingRules(concurrency=4))
        skipped_count = first.counts["seeds/skipped"]
        assert 3 <= skipped_count <= 15
        await first.open(1)
        outcomes = await first.seeds.outcomes()
        lines = "\n".join([*await first.summary(), first.progress()])
        assert f"{skipped_count} seeds skipped until the next period" in lines
        assert "-a chance=0 crawls all" in lines
        await first.close()
        chances = [chance for _, _, chance, _ in outcomes]
        assert chances[0] == pytest.approx(1 - 1 / 60)
        assert chances == sorted(chances, reverse=True)
        skipped = {number for number, stage, _, _ in outcomes if stage is Stage.SKIPPED}
        web = FakeSites(**sites)
        await period(tmp_path, web, 2, rules=SamplingRules(concurrency=4, chance=False))
        assert {f"http://s{n}.test/" for n in skipped} <= set(web.requested)
        assert len(await stored(tmp_path)) == 30

    asyncio.run(check())


def test_failures_before_a_seed_lower_its_probability(tmp_path: Path) -> None:
    sites = {f"s{n}": "dead" if n < 6 else str(n) for n in range(1, 11)}

    async def check() -> None:
        done = await period(
            tmp_path, FakeSites(**sites), 1, rules=SamplingRules(concurrency=1, random_seed=3)
        )
        await done.open(1)
        outcomes = await done.seeds.outcomes()
        await done.close()
        failed = 0
        for number, stage, chance, _ in outcomes:
            assert chance == pytest.approx(1 - (number + failed) / 20)
            failed += stage is Stage.FAILED
        assert failed > 1

    asyncio.run(check())


def test_pages_of_a_seed_are_limited(tmp_path: Path) -> None:
    async def check() -> None:
        storage = SqliteStorage(tmp_path)
        sent: list[PageRequest] = []
        rules = SamplingRules(chance=False)
        controller = PeriodController(TEMPLATE, storage, lambda: 1.0, rules, sent.append)
        await controller.open(1)
        await controller.add_hits([Hit(0, "http://s1.test/")])
        assert await controller.idle()
        (home,) = sent
        children = [Visit(f"http://s1.test/{n % 40}", 1) for n in range(100)]
        admitted = controller.admit(home.seed, children)
        assert len(admitted) == TEMPLATE.limits.pages_per_seed - 1
        assert len({one.role for one in admitted}) == len(admitted)
        assert controller.admit(home.seed, children[:5]) == []  # already admitted
        far = Visit("http://s1.test/far", 0, TEMPLATE.limits.next_pages + 1)
        assert controller.admit(home.seed, [far]) == []
        await controller.close()

    asyncio.run(check())


def ten_sites(*dead: int) -> dict[str, str]:
    return {f"s{n}": "dead" if n in dead else str(n) for n in range(1, 11)}


def test_table_2_holds_at_any_concurrency(tmp_path: Path) -> None:
    """Sample all ten seeds before the eighth fails [S1, table 2]."""
    percent = [95, 90, 85, 80, 75, 70, 65, 60, 50, 45]
    random_seed = next(n for n in range(9999) if all(
        100 * random_draw(n, 1, s) < p for s, p in enumerate(percent, 1)
    ))  # fmt: skip

    async def check() -> None:
        for concurrency in (1, 3, 32):
            folder, rules = (
                tmp_path / str(concurrency),
                SamplingRules(concurrency, chance=True, random_seed=random_seed),
            )
            await period(folder, FakeSites(**ten_sites(8)), 1, rules=rules)
            seeds = await seed_outcomes(folder)
            assert [round(100 * chance) for _, _, chance, _ in seeds] == percent, concurrency

    asyncio.run(check())


@pytest.mark.parametrize("stop", [0, 4])
def test_same_seeds_are_sampled_at_any_concurrency(tmp_path: Path, stop: int) -> None:
    async def check() -> None:
        for random_seed in range(12):
            sampled = []
            for concurrency in (1, 4, 32):
                folder, rules = (
                    tmp_path / f"{random_seed}-{concurrency}",
                    SamplingRules(concurrency, chance=True, random_seed=random_seed),
                )
                sites = ten_sites(1, 2, 5, 6)
                if stop:
                    await period(folder, FakeSites(**sites), 1, rules=rules, stop=stop)
                await period(folder, FakeSites(**sites), 1, rules=rules)
                sampled.append(await seed_outcomes(folder))
            assert sampled[0] == sampled[1] == sampled[2], random_seed

    asyncio.run(check())


async def seed_outcomes(folder: Path) -> list[tuple[int, Stage, float, int]]:
    async with Periods(SqliteStorage(folder)) as periods:
        return sorted(await periods.outcomes("t", 1))
