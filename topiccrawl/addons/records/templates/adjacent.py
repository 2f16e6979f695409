"""Lines with the values of labels that fill their line: next cells, lines or boxes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.candidate import holds_only
from topiccrawl.addons.records.templates.layout import Layout, enclosing
from topiccrawl.addons.records.templates.values.plain import mail_of_link
from topiccrawl.addons.records.templates.values.read import read_values
from topiccrawl.addons.records.templates.values.value import SOFT, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from topiccrawl.addons.records.templates.labels import Label
    from topiccrawl.addons.records.templates.words import Vocabulary

HEADING = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "th", "caption"})
_NEAR = 14
"""Maximum number of lines of a box in which a label and the next line belong together."""
_CHECKED = frozenset({"telephone", "mail", "qq", "url", "postcode", "address"})
"""Kinds whose values can be distinguished from other text."""


class Grid:
    """The tables of a page.

    Args:
        page: The page.
        only_label: Returns whether a line, by number, contains nothing but a label.
    """

    def __init__(self, page: Layout, only_label: Callable[[int], bool]) -> None:
        self.page = page
        self.only_label = only_label
        self._rows: dict[tuple[int, int], list[int]] = defaultdict(list)
        self._columns: dict[tuple[int, int], list[int]] = defaultdict(list)
        for number, line in enumerate(page.lines):
            if line.cell is not None:
                self._rows[line.cell.table, line.cell.row].append(number)
                self._columns[line.cell.table, line.cell.column].append(number)

    def labelled(self, number: int) -> tuple[str, list[int]]:
        """Return ``table`` or ``column``, and the lines with the values of a label, if any.

        They are in the next cell of the row, or in the cells below if the row has headings.
        """
        cell = self.page.lines[number].cell
        if cell is None:
            return "", []
        if self._is_heading(cell.table, cell.row):
            column = self._columns[cell.table, cell.column]
            return "column", [other for other in column if other > number]
        row = self._rows[cell.table, cell.row]
        cells = [other for other in row if other > number and self._column(other) > cell.column]
        cells = [other for other in cells if self._column(other) == self._column(cells[0])]
        return "table", [] if cells and self.only_label(cells[0]) else cells

    def _column(self, number: int) -> int:
        cell = self.page.lines[number].cell
        return -1 if cell is None else cell.column

    def _is_heading(self, table: int, row: int) -> bool:
        """Return whether most lines of a row (at least two) are labels, unlike the row below."""
        lines = self._rows[table, row]
        below = self._rows.get((table, row + 1), [])
        if not below or 2 * sum(map(self.only_label, below)) > len(below):
            return False
        known = sum(map(self.only_label, lines))
        return len(lines) > 1 and known * 2 > len(lines)


class AdjacentLines:
    """Finds the lines to which a label without a value in its own line refers.

    Args:
        page: The page.
        words: The template's labels.
        labels: Labels of each line.
    """

    def __init__(self, page: Layout, words: Vocabulary, labels: Sequence[Sequence[Label]]) -> None:
        self.page = page
        self.words = words
        self.labels = labels
        self._grid = Grid(page, self._only_label)

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
            where, lines = self._grid.labelled(number)
            if lines:
                return where, lines
        if line.tag == "dt":
            return "list", self._until(number, "dd")
        return "pair", [] if follow is None else [follow]

    def _answers(self, label: Label, number: int) -> bool:
        """Return whether a line contains nothing but values of a label's kind."""
        text, region = self.page.lines[number].text, self.words.template.region
        kinds = {self.words.kinds[field] for field in label.fields} & _CHECKED
        found = [read_values(kind, text, region) for kind in kinds]
        return any(holds_only(values, text) for values in found if values)

    def _only_label(self, number: int) -> bool:
        marks = self.labels[number]
        text = self.page.lines[number].text
        if any(mail_of_link(mark.value) for mark in self.page.lines[number].marks):
            return False
        return bool(marks) and not shown(text[marks[-1].end :]).strip(" :") and len(marks) == 1

    def _until(self, number: int, tag: str) -> list[int]:
        lines: list[int] = []
        for other in range(number + 1, min(number + _NEAR, len(self.page.lines))):
            tags = {
                self.page.boxes[box].tag
                for box in list(enclosing(self.page, self.page.lines[other].box))[:4]
            }
            if "dt" in tags or tag not in tags:
                break
            lines.append(other)
        return lines

    def _next(self, number: int, label: Label) -> int | None:
        """Return the line after a label without a value, if it belongs to the label."""
        other = number + 1
        if other >= len(self.page.lines) or label.end < len(self.page.lines[number].text.rstrip()):
            return None
        line, after = self.page.lines[number], self.page.lines[other]
        if any(mark.fields or mark.end < len(after.text) for mark in self.labels[other]):
            return None
        if line.cell is not None and after.cell != line.cell:
            return None
        boxes = self.page.boxes
        shared = next((boxes[one] for one in enclosing(self.page, line.box)
                       if boxes[one].begin <= other < boxes[one].end), None)  # fmt: skip
        small = shared is not None and shared.end - shared.begin <= _NEAR
        kinds = {self.words.kinds[field] for field in label.fields}
        if small or line.tag in HEADING or line.box == after.box or kinds <= _CHECKED:
            return other
        return None
