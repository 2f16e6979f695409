"""Progress of template crawls: their periods, and their seeds with the pages fetched for each.

A seed and its pages are one value, written at once: after a kill, the seed is as it was after one
of its pages. One process crawls a template at a time.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from topiccrawl.storage.part import SqlitePart
from topiccrawl.storage.rows import clean

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence


class Phase(StrEnum):
    """Phase of a period, in order."""

    SEARCHING = "searching"
    CRAWLING = "crawling"
    CHECKING = "checking"
    FINISHED = "finished"


class Stage(StrEnum):
    """Stage of a seed.

    FOUND by the search, not numbered yet; WAITING for its draw; OPEN: its pages are fetched; AGAIN:
    missing pages are requested once more at the end; DONE; FAILED: its own page could not be
    fetched; SKIPPED by the random draw, offered again in the next period.
    """

    FOUND = "found"
    WAITING = "waiting"
    OPEN = "open"
    AGAIN = "again"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Period:
    """One period of a template; times are seconds since the epoch, 0 if there is none.

    Attributes:
        template: Name of the template.
        number: Number of the period, from 1.
        phase: Its current phase.
        started: When it began.
        finished: When it ended.
        total: Seeds in its list.
    """

    template: str
    number: int
    phase: Phase = Phase.SEARCHING
    started: float = 0.0
    finished: float = 0.0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Seed:
    """A seed and the pages fetched for it.

    Attributes:
        template: Name of the template.
        url: Canonical URL.
        title: Its title in the search results.
        rank: Its rank in the search results.
        number: Its number in the period's list, from 1; 0 before it has one.
        period: Last period whose list contains it.
        stage: Its stage in that period.
        chance: Probability with which it was drawn, in [0, 1]; 0 before.
        useful: Number of records that it gave.
        crawled: Last period in which it was crawled to its end; 0 for none.
        visits: Its pages by name, as JSON values (``addons.records.periods.visits.Visit``).
    """

    template: str
    url: str
    title: str = ""
    rank: int = 0
    number: int = 0
    period: int = 0
    stage: Stage = Stage.FOUND
    chance: float = 0.0
    useful: int = 0
    crawled: int = 0
    visits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class Periods(Protocol):
    """Periods and seeds, in the store. All but ``close`` raise StorageError; all are idempotent."""

    async def open(self) -> None:
        """Open the storage; errors are those of ``Store.open``."""
        ...

    async def close(self) -> None:
        """Close the storage. Idempotent."""
        ...

    async def last(self, template: str) -> Period | None:
        """Return the period that began last."""
        ...

    async def put(self, period: Period) -> None:
        """Insert a period, or replace the one of its number."""
        ...

    async def save(self, seeds: Sequence[Seed]) -> None:
        """Insert or replace seeds; after the return they survive kill -9."""
        ...

    async def get(self, template: str, urls: Sequence[str]) -> dict[str, Seed]:
        """Return the seeds of those URLs that are stored."""
        ...

    async def select(
        self, template: str, stage: Stage, limit: int, *, period: int = 0, rank: bool = False,
        useful: bool = False,
    ) -> list[Seed]:  # fmt: skip
        """Return up to ``limit`` seeds of a stage by number, or by rank.

        Only of one period, if not 0; with ``useful`` only those that gave records.
        """
        ...

    async def outcomes(self, template: str, period: int) -> list[tuple[int, Stage, float, int]]:
        """Return number, stage, chance and record count of each seed in a period's list."""
        ...


_PERIOD = tuple(one.name for one in fields(Period))
_SEED = tuple(one.name for one in fields(Seed))
_ALL_SEEDS = f"SELECT {', '.join(_SEED)} FROM template_seeds WHERE template = ?"  # noqa: S608
_BATCH = 500


class SqlitePeriods(SqlitePart):
    """``Periods`` in the embedded store's file."""

    async def last(self, template: str) -> Period | None:
        """See ``Periods.last``."""
        query = (
            f"SELECT {', '.join(_PERIOD)} FROM template_periods "  # noqa: S608 - constant names
            "WHERE template = ? ORDER BY number DESC LIMIT 1"
        )
        row = await self._database.read(lambda c: c.execute(query, (clean(template),)).fetchone())
        return None if row is None else period_of(dict(zip(_PERIOD, row, strict=True)))

    async def put(self, period: Period) -> None:
        """See ``Periods.put``."""
        await self._database.write(lambda c: _replace(c, "template_periods", [asdict(period)]))

    async def save(self, seeds: Sequence[Seed]) -> None:
        """See ``Periods.save``; one transaction for all."""
        rows = [asdict(seed) | {"visits": dumped(seed.visits)} for seed in seeds]
        await self._database.write(lambda c: _replace(c, "template_seeds", rows))

    async def get(self, template: str, urls: Sequence[str]) -> dict[str, Seed]:
        """See ``Periods.get``."""

        def work(connection: sqlite3.Connection) -> list[Any]:
            rows: list[Any] = []
            for start in range(0, len(urls), _BATCH):
                some = [clean(url) for url in urls[start : start + _BATCH]]
                query = f"{_ALL_SEEDS} AND url IN ({', '.join('?' * len(some))})"
                rows += connection.execute(query, (clean(template), *some)).fetchall()
            return rows

        return {seed.url: seed for seed in map(_seed, await self._database.read(work))}

    async def select(
        self, template: str, stage: Stage, limit: int, *, period: int = 0, rank: bool = False,
        useful: bool = False,
    ) -> list[Seed]:  # fmt: skip
        """See ``Periods.select``."""
        order = "rank" if rank else "number"
        which = "stage = ? AND (period = ? OR ? = 0) AND useful >= ?"
        query = f"{_ALL_SEEDS} AND {which} ORDER BY {order}, url LIMIT ?"
        values = (clean(template), str(stage), period, period, int(useful), limit)
        rows = await self._database.read(lambda c: c.execute(query, values).fetchall())
        return [_seed(row) for row in rows]

    async def outcomes(self, template: str, period: int) -> list[tuple[int, Stage, float, int]]:
        """See ``Periods.outcomes``."""
        query = (
            "SELECT number, stage, chance, useful FROM template_seeds "
            "WHERE template = ? AND period = ? AND number > 0 ORDER BY number"
        )
        values = (clean(template), period)
        rows = await self._database.read(lambda c: c.execute(query, values).fetchall())
        return [(number, Stage(stage), chance, useful) for number, stage, chance, useful in rows]


def _replace(connection: sqlite3.Connection, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    for row in rows:
        names = ", ".join(row)
        marks = ", ".join("?" * len(row))
        values = [clean(str(v)) if isinstance(v, str) else v for v in row.values()]
        connection.execute(f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({marks})", values)  # noqa: S608


def _seed(row: Sequence[Any]) -> Seed:
    values = dict(zip(_SEED, row, strict=True))
    return seed_of(values | {"visits": json.loads(values["visits"])})


def seed_of(values: Mapping[str, Any]) -> Seed:
    """Return a seed from its stored values."""
    return Seed(**{**values, "stage": Stage(values["stage"])})


def period_of(values: Mapping[str, Any]) -> Period:
    """Return a period from its stored values."""
    return Period(**{**values, "phase": Phase(values["phase"])})


def dumped(value: object) -> str:
    """Return compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
