"""Tests of the entities of records and of the update of stored records."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import pytest

from topiccrawl.addons.records.periods.outcome import update_records, with_entities
from topiccrawl.addons.records.periods.periods import Seed
from topiccrawl.addons.records.periods.visits import State, Visit
from topiccrawl.addons.records.record import FoundValue, Record
from topiccrawl.addons.records.records import Records
from topiccrawl.addons.records.templates.template import Template
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from pathlib import Path


def record_of(*urls: str, name: str = "甲") -> Record:
    return Record("t", name, urls=urls)


@pytest.mark.parametrize(
    ("seed", "records", "entities"),
    [
        ("http://a.test/", [record_of("http://a.test/lx")], ["a.test"]),
        ("http://a.test/", [record_of("https://www.a.test/lx", "http://a.test/")], ["a.test"]),
        ("http://a.test/x", [record_of("http://a.test/lx")], ["http://a.test/lx"]),
        ("http://www.a.test/index.html", [record_of("http://a.test/lx")], ["a.test"]),
        ("http://a.test/?id=7", [record_of("http://a.test/7")], ["http://a.test/7"]),
        ("http://a.test/", [record_of("http://b.test/lx")], ["http://b.test/lx"]),
        (
            "http://a.test/",
            [record_of("http://a.test/1"), record_of("http://a.test/2")],
            ["http://a.test/1", "http://a.test/2"],
        ),
        (
            "http://a.test/",
            [record_of("http://a.test/1"), record_of("http://a.test/1", name="乙")],
            ["http://a.test/1#甲", "http://a.test/1#乙"],
        ),
        ("http://a.test/", [], []),
    ],
)
def test_entity_is_a_host_or_a_page(seed: str, records: list[Record], entities: list[str]) -> None:
    assert [entity for entity, _ in with_entities(records, seed)] == entities


TEMPLATE = Template(
    name="t",
    seeds=("http://a.test/",),
    crawl={"QQ": "qq"},  # type: ignore[dict-item]  # as a file says it
)


def page(path: str, *names: str, state: State = State.DONE) -> Visit:
    url = f"http://a.test/{path}"
    records = tuple(
        Record("t", name, (FoundValue("QQ", f"1000{len(name)}", confidence=0.9),), (url,)).as_dict()
        for name in names
    )
    return Visit(url, state=state, period=1, records=records)


def test_visits_of_earlier_versions_are_read() -> None:
    assert Visit.from_values({**asdict(page("1", "甲")), "note": "dns"}) == page("1", "甲")


def test_record_is_gone_when_its_pages_are_gone_or_differ(tmp_path: Path) -> None:
    async def check() -> None:
        store = Records(SqliteStorage(tmp_path))
        await store.open()

        async def update(now: float, *pages: Visit) -> dict[str, int]:
            work = Seed("t", "http://a.test/", visits={one.url: one for one in pages})
            return dict(await update_records(TEMPLATE, store, work, now))

        assert await update(1.0, page("1", "四川甲软件有限公司")) == {"new": 1}
        without_values = page("1")
        assert await update(2.0, without_values) == {}  # a page without values removes no record
        both = [page("1", "四川甲软件有限公司"), page("2", "重庆长江网络科技有限公司")]
        assert await update(3.0, *both) == {"new": 2, "gone": 1}  # the host is no entity any more
        left = page("2", "重庆长江网络科技有限公司", state=State.GONE)
        changes = await update(4.0, page("1", "四川甲软件有限公司"), left)
        assert changes == {"returned": 1, "gone": 2}
        here = [one.entity async for one in store.select()]
        assert here == ["a.test"]
        await store.close()

    asyncio.run(check())


def test_a_host_with_and_without_www_is_one_record(tmp_path: Path) -> None:
    async def check() -> None:
        store = Records(SqliteStorage(tmp_path))
        await store.open()

        def work(host: str, number: int) -> Seed:
            one = page("lx", "四川甲软件有限公司")
            url = f"http://{host}/lx"
            record = {**one.records[0], "urls": (url,)}
            visits = {url: replace(one, url=url, records=(record,))}
            return Seed("t", f"http://{host}/", number=number, visits=visits)

        assert await update_records(TEMPLATE, store, work("www.a.test", 1), 1.0) == {"new": 1}
        assert await update_records(TEMPLATE, store, work("a.test", 2), 2.0) == {"kept": 1}
        assert [one.entity async for one in store.select()] == ["a.test"]
        await store.close()

    asyncio.run(check())


def test_pages_of_a_forgotten_record_are_cleared(tmp_path: Path) -> None:
    async def check() -> None:
        store = Records(SqliteStorage(tmp_path))
        await store.open()
        await store.forget("t", ["a.test"])
        work = Seed("t", "http://a.test/", visits={"v": page("1", "四川甲软件有限公司")})
        assert await update_records(TEMPLATE, store, work, 1.0) == {"forgotten": 1}
        assert work.visits["v"].records == ()
        assert work.visits["v"].digest == ""  # once allowed, it is read again
        await store.close()

    asyncio.run(check())
