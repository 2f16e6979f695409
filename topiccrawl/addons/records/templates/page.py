"""A page as all searches for values see it: lines and boxes, with the labels of each line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.labels import Label, labels, with_stops
from topiccrawl.addons.records.templates.values.read import read_values
from topiccrawl.addons.records.templates.values.value import Value, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topiccrawl.addons.records.templates.layout import Layout, Line
    from topiccrawl.addons.records.templates.template import ValueKind
    from topiccrawl.addons.records.templates.words import Vocabulary

HEADING = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "th", "caption"})


class LabelledPage:
    """Lines and boxes of a page, with the labels of a template.

    Args:
        layout: The page.
        words: The template's labels.

    Attributes:
        words: The template's labels.
        region: Country of the template.
        title: Text of ``<title>``.
        boxes: Block elements.
        lines: Lines; a line that is only the image of a label has the label's text.
        labels: Labels of each line.
    """

    def __init__(self, layout: Layout, words: Vocabulary) -> None:
        self.words = words
        self.region = words.template.region
        self.title = layout.title
        self.boxes = layout.boxes
        self.lines = tuple(_image_label(line, words) for line in layout.lines)
        self.labels = [_labels(line, words) for line in self.lines]

    def text(self, number: int) -> str:
        """Return the text of a line as displayed."""
        return shown(self.lines[number].text)

    def before_labels(self, number: int) -> str | None:
        """Return the text of a line before its first label; None if it begins with a label."""
        text, marks = self.lines[number].text, self.labels[number]
        before = text[: marks[0].start] if marks else text
        return before if not marks or shown(before).strip(" ([") else None

    def kinds(self, number: int) -> set[ValueKind]:
        """Return the kinds of the fields that a line labels."""
        return {kind for label in self.labels[number] for kind in self.kinds_of(label)}

    def kinds_of(self, label: Label) -> set[ValueKind]:
        """Return the kinds of a label's fields."""
        return {self.words.kinds[field] for field in label.fields}

    def read(self, kind: ValueKind, text: str) -> list[Value]:
        """Return the values of a kind in a labelled text."""
        return read_values(kind, text, self.region)

    def parent(self, number: int) -> int:
        """Return the box around the box of a line; -1 if there is none."""
        return self.boxes[self.lines[number].box].parent

    def enclosing(self, number: int) -> Iterator[int]:
        """Yield the boxes around a line, from inner to outer."""
        box = self.lines[number].box
        while box >= 0:
            yield box
            box = self.boxes[box].parent


def _image_label(line: Line, words: Vocabulary) -> Line:
    """Replace a line that is only the image of a label by the text of the label."""
    label_text = line.marks[0].instead.strip(" :") if len(line.marks) == 1 and not line.text else ""
    marks = labels(label_text, words) if label_text and line.marks[0].what == "image" else []
    if len(marks) != 1 or not marks[0].fields or marks[0].end < len(label_text):
        return line
    return line._replace(text=label_text + ":", marks=())


def _labels(line: Line, words: Vocabulary) -> list[Label]:
    """Return the labels of a line, including images of labels followed by text."""
    found = labels(line.text, words)
    images = [mark for mark in line.marks if mark.what == "image" and mark.instead]
    for mark in images:
        label_text = labels(mark.instead.rstrip(" :") + ":", words)
        if label_text and label_text[-1].fields and shown(line.text[mark.start :]):
            found.append(label_text[-1]._replace(start=mark.start, end=mark.start))
    return with_stops(found, len(line.text)) if images else found
