"""Tests of periods, seeds and records of template crawls, over each storage."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from topiccrawl.addons.records.periods.periods import Period, Periods, Phase, Seed, Stage
from topiccrawl.addons.records.periods.visits import Visit
from topiccrawl.addons.records.record import FoundValue, Record
from topiccrawl.addons.records.records import Change, Records, StoredRecord, confidence_of

if TYPE_CHECKING:
    from topiccrawl.storage.contract import Storage


def seed(place: int, **values: Any) -> Seed:
    return Seed("甲", f"http://s{place}.test/", rank=place, period=1, **values)


def stored(phone: str, now: float, **values: Any) -> StoredRecord:
    record = Record(
        "甲", "公司", (FoundValue("电话", phone, confidence=0.8),), ("http://a.test/lx",)
    )
    named = {"entity": "a.test", "seed": "http://a.test/", "number": 3, "period": 1, **values}
    return StoredRecord(record=record, checked_at=now, confidence=confidence_of(record), **named)


def test_seeds_are_stored_by_url_and_found_by_stage(storage: Storage) -> None:
    async def check() -> None:
        periods = Periods(storage)
        await periods.open()
        assert await periods.last("甲") is None
        await periods.put(Period("甲", 1, started=5.0))
        await periods.put(Period("甲", 2))
        await periods.put(Period("甲", 2, Phase.CRAWLING, 7.5, total=4))
        await periods.save([seed(n) for n in (3, 1, 2)])
        visits = {"v1": Visit("http://s2.test/", records=({"found": [["电话", "1\ud800"]]},))}
        done = seed(2, number=2, stage=Stage.DONE, chance=0.9, useful=1, visits=visits)
        await periods.save([done, seed(1, number=1, stage=Stage.WAITING)])
        await periods.close()
        await periods.open()
        assert await periods.last("甲") == Period("甲", 2, Phase.CRAWLING, 7.5, total=4)
        assert await periods.select("甲", Stage.FOUND, 9, rank=True) == [seed(3)]
        assert await periods.select("甲", Stage.WAITING, 9, period=2) == []
        assert await periods.outcomes("甲", 1) == [
            (1, Stage.WAITING, 0.0, 0),
            (2, Stage.DONE, 0.9, 1),
        ]
        found = await periods.get("甲", ["http://s2.test/", "http://none.test/"])
        assert found["http://s2.test/"].visits["v1"].records == ({"found": [["电话", "1?"]]},)
        assert await periods.get("乙", ["http://s2.test/"]) == {}
        await periods.close()

    asyncio.run(check())


def test_a_changed_record_keeps_its_older_values(storage: Storage) -> None:
    async def check() -> None:
        records = Records(storage)
        await records.open()
        assert await records.save([stored("1", 10.0)]) == [Change.NEW]
        assert await records.save([stored("1", 11.0)]) == [Change.UNCHANGED]
        assert await records.save([stored("2", 12.0)]) == [
            Change.CHANGED
        ]  # same period: no version
        assert await records.versions("甲", "a.test") == []
        assert await records.save([stored("3", 20.0, period=2)]) == [Change.CHANGED]
        assert await records.save([stored("3", 20.0, period=2)]) == [Change.UNCHANGED]
        (old,) = await records.versions("甲", "a.test")
        assert (old.record.values("电话"), old.until) == (("2",), 20.0)
        now = await records.get("甲", "a.test")
        assert now is not None
        assert (now.first_seen, now.changed_at, now.confidence) == (10.0, 20.0, 0.8)
        assert now.record.values("电话") == ("3",)
        await records.close()

    asyncio.run(check())


def test_first_seed_of_an_entity_determines_its_record(storage: Storage) -> None:
    async def check() -> None:
        records = Records(storage)
        await records.open()
        await records.save([stored("1", 10.0, seed="http://b.test/", number=7)])
        assert await records.save([stored("2", 11.0)]) == [Change.CHANGED]
        assert await records.save([stored("9", 12.0, seed="http://b.test/", number=7)]) == [
            Change.KEPT
        ]
        (one,) = await records.of_seed("甲", "http://a.test/")
        assert one.record.values("电话") == ("2",)
        assert await records.of_seed("甲", "http://b.test/") == []
        await records.close()

    asyncio.run(check())


def test_gone_records_stay_with_their_date_and_may_return(storage: Storage) -> None:
    async def check() -> None:
        records = Records(storage)
        await records.open()
        names = [f"e{n:03}" for n in range(250)]  # more than a page of a selection
        await records.save([stored("1", 10.0, entity=name) for name in names])
        assert await records.mark_gone("甲", ["e007", "none"], 20.0) == 1
        assert await records.mark_gone("甲", ["e007"], 21.0) == 0
        here = [one.entity async for one in records.select("甲")]
        assert here == [name for name in names if name != "e007"]
        assert len([one async for one in records.select(gone=True)]) == 250
        assert [one async for one in records.select("乙")] == []
        tally = {"here": 249, "new": 0, "changed": 0, "gone": 1}
        assert await records.count_changes("甲", 15.0) == tally
        assert await records.save([stored("1", 30.0, entity="e007", period=2)]) == [Change.RETURNED]
        assert await records.count_changes("甲", 25.0) == {
            "here": 250,
            "new": 0,
            "changed": 1,
            "gone": 0,
        }
        assert await records.forget("甲", ["e007", "none"]) == 1
        assert await records.get("甲", "e007") is None
        await records.close()

    asyncio.run(check())


def test_forgotten_record_is_refused_until_allowed(storage: Storage) -> None:
    async def check() -> None:
        records = Records(storage)
        await records.open()
        await records.save([stored("1", 10.0)])
        assert await records.forget("甲", ["a.test", "later.test"]) == 1
        later = stored("1", 20.0, entity="later.test", period=2)
        again = [stored("2", 20.0, period=2), later, stored("1", 20.0, entity="b.test", period=2)]
        for _ in range(2):  # the second save changes nothing
            assert (await records.save(again))[:2] == [Change.FORGOTTEN] * 2
        assert [one.entity async for one in records.select(gone=True)] == ["b.test"]
        assert await records.allow("乙", ["a.test"]) == 0
        assert await records.allow("", ["a.test"]) == 1
        assert await records.allow("甲", ["a.test"]) == 0
        assert await records.save(again[:2]) == [Change.NEW, Change.FORGOTTEN]
        await records.close()

    asyncio.run(check())


def test_record_forgotten_during_a_save_is_not_stored(storage: Storage) -> None:
    class Slow(Records):
        """Records that another process forgets before they are written."""

        @override
        async def _write(self, *documents: Any) -> None:
            async with Records(storage) as other:
                await other.forget("甲", ["a.test"])
            await super()._write(*documents)

    async def check() -> None:
        async with Records(storage) as records:
            await records.save([stored("1", 10.0)])
            async with Slow(storage) as slow:
                await slow.save([stored("2", 20.0, period=2), stored("1", 20.0, entity="b.test")])
            assert [one.entity async for one in records.select(gone=True)] == ["b.test"]
            assert await records.versions("甲", "a.test") == []

    asyncio.run(check())
