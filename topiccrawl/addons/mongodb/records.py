"""Periods, seeds and records of template crawls in MongoDB."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from pymongo import ReplaceOne

from topiccrawl.addons.mongodb.part import MongoPart
from topiccrawl.storage.periods import Period, Seed, Stage, dumped, period_of, seed_of
from topiccrawl.storage.record import Record
from topiccrawl.storage.records import (
    TALLY,
    Change,
    Kept,
    Version,
    kept_of,
    outdates,
    settled,
    values_of,
)
from topiccrawl.storage.rows import clean

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from topiccrawl.addons.mongodb.client import Document

_PERIOD = tuple(one.name for one in fields(Period))
_SEED = tuple(one.name for one in fields(Seed))


class MongoPeriods(MongoPart):
    """``Periods`` in MongoDB: one document per period and per seed."""

    async def last(self, template: str) -> Period | None:
        """See ``Periods.last``."""
        with self._server.translated("read"):
            found = await self._server.collection("template_periods").find_one(
                {"template": clean(template)}, sort=[("number", -1)]
            )
        return None if found is None else period_of({name: found[name] for name in _PERIOD})

    async def put(self, period: Period) -> None:
        """See ``Periods.put``."""
        values = {**asdict(period), "template": clean(period.template), "phase": str(period.phase)}
        which = {"_id": f"{values['template']} {period.number}"}
        with self._server.translated("write"):
            collection = self._server.collection("template_periods")
            await collection.replace_one(which, {**which, **values}, upsert=True)

    async def save(self, seeds: Sequence[Seed]) -> None:
        """See ``Periods.save``."""
        made = [_document(seed) for seed in seeds]
        writes = [ReplaceOne({"_id": one["_id"]}, one, upsert=True) for one in made]
        if writes:
            with self._server.translated("write"):
                await self._server.collection("template_seeds").bulk_write(writes, ordered=True)

    async def get(self, template: str, urls: Sequence[str]) -> dict[str, Seed]:
        """See ``Periods.get``."""
        names = [_name(template, url) for url in urls]
        with self._server.translated("read"):
            cursor = self._server.collection("template_seeds").find({"_id": {"$in": names}})
            found = [_seed(one) for one in await cursor.to_list()]
        return {seed.url: seed for seed in found}

    async def select(
        self, template: str, stage: Stage, limit: int, *, period: int = 0, rank: bool = False,
        useful: bool = False,
    ) -> list[Seed]:  # fmt: skip
        """See ``Periods.select``."""
        which: dict[str, Any] = {"template": clean(template), "stage": str(stage)}
        if period:
            which["period"] = period
        if useful:
            which["useful"] = {"$gt": 0}
        order = [("rank" if rank else "number", 1), ("url", 1)]
        with self._server.translated("read"):
            cursor = self._server.collection("template_seeds").find(which, sort=order, limit=limit)
            return [_seed(one) for one in await cursor.to_list()]

    async def outcomes(self, template: str, period: int) -> list[tuple[int, Stage, float, int]]:
        """See ``Periods.outcomes``."""
        which = {"template": clean(template), "period": period, "number": {"$gt": 0}}
        names = ("number", "stage", "chance", "useful")
        with self._server.translated("read"):
            cursor = self._server.collection("template_seeds").find(
                which, dict.fromkeys(names, 1), sort=[("number", 1)]
            )
            found = await cursor.to_list()
        return [(o["number"], Stage(o["stage"]), o["chance"], o["useful"]) for o in found]


class MongoRecords(MongoPart):
    """``Records`` in MongoDB: one document per entity and per version.

    The version is written before the record that replaces it. After a kill between the two, the
    same save writes both again.
    """

    async def save(self, found: Sequence[Kept]) -> list[Change]:
        """See ``Records.save``."""
        return [await self._save(one) for one in found]

    async def _save(self, new: Kept) -> Change:
        with self._server.translated("read"):
            tombs = self._server.collection("forgotten_records")
            if await tombs.find_one({"_id": _name(new.template, new.entity)}) is not None:
                return Change.FORGOTTEN
        known = await self.get(new.template, new.entity)
        change, written = settled(known, new)
        if change is Change.KEPT:
            return change
        which = {"_id": _name(new.template, new.entity)}
        with self._server.translated("write"):
            if known is not None and outdates(known, new):
                version = {
                    "_id": f"{which['_id']} {new.checked_at!r}",
                    "template": clean(known.template),
                    "entity": clean(known.entity),
                    "until": new.checked_at,
                    "record": dumped(known.record.as_dict()),
                }
                old = self._server.collection("record_versions")
                await old.replace_one({"_id": version["_id"]}, version, upsert=True)
            collection = self._server.collection("records")
            await collection.replace_one(which, {**which, **values_of(written)}, upsert=True)
        return change

    async def vanish(self, template: str, entities: Sequence[str], now: float) -> int:
        """See ``Records.vanish``."""
        names = [_name(template, entity) for entity in entities]
        with self._server.translated("write"):
            done = await self._server.collection("records").update_many(
                {"_id": {"$in": names}, "gone_at": 0.0}, {"$set": {"gone_at": now}}
            )
        return done.modified_count

    async def forget(self, template: str, entities: Sequence[str]) -> int:
        """See ``Records.forget``."""
        which = {
            "template": clean(template),
            "entity": {"$in": [clean(entity) for entity in entities]},
        }
        with self._server.translated("write"):
            tombs = self._server.collection("forgotten_records")
            for entity in entities:  # first, so that concurrent saves are rejected, too
                values = {"template": clean(template), "entity": clean(entity), "at": self._now()}
                tomb = {"_id": _name(template, entity)}
                await tombs.replace_one(tomb, {**tomb, **values}, upsert=True)
            await self._server.collection("record_versions").delete_many(which)
            done = await self._server.collection("records").delete_many(which)
        return done.deleted_count

    async def allow(self, template: str, entities: Sequence[str]) -> int:
        """See ``Records.allow``."""
        which: dict[str, Any] = {"entity": {"$in": [clean(entity) for entity in entities]}}
        if template:
            which["template"] = clean(template)
        with self._server.translated("write"):
            done = await self._server.collection("forgotten_records").delete_many(which)
        return done.deleted_count

    async def get(self, template: str, entity: str) -> Kept | None:
        """See ``Records.get``."""
        with self._server.translated("read"):
            which = {"_id": _name(template, entity)}
            found = await self._server.collection("records").find_one(which)
        return None if found is None else kept_of(found)

    async def versions(self, template: str, entity: str) -> list[Version]:
        """See ``Records.versions``."""
        which = {"template": clean(template), "entity": clean(entity)}
        with self._server.translated("read"):
            cursor = self._server.collection("record_versions").find(which, sort=[("until", 1)])
            found = await cursor.to_list()
        return [Version(Record.from_dict(json.loads(o["record"])), o["until"]) for o in found]

    async def of_seed(self, template: str, seed: str) -> list[Kept]:
        """See ``Records.of_seed``."""
        which = {"template": clean(template), "seed": clean(seed), "gone_at": 0.0}
        with self._server.translated("read"):
            cursor = self._server.collection("records").find(which, sort=[("entity", 1)])
            return [kept_of(one) for one in await cursor.to_list()]

    async def select(self, template: str = "", *, gone: bool = False) -> AsyncGenerator[Kept, None]:
        """See ``Records.select``."""
        which: dict[str, Any] = {} if gone else {"gone_at": 0.0}
        if template:
            which["template"] = clean(template)
        order = [("first_seen", 1), ("template", 1), ("entity", 1)]
        with self._server.translated("read"):
            async for one in self._server.collection("records").find(which, sort=order):
                yield kept_of(one)

    async def tally(self, template: str, since: float) -> dict[str, int]:
        """See ``Records.tally``."""
        here: dict[str, Any] = {"template": clean(template), "gone_at": 0.0}
        later, before = {"$gte": since}, {"$lt": since}
        kinds: tuple[dict[str, Any], ...] = (
            here,
            {**here, "first_seen": later},
            {**here, "changed_at": later, "first_seen": before},
            {**here, "gone_at": {"$gte": since}},
        )
        with self._server.translated("read"):
            count = self._server.collection("records").count_documents
            return {name: await count(which) for name, which in zip(TALLY, kinds, strict=True)}


def _name(template: str, rest: str) -> str:
    return f"{clean(rest)} {clean(template)}"


def _document(seed: Seed) -> Document:
    values = {n: clean(v) if isinstance(v, str) else v for n, v in asdict(seed).items()}
    values |= {"stage": str(seed.stage), "visits": clean(dumped(seed.visits))}
    return {"_id": _name(seed.template, seed.url), **values}


def _seed(document: Document) -> Seed:
    values = {name: document[name] for name in _SEED}
    return seed_of(values | {"visits": json.loads(values["visits"])})
