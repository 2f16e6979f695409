"""Records as files for other programs: JSON lines, CSV, Parquet."""

from __future__ import annotations

import csv
import json
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from topiccrawl.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from topiccrawl.stores.records import Kept

_ROWS = 1_000
"""Records of a Parquet row group."""
BETWEEN = "; "
"""Stands between several values of a field in CSV."""
_TIMES = ("first_seen", "changed_at", "checked_at", "gone_at")
_ABOUT = ("template", "entity", "name")
_AFTER = ("confidence", "seed", *_TIMES, "urls")


class Writer(Protocol):
    """Takes records one after the other."""

    def write(self, kept: Kept) -> None:
        """Write one."""
        ...

    def end(self) -> None:
        """Write what waits."""
        ...


def shown(kept: Kept) -> dict[str, Any]:
    """A record with its evidence, as JSON has it; times as ISO 8601 in UTC.

    >>> from topiccrawl.stores.records import Kept
    >>> from topiccrawl.templates.record import Found, Record
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


class JsonLines:
    """One JSON object a line, UTF-8, evidence included."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, kept: Kept) -> None:
        """See ``Writer``."""
        self._file.write(json.dumps(shown(kept), ensure_ascii=False) + "\n")

    def end(self) -> None:
        """See ``Writer``."""


class CommaSeparated:
    """CSV, a column a field; several values stand in one cell.

    Args:
        file: Where to.
        fields: Names of the fields, in order.
    """

    def __init__(self, file: TextIO, fields: Sequence[str]) -> None:
        self._fields = fields
        self._writer = csv.writer(file)
        self._writer.writerow([*_ABOUT, *fields, *_AFTER])

    def write(self, kept: Kept) -> None:
        """See ``Writer``."""
        all_of = shown(kept)
        values = [BETWEEN.join(all_of["values"].get(field, ())) for field in self._fields]
        after = [all_of[name] for name in _AFTER[:-1]]
        urls = BETWEEN.join(all_of["urls"])
        self._writer.writerow([*(all_of[name] for name in _ABOUT), *values, *after, urls])

    def end(self) -> None:
        """See ``Writer``."""


class Parquet:
    """Apache Parquet, compressed; values with their evidence are a list.

    Raises:
        ConfigurationError: pyarrow is not installed.
    """

    def __init__(self, path: Path) -> None:
        if find_spec("pyarrow") is None:
            raise ConfigurationError(f"{path}: needs pyarrow: pip install topiccrawl[parquet]")
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.parquet as pq  # noqa: PLC0415

        text = pa.string()
        names = ("field", "value", "text", "where", "url", "snippet")
        one = pa.struct([
            *((name, text) for name in names), ("confidence", pa.float64()), ("image", pa.bool_()),
        ])  # fmt: skip
        self._schema = pa.schema([
            *((name, text) for name in (*_ABOUT, "seed", *_TIMES)),
            ("confidence", pa.float64()), ("urls", pa.list_(text)), ("evidence", pa.list_(one)),
        ])  # fmt: skip
        self._table = pa.Table.from_pylist
        self._file = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []

    def write(self, kept: Kept) -> None:
        """See ``Writer``."""
        self._rows.append(shown(kept))
        if len(self._rows) >= _ROWS:
            self._flush()

    def end(self) -> None:
        """See ``Writer``."""
        self._flush()
        self._file.close()

    def _flush(self) -> None:
        self._file.write_table(self._table(self._rows, schema=self._schema))
        self._rows = []


@contextmanager
def writing(where: str, fields: Sequence[str]) -> Iterator[Writer]:
    """A writer into a file, its format told by its suffix; JSON lines to standard output for ``-``.

    The file takes its name when it is complete.

    Raises:
        ConfigurationError: There is no such format, or the file cannot be written.
    """
    if where == "-":
        yield JsonLines(sys.stdout)
        return
    path = Path(where)
    if path.suffix not in {".jsonl", ".csv", ".parquet"}:
        raise ConfigurationError(f"{path}: name a .jsonl, .csv or .parquet file")
    part = path.with_name(f".{path.name}.part")
    try:
        if path.suffix == ".parquet":
            writer: Writer = Parquet(part)
            yield writer
            writer.end()
        else:
            encoding = "utf-8-sig" if path.suffix == ".csv" else "utf-8"  # for spreadsheets
            with part.open("w", encoding=encoding, errors="replace", newline="") as file:
                writer = (
                    JsonLines(file) if path.suffix == ".jsonl" else CommaSeparated(file, fields)
                )
                yield writer
        part.replace(path)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be written: {error}") from error
    finally:
        part.unlink(missing_ok=True)
