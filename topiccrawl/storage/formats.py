"""Export formats: JSON lines, CSV, Markdown, HTML, Parquet and Excel workbooks."""

from __future__ import annotations

import csv
import json
import re
import sys
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.util import find_spec
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Generic, TextIO, TypeVar

from lxml.etree import LxmlError

from topiccrawl.errors import ConfigurationError, translated
from topiccrawl.messages import NameList, escaped, message
from topiccrawl.storage.files import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from jinja2 import Template

    from topiccrawl.model import Article

    Cells = Callable[["T"], Iterable[str | float]]
    Row = dict[str, Any]
    Formats = Mapping[str, Callable[[Any], "Writer[T]"]]
    """Factories of writers by file suffix, given the file; the first is that of standard output."""

GROUP = 1_000
"""Maximum number of rows of a Parquet row group."""

BINARY = frozenset({".parquet", ".xlsx"})
"""Suffixes of binary formats; the others are texts."""

STANDARD = "-"
"""File name that means standard output."""

_FORMULA_START = re.compile("[-=+@\t\r\n＝＋－＠]")
_NOT_IN_TITLE = re.compile(r"[\\*?:/\[\]]")
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NUMBER = re.compile(r"[+-]\d+(\.\d+)?([eE][+-]?\d+)?")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Writer(Generic[T]):
    """Writer of items of one kind.

    Attributes:
        write: Writes one item.
        end: Writes buffered items and the footer.
        close: Releases the file, also after an error.
    """

    write: Callable[[T], object]
    end: Callable[[], object] = lambda: None
    close: Callable[[], object] = lambda: None


def json_lines(file: TextIO, row: Callable[[T], Row]) -> Writer[T]:
    """Return a writer of one JSON object per line.

    Control characters are escaped, since the output may be a terminal.

    Args:
        file: Output file.
        row: Returns the values of an item.
    """
    return Writer(lambda one: file.write(escaped(json.dumps(row(one), ensure_ascii=False)) + "\n"))


def escape_formula(cell: str | float) -> str | float:
    """Return a CSV cell that no spreadsheet evaluates as a formula; numbers are unchanged.

    An apostrophe is put before text that begins with ``= + - @``, their full-width forms or a
    control character, unless the text is a number (OWASP, CSV injection).

    >>> escape_formula("=HYPERLINK(A1)"), escape_formula("-3.5"), escape_formula(-1)
    ("'=HYPERLINK(A1)", '-3.5', -1)
    """
    runs = isinstance(cell, str) and _FORMULA_START.match(cell) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if runs else cell


def comma_separated(file: TextIO, names: Sequence[str], cells: Cells[T]) -> Writer[T]:
    """Return a writer of CSV with a header line; formulas are escaped.

    Args:
        file: Output file.
        names: Names of the columns.
        cells: Returns the cells of an item.
    """
    put = csv.writer(file).writerow
    put(map(escape_formula, names))
    return Writer(lambda one: put(map(escape_formula, cells(one))))


def markdown_table(file: TextIO, names: Sequence[str], cells: Cells[T]) -> Writer[T]:
    """Return a writer of a Markdown table.

    Line ends and vertical bars in cells are replaced, so that each row is one line.

    Args:
        file: Output file.
        names: Names of the columns.
        cells: Returns the cells of an item.
    """

    def put(row: Iterable[str]) -> None:
        file.write(f"| {' | '.join(row)} |\n")

    put(names)
    put(["---"] * len(names))
    return Writer(lambda one: put(_markdown(str(cell)) for cell in cells(one)))


