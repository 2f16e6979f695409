"""Articles as files for other programs: JSON lines, CSV, Parquet, Atom."""

from __future__ import annotations

import csv
import json
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from topiccrawl.errors import ConfigurationError
from topiccrawl.news.article import Article
from topiccrawl.stores.feed import Atom

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

ROWS = 1_000
"""Articles of a Parquet row group."""

STANDARD = "-"
"""Stands for standard output, where a file is named."""

COLUMNS = tuple(Article("http://a.test/", "", "").to_dict())
"""Names and order of what is written of an article."""


class Writer(Protocol):
    """Takes articles one after the other."""

    def write(self, article: Article) -> None:
        """Write one."""
        ...

    def end(self) -> None:
        """Write what waits."""
        ...


def shown(article: Article) -> dict[str, Any]:
    """What is shown of an article: all of it, but no body where its owner wants no copy shown.

    >>> shown(Article("http://a.test/1", "题", "文", noarchive=True))["body"]
    ''
    """
    values = article.to_dict()
    return {**values, "body": ""} if article.noarchive else values


class JsonLines:
    """One JSON object a line, UTF-8."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, article: Article) -> None:
        """See ``Writer``."""
        self._file.write(json.dumps(shown(article), ensure_ascii=False) + "\n")

    def end(self) -> None:
        """See ``Writer``."""


class CommaSeparated:
    """CSV with a first line of names; what has parts (topics, terms, images) is JSON."""

    def __init__(self, file: TextIO) -> None:
        self._writer = csv.DictWriter(file, COLUMNS)
        self._writer.writeheader()

    def write(self, article: Article) -> None:
        """See ``Writer``."""
        self._writer.writerow(
            {
                name: value
                if isinstance(value, str | int | float)
                else json.dumps(value, ensure_ascii=False)
                for name, value in shown(article).items()
            }
        )

    def end(self) -> None:
        """See ``Writer``."""


class Parquet:
    """Apache Parquet, compressed; topics and terms are lists of name and number.

    Raises:
        ConfigurationError: pyarrow is not installed.
    """

    def __init__(self, path: Path) -> None:
        if find_spec("pyarrow") is None:
            raise ConfigurationError(f"{path}: needs pyarrow: pip install topiccrawl[parquet]")
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.parquet as pq  # noqa: PLC0415

        weighted = pa.list_(pa.struct([("name", pa.string()), ("number", pa.float64())]))
        types = {
            "images": pa.list_(pa.string()), "topics": weighted, "terms": weighted,
            "fetched_at": pa.float64(), "depth": pa.int64(), "noarchive": pa.bool_(),
        }  # fmt: skip
        self._schema = pa.schema([(name, types.get(name, pa.string())) for name in COLUMNS])
        self._table = pa.Table.from_pylist
        self._file = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []

    def write(self, article: Article) -> None:
        """See ``Writer``."""
        values = shown(article)
        for name, pairs in (("topics", article.topics.items()), ("terms", article.terms)):
            values[name] = [{"name": text, "number": number} for text, number in pairs]
        self._rows.append(values)
        if len(self._rows) >= ROWS:
            self._flush()

    def end(self) -> None:
        """See ``Writer``."""
        self._flush()
        self._file.close()

    def _flush(self) -> None:
        self._file.write_table(self._table(self._rows, schema=self._schema))
        self._rows = []


_TEXT: dict[str, tuple[Callable[[TextIO], Writer], str]] = {
    ".jsonl": (JsonLines, "utf-8"),
    ".csv": (CommaSeparated, "utf-8-sig"),
    ".atom": (Atom, "utf-8"),
}
"""Writer and encoding by suffix; spreadsheets take CSV for UTF-8 by its mark only."""


@contextmanager
def writing(where: str) -> Iterator[Writer]:
    """A writer into a file, its format told by its suffix; into standard output for ``-``.

    The file takes its name when it is complete.

    Raises:
        ConfigurationError: There is no such format, or the file cannot be written.
    """
    if where == STANDARD:
        yield JsonLines(sys.stdout)
        return
    path = Path(where)
    part = path.with_name(f".{path.name}.part")
    try:
        if path.suffix == ".parquet":
            writer: Writer = Parquet(part)
            yield writer
            writer.end()
        elif path.suffix in _TEXT:
            make, encoding = _TEXT[path.suffix]
            with part.open("w", encoding=encoding, errors="replace", newline="") as file:
                writer = make(file)
                yield writer
                writer.end()
        else:
            raise ConfigurationError(f"{path}: name a .jsonl, .csv, .parquet or .atom file")
        part.replace(path)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be written: {error}") from error
    finally:
        part.unlink(missing_ok=True)
