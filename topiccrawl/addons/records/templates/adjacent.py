"""Lines with the values of labels that fill their line: next cells, lines or boxes."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.candidate import holds_only
from topiccrawl.addons.records.templates.page import HEADING
from topiccrawl.addons.records.templates.values.plain import mail_of_link
from topiccrawl.addons.records.templates.values.value import SOFT, shown

if TYPE_CHECKING:
    from topiccrawl.addons.records.templates.labels import Label
    from topiccrawl.addons.records.templates.layout import Cell
    from topiccrawl.addons.records.templates.page import LabelledPage

_NEAR = 14
"""Maximum number of lines of a box in which a label and the next line belong together."""
_CHECKED = frozenset({"telephone", "mail", "qq", "url", "postcode", "address"})
"""Kinds whose values can be distinguished from other text."""


class AdjacentLines:
    """Finds the lines to which a label without a value in its own line refers.

    Args:
        page: The page.
    """

    def __init__(self, page: LabelledPage) -> None:
        self.page = page
        self._rows: dict[tuple[int, int], list[int]] = defaultdict(list)
        self._columns: dict[tuple[int, int], list[int]] = defaultdict(list)
        for number, line in enumerate(page.lines):
            if line.cell is not None:
                self._rows[line.cell.table, line.cell.row].append(number)
                self._columns[line.cell.table, line.cell.column].append(number)

    def of(self, number: int, label: Label) -> tuple[str, list[int]]:
        """Return the lines with the values of a label.

        Returns:
            Kind of place (``pair``, ``table``, ``column`` or ``list``), and numbers of the lines.
        """
        line = self.page.lines[number]
        follow = self._next(number, label)
        if follow is not None and line.cell is not None and self._answers(label, follow):
            return "pair", [follow]
        if line.cell is not None and label.end >= len(line.text.rstrip(SOFT + " :")):
            where, lines = self._in_table(number, line.cell)
            if lines:
                return where, lines
        if line.tag == "dt":
            return "list", list(takewhile(self._in_description, range(number + 1, number + _NEAR)))
        return "pair", [] if follow is None else [follow]

    def _in_table(self, number: int, cell: Cell) -> tuple[str, list[int]]:
        """Return the lines of the next cell or, if the row has headings, of the cells below."""
        if self._is_heading(cell.table, cell.row):
            column = self._columns[cell.table, cell.column]
            return "column", [other for other in column if other > number]
        row = [other for other in self._rows[cell.table, cell.row] if other > number]
        cells = [other for other in row if self._column(other) > cell.column]
        cells = [other for other in cells if self._column(other) == self._column(cells[0])]
        return "table", [] if cells and self._only_label(cells[0]) else cells

    def _column(self, number: int) -> int:
        cell = self.page.lines[number].cell
        return -1 if cell is None else cell.column

    def _is_heading(self, table: int, row: int) -> bool:
        """Return whether most lines of a row (at least two) are labels, unlike the row below."""
        lines, below = self._rows[table, row], self._rows.get((table, row + 1), [])
        if not below or 2 * sum(map(self._only_label, below)) > len(below):
            return False
        return len(lines) > 1 and 2 * sum(map(self._only_label, lines)) > len(lines)

    def _answers(self, label: Label, number: int) -> bool:
        """Return whether a line contains nothing but values of a label's kind."""
        text = self.page.lines[number].text
        found = [self.page.read(kind, text) for kind in self.page.kinds_of(label) & _CHECKED]
        return any(holds_only(values, text) for values in found if values)

    def _only_label(self, number: int) -> bool:
        marks, line = self.page.labels[number], self.page.lines[number]
        if any(mail_of_link(mark.value) for mark in line.marks):
            return False
        return len(marks) == 1 and not shown(line.text[marks[0].end :]).strip(" :")

    def _in_description(self, number: int) -> bool:
        """Return whether a line is in a ``dd``, or in a box close to its edge."""
        if number >= len(self.page.lines):
            return False
        boxes = islice(self.page.enclosing(number), 4)
        tags = {self.page.boxes[box].tag for box in boxes}
        return "dd" in tags and "dt" not in tags

    def _next(self, number: int, label: Label) -> int | None:
        """Return the line after a label without a value, if it belongs to the label."""
        page, other = self.page, number + 1
        if other >= len(page.lines) or label.end < len(page.lines[number].text.rstrip()):
            return None
        line, after = page.lines[number], page.lines[other]
        if any(mark.fields or mark.end < len(after.text) for mark in page.labels[other]):
            return None
        if line.cell is not None and after.cell != line.cell:
            return None
        around = map(page.boxes.__getitem__, page.enclosing(number))
        shared = next((box for box in around if box.begin <= other < box.end), None)
        small = shared is not None and shared.end - shared.begin <= _NEAR
        joined = small or line.tag in HEADING or line.box == after.box
        return other if joined or page.kinds_of(label) <= _CHECKED else None
