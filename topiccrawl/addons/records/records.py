"""Store of the records of template crawls: one record per entity, with its older versions."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from topiccrawl.addons.records.record import Record
from topiccrawl.storage.documents import DocumentKind, DocumentStore, Span, pages
from topiccrawl.text.normal import clean

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from topiccrawl.storage.contract import Storage
    from topiccrawl.storage.documents import Document


class Change(StrEnum):
    """Result of saving a record."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    RETURNED = "returned"
    KEPT = "kept"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A stored record. Times are in seconds since the epoch; 0 means never.

    Attributes:
        entity: Key of the record within its template: a host or a page URL.
        record: Extracted values with their evidence.
        seed: URL of the seed that produced the record.
        number: Number of that seed in its period. If two seeds of a period produce the same
            entity, the record of the lower number is stored.
        period: Number of the last period in which the record was found.
        confidence: Mean confidence of the best value of each field, in [0, 1].
        first_seen: Time when the record was first found.
        changed_at: Time of the last change of a value.
        checked_at: Time when the record was last found.
        gone_at: Time when the record was found to be gone; 0 if it still exists.
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
        record: The earlier values.
        until: Time when the version was replaced, seconds since the epoch.
    """

    record: Record
    until: float


def confidence_of(record: Record) -> float:
    """Return the mean confidence of the best value of each field, in [0, 1]; 0 if empty."""
    best: dict[str, float] = {}
    for one in record.found:
        best[one.field] = max(one.confidence, best.get(one.field, 0.0))
    return sum(best.values()) / len(best) if best else 0.0


def resolve_change(known: StoredRecord | None, new: StoredRecord) -> tuple[Change, StoredRecord]:
    """Compare a found record with the stored one; return the change and the record to write."""
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


RECORDS = DocumentKind(
    "records",
    (
        "template", "entity", "name", "seed", "number", "period", "confidence", "first_seen",
        "changed_at", "checked_at", "gone_at", "record",
    ),
    key=2,
    nested=frozenset({"record"}),
    indexes=(("template", "seed"), ("first_seen", "template", "entity")),
)  # fmt: skip
VERSIONS = DocumentKind(
    "record_versions", ("template", "entity", "until", "record"), key=3,
    nested=frozenset({"record"}),
)  # fmt: skip
FORGOTTEN = DocumentKind("forgotten_records", ("template", "entity", "at"), key=2)


class Records(DocumentStore):
    """Store of records. All methods but ``close`` raise StorageError. Writes are idempotent.

    Args:
        storage: The configured storage.
    """

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage.documents(RECORDS, VERSIONS, FORGOTTEN))

    async def save(self, found: Sequence[StoredRecord]) -> list[Change]:
        """Write records; return the change of each, in order.

        CHANGED: Values differ. The old values become a version, unless they are of the same
        period. RETURNED: The record was marked as gone. KEPT: Not written, because an earlier seed
        of the same period produced the entity. FORGOTTEN: Not written, because the user deleted
        the entity with ``forget``.
        """
        keys = [(clean(kept.template), clean(kept.entity)) for kept in found]
        forgotten = await self._forgotten(keys)
        stored = await self._documents.get(RECORDS, keys)
        known = {(one.template, one.entity): one for one in map(_stored, stored)}
        changes, versions, written = [], [], {}
        for key, new in zip(keys, found, strict=True):
            old = known.get(key)
            change, result = resolve_change(old, new)
            if key in forgotten:
                change = Change.FORGOTTEN
            elif change is not Change.KEPT:
                if old and old.period != new.period and old.record.digest != new.record.digest:
                    versions.append({**_document(old), "until": new.checked_at})
                known[key] = written[key] = result
            changes.append(change)
        await self._write([_document(one) for one in written.values()], versions)
        return changes

    async def mark_gone(self, template: str, entities: Sequence[str], now: float) -> int:
        """Mark records as gone; return the number of records that were not gone before."""
        found = await self._documents.get(RECORDS, [(template, one) for one in entities])
        newly_gone = [{**one, "gone_at": now} for one in found if not one["gone_at"]]
        await self._write(newly_gone)
        return len(newly_gone)

    async def forget(self, template: str, entities: Sequence[str]) -> int:
        """Delete records with their versions permanently; return the number of deleted records.

        The names of the entities are stored, even of records that did not exist, so that ``save``
        skips them from now on.
        """
        at = time.time()
        marks = [{"template": template, "entity": one, "at": at} for one in entities]
        await self._documents.put({FORGOTTEN: marks})  # first, so that concurrent saves see it
        return sum([await self._erase(template, entity) for entity in entities])

    async def allow(self, template: str, entities: Sequence[str]) -> int:
        """Allow forgotten entities again; return how many were forgotten. "": any template."""
        of = {"template": template} if template else {}
        return await self._documents.delete(FORGOTTEN, *({**of, "entity": one} for one in entities))

    async def get(self, template: str, entity: str) -> StoredRecord | None:
        """Return one record, including a gone one, or None."""
        found = await self._documents.get(RECORDS, [(template, entity)])
        return _stored(found[0]) if found else None

    async def versions(self, template: str, entity: str) -> list[Version]:
        """Return the older versions of a record, oldest first."""
        where = {"template": template, "entity": entity}
        found = await self._documents.find(VERSIONS, where, order=("until",))
        return [Version(Record.from_dict(one["record"]), one["until"]) for one in found]

    async def of_seed(self, template: str, seed: str) -> list[StoredRecord]:
        """Return the records of a seed that are not gone."""
        where = {"template": template, "seed": seed, "gone_at": 0.0}
        return [_stored(o) for o in await self._documents.find(RECORDS, where, order=("entity",))]

    async def select(
        self, template: str = "", *, gone: bool = False
    ) -> AsyncGenerator[StoredRecord, None]:
        """Yield all records (of a template) by ``first_seen``; ``gone`` includes gone records."""
        where: dict[str, Any] = {"template": template} if template else {}
        if not gone:
            where["gone_at"] = 0.0
        order = ("first_seen", "template", "entity")
        async for found in pages(self._documents, RECORDS, where, order):
            for one in found:
                yield _stored(one)

    async def count_changes(self, template: str, since: float) -> dict[str, int]:
        """Count the records ``here``, and those ``new``, ``changed`` and ``gone`` since a time."""
        here: dict[str, Any] = {"template": template, "gone_at": 0.0}
        changed = {"changed_at": Span(since), "first_seen": Span(high=since)}
        kinds = {
            "here": here,
            "new": {**here, "first_seen": Span(since)},
            "changed": {**here, **changed},
            "gone": {**here, "gone_at": Span(since)},
        }
        return {name: await self._documents.count(RECORDS, one) for name, one in kinds.items()}

    async def _write(self, records: Sequence[Document], versions: Sequence[Document] = ()) -> None:
        """Write records; then delete those that another process has forgotten concurrently."""
        await self._documents.put({VERSIONS: versions, RECORDS: records})
        for key in await self._forgotten([(one["template"], one["entity"]) for one in records]):
            await self._erase(*key)

    async def _forgotten(self, keys: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        found = await self._documents.get(FORGOTTEN, keys)
        return {(one["template"], one["entity"]) for one in found}

    async def _erase(self, template: str, entity: str) -> int:
        """Delete a record with its versions."""
        which = {"template": template, "entity": entity}
        await self._documents.delete(VERSIONS, which)
        return await self._documents.delete(RECORDS, which)


def _document(kept: StoredRecord) -> dict[str, Any]:
    """Return the values of a record; a version has some of them."""
    record = kept.record
    own = {"template": record.template, "name": record.name, "record": record.as_dict()}
    return {**asdict(kept), **own}


def _stored(values: Mapping[str, Any]) -> StoredRecord:
    names = RECORDS.fields[3:-1]
    record = Record.from_dict(values["record"])
    return StoredRecord(values["entity"], record, **{name: values[name] for name in names})
