"""File formats for people and programs: JSON lines, CSV, Markdown, HTML, Parquet, workbooks."""

from __future__ import annotations

import csv
import html
import json
import re
import sys
from contextlib import contextmanager, suppress
from datetime import datetime
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from topiccrawl.errors import ConfigurationError
from topiccrawl.messages import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TextIO

    from topiccrawl.model import Article

    Row = dict[str, Any]

GROUP = 1_000
"""Maximum number of rows of a Parquet row group."""

STANDARD = "-"
"""File name that means standard output."""

_RUNS = re.compile("[-=+@\t\r\n＝＋－＠]")
_NO_TITLE = re.compile(r"[\\*?:/\[\]]")
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NUMBER = re.compile(r"[+-]\d+(\.\d+)?([eE][+-]?\d+)?")

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)


class Writer(Protocol[T_contra]):
    """Writer of items of one kind."""

    def write(self, one: T_contra) -> None:
        """Write one item."""
        ...

    def end(self) -> None:
        """Write buffered items."""
        ...


class JsonLines(Generic[T]):
    """One JSON object per line; control characters are escaped, since it may go to a terminal.

    Args:
        file: Output file.
        row: Returns the values of an item.
    """

    def __init__(self, file: TextIO, row: Callable[[T], Row]) -> None:
        self._file = file
        self._row = row

    def write(self, one: T) -> None:
        """See ``Writer``."""
        self._file.write(escaped(json.dumps(self._row(one), ensure_ascii=False)) + "\n")

    def end(self) -> None:
        """See ``Writer``."""


def defused(cell: str | float) -> str | float:
    """Return a cell of CSV that no spreadsheet runs as a formula; numbers stay numbers.

    Text that begins with ``= + - @``, their full-width forms or a control character gets an
    apostrophe before it, unless it is a number (OWASP, CSV injection).

    >>> defused("=HYPERLINK(A1)"), defused("-3.5"), defused(-1)
    ("'=HYPERLINK(A1)", '-3.5', -1)
    """
    runs = isinstance(cell, str) and _RUNS.match(cell) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if runs else cell


class CommaSeparated(Generic[T]):
    """CSV with a first line of names, its cells ``defused``.

    Args:
        file: Output file.
        names: Names of the columns.
        cells: Returns the cells of an item.
    """

    def __init__(
        self, file: TextIO, names: Sequence[str], cells: Callable[[T], Iterable[str | float]]
    ) -> None:
        self._writer = csv.writer(file)
        self._writer.writerow(map(defused, names))
        self._cells = cells

    def write(self, one: T) -> None:
        """See ``Writer``."""
        self._writer.writerow(map(defused, self._cells(one)))

    def end(self) -> None:
        """See ``Writer``."""


class MarkdownTable(Generic[T]):
    """A Markdown table; line ends and bars of cells are replaced, so that a row is a line.

    Args:
        file: Output file.
        names: Names of the columns.
        cells: Returns the cells of an item.
    """

    def __init__(
        self, file: TextIO, names: Sequence[str], cells: Callable[[T], Iterable[str | float]]
    ) -> None:
        self._file = file
        self._cells = cells
        self._line(names)
        self._line(["---"] * len(names))

    def write(self, one: T) -> None:
        """See ``Writer``."""
        self._line([_markdown(str(cell)) for cell in self._cells(one)])

    def end(self) -> None:
        """See ``Writer``."""

    def _line(self, cells: Sequence[str]) -> None:
        self._file.write(f"| {' | '.join(cells)} |\n")


