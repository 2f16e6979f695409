"""Values of labels that fill their line: the value is in the next cell, line or box."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.candidate import only
from topiccrawl.addons.records.templates.lines import Sheet, above
from topiccrawl.addons.records.templates.values.mail import of_link
from topiccrawl.addons.records.templates.values.read import read_values
from topiccrawl.addons.records.templates.values.value import SOFT, seen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from topiccrawl.addons.records.templates.labels import Label
    from topiccrawl.addons.records.templates.words import Vocabulary

HEADING = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "th", "caption"})
_NEAR = 14
"""Lines of the box in which a label and the line after it belong together."""
_CHECKED = frozenset({"telephone", "mail", "qq", "url", "postcode", "address"})
"""Kinds whose values can be distinguished from other text."""


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


class Beside:
    """Says which lines a lone label labels.

    Args:
        sheet: The page.
        words: The template's labels.
        labels: Labels of each line.
    """

    def __init__(self, sheet: Sheet, words: Vocabulary, labels: Sequence[Sequence[Label]]) -> None:
        self.sheet = sheet
        self.words = words
        self.labels = labels
        self._grid = Grid(sheet, self._only_label)

    def of(self, number: int, label: Label) -> tuple[str, list[int]]:
        """Return the lines that a label labels.

        Returns:
            Their place (``pair``, ``table``, ``column`` or ``list``), and their numbers, if any.
        """
        line = self.sheet.lines[number]
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
        """Return whether a line holds nothing but values of the kind that a label calls for."""
        text, region = self.sheet.lines[number].text, self.words.template.region
        kinds = {self.words.kinds[field] for field in label.fields} & _CHECKED
        found = [read_values(kind, text, region) for kind in kinds]
        return any(only(values, text) for values in found if values)

    def _only_label(self, number: int) -> bool:
        marks = self.labels[number]
        text = self.sheet.lines[number].text
        if any(of_link(mark.value) for mark in self.sheet.lines[number].marks):
            return False
        return bool(marks) and not seen(text[marks[-1].end :]).strip(" :") and len(marks) == 1

    def _until(self, number: int, tag: str) -> list[int]:
        lines: list[int] = []
        for other in range(number + 1, min(number + _NEAR, len(self.sheet.lines))):
            tags = {
                self.sheet.boxes[box].tag
                for box in list(above(self.sheet, self.sheet.lines[other].box))[:4]
            }
            if "dt" in tags or tag not in tags:
                break
            lines.append(other)
        return lines

    def _next(self, number: int, label: Label) -> int | None:
        """The line after one that holds only a label, if it belongs to it."""
        other = number + 1
        if other >= len(self.sheet.lines) or label.end < len(
            self.sheet.lines[number].text.rstrip()
        ):
            return None
        line, after = self.sheet.lines[number], self.sheet.lines[other]
        if any(mark.fields or mark.end < len(after.text) for mark in self.labels[other]):
            return None
        if line.cell is not None and after.cell != line.cell:
            return None
        boxes = self.sheet.boxes
        shared = next((boxes[one] for one in above(self.sheet, line.box)
                       if boxes[one].begin <= other < boxes[one].end), None)  # fmt: skip
        small = shared is not None and shared.end - shared.begin <= _NEAR
        kinds = {self.words.kinds[field] for field in label.fields}
        if small or line.tag in HEADING or line.box == after.box or kinds <= _CHECKED:
            return other
        return None
