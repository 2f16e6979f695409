"""Lines with the values of labels that fill their line: next cells, lines or boxes."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.candidate import holds_only
from topiccrawl.addons.records.templates.values import read_values
from topiccrawl.addons.records.templates.values.mail import mail_of_link
from topiccrawl.addons.records.templates.values.plain import SOFT, shown

if TYPE_CHECKING:
    from topiccrawl.addons.records.templates.labels import Label, LabelledPage
    from topiccrawl.addons.records.templates.layout import Cell

HEADING = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "th", "caption"})
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
        if line.cell is not None:
            if follow and self._answers(label, follow[0]):
                return "pair", follow
            if label.end >= len(line.text.rstrip(SOFT + " :")):
                where, lines = self._cells(number, line.cell)
                if lines:
                    return where, lines
        return ("list", self._definitions(number)) if line.tag == "dt" else ("pair", follow)

    def _cells(self, number: int, cell: Cell) -> tuple[str, list[int]]:
        """Return ``table`` or ``column``, and the lines with the values of a label, if any.

        They are in the next cell of the row, or in the cells below if the row has headings.
        """
        if self._is_heading(cell.table, cell.row):
            column = self._columns[cell.table, cell.column]
            return "column", [other for other in column if other > number]
        row = self._rows[cell.table, cell.row]
        cells = [other for other in row if other > number and self._column(other) > cell.column]
        cells = [other for other in cells if self._column(other) == self._column(cells[0])]
        return "table", [] if cells and self._only_label(cells[0]) else cells

    def _column(self, number: int) -> int:
        cell = self.page.lines[number].cell
        return -1 if cell is None else cell.column

    def _is_heading(self, table: int, row: int) -> bool:
        """Return whether most lines of a row (at least two) are labels, unlike the row below."""
        lines, below = self._rows[table, row], self._rows.get((table, row + 1), [])
        if len(lines) < 2 or not below:  # noqa: PLR2004
            return False
        known, known_below = (sum(map(self._only_label, some)) for some in (lines, below))
        return 2 * known > len(lines) and 2 * known_below <= len(below)

    def _only_label(self, number: int) -> bool:
        """Return whether a line contains nothing but a label."""
        line, marks = self.page.lines[number], self.page.labels[number]
        if len(marks) != 1 or any(mail_of_link(mark.value) for mark in line.marks):
            return False
        return not shown(line.text[marks[0].end :]).strip(" :")

    def _answers(self, label: Label, number: int) -> bool:
        """Return whether a line contains nothing but values of a label's kind."""
        text = self.page.lines[number].text
        kinds = {self.page.words.kinds[field] for field in label.fields} & _CHECKED
        found = [read_values(kind, text, self.page.region) for kind in kinds]
        return any(holds_only(values, text) for values in found if values)

    def _definitions(self, number: int) -> list[int]:
        """Return the lines of the ``dd`` elements after a line."""
        lines: list[int] = []
        for other in range(number + 1, min(number + _NEAR, len(self.page.lines))):
            tags = {self.page.boxes[box].tag for box in islice(self.page.enclosing(other), 4)}
            if "dt" in tags or "dd" not in tags:
                break
            lines.append(other)
        return lines

    def _next(self, number: int, label: Label) -> list[int]:
        """Return the line after a label without a value, if it belongs to the label."""
        other, lines, boxes = number + 1, self.page.lines, self.page.boxes
        if other >= len(lines) or label.end < len(lines[number].text.rstrip()):
            return []
        line, after = lines[number], lines[other]
        if any(mark.fields or mark.end < len(after.text) for mark in self.page.labels[other]):
            return []
        if line.cell is not None and after.cell != line.cell:
            return []
        around = (boxes[box] for box in self.page.enclosing(number))
        shared = next(box for box in around if other < box.end)
        small = shared.end - shared.begin <= _NEAR
        kinds = {self.page.words.kinds[field] for field in label.fields}
        if small or line.tag in HEADING or line.box == after.box or kinds <= _CHECKED:
            return [other]
        return []
