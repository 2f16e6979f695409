"""Owners of lines: the page's subject, another organisation, or none that is wanted."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.beside import HEADING
from topiccrawl.addons.records.templates.lines import Line, above
from topiccrawl.addons.records.templates.values.address import looks_like
from topiccrawl.addons.records.templates.values.names import (
    alike,
    is_organisation,
    legal,
    organisations,
    tidy,
)
from topiccrawl.addons.records.templates.values.value import seen
from topiccrawl.addons.records.templates.words import (
    ALIEN,
    BRANCH,
    CITY,
    HEAD_OFFICE,
    OFFICE,
    OTHERS,
)
from topiccrawl.text.normal import simplify, simplify_aligned

if TYPE_CHECKING:
    from topiccrawl.addons.records.templates.places import Places
    from topiccrawl.addons.records.templates.subject import Called

SUBJECT = ""
"""Owner of lines that are the page's subject's."""
NO_OWNER = "-"
"""Owner of lines that no record takes: those of branches, technical support."""
_HEADING = 40
"""Characters of a line that may be the heading of a section."""
_OWN_SUPPORT = re.compile(
    r"^[\s\x1f]*(?:电话|热线|邮箱|qq|tel|email|中心)?[\s\x1f]*:?[\s\x1f]*[+(\d]|^[\s\x1f]*(?:电话|热线|邮箱|qq)",
    re.IGNORECASE,
)
_OWN_TOO = re.compile(r"主办|承办|物业|来源|技术支持|tech")
"""Words of ``ALIEN`` that, in a heading, open a part of the subject's own."""
_LEAD = 120
"""Characters before a value in which its owner may be named."""
_CLOSE = 8
"""Characters between a name without legal form and a value that is its."""
_INSTITUTION = re.compile(
    r"((?:\b[A-Z][\w'.-]{0,30} ){1,4}(?:Hospital|Police|Council|University|College|School|"
    r"Association|Society|Authority|Agency)|\bthe (?:\w+ ){0,3}\w+['’]s (?:\w+ ){1,3}(?=on|at))"
    r"\W*(?:(?:at|on|via)\W+)?$"
)
"""Owner of the number after it: or County Hospital at 406-555-0180, the gas network's line on …."""
_PARTS = frozenset({"div", "section", "article", "footer", "header", "aside", "form", "nav"})
_INVITES = re.compile(r"诚邀|欢迎|洽谈|招募|诚招|招商")
_ACTS = re.compile(r"[。;!?]")