def _markdown(text: str) -> str:
    r"""Return text with Markdown syntax escaped.

    >>> _markdown("a|b\n<b>*c*")
    'a\\|b &lt;b>\\*c\\*'
    """
    plain = escaped(" ".join(text.split())).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{sign}" if sign in "\\|*_`[]" else sign for sign in plain)


def html_table(
    file: TextIO, title: str, names: Sequence[str], cells: Cells[Article]
) -> Writer[Article]:
    """Return a writer of an HTML page with one table.

    Texts are escaped. The title links to the article.

    Args:
        file: Output file.
        title: Title of the page.
        names: Names of the columns.
        cells: Returns the cells of an article.
    """
    table: Any = template("topiccrawl.storage", "templates/table.html").module
    file.write(table.head(title, names))

    def write(one: Article) -> None:
        url = one.url if one.url.startswith(("http://", "https://")) else ""
        file.write(table.row(zip(names, cells(one), strict=True), url))

    return Writer(write, lambda: file.write(table.end()))


@cache
def template(package: str, name: str) -> Template:
    """Return a template of Jinja2 that escapes all texts as HTML.

    Args:
        package: Package with the template.
        name: Path of the template in the package.
    """
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader(package, "")
    pages = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return pages.get_template(name)


def parquet(file: IO[bytes], schema: Callable[[Any], Any], row: Callable[[T], Row]) -> Writer[T]:
    """Return a writer of compressed Apache Parquet.

    Args:
        file: Output file.
        schema: Returns the schema, given the module ``pyarrow``.
        row: Returns the values of an item.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = schema(pa)
    table = pq.ParquetWriter(file, columns, compression="zstd")
    rows: list[Row] = []

    def flush() -> None:
        table.write_table(pa.Table.from_pylist(rows, schema=columns))
        rows.clear()

    def write(one: T) -> None:
        rows.append(row(one))
        if len(rows) >= GROUP:
            flush()

    return Writer(write, flush, table.close)


def workbook(
    file: IO[bytes], title: str, names: Sequence[str], cells: Callable[[T], Iterable[Any]]
) -> Writer[T]:
    """Return a writer of an Excel workbook (.xlsx) with one sheet.

    Texts are stored as texts, even if they look like formulas; times are stored as times.

    Args:
        file: Output file.
        title: Title of the sheet.
        names: Names of the columns.
        cells: Returns the cells of an item: texts, numbers or times with a zone.
    """
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    book = Workbook(write_only=True)
    sheet = book.create_sheet(_NOT_IN_TITLE.sub(" ", xml_text(title))[:31])
    sheet.freeze_panes = "A2"

    def to_cell(value: Any) -> Any:  # noqa: ANN401 - a cell of any type
        if isinstance(value, datetime):
            cell = WriteOnlyCell(sheet, value.replace(tzinfo=None))  # workbooks have no time zones
            cell.number_format = "yyyy-mm-dd hh:mm:ss"
        elif isinstance(value, str):
            cell = WriteOnlyCell(sheet, xml_text(value))
            cell.data_type = "s"
        else:
            cell = WriteOnlyCell(sheet, value)
        return cell

    head = [to_cell(name) for name in names]
    for cell in head:
        cell.font = Font(bold=True)
    sheet.append(head)

    def end() -> None:
        content = BytesIO()  # a file that openpyxl cannot complete would print a stack trace
        book.save(content)
        file.write(content.getvalue())

    def close() -> None:
        if not sheet.closed:  # else openpyxl would print a stack trace when it is freed
            sheet.close()

    return Writer(lambda one: sheet.append([to_cell(value) for value in cells(one)]), end, close)


def xml_text(text: str) -> str:
    """Return the text with U+FFFD in place of characters that XML does not allow."""
    return _NOT_IN_XML.sub("\ufffd", text)


def encoding_of(suffix: str) -> str:
    """Return the encoding of a text format: UTF-8, with a byte order mark for spreadsheets."""
    return "utf-8-sig" if suffix == ".csv" else "utf-8"


@contextmanager
def open_writer(where: str, formats: Formats[T]) -> Iterator[Writer[T]]:
    """Yield a writer in the format of the file suffix, or to standard output for ``-``.

    The file is renamed to ``where`` when it is complete.

    Raises:
        ConfigurationError: The format is unknown, pyarrow is missing, or the file cannot be
            written.
    """
    if where == STANDARD:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")  # like files, whatever the terminal's encoding
        yield next(iter(formats.values()))(sys.stdout)
        return
    path = Path(where)
    if path.suffix not in formats:
        raise ConfigurationError(
            "{file}: unknown suffix; choose one of {choices}", file=path, choices=NameList(formats)
        )
    if path.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise ConfigurationError(
            "{path}: needs pyarrow: pip install 'topiccrawl[parquet]'", path=path
        )
    with atomic_output(path) as part, _opened(part, path.suffix) as file:
        writer = formats[path.suffix](file)
        with closing(writer):
            yield writer
            writer.end()


def _opened(path: Path, suffix: str) -> IO[Any]:
    if suffix in BINARY:
        return path.open("wb")
    return path.open("w", encoding=encoding_of(suffix), errors="replace", newline="")


@contextmanager
def atomic_output(path: Path) -> Iterator[Path]:
    """Yield a temporary file that is renamed to ``path`` when complete, and deleted otherwise.

    Raises:
        ConfigurationError: The file cannot be written.
    """
    text = message("{path}: cannot be written: {strerror}")
    causes = (OSError, LxmlError)  # a workbook's sheets are temporary files of lxml
    with translated(ConfigurationError, text, causes, path=path), replacing(path) as part:
        yield part
