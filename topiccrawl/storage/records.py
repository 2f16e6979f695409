"""Records of template crawls: one per entity; older versions and gone records are kept."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from topiccrawl.storage.part import SqlitePart
from topiccrawl.storage.periods import dumped
from topiccrawl.storage.record import Record
from topiccrawl.storage.rows import clean

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncGenerator, Mapping, Sequence


class Change(StrEnum):
    """Result of saving a record."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    RETURNED = "returned"
    KEPT = "kept"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored record. Times are seconds since the epoch, 0 if there is none.

    Attributes:
        entity: Key inside its template: host or page.
        record: Found values with their evidence.
        seed: The seed that gave it.
        number: That seed's number: of two seeds of a period that give one entity, the first counts.
        period: Period in which it was last found.
        confidence: Mean over its fields of the best value's confidence, in [0, 1].
        first_seen: When it was found first.
        changed_at: When a value was last found to differ.
        checked_at: When it was last found.
        gone_at: When it was found gone; 0 while it is there.
    """

    entity: str
    record: Record
    seed: str = ""
    number: int = 0
    period: int = 0
    confidence: float = 0.0
    first_seen: float = 0.0
    changed_at: float = 0.0
    checked_at: float = 0.0
    gone_at: float = 0.0

    @property
    def template(self) -> str:
        """Name of the template."""
        return self.record.template


class Version(NamedTuple):
    """An earlier version of a record.

    Attributes:
        record: Values found then.
        until: When it was replaced.
    """

    record: Record
    until: float


class Records(Protocol):
    """Records, in the store. All but ``close`` raise StorageError. Writes are idempotent."""

    async def open(self) -> None:
        """Open the storage; errors are those of ``Store.open``."""
        ...

    async def close(self) -> None:
        """Close the storage. Idempotent."""
        ...

    async def save(self, found: Sequence[Kept]) -> list[Change]:
        """Write found records; return the result for each, in order.

        CHANGED: values differ; the older ones become a version, unless they are of the same
        period. RETURNED: the record was gone. KEPT: not written, since an earlier seed of the same
        period gave the entity. FORGOTTEN: not written, since the entity was forgotten.
        """
        ...

    async def vanish(self, template: str, entities: Sequence[str], now: float) -> int:
        """Mark records as gone; return how many were not gone before."""
        ...

    async def forget(self, template: str, entities: Sequence[str]) -> int:
        """Delete records with their versions for good; return the number of records.

        Only the entities are kept, also of records that did not exist; they are not saved again.
        """
        ...

    async def allow(self, template: str, entities: Sequence[str]) -> int:
        """Allow forgotten entities (of any template: "") again; return how many were forgotten."""
        ...

    async def get(self, template: str, entity: str) -> Kept | None:
        """Return one record, gone or not."""
        ...

    async def versions(self, template: str, entity: str) -> list[Version]:
        """Return its older versions, the oldest first."""
        ...

    async def of_seed(self, template: str, seed: str) -> list[Kept]:
        """Return the records that a seed gave and that are not gone."""
        ...

    def select(self, template: str = "", *, gone: bool = False) -> AsyncGenerator[Kept, None]:
        """Yield all records (of a template) by ``first_seen``; with ``gone`` also gone ones."""
        ...

    async def tally(self, template: str, since: float) -> dict[str, int]:
        """Return sizes: ``here``, and since a time ``new``, ``changed``, ``gone``."""
        ...


def confidence_of(record: Record) -> float:
    """Return the mean over fields of the best value's confidence, in [0, 1]; 0 if empty."""
    best: dict[str, float] = {}
    for one in record.found:
        best[one.field] = max(one.confidence, best.get(one.field, 0.0))
    return sum(best.values()) / len(best) if best else 0.0


def settled(known: Kept | None, new: Kept) -> tuple[Change, Kept]:
    """Return the result for a found record, and the record to write."""
    if known is None:
        first = replace(new, first_seen=new.checked_at, changed_at=new.checked_at)
        return Change.NEW, first
    if known.period == new.period and known.seed != new.seed and known.number < new.number:
        return Change.KEPT, known
    same = known.record.digest == new.record.digest
    changed = known.changed_at if same else new.checked_at
    kept = replace(new, first_seen=known.first_seen, changed_at=changed, gone_at=0.0)
    if known.gone_at:
        return Change.RETURNED, replace(kept, changed_at=new.checked_at)
    return (Change.UNCHANGED if same else Change.CHANGED), kept


def outdates(known: Kept | None, new: Kept) -> bool:
    """Return whether a record's older values are to be kept as a version."""
    return (
        known is not None
        and known.period != new.period
        and known.record.digest != new.record.digest
    )


_COLUMNS = (
    "template", "entity", "name", "seed", "number", "period", "confidence", "first_seen",
    "changed_at", "checked_at", "gone_at", "record",
)  # fmt: skip
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM records"  # noqa: S608 - constant names
_PAGE = 200


