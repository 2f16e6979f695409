"""Search for values in a page: after labels, in adjacent cells, under headings, in links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.addresses import extended, leading_code
from topiccrawl.addons.records.templates.adjacent import HEADING, AdjacentLines
from topiccrawl.addons.records.templates.candidate import Candidate, holds_only
from topiccrawl.addons.records.templates.unlabelled import image_of, of_links, unlabelled
from topiccrawl.addons.records.templates.values.address import LEADING_CODE, plausible
from topiccrawl.addons.records.templates.values.names import is_organisation
from topiccrawl.addons.records.templates.values.plain import OBJECT, Value, postcodes, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topiccrawl.addons.records.templates.labels import Label, LabelledPage
    from topiccrawl.addons.records.templates.layout import Line, Mark

_COLONS = frozenset(":︰∶】]")
_SHOWN = frozenset({"telephone", "mail", "qq", "address"})
"""Kinds whose values are often shown as images to prevent extraction."""
_MOST_NEXT = 4
"""Maximum number of further lines with values of one label."""


class ValueFinder:
    """Finds the values of a page.

    Args:
        page: The page.
    """

    def __init__(self, page: LabelledPage) -> None:
        self.page = page
        self._adjacent = AdjacentLines(page)

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
        line = self.page.lines[number]
        stretch = line.text[label.end : label.stop]
        marked = any(
            mark.what != "icon" and label.end - 1 <= mark.start <= label.stop for mark in line.marks
        )
        if marked or OBJECT in stretch or shown(stretch).strip(" :-|"):
            for field in label.fields:
                yield from self._same_line(number, label, field)
        elif label.fields:
            where, lines = self._adjacent.of(number, label)
            for field in label.fields if lines else ():
                if self.page.words.kinds[field] == "address" and where != "column":
                    yield from self._address(field, number, label, lines, where)
                else:
                    yield from self._from_lines(field, number, label, lines, where)

    # -- In the same line ------------------------------------------------------------------------

    def _same_line(self, number: int, label: Label, field: str) -> Iterator[Candidate]:
        line, kind = self.page.lines[number], self.page.words.kinds[field]
        where = "table" if line.cell else "line"
        stretch = line.text[label.end : label.stop]
        if kind == "address":
            stretch = line.text[label.end : _before_link(line, label.end, label.stop)]
            yield from leading_code(self.page, number, stretch, label.weight * 0.99)
            yield from self._ending_code(number, label, stretch)
        values = self._matching(label, field, self.page.read(field, stretch))
        if kind == "address" and values and label.stop == len(line.text):
            values = extended(self.page, number, values[0])
        linked = of_links(line, kind, self.page.region, label.end, label.stop)
        for value in values:
            text = shown(stretch[value.start : value.end])
            yield Candidate(field, value.value, text, where, number, label.weight,
                            begin=label.end + value.start)  # fmt: skip
        for one, start in linked:
            yield Candidate(field, one, shown(stretch), "link", number, label.weight, begin=start)
        if not values and not linked:
            image = image_of(line, label.end - 1, label.stop)
            yield from self._image(image, field, number, label, number, where)
        elif label.stop == len(line.text):
            yield from self._next(field, number, number + 1, label)

    def _ending_code(self, number: int, label: Label, stretch: str) -> Iterator[Candidate]:
        """Yield the postcode at the end of an address."""
        field = self.page.words.primary("postcode")
        for one in postcodes(stretch, self.page.region)[-1:] if field else ():
            if not shown(stretch[one.end :]).strip(" )。."):
                yield Candidate(field, one.value, one.value, "line", number, label.weight)

    def _matching(self, label: Label, field: str, values: list[Value]) -> list[Value]:
        """Return the number for one word of a label with several: 电话/传真 028-1 / 028-2."""
        kinds = {self.page.words.kinds[one] for one in label.fields}
        if len(label.fields) != len(values) or kinds != {"telephone"}:
            return values
        return [values[label.fields.index(field)]]

    def _next(self, field: str, number: int, begin: int, label: Label) -> Iterator[Candidate]:
        """Yield values of the next lines, while these contain only values of the same kind."""
        if not self.page.words.template.crawl[field].several:
            return
        for at in range(begin, min(begin + _MOST_NEXT, len(self.page.lines))):
            text = self.page.before_labels(at) or ""
            values = self.page.read(field, text)
            if not values or not holds_only(values, text):
                return
            for value in values:
                written = shown(text[value.start : value.end])
                yield Candidate(field, value.value, written, "below", at, label.weight, number)

    # -- In adjacent lines and cells -------------------------------------------------------------

    def _from_lines(
        self, field: str, number: int, label: Label, lines: Sequence[int], where: str
    ) -> Iterator[Candidate]:
        """Yield the values of a field in lines whose label is in another line."""
        for at in lines:
            text, line = self.page.before_labels(at), self.page.lines[at]
            if text is None:
                break
            origin = at if where == "column" else number
            values = self._matching(label, field, self.page.read(field, text))
            linked = of_links(line, self.page.words.kinds[field], self.page.region)
            for value in values:
                written = shown(text[value.start : value.end])
                yield Candidate(field, value.value, written, where, at, label.weight, origin)
            for one, _ in linked:
                yield Candidate(field, one, shown(line.text), "link", at, label.weight, origin)
            if not values and not linked:
                yield from self._image(image_of(line), field, origin, label, at, where)
            elif values and where == "pair":
                yield from self._next(field, origin, at + 1, label)

    def _address(
        self, field: str, number: int, label: Label, lines: Sequence[int], where: str
    ) -> Iterator[Candidate]:
        """Yield an address in one line or in consecutive lines."""
        named = is_organisation(shown(self.page.lines[lines[0]].text))
        at = min(lines[0] + named, len(self.page.lines) - 1)
        if LEADING_CODE.fullmatch(code := self.page.lines[at].text) and at + 1 in lines:
            yield from leading_code(self.page, at, code, label.weight * 0.99)
            at += 1
        line, text = self.page.lines[at], self.page.before_labels(at) or ""
        text = text[: _before_link(line, 0, len(text))]
        yield from leading_code(self.page, at, shown(text), label.weight * 0.99)
        values = self.page.read(field, text) or [Value(shown(text).strip(" ,"), 0, len(text))]
        values = [one for one in extended(self.page, at, values[0]) if plausible(one.value)]
        for value in values:
            yield Candidate(field, value.value, shown(line.text), where, at, label.weight, number)
        if not values:
            yield from self._image(image_of(line), field, number, label, at, where)

    # -- Images ----------------------------------------------------------------------------------

    def _image(
        self, image: Mark | None, field: str, number: int, label: Label, at: int, where: str
    ) -> Iterator[Candidate]:
        """Yield the values in the ``alt`` of an image next to a label, or the image itself.

        The label must have a value, as in a table or before a colon: many pages have images next to
        words that are labels in other contexts.
        """
        line = self.page.lines[number]
        linked = any(one.what == "link" and one.start <= label.start for one in line.marks)
        near = line.box == self.page.lines[at].box or line.tag in HEADING
        sure = where in {"table", "list", "column"} or line.text[label.end - 1] in _COLONS
        likely = near and not linked and label.end >= len(line.text.rstrip())
        if image is None or not (sure or likely):
            return
        values = self.page.read(field, image.instead)
        for value in values:
            yield Candidate(field, value.value, image.instead, "alt", at, label.weight, number)
        if not values and self.page.words.kinds[field] in _SHOWN:
            yield Candidate(field, image.value, image.instead, "image", at, label.weight, number)


def _before_link(line: Line, begin: int, end: int) -> int:
    """Return the offset at which an address ends before a link, such as to a map."""
    links = [one for one in line.marks if one.what == "link" and begin < one.start < one.end]
    start = max((one.start for one in links), default=end)
    return start if start < end and shown(line.text[begin:start]) else end
