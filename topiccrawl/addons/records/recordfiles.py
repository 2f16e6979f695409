"""Records as files for other programs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from topiccrawl.storage.formats import CommaSeparated, Formats, JsonLines, Parquet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topiccrawl.addons.records.records import Kept

BETWEEN = "; "
"""Separates several values of a field in CSV."""
_TIMES = ("first_seen", "changed_at", "checked_at", "gone_at")
_ABOUT = ("template", "entity", "name")
_AFTER = ("confidence", "seed", *_TIMES, "urls")


def shown(kept: Kept) -> dict[str, Any]:
    """A record with its evidence, as JSON has it; times as ISO 8601 in UTC.

    >>> from topiccrawl.addons.records.records import Kept
    >>> from topiccrawl.addons.records.record import Found, Record
    >>> record = Record("t", "甲", (Found("QQ", "10001"),), ("http://a.test/",))
    >>> found = shown(Kept("a.test", record, first_seen=1.0))
    >>> found["values"], found["first_seen"], found["gone_at"]
    ({'QQ': ['10001']}, '1970-01-01T00:00:01Z', '')
    """
    record = kept.record
    fields = dict.fromkeys(one.field for one in record.found)
    return {
        "template": record.template,
        "entity": kept.entity,
        "name": record.name,
        "values": {field: list(record.values(field)) for field in fields},
        "confidence": round(kept.confidence, 4),
        "seed": kept.seed,
        **{name: iso(getattr(kept, name)) for name in _TIMES},
        "urls": list(record.urls),
        "evidence": [one._asdict() for one in record.found],
    }


def iso(time: float) -> str:
    """Seconds since the epoch as ISO 8601 in UTC; "" for 0."""
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%SZ}" if time else ""


def formats(fields: Sequence[str]) -> Formats[Kept]:
    """Return the formats of record files; CSV has a column for each of the fields."""
    names = (*_ABOUT, *fields, *_AFTER)

    def cells(kept: Kept) -> Iterator[str | float]:
        values = shown(kept)
        yield from (values[name] for name in _ABOUT)
        yield from (BETWEEN.join(values["values"].get(field, ())) for field in fields)
        yield from (values[name] for name in _AFTER[:-1])
        yield BETWEEN.join(values["urls"])

    return Formats(
        {
            ".jsonl": lambda file: JsonLines(file, shown),
            ".csv": lambda file: CommaSeparated(file, names, cells),
        },
        {".parquet": lambda path: Parquet(path, _schema, shown)},
    )


def _schema(pa: Any) -> Any:  # noqa: ANN401 - pyarrow, an extra
    """Values with their evidence are a list."""
    text = pa.string()
    names = ("field", "value", "text", "where", "url", "snippet")
    one = pa.struct([
        *((name, text) for name in names), ("confidence", pa.float64()), ("image", pa.bool_()),
    ])  # fmt: skip
    return pa.schema([
        *((name, text) for name in (*_ABOUT, "seed", *_TIMES)),
        ("confidence", pa.float64()), ("urls", pa.list_(text)), ("evidence", pa.list_(one)),
    ])  # fmt: skip