class SqliteRecords(SqlitePart):
    """``Records`` in the embedded store's file."""

    async def save(self, found: Sequence[Kept]) -> list[Change]:
        """See ``Records.save``; one transaction for all."""
        return await self._database.write(lambda c: [_save(c, one) for one in found])

    async def vanish(self, template: str, entities: Sequence[str], now: float) -> int:
        """See ``Records.vanish``."""
        query = "UPDATE records SET gone_at = ? WHERE template = ? AND entity = ? AND gone_at = 0"
        values = [(now, clean(template), clean(entity)) for entity in entities]
        return await self._database.write(
            lambda c: sum(c.execute(query, one).rowcount for one in values)
        )

    async def forget(self, template: str, entities: Sequence[str]) -> int:
        """See ``Records.forget``; one transaction for all."""
        values = [(clean(template), clean(entity)) for entity in entities]

        def work(connection: sqlite3.Connection) -> int:
            which = "WHERE template = ? AND entity = ?"
            connection.executemany(f"DELETE FROM record_versions {which}", values)  # noqa: S608
            query = "INSERT OR IGNORE INTO forgotten_records VALUES (?, ?, ?)"
            connection.executemany(query, [(*one, self._now()) for one in values])
            query = f"DELETE FROM records {which}"  # noqa: S608 - constant
            return sum(connection.execute(query, one).rowcount for one in values)

        return await self._database.write(work)

    async def allow(self, template: str, entities: Sequence[str]) -> int:
        """See ``Records.allow``; one transaction for all."""
        query = "DELETE FROM forgotten_records WHERE (template = ?1 OR ?1 = '') AND entity = ?2"
        values = [(clean(template), clean(entity)) for entity in entities]
        return await self._database.write(
            lambda c: sum(c.execute(query, one).rowcount for one in values)
        )

    async def get(self, template: str, entity: str) -> Kept | None:
        """See ``Records.get``."""
        return await self._database.read(lambda c: _get(c, template, entity))

    async def versions(self, template: str, entity: str) -> list[Version]:
        """See ``Records.versions``."""
        query = (
            "SELECT record, until FROM record_versions WHERE template = ? AND entity = ? "
            "ORDER BY until"
        )
        values = (clean(template), clean(entity))
        rows = await self._database.read(lambda c: c.execute(query, values).fetchall())
        return [Version(Record.from_dict(json.loads(text)), until) for text, until in rows]

    async def of_seed(self, template: str, seed: str) -> list[Kept]:
        """See ``Records.of_seed``."""
        query = f"{_SELECT} WHERE template = ? AND seed = ? AND gone_at = 0 ORDER BY entity"
        values = (clean(template), clean(seed))
        rows = await self._database.read(lambda c: c.execute(query, values).fetchall())
        return [kept_of(dict(zip(_COLUMNS, row, strict=True))) for row in rows]

    async def select(self, template: str = "", *, gone: bool = False) -> AsyncGenerator[Kept, None]:
        """See ``Records.select``."""
        query = (
            f"{_SELECT} WHERE (template = ?1 OR ?1 = '') AND (gone_at = 0 OR ?2) "
            "AND (first_seen, template, entity) > (?3, ?4, ?5) "
            "ORDER BY first_seen, template, entity LIMIT ?6"
        )
        after: tuple[Any, ...] = (-1.0, "", "")
        while True:
            values = (clean(template), gone, *after, _PAGE)
            rows = await self._database.read(lambda c, v=values: c.execute(query, v).fetchall())  # type: ignore[misc]
            for row in rows:
                kept = kept_of(dict(zip(_COLUMNS, row, strict=True)))
                after = (kept.first_seen, kept.template, kept.entity)
                yield kept
            if len(rows) < _PAGE:
                return

    async def tally(self, template: str, since: float) -> dict[str, int]:
        """See ``Records.tally``."""
        query = (
            "SELECT sum(gone_at = 0), sum(gone_at = 0 AND first_seen >= ?1), "
            "sum(gone_at = 0 AND changed_at >= ?1 AND first_seen < ?1), sum(gone_at >= ?1) "
            "FROM records WHERE template = ?2"
        )
        values = (since, clean(template))
        row = await self._database.read(lambda c: c.execute(query, values).fetchone())
        return dict(zip(TALLY, (int(n or 0) for n in row), strict=True))


TALLY = ("here", "new", "changed", "gone")
"""Names of ``Records.tally``."""


def _get(connection: sqlite3.Connection, template: str, entity: str) -> Kept | None:
    query = f"{_SELECT} WHERE template = ? AND entity = ?"
    row = connection.execute(query, (clean(template), clean(entity))).fetchone()
    return None if row is None else kept_of(dict(zip(_COLUMNS, row, strict=True)))


def _save(connection: sqlite3.Connection, new: Kept) -> Change:
    query = "SELECT 1 FROM forgotten_records WHERE template = ? AND entity = ?"
    if connection.execute(query, (clean(new.template), clean(new.entity))).fetchone():
        return Change.FORGOTTEN
    known = _get(connection, new.template, new.entity)
    change, written = settled(known, new)
    if known is not None and change is not Change.KEPT and outdates(known, new):
        values = (known.template, known.entity, new.checked_at, dumped(known.record.as_dict()))
        connection.execute("INSERT OR REPLACE INTO record_versions VALUES (?, ?, ?, ?)", values)
    if change is not Change.KEPT:
        row = values_of(written)
        marks = ", ".join("?" * len(row))
        connection.execute(
            f"INSERT OR REPLACE INTO records ({', '.join(row)}) VALUES ({marks})",  # noqa: S608
            list(row.values()),
        )
    return change


def values_of(kept: Kept) -> dict[str, Any]:
    """Return a record's stored values by column."""
    return {
        "template": clean(kept.template),
        "entity": clean(kept.entity),
        "name": clean(kept.record.name),
        "seed": clean(kept.seed),
        **{name: getattr(kept, name) for name in _COLUMNS[4:11]},
        "record": clean(dumped(kept.record.as_dict())),
    }


def kept_of(values: Mapping[str, Any]) -> Kept:
    """Return a record from its stored values."""
    names = ("entity", "seed", *_COLUMNS[4:11])
    record = Record.from_dict(json.loads(values["record"]))
    return Kept(record=record, **{name: values[name] for name in names})
