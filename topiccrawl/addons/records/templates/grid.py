"""Tables: the cells that a label cell labels, beside it or below it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.addons.records.templates.lines import Sheet


class Grid:
    """The tables of a page.

    Args:
        sheet: The page.
        only_label: Whether a line, by number, holds nothing but a label.
    """

    def __init__(self, sheet: Sheet, only_label: Callable[[int], bool]) -> None:
        self.sheet = sheet
        self.only_label = only_label
        self._rows: dict[tuple[int, int], list[int]] = defaultdict(list)
        self._columns: dict[tuple[int, int], list[int]] = defaultdict(list)
        for number, line in enumerate(sheet.lines):
            if line.cell is not None:
                self._rows[line.cell.table, line.cell.row].append(number)
                self._columns[line.cell.table, line.cell.column].append(number)

    def labelled(self, number: int) -> tuple[str, list[int]]:
        """Return ``table`` or ``column`` and the lines that a label's cell labels, if any.

        The cell beside it; where its row is one of headings, the cells below it.
        """
        cell = self.sheet.lines[number].cell
        if cell is None:
            return "", []
        if self._is_heading(cell.table, cell.row):
            column = self._columns[cell.table, cell.column]
            return "column", [other for other in column if other > number]
        row = self._rows[cell.table, cell.row]
        beside = [other for other in row if other > number and self._column(other) > cell.column]
        beside = [other for other in beside if self._column(other) == self._column(beside[0])]
        return "table", [] if beside and self.only_label(beside[0]) else beside

    def _column(self, number: int) -> int:
        cell = self.sheet.lines[number].cell
        return -1 if cell is None else cell.column

    def _is_heading(self, table: int, row: int) -> bool:
        """Return whether most lines of a row, two at least, are only labels, those below not."""
        lines = self._rows[table, row]
        below = self._rows.get((table, row + 1), [])
        if not below or 2 * sum(map(self.only_label, below)) > len(below):
            return False
        known = sum(map(self.only_label, lines))
        return len(lines) > 1 and known * 2 > len(lines)
