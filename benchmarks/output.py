"""Command lines and output of the benchmarks."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
"""Folder of collections that are not part of the project."""
STDOUT = Path("-")


def command_line(text: str | None, **numbers: float) -> argparse.ArgumentParser:
    """Return a parser with ``--json``, described by the docstring of a benchmark.

    Args:
        text: The docstring.
        numbers: Options that are numbers, with their defaults.
    """
    parser = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--json", type=Path, nargs="?", const=STDOUT, metavar="FILE",
        help="write the figures there, or print them",
    )  # fmt: skip
    for name, default in numbers.items():
        parser.add_argument(
            f"--{name}", type=type(default), default=default, metavar="N", help=f"{default:g}"
        )
    return parser


def show(figures: Mapping[str, object], file: Path | None, table: str | None = None) -> None:
    """Print figures as a table, or as JSON if ``file`` is ``STDOUT``; write JSON to another file.

    Args:
        figures: Figures by name; fractions are rounded to four digits.
        file: Value of ``--json``.
        table: Text of the table; by default a line for each figure.
    """
    plain = {n: round(one, 4) if isinstance(one, float) else one for n, one in figures.items()}
    text = json.dumps(plain, indent=1, ensure_ascii=False)
    if file == STDOUT:
        print(text)
        return
    print("\n".join(f"{name:34} {one}" for name, one in plain.items()) if table is None else table)
    if file:
        file.write_text(f"{text}\n", encoding="utf-8")


def columns(titles: Iterable[str], rows: Mapping[str, Sequence[float]], digits: str) -> str:
    """Return a table with a column for each title.

    Args:
        titles: Titles of the columns.
        rows: Figures of each row, in the order of the titles.
        digits: Format of a figure, such as ``.3f``.
    """
    width = max(map(len, rows), default=0) + 2
    lines = [" " * width + "".join(f"{title:>16}" for title in titles)]
    lines += [
        name.ljust(width) + "".join(f"{one:16{digits}}" for one in row)
        for name, row in rows.items()
    ]
    return "\n".join(lines)