def _markdown(text: str) -> str:
    r"""Return text that Markdown shows as it is.

    >>> _markdown("a|b\n<b>*c*")
    'a\\|b &lt;b>\\*c\\*'
    """
    plain = escaped(" ".join(text.split())).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{sign}" if sign in "\\|*_`[]" else sign for sign in plain)


_HEAD = """<!doctype html>
<html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>
body {{ font: 14px/1.5 system-ui, sans-serif; margin: 1rem }}
table {{ border-collapse: collapse }}
th, td {{ border: 1px solid #ccc; padding: .3rem .5rem; text-align: left; vertical-align: top }}
th {{ position: sticky; top: 0; background: #f4f4f4 }}
td > div {{ max-width: 40rem; max-height: 12rem; overflow: auto; white-space: pre-line }}
</style></head><body><h1>{title}</h1><table>
"""


class HtmlTable:
    """A page with one table; texts are escaped, and the title links to the article.

    Args:
        file: Output file.
        title: Title of the page.
        names: Names of the columns.
        cells: Returns the cells of an article.
    """

    def __init__(
        self,
        file: TextIO,
        title: str,
        names: Sequence[str],
        cells: Callable[[Article], list[str | float]],
    ) -> None:
        self._file = file
        self._names = names
        self._cells = cells
        file.write(_HEAD.format(title=html.escape(title)))
        file.write("".join(f"<th>{html.escape(name)}</th>" for name in names) + "\n")

    def write(self, one: Article) -> None:
        """See ``Writer``."""
        cells = zip(self._names, self._cells(one), strict=True)
        row = "".join(f"<td><div>{self._shown(name, cell, one)}</div></td>" for name, cell in cells)
        self._file.write(f"<tr>{row}</tr>\n")

    def end(self) -> None:
        """See ``Writer``."""
        self._file.write("</table></body></html>\n")

    @staticmethod
    def _shown(name: str, cell: str | float, article: Article) -> str:
        text = html.escape(str(cell))
        if name in {"title", "url"} and article.url.startswith(("http://", "https://")):
            return f'<a href="{html.escape(article.url)}" rel="noreferrer">{text}</a>'
        return text


class Parquet(Generic[T]):
    """Apache Parquet, compressed.

    Args:
        path: Output file.
        schema: Returns the schema, given the module ``pyarrow``.
        row: Returns the values of an item.
    """

    def __init__(self, path: Path, schema: Callable[[Any], Any], row: Callable[[T], Row]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._schema = schema(pa)
        self._row = row
        self._table = pa.Table.from_pylist
        self._file = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Row] = []

    def write(self, one: T) -> None:
        """See ``Writer``."""
        self._rows.append(self._row(one))
        if len(self._rows) >= GROUP:
            self._flush()

    def end(self) -> None:
        """See ``Writer``."""
        self._flush()
        self._file.close()

    def _flush(self) -> None:
        self._file.write_table(self._table(self._rows, schema=self._schema))
        self._rows = []


class Workbook(Generic[T]):
    """A workbook (.xlsx) with one sheet; texts stay texts, times become times of the sheet.

    Args:
        path: Output file.
        title: Title of the sheet.
        names: Names of the columns.
        cells: Returns the cells of an item: texts, numbers, times with a zone.
    """

    def __init__(
        self, path: Path, title: str, names: Sequence[str], cells: Callable[[T], Iterable[Any]]
    ) -> None:
        from openpyxl import Workbook as Book
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.styles import Font

        self._path = path
        self._book = Book(write_only=True)
        self._sheet = self._book.create_sheet(_NO_TITLE.sub(" ", title)[:31])
        self._cell = WriteOnlyCell
        self._cells = cells
        self._sheet.freeze_panes = "A2"
        head = [self._made(name) for name in names]
        for cell in head:
            cell.font = Font(bold=True)
        self._sheet.append(head)

    def write(self, one: T) -> None:
        """See ``Writer``."""
        self._sheet.append([self._made(value) for value in self._cells(one)])

    def end(self) -> None:
        """See ``Writer``."""
        self._book.save(self._path)

    def _made(self, value: Any) -> Any:  # noqa: ANN401 - a cell of any type
        """Return a cell; a text that looks like a formula is a text."""
        if isinstance(value, datetime):
            cell = self._cell(self._sheet, value.replace(tzinfo=None))  # sheets know no zones
            cell.number_format = "yyyy-mm-dd hh:mm:ss"
        elif isinstance(value, str):
            cell = self._cell(self._sheet, _NO_XML.sub("\ufffd", value))
            cell.data_type = "s"
        else:
            cell = self._cell(self._sheet, value)
        return cell


class Formats(NamedTuple, Generic[T]):
    """Writers of one kind of item.

    Attributes:
        text: Factories of writers of text files by suffix; the first is used for standard output.
        binary: Factories of writers of other files by suffix.
    """

    text: Mapping[str, Callable[[TextIO], Writer[T]]]
    binary: Mapping[str, Callable[[Path], Writer[T]]]


@contextmanager
def writing(where: str, formats: Formats[T]) -> Iterator[Writer[T]]:
    """Yield a writer to a file in the format of its suffix; to standard output for ``-``.

    The file gets its name when it is complete.

    Raises:
        ConfigurationError: The format is unknown, pyarrow is missing for it, or the file cannot be
            written.
    """
    if where == STANDARD:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")  # as for files, not the terminal's encoding
        yield next(iter(formats.text.values()))(sys.stdout)
        return
    path = Path(where)
    with completed(path) as part:
        if path.suffix in formats.binary:
            if path.suffix == ".parquet" and find_spec("pyarrow") is None:
                raise ConfigurationError(
                    "{path}: needs pyarrow: pip install 'topiccrawl[parquet]'", path=path
                )
            writer = formats.binary[path.suffix](part)
            yield writer
            writer.end()
        elif path.suffix in formats.text:
            encoding = "utf-8-sig" if path.suffix == ".csv" else "utf-8"  # BOM for spreadsheets
            with part.open("w", encoding=encoding, errors="replace", newline="") as file:
                writer = formats.text[path.suffix](file)
                yield writer
                writer.end()
        else:
            *known, last = *formats.text, *formats.binary
            raise ConfigurationError(
                "{path}: name a {choices} or {last} file",
                path=path,
                choices=", ".join(known),
                last=last,
            )


@contextmanager
def completed(path: Path) -> Iterator[Path]:
    """Yield a temporary file that is renamed to ``path`` when complete, and deleted otherwise.

    Raises:
        ConfigurationError: It cannot be written.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        reason = error.strerror or error
        raise ConfigurationError(
            "{path}: cannot be written: {reason}", path=path, reason=reason
        ) from error
    finally:
        with suppress(OSError):
            part.unlink()
