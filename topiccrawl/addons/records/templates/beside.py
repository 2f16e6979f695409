"""Values of labels that fill their line: the value is in the next cell, line or box."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.candidate import only
from topiccrawl.addons.records.templates.grid import Grid
from topiccrawl.addons.records.templates.lines import above
from topiccrawl.addons.records.templates.values.mail import of_link
from topiccrawl.addons.records.templates.values.read import read_values
from topiccrawl.addons.records.templates.values.value import SOFT, seen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.addons.records.templates.labels import Label
    from topiccrawl.addons.records.templates.lines import Sheet
    from topiccrawl.addons.records.templates.words import Vocabulary

HEADING = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "th", "caption"})
_NEAR = 14
"""Lines of the box in which a label and the line after it belong together."""
_CHECKED = frozenset({"telephone", "mail", "qq", "url", "postcode", "address"})
"""Kinds whose values can be distinguished from other text."""


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
