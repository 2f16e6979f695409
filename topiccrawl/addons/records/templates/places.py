"""Places of values: after a label, in the next cell, under a heading, behind a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.beside import HEADING, Beside
from topiccrawl.addons.records.templates.candidate import Candidate, only
from topiccrawl.addons.records.templates.labels import Label, labels
from topiccrawl.addons.records.templates.lines import Line, Mark, Sheet, above
from topiccrawl.addons.records.templates.stacks import longer
from topiccrawl.addons.records.templates.telling import image_of, leading_code, of_links, telling
from topiccrawl.addons.records.templates.values.address import (
    LEADING_CODE,
    LONGEST,
    looks_like,
    plausible,
)
from topiccrawl.addons.records.templates.values.names import is_organisation
from topiccrawl.addons.records.templates.values.plain import postcodes
from topiccrawl.addons.records.templates.values.read import read_values
from topiccrawl.addons.records.templates.values.value import OBJECT, Value, seen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topiccrawl.addons.records.templates.words import Vocabulary

_COLONS = frozenset(":︰∶】]")
_SHOWN = frozenset({"telephone", "mail", "qq", "address"})
"""Kinds whose values are shown as images so that machines should not read them."""


class Places:
    """Finds the values of one page.

    Args:
        sheet: The page.
        words: The template's labels.
    """

    def __init__(self, sheet: Sheet, words: Vocabulary) -> None:
        sheet = sheet._replace(lines=tuple(_spelled(line, words) for line in sheet.lines))
        self.sheet = sheet
        self.words = words
        self.region = words.template.region
        self.labels = [_labels(line, words) for line in sheet.lines]
        self.beside = Beside(sheet, words, self.labels)

    def found(self) -> Iterator[Candidate]:
        """Yield every value, labelled ones first; the same value may be in several places."""
        taken: set[int] = set()
        for number, marks in enumerate(self.labels):
            for label in marks:
                if label.fields:
                    for one in self._labelled(number, label):
                        taken.add(one.at)
                        yield one
        yield from telling(self.sheet, self.labels, self.words, taken)

    # -- After a label ---------------------------------------------------------------------------

    def _labelled(self, number: int, label: Label) -> Iterator[Candidate]:
        line = self.sheet.lines[number]
        stretch = line.text[label.end : label.stop]
        if seen(stretch).strip(" :-|") or OBJECT in stretch:
            yield from self._in_line(number, label, stretch)
            return
        behind = [mark for mark in line.marks if label.end - 1 <= mark.start <= label.stop]
        if any(mark.what != "icon" for mark in behind):
            yield from self._in_line(number, label, stretch)
            return
        where, lines = self.beside.of(number, label)
        yield from self._of_lines(number, label, lines, where)

    def _in_line(self, number: int, label: Label, stretch: str) -> Iterator[Candidate]:
        line = self.sheet.lines[number]
        where = "table" if line.cell else "line"
        for field in label.fields:
            kind = self.words.kinds[field]
            values = self._in_turn(label, field, self._read(field, stretch))
            if kind == "address":
                stretch = stretch[: _before_link(line, label.end, label.stop) - label.end]
                values = self._read(field, stretch)
                yield from leading_code(number, stretch, label.weight * 0.99, self.words)
                yield from self._ending_code(number, label, stretch)
            if kind == "address" and values and label.stop == len(line.text):
                values = longer(self.sheet, self.labels, number, values[0], self.region)
            found = [
                (value.value, stretch[value.start : value.end], where, label.end + value.start)
                for value in values
            ]
            linked = of_links(line, kind, label.end, label.stop, self.region)
            found += [(value, stretch, "link", start) for value, start in linked]
            for value, text, how, start in found:
                one = Candidate(field, value, seen(text), how, number, label.weight)
                yield one._replace(at=number, begin=start)
            if found:
                yield from self._more(field, number, number + 1, label)
            elif (image := _image(line, label)) and self._calls(number, label, where, number):
                yield from self._shown(number, label._replace(fields=(field,)), image, number)

    def _ending_code(self, number: int, label: Label, stretch: str) -> Iterator[Candidate]:
        """The postcode in which an address ends."""
        field = self.words.primary("postcode")
        for one in postcodes(stretch, self.region)[-1:] if field else ():
            if not seen(stretch[one.end :]).strip(" )。."):
                yield Candidate(field, one.value, one.value, "line", number, label.weight,
                                at=number)  # fmt: skip

    def _in_turn(self, label: Label, field: str, values: list[Value]) -> list[Value]:
        """Of as many numbers as a label has words, that of one word: 电话/传真 028-1 / 028-2."""
        kinds = [self.words.kinds[one] for one in label.fields]
        if len(kinds) != len(values) or set(kinds) != {"telephone"}:
            return values
        return [values[label.fields.index(field)]]

    def _read(self, field: str, text: str) -> list[Value]:
        return read_values(self.words.kinds[field], text, self.region)

    def _more(self, field: str, label_line: int, begin: int, label: Label) -> Iterator[Candidate]:
        """Lines after a value that hold nothing but values of the same kind."""
        if not self.words.template.crawl[field].several or label.stop != len(
            self.sheet.lines[begin - 1].text
        ):
            return
        parents = set(list(above(self.sheet, self.sheet.lines[begin - 1].box))[:2])
        for number in range(begin, min(begin + 4, len(self.sheet.lines))):
            line = self.sheet.lines[number]
            parent = self.sheet.boxes[line.box].parent if self.sheet.boxes else -1
            before = self._before_labels(number)
            if before is None or not {line.box, parent} & parents or len(before) > LONGEST:
                return
            values = self._read(field, before)
            if not values or not only(values, before):
                return
            for value in values:
                text = seen(line.text[value.start : value.end])
                yield Candidate(
                    field, value.value, text, "below", label_line, label.weight, at=number
                )
            if self.labels[number]:
                return

    # -- In the next cell, under a heading -------------------------------------------------------

    def _of_lines(
        self, number: int, label: Label, lines: list[int], where: str
    ) -> Iterator[Candidate]:
        for field in label.fields if lines else ():
            own = label._replace(fields=(field,))
            if self.words.kinds[field] == "address" and where != "column":
                yield from self._address(field, number, label, lines, where)
                continue
            for other in lines:
                text = self._before_labels(other)
                if text is None:
                    break
                origin = other if where == "column" else number
                yield from self._of_line(origin, own, other, text, where, label)

    def _of_line(
        self, origin: int, label: Label, at: int, text: str, where: str, group: Label
    ) -> Iterator[Candidate]:
        """The values of one field in a line that a label elsewhere labels."""
        field, line = label.fields[0], self.sheet.lines[at]
        values = self._in_turn(group, field, self._read(field, text))
        found = [(value.value, seen(text[value.start : value.end]), where) for value in values]
        linked = of_links(line, self.words.kinds[field], 0, len(line.text), self.region)
        found += [(one, seen(line.text), "link") for one, _ in linked]
        for value, written, how in found:
            yield Candidate(field, value, written, how, origin, label.weight, at=at)
        if not found and (image := _image(line, None)) and self._calls(origin, label, where, at):
            yield from self._shown(origin, label, image, at)
        if where == "pair" and values:
            yield from self._more(field, origin, at + 1, label._replace(stop=len(line.text)))

    def _before_labels(self, number: int) -> str | None:
        """The text of a line before its first label; None where it begins with one."""
        text = self.sheet.lines[number].text
        marks = self.labels[number]
        if not marks:
            return text
        before = text[: marks[0].start]
        return before if seen(before).strip(" ([") else None

    def _address(
        self, field: str, number: int, label: Label, lines: list[int], where: str
    ) -> Iterator[Candidate]:
        """An address in one line, or in several that follow each other."""
        named = len(lines) == 1 and is_organisation(seen(self.sheet.lines[lines[0]].text))
        first = lines[0] + (named and lines[0] + 1 < len(self.sheet.lines))
        if LEADING_CODE.fullmatch(self.sheet.lines[first].text) and first + 1 in lines:
            yield from leading_code(
                first, self.sheet.lines[first].text, label.weight * 0.99, self.words
            )
            first += 1
        line = self.sheet.lines[first]
        text = self._before_labels(first)
        if text is None:
            return
        text = text[: _before_link(line, 0, len(text))]
        yield from leading_code(first, seen(text), label.weight * 0.99, self.words)
        values = self._read(field, text)
        if text == line.text:
            start = values[0] if values else Value(seen(line.text).strip(" ,"), 0, len(line.text))
            whole = longer(self.sheet, self.labels, first, start, self.region)
            values = [one for one in whole if plausible(one.value)]
        for value in values:
            yield Candidate(
                field, value.value, seen(line.text), where, number, label.weight, at=first
            )
        image = _image(line, None)
        if image and not values and self._calls(number, label, where, first):
            yield from self._shown(number, label._replace(fields=(field,)), image, first)

    def _calls(self, number: int, label: Label, where: str, at: int) -> bool:
        """Return whether a label calls for its value, so that an image there must be it.

        Pages are full of images beside words that happen to be labels elsewhere.
        """
        if where in {"table", "list", "column"}:
            return True
        line = self.sheet.lines[number]
        if line.text[label.end - 1 : label.end] in _COLONS:
            return True
        linked = any(one.what == "link" and one.start <= label.start for one in line.marks)
        near = line.box == self.sheet.lines[at].box or line.tag in HEADING
        return near and label.end >= len(line.text.rstrip()) and not linked

    # -- Images and links ------------------------------------------------------------------------

    def _shown(self, number: int, label: Label, image: Mark, at: int) -> Iterator[Candidate]:
        """Yield the values in the ``alt`` of an image instead of text, or the image itself."""
        for field in label.fields:
            values = self._read(field, image.instead)
            for value in values:
                yield Candidate(
                    field, value.value, image.instead, "alt", number, label.weight, at=at
                )
            if not values and self.words.kinds[field] in _SHOWN:
                yield Candidate(
                    field,
                    image.value,
                    image.instead,
                    "image",
                    number,
                    label.weight,
                    image=True,
                    at=at,
                )


def _spelled(line: Line, words: Vocabulary) -> Line:
    """Return a line with the words of a label, if it is only an image of one."""
    said = line.marks[0].instead.strip(" :") if len(line.marks) == 1 and not line.text else ""
    marks = labels(said, words) if said and line.marks[0].what == "image" else []
    if len(marks) != 1 or not marks[0].fields or marks[0].end < len(said):
        return line
    return line._replace(text=said + ":", marks=())


def _labels(line: Line, words: Vocabulary) -> list[Label]:
    """The labels of a line, those among them that are images with text after them."""
    found = labels(line.text, words)
    shown = [mark for mark in line.marks if mark.what == "image" and mark.instead]
    for mark in shown:
        said = labels(mark.instead.rstrip(" :") + ":", words)
        if said and said[-1].fields and seen(line.text[mark.start :]):
            found.append(said[-1]._replace(start=mark.start, end=mark.start))
    found.sort(key=lambda one: one.start)
    ends = [one.start for one in found[1:]] + [len(line.text)]
    return [one._replace(stop=max(end, one.end)) for one, end in zip(found, ends, strict=False)]


def _before_link(line: Line, begin: int, end: int) -> int:
    """Return the offset where an address ends before a link of its line to a map or to others."""
    links = [one for one in line.marks if one.what == "link" and begin < one.start < one.end]
    last = max(links, key=lambda one: one.start, default=None)
    apart = last is not None and last.end >= end and seen(line.text[begin : last.start])
    return last.start if last and apart and not looks_like(line.text[last.start : end]) else end


def _image(line: Line, label: Label | None) -> Mark | None:
    """Return the image in the place of a value, or None."""
    begin, end = (label.end - 1, label.stop) if label else (0, len(line.text))
    return image_of(line, begin, end)
