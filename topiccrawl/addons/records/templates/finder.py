"""Search for values in a page: after labels, in adjacent cells, under headings, in links."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.adjacent import AdjacentLines
from topiccrawl.addons.records.templates.candidate import Candidate, holds_only
from topiccrawl.addons.records.templates.multiline import extended
from topiccrawl.addons.records.templates.page import HEADING
from topiccrawl.addons.records.templates.unlabelled import (
    image_of,
    leading_code,
    of_links,
    unlabelled,
)
from topiccrawl.addons.records.templates.values.address import (
    LEADING_CODE,
    looks_like,
    plausible,
)
from topiccrawl.addons.records.templates.values.names import is_organisation
from topiccrawl.addons.records.templates.values.plain import postcodes
from topiccrawl.addons.records.templates.values.value import OBJECT, Value, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topiccrawl.addons.records.templates.labels import Label
    from topiccrawl.addons.records.templates.layout import Line, Mark
    from topiccrawl.addons.records.templates.page import LabelledPage

_COLONS = frozenset(":︰∶】]")
_SHOWN = frozenset({"telephone", "mail", "qq", "address"})
"""Kinds whose values are often shown as images to prevent extraction."""


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
            places = [(number, label.end, label.stop)]
        else:
            where, lines = self.adjacent.of(number, label)
            places = []
            for other in lines:
                text = self.page.before_labels(other)
                if text is None:
                    break
                places.append((other, 0, len(text)))
        for field in label.fields:
            if self.words.kinds[field] == "address" and where != "column":
                yield from self._address(field, number, label, where, places[:1])
                continue
            for at, begin, end in places:
                yield from self._in_part(field, number, label, where, (at, begin, end))

    def _in_part(
        self, field: str, number: int, label: Label, where: str, part: tuple[int, int, int]
    ) -> Iterator[Candidate]:
        """Yield the values of a field in a part of a line: in its text, its links or its image."""
        at, begin, end = part
        line, kind = self.page.lines[at], self.words.kinds[field]
        text = line.text[begin:end]
        found = [
            (value.value, shown(text[value.start : value.end]), where, begin + value.start)
            for value in self._matching(label, field, self.page.read(kind, text))
        ]
        links = of_links(line, kind, begin, end, self.page.region)
        found += [(value, shown(text), "link", start) for value, start in links]
        origin = at if where == "column" else number
        for value, written, how, start in found:
            yield Candidate(field, value, written, how, origin, label.weight, at=at, begin=start)
        image = None if found else image_of(line, max(0, begin - 1), end)
        if image and self._expects(origin, label, where, at):
            yield from self._image_values(field, origin, label, image, at)
        last = end == len(line.text) and (at == number or where == "pair")
        if found and last and self.words.template.crawl[field].several:
            yield from self._below(field, origin, label, at)

    def _below(self, field: str, number: int, label: Label, first: int) -> Iterator[Candidate]:
        """Yield values of the lines below, while these contain only values of the same kind."""
        parents = set(islice(self.page.enclosing(first), 2))
        for at in range(first + 1, min(first + 5, len(self.page.lines))):
            text = self.page.before_labels(at)
            near = {self.page.lines[at].box, self.page.parent(at)} & parents
            values = self.page.read(self.words.kinds[field], text) if text and near else []
            if not values or not holds_only(values, text or ""):
                return
            for value in values:
                written = shown(self.page.lines[at].text[value.start : value.end])
                yield Candidate(field, value.value, written, "below", number, label.weight, at=at)
            if self.page.labels[at]:
                return

    def _address(
        self, field: str, number: int, label: Label, where: str, parts: list[tuple[int, int, int]]
    ) -> Iterator[Candidate]:
        """Yield an address in one line or in consecutive lines."""
        for at, begin, end in parts:
            page, line = self.page, self.page.lines[at]
            text = line.text[begin : _before_link(line, begin, end)]
            own = at == number
            yield from leading_code(at, shown(text), label.weight * 0.99, self.words)
            yield from self._ending_code(at, label, text)
            apart = is_organisation(shown(text)) or LEADING_CODE.fullmatch(text)
            if not own and apart and at + 1 < len(page.lines):
                below = (at + 1, 0, len(page.lines[at + 1].text))
                yield from self._address(field, number, label, where, [below])
                return
            values = page.read("address", text)
            if begin + len(text) == len(line.text) and (values or not own):
                first = values[0].value if values else shown(text).strip(" ,")
                whole = extended(page, at, first)
                values = [Value(whole, 0, len(text))] if plausible(whole) else []
            for value in values:
                yield Candidate(field, value.value, shown(text), where, number, label.weight,
                                at=at, begin=begin + value.start)  # fmt: skip
            image = None if values else image_of(line, max(0, begin - 1), end)
            if image and self._expects(number, label, where, at):
                yield from self._image_values(field, number, label, image, at)

    def _ending_code(self, number: int, label: Label, text: str) -> Iterator[Candidate]:
        """Yield the postcode at the end of an address."""
        field = self.words.primary("postcode")
        for one in postcodes(text, self.page.region)[-1:] if field else ():
            if not shown(text[one.end :]).strip(" )。."):
                yield Candidate(field, one.value, one.value, "line", number, label.weight,
                                at=number)  # fmt: skip

    def _matching(self, label: Label, field: str, values: list[Value]) -> list[Value]:
        """Return the number for one word of a label with several: 电话/传真 028-1 / 028-2."""
        if len(label.fields) != len(values) or self.page.kinds_of(label) != {"telephone"}:
            return values
        return [values[label.fields.index(field)]]

    def _expects(self, number: int, label: Label, where: str, at: int) -> bool:
        """Return whether a label must have a value, so that an image next to it is the value.

        Many pages have images next to words that are labels in other contexts.
        """
        line = self.page.lines[number]
        if where in {"table", "list", "column"} or line.text[label.end - 1 : label.end] in _COLONS:
            return True
        linked = any(one.what == "link" and one.start <= label.start for one in line.marks)
        near = line.box == self.page.lines[at].box or line.tag in HEADING
        return near and label.end >= len(line.text.rstrip()) and not linked

    def _image_values(
        self, field: str, number: int, label: Label, image: Mark, at: int
    ) -> Iterator[Candidate]:
        """Yield the values in the ``alt`` of an image, or the image itself."""
        kind, text = self.words.kinds[field], image.instead
        values = self.page.read(kind, text)
        for value in values:
            yield Candidate(field, value.value, text, "alt", number, label.weight, at=at)
        if not values and kind in _SHOWN:
            yield Candidate(
                field, image.value, text, "image", number, label.weight, image=True, at=at
            )


def _before_link(line: Line, begin: int, end: int) -> int:
    """Return the offset at which an address ends before a link, such as to a map."""
    links = [
        one for one in line.marks if one.what == "link" and begin < one.start < min(one.end, end)
    ]
    last = max(links, key=lambda one: one.start, default=None)
    apart = last is not None and last.end >= end and shown(line.text[begin : last.start])
    return last.start if last and apart and not looks_like(line.text[last.start : end]) else end