class Owners:
    """Finds the owners of a page's lines.

    Args:
        places: The page, with its labels.
        subject: Name of the page's subject.
        valued: Numbers of the lines that hold labelled values.
        held: Numbers of the lines that hold any values.
    """

    def __init__(self, places: Places, subject: Called, valued: set[int], held: set[int]) -> None:
        self.sheet = places.sheet
        self.places = places
        self.subject = subject
        self.valued = valued
        self._values = sorted(valued)
        self._held = sorted(held)
        self._aliens: dict[int, int] = {}
        self.of = [SUBJECT] * len(self.sheet.lines)
        self._offices = any(
            len(line.text) <= _HEADING and HEAD_OFFICE.search(line.text)
            for line in self.sheet.lines
        )
        heads = [
            (number, owner)
            for number in range(len(self.of))
            if (owner := self._heading(number)) is not None
        ]
        self._heads = [number for number, _ in heads]
        heads = self._without_members(heads)
        for (number, owner), after in zip(heads, [*heads[1:], (len(self.of), "")], strict=False):
            end = number + 1
            if not self._complete(number):
                end = self._end(number, after[0], unowned=owner == NO_OWNER)
            self.of[number:end] = [owner] * (end - number)
        if subject.elsewhere:
            self._outside_of_main()
        for number, line in enumerate(self.sheet.lines):
            if subject.portal and seen(line.text).startswith(subject.portal):
                self.of[number] = NO_OWNER

    def _without_members(self, heads: list[tuple[int, str]]) -> list[tuple[int, str]]:
        """Return headings without organisations in a list of dealers, customers, partners."""
        kept: list[tuple[int, str]] = []
        tag = ""
        for number, owner in heads:
            line = self.sheet.lines[number]
            if tag and owner not in {SUBJECT, NO_OWNER} and line.tag != tag:
                continue
            tag = line.tag if OTHERS.search(tidy(seen(line.text))) else ""
            kept.append((number, owner))
        return kept

    def alien_from(self, number: int) -> int:
        """Return the offset at which another owner's part of a line begins, else its length."""
        if number not in self._aliens:
            self._aliens[number] = self._alien_from(number)
        return self._aliens[number]

    def _alien_from(self, number: int) -> int:
        text = simplify_aligned(self.sheet.lines[number].text)
        match = ALIEN.search(text)
        if match and match[0] == "主办" and self.sheet.lines[number].zone == "footer":
            return len(text)  # the owner of the site
        if match is None or (_OWN_SUPPORT.match(text[match.end() :]) and "支持" in match[0]):
            return len(text)
        rest = text[match.end() :]
        if self.subject.name and any(
            alike(one.value, self.subject.name) for one in organisations(rest)[:1]
        ):
            return len(text)
        return match.start()

    def speaks_of_another(self, number: int, begin: int) -> bool:
        """Return whether the last organisation named before an offset of a line is another one.

        Such as a partner in a piece of news, with its telephone number in brackets.
        """
        line = self.sheet.lines[number]
        place = _INSTITUTION.search(line.text[max(0, begin - _LEAD) : begin])
        if place and self.subject.name and not alike(place[1], self.subject.name):
            return True
        if not legal(self.subject.name):
            return False
        named = organisations(line.text[:begin])
        named = [one for one in named if legal(one.value) or begin - one.end <= _CLOSE]
        if not named or alike(named[-1].value, self.subject.name):
            return False
        kinds = self.places.words.kinds
        return not any(
            label.end <= named[-1].start < label.stop and kinds[field] in {"address", "name"}
            for label in self.places.labels[number]
            for field in label.fields
        )

    def _outside_of_main(self) -> None:
        """Header and footer of a site that is not the subject's are not the subject's, either."""
        for number, line in enumerate(self.sheet.lines):
            if line.zone in {"header", "footer", "nav"} and self.of[number] == SUBJECT:
                self.of[number] = NO_OWNER

    def _heading(self, number: int) -> str | None:
        """Return the owner of the section that a line opens; None where it opens none."""
        line = self.sheet.lines[number]
        marks = self.places.labels[number]
        text = seen(line.text)
        naming = self.places.words.template.naming
        if marks and naming in marks[0].fields:
            text = seen(line.text[marks[0].end : marks[0].stop])
        elif marks and any(seen(line.text[one.end : one.stop]) for one in marks):
            return self._led(number)
        spoken = _ACTS.search(text) or _INVITES.search(text)
        text = tidy(text)
        short = 1 < len(text) <= _HEADING
        if spoken or not short or _ACTS.search(text) or line.zone in {"nav", "links"}:
            return None
        return None if looks_like(seen(line.text)) else self._opened(line, text)

    def _opened(self, line: Line, text: str) -> str | None:
        """Return the owner of the section that a line with a short text opens, or None."""
        if _said(HEAD_OFFICE, text) or text == self.subject.name:
            return SUBJECT
        beside = self._offices and (CITY.fullmatch(simplify(text)) or OFFICE.fullmatch(text))
        if _said(BRANCH, text) or _said(OTHERS, text) or beside or _is_alien(line):
            return NO_OWNER
        if is_organisation(text):
            other = text if legal(text) else NO_OWNER
            return SUBJECT if alike(text, self.subject.name) else other
        return None

    def _led(self, number: int) -> str | None:
        """Return the owner of a line that begins with an office's name (北京分公司 电话：…)."""
        text = self.sheet.lines[number].text
        first = self.places.labels[number][0]
        lead = seen(text[: first.end])
        if _said(BRANCH, lead) if len(lead) <= _HEADING else BRANCH.match(lead):
            return NO_OWNER
        if len(lead) <= _HEADING and _said(HEAD_OFFICE, lead):
            return SUBJECT
        return None

    def _complete(self, number: int) -> bool:
        """Return whether a line that names an office also has its number: it opens no section."""
        marks = self.places.labels[number]
        kinds = {self.places.words.kinds[field] for mark in marks for field in mark.fields}
        line = self.sheet.lines[number]
        return "telephone" in kinds and bool(seen(line.text[marks[-1].end :]))

    def _end(self, number: int, limit: int, *, unowned: bool) -> int:
        """Return the end line of a heading's section: of the smallest box with values after it."""
        line = self.sheet.lines[number]
        first = self._next(self._values, number)
        if number in self.valued:
            first = min(first, number + 1)
        alone = self._next(self._held, number)
        for box in above(self.sheet, line.box):
            end = self.sheet.boxes[box].end
            if first < end or (alone < end and (unowned or self.sheet.boxes[box].begin == number)):
                return self._end_in(box, number, limit)
            if self._lists(box):
                return number + 1
        return number + 1

    def _next(self, numbers: list[int], number: int) -> int:
        at = bisect_right(numbers, number)
        return numbers[at] if at < len(numbers) else len(self.of)

    def _lists(self, box: int) -> bool:
        """Return whether a box without values has further headings: a list of customers."""
        begin, end = self.sheet.boxes[box].begin, self.sheet.boxes[box].end
        return bisect_left(self._heads, end) - bisect_left(self._heads, begin) > 1

    def _end_in(self, box: int, number: int, limit: int) -> int:
        """Return the line where a section ends in its box: at the latest with the page's zone.

        Headings are often flat among paragraphs; then a box of another sort begins the next part,
        or a heading of the same rank that is no label.
        """
        end = min(self.sheet.boxes[box].end, limit)
        zone, rank = self.sheet.lines[number].zone, self.sheet.lines[number].tag
        sort = ""
        for other in range(number + 1, end):
            tag = self._child(box, self.sheet.lines[other].box)
            if self.sheet.lines[other].zone != zone or (sort and tag in _PARTS and tag != sort):
                return other
            if self.sheet.lines[other].tag == rank in HEADING and not self.places.labels[other]:
                return other
            if other in self.valued:
                sort = sort or tag or "-"
        return end

    def _child(self, box: int, inner: int) -> str:
        """The tag of the element right inside a box that holds an inner one; "" if it is none."""
        while inner >= 0 and inner != box:
            parent = self.sheet.boxes[inner].parent
            if parent == box:
                return self.sheet.boxes[inner].tag
            inner = parent
        return ""


def _said(pattern: re.Pattern[str], text: str) -> bool:
    """Return whether a text holds a pattern, as written (営業所) or simplified (辦事處)."""
    return bool(pattern.search(text) or pattern.search(simplify(text)))


def _is_alien(line: Line) -> bool:
    """Return whether a heading, or a line that ends in a colon, opens another owner's part."""
    alien = ALIEN.search(line.text)
    heads = line.tag in HEADING or line.text.endswith(":")
    return heads and alien is not None and not _OWN_TOO.match(alien[0])
