"""Search for values in a page: after labels, in adjacent cells, under headings, in links."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.candidate import Candidate, holds_only
from topiccrawl.addons.records.templates.multiline import extended
from topiccrawl.addons.records.templates.page import HEADING, LabelledPage
from topiccrawl.addons.records.templates.unlabelled import (
    image_of,
    leading_code,
    of_links,
    unlabelled,
)
from topiccrawl.addons.records.templates.values import address, names, plain
from topiccrawl.addons.records.templates.values.value import OBJECT, SOFT, Value, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topiccrawl.addons.records.templates.labels import Label
    from topiccrawl.addons.records.templates.layout import Cell, Line, Mark

_COLONS = frozenset(":︰∶】]")
_SHOWN = frozenset({"telephone", "mail", "qq", "address"})
"""Kinds whose values are often shown as images to prevent extraction."""
_NEAR = 14
"""Maximum number of lines of a box in which a label and the next line belong together."""
_CHECKED = frozenset({"telephone", "mail", "qq", "url", "postcode", "address"})
"""Kinds whose values can be distinguished from other text."""


class ValueFinder:
    """Finds the values of a page.

    Args:
        page: The page.
    """

    def __init__(self, page: LabelledPage) -> None:
        self.page = page
        self.words = page.words
        self.adjacent = AdjacentLines(page)

    def candidates(self) -> Iterator[Candidate]:
        """Yield all values, labelled ones first; a value may occur several times."""
        taken: set[int] = set()
        for number, marks in enumerate(self.page.labels):
            for label in marks:
                for one in self._labelled(number, label):
                    taken.add(one.at)
                    yield one
        yield from unlabelled(self.page, taken)

    def _labelled(self, number: int, label: Label) -> Iterator[Candidate]:
        """Yield the values of a label: in its own line, or else in the adjacent lines."""
        line = self.page.lines[number]
        stretch = line.text[label.end : label.stop]
        behind = [mark for mark in line.marks if label.end - 1 <= mark.start <= label.stop]
        own = shown(stretch).strip(" :-|") or OBJECT in stretch
        if own or any(mark.what != "icon" for mark in behind):
            where = "table" if line.cell else "line"
            parts = [(number, label.end, label.stop)]
        else:
            where, lines = self.adjacent.of(number, label)
            parts = []
            for at in lines:
                if (text := self.page.before_labels(at)) is None:
                    break
                parts.append((at, 0, len(text)))
        for field in label.fields:
            whole = self.words.kinds[field] == "address" and where != "column"
            for at, begin, end in parts[:1] if whole else parts:
                origin = at if where == "column" else number
                base = Candidate(field, "", "", where, at, begin, origin, label.weight)
                yield from (self._address if whole else self._in_part)(base, label, end)

    def _in_part(self, base: Candidate, label: Label, end: int) -> Iterator[Candidate]:
        """Yield the values of a label in a part of a line, and in the lines below.

        Args:
            base: The candidate without a value; it begins where the part does.
            label: The label.
            end: Offset at which the part ends.
        """
        text = self.page.lines[base.at].text
        values = self.page.read(self.words.kinds[base.field], text[base.begin : end])
        found = self._found(base, label, self._matching(label, base.field, values), end)
        yield from found
        own = base.at == base.line and base.where != "column"
        several = self.words.template.crawl[base.field].several
        if found and several and end == len(text) and (own or base.where == "pair"):
            yield from self._below(base)

    def _found(
        self, base: Candidate, label: Label, values: list[Value], end: int
    ) -> list[Candidate]:
        """Return the values in the text and the links of a part of a line, or else its image."""
        line, kind, begin = self.page.lines[base.at], self.words.kinds[base.field], base.begin
        text = line.text[begin:end]
        found = [
            base._replace(value=one.value, text=shown(text[one.start : one.end]),
                          begin=begin + one.start)
            for one in values
        ]  # fmt: skip
        found += [
            base._replace(value=value, text=shown(text), where="link", begin=start)
            for value, start in of_links(line, kind, begin, end, self.page.region)
        ]
        image = None if found else image_of(line, max(0, begin - 1), end)
        return self._image_values(base, image) if image and self._expects(base, label) else found

    def _below(self, base: Candidate) -> Iterator[Candidate]:
        """Yield values of the lines below, while these contain only values of the same kind."""
        page, kind = self.page, self.words.kinds[base.field]
        parents = set(islice(page.enclosing(base.at), 2))
        for at in range(base.at + 1, min(base.at + 5, len(page.lines))):
            text = page.before_labels(at)
            near = {page.lines[at].box, page.parent(at)} & parents
            values = page.read(kind, text) if text and near else []
            if not text or not values or not holds_only(values, text):
                return
            for one in values:
                written = shown(text[one.start : one.end])
                yield base._replace(value=one.value, text=written, where="below", at=at, begin=-1)
            if page.labels[at]:
                return

    def _address(self, base: Candidate, label: Label, end: int) -> Iterator[Candidate]:
        """Yield the address and its postcode that begin in a part of a line."""
        page, at, begin = self.page, base.at, base.begin
        line, own = page.lines[at], at == base.line
        text = line.text[begin : _before_link(line, begin, end)]
        yield from leading_code(page, at, shown(text), "line", label.weight)
        yield from self._ending_code(base, text)
        apart = names.is_organisation(shown(text)) or address.LEADING_CODE.fullmatch(text)
        if not own and apart and at + 1 < len(page.lines):
            below = base._replace(at=at + 1, begin=0)
            yield from self._address(below, label, len(page.lines[at + 1].text))
            return
        values = page.read("address", text)
        if begin + len(text) == len(line.text) and (values or not own):
            first = values[0].value if values else shown(text).strip(" ,")
            whole = extended(page, at, first)
            values = [Value(whole, 0, len(text))] if address.plausible(whole) else []
        yield from self._found(base, label, values, end)

    def _ending_code(self, base: Candidate, text: str) -> Iterator[Candidate]:
        """Yield the postcode at the end of an address."""
        field = self.words.primary("postcode")
        for one in plain.postcodes(text, self.page.region)[-1:] if field else ():
            if not shown(text[one.end :]).strip(" )。."):
                yield Candidate(field, one.value, one.value, "line", base.at, weight=base.weight)

    def _matching(self, label: Label, field: str, values: list[Value]) -> list[Value]:
        """Return the number for one word of a label with several: 电话/传真 028-1 / 028-2."""
        if len(label.fields) != len(values) or self.page.kinds_of(label) != {"telephone"}:
            return values
        return [values[label.fields.index(field)]]

    def _expects(self, base: Candidate, label: Label) -> bool:
        """Return whether a label must have a value, so that an image next to it is the value.

        Many pages have images next to words that are labels in other contexts.
        """
        line = self.page.lines[base.line]
        colon = line.text[label.end - 1 : label.end] in _COLONS
        if colon or base.where in {"table", "list", "column"}:
            return True
        linked = any(one.what == "link" and one.start <= label.start for one in line.marks)
        near = line.box == self.page.lines[base.at].box or line.tag in HEADING
        return near and label.end >= len(line.text.rstrip()) and not linked

    def _image_values(self, base: Candidate, image: Mark) -> list[Candidate]:
        """Return the values in the ``alt`` of an image, or the image itself."""
        kind, base = self.words.kinds[base.field], base._replace(text=image.instead, begin=-1)
        if values := self.page.read(kind, image.instead):
            return [base._replace(value=one.value, where="alt") for one in values]
        shows = kind in _SHOWN
        return [base._replace(value=image.value, where="image", image=True)] if shows else []


def _before_link(line: Line, begin: int, end: int) -> int:
    """Return the offset at which an address ends before a link, such as to a map."""
    links = [
        one for one in line.marks if one.what == "link" and begin < one.start < min(one.end, end)
    ]
    last = max(links, key=lambda one: one.start, default=None)
    apart = last is not None and last.end >= end and shown(line.text[begin : last.start])
    return (
        last.start
        if last and apart and not address.looks_like(line.text[last.start : end])
        else end
    )


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
        if any(plain.mail_of_link(mark.value) for mark in line.marks):
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
