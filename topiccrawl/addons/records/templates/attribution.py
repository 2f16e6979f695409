"""Attribution of lines to their owner: the page's subject, another organisation, or neither."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.adjacent import HEADING
from topiccrawl.addons.records.templates.values.address import looks_like
from topiccrawl.addons.records.templates.values.names import (
    is_legal,
    is_organisation,
    organisations,
    similar,
    tidy,
)
from topiccrawl.addons.records.templates.values.plain import shown
from topiccrawl.addons.records.templates.words import (
    BRANCH,
    CITY,
    HEAD_OFFICE,
    OFFICE,
    OTHER_OWNER,
    OTHERS,
)
from topiccrawl.text.normal import simplify, simplify_aligned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.addons.records.templates.candidate import Candidate
    from topiccrawl.addons.records.templates.labels import LabelledPage
    from topiccrawl.addons.records.templates.layout import Line
    from topiccrawl.addons.records.templates.subject import SubjectName

SUBJECT = ""
"""Owner of lines that belong to the page's subject."""
NO_OWNER = "-"
"""Owner of lines that are ignored, such as those of branches and technical support."""
_HEADING = 40
"""Maximum length of a section heading, in characters."""
_OWN_TOO = re.compile(r"主办|承办|物业|来源|技术支持|tech")
"""Words of ``OTHER_OWNER`` that may also head a section of the subject itself."""
_LEAD = 120
"""Number of characters before a value that are searched for its owner."""
_INSTITUTION = re.compile(
    r"((?:\b[A-Z][\w'.-]{0,30} ){1,4}(?:Hospital|Police|Council|University|College|School|"
    r"Association|Society|Authority|Agency)|\bthe (?:\w+ ){0,3}\w+['’]s (?:\w+ ){1,3}(?=on|at))"
    r"\W*(?:(?:at|on|via)\W+)?$"
)
"""An institution before its number: County Hospital at 406-555-0180, the gas network's line on."""
_PARTS = frozenset({"div", "section", "article", "footer", "header", "aside", "form", "nav"})
_SITE_PARTS = frozenset({"header", "footer", "nav"})
_NO_HEADING = re.compile(r"[。;!?]|诚邀|欢迎|洽谈|招募|诚招|招商")
"""Parts of sentences and invitations, which are no headings."""


class Owners:
    """Determines the owner of each line of a page.

    Args:
        page: The page.
        subject: Name of the page's subject.
        found: Values found in the page.
    """

    def __init__(
        self, page: LabelledPage, subject: SubjectName, found: Sequence[Candidate]
    ) -> None:
        self.page = page
        self.subject = subject
        self._valued = {one.line for one in found if one.where not in {"text", "alone"}}
        self._values = sorted(self._valued)
        self._held = sorted({one.at for one in found if one.field != page.words.template.naming})
        self.owner = [SUBJECT] * len(self.page.lines)
        self._offices = any(
            len(line.text) <= _HEADING and HEAD_OFFICE.search(line.text) for line in self.page.lines
        )
        heads = [
            (number, owner)
            for number in range(len(self.owner))
            if (owner := self._heading(number)) is not None
        ]
        self._heads = [number for number, _ in heads]
        heads = self._without_members(heads)
        for (number, owner), after in zip(heads, [*heads[1:], (len(self.owner), "")], strict=False):
            end = number + 1
            if not self._has_number(number):
                end = self._end(number, after[0], unowned=owner == NO_OWNER)
            self.owner[number:end] = [owner] * (end - number)
        for number, line in enumerate(page.lines):
            site = subject.other_owner and line.zone in _SITE_PARTS
            portal = subject.portal and shown(line.text).startswith(subject.portal)
            if portal or (site and self.owner[number] == SUBJECT):
                self.owner[number] = NO_OWNER

    def _without_members(self, heads: list[tuple[int, str]]) -> list[tuple[int, str]]:
        """Return the headings without entries in lists of dealers, customers and partners."""
        kept: list[tuple[int, str]] = []
        tag = ""
        for number, owner in heads:
            line = self.page.lines[number]
            if tag and owner not in {SUBJECT, NO_OWNER} and line.tag != tag:
                continue
            tag = line.tag if OTHERS.search(tidy(shown(line.text))) else ""
            kept.append((number, owner))
        return kept

    def of(self, one: Candidate, begin: int) -> str:
        """Return the owner of a value that begins at an offset in its line; -1: not known."""
        text = self.page.lines[one.at].text
        foreign = OTHER_OWNER.search(simplify_aligned(text))
        if foreign and foreign.start() <= begin < len(text):
            return NO_OWNER
        owner = self.owner[one.at] if self.owner[one.at] != SUBJECT else self.owner[one.line]
        if owner == SUBJECT and begin > 0 and self._names_another(one.at, begin):
            return NO_OWNER
        return owner

    def _names_another(self, number: int, begin: int) -> bool:
        """Return whether the last organisation named before an offset is not the subject.

        An example is a partner in a news text, with its telephone number in brackets.
        """
        text, name = self.page.lines[number].text[:begin], self.subject.name
        if not name:
            return False
        place = _INSTITUTION.search(text[-_LEAD:])
        if place and not similar(place[1], name):
            return True
        named = organisations(text)
        if not named or similar(named[-1].value, name):
            return False
        kinds = self.page.words.kinds
        return not any(
            label.end <= named[-1].start < label.stop and kinds[field] in {"address", "name"}
            for label in self.page.labels[number]
            for field in label.fields
        )

    def _heading(self, number: int) -> str | None:
        """Return the owner of the section that a line heads; None if it is no heading."""
        line = self.page.lines[number]
        marks = self.page.labels[number]
        text = shown(line.text)
        naming = self.page.words.template.naming
        if marks and naming in marks[0].fields:
            text = shown(line.text[marks[0].end : marks[0].stop])
        elif marks and any(shown(line.text[one.end : one.stop]) for one in marks):
            return self._leading_office(number)
        if _NO_HEADING.search(text) or not 1 < len(tidy(text)) <= _HEADING:
            return None
        return None if looks_like(shown(line.text)) else self._section_owner(line, tidy(text))

    def _section_owner(self, line: Line, text: str) -> str | None:
        """Return the owner of the section that a short line heads, or None."""
        if _matches(HEAD_OFFICE, text) or text == self.subject.name:
            return SUBJECT
        office = CITY.fullmatch(simplify(text)) or OFFICE.fullmatch(text)
        if (self._offices and office) or _matches(BRANCH, text) or _matches(OTHERS, text):
            return NO_OWNER
        if _opens_other_owner(line):
            return NO_OWNER
        if is_organisation(text):
            other = text if is_legal(text) else NO_OWNER
            return SUBJECT if similar(text, self.subject.name) else other
        return None

    def _leading_office(self, number: int) -> str | None:
        """Return the owner of a line that begins with an office's name (北京分公司 电话：…)."""
        text = self.page.lines[number].text
        first = self.page.labels[number][0]
        lead = shown(text[: first.end])
        if _matches(BRANCH, lead) if len(lead) <= _HEADING else BRANCH.match(lead):
            return NO_OWNER
        if len(lead) <= _HEADING and _matches(HEAD_OFFICE, lead):
            return SUBJECT
        return None

    def _has_number(self, number: int) -> bool:
        """Return whether a line that names an office has its number and is thus no heading."""
        marks, kinds = self.page.labels[number], self.page.words.kinds
        labelled = any(kinds[field] == "telephone" for mark in marks for field in mark.fields)
        return labelled and bool(shown(self.page.lines[number].text[marks[-1].end :]))

    def _end(self, number: int, limit: int, *, unowned: bool) -> int:
        """Return the end line of a heading's section: that of the smallest box with values."""
        first = self._next(self._values, number)
        alone = self._next(self._held, number)
        for box in self.page.enclosing(number):
            end = self.page.boxes[box].end
            if first < end or (alone < end and (unowned or self.page.boxes[box].begin == number)):
                return self._end_in(box, number, limit)
            if self._is_list(box):
                return number + 1
        return number + 1

    def _next(self, numbers: list[int], number: int) -> int:
        at = bisect_right(numbers, number)
        return numbers[at] if at < len(numbers) else len(self.owner)

    def _is_list(self, box: int) -> bool:
        """Return whether a box has further headings, as a list of customers has."""
        begin, end = self.page.boxes[box].begin, self.page.boxes[box].end
        return bisect_left(self._heads, end) - bisect_left(self._heads, begin) > 1

    def _end_in(self, box: int, number: int, limit: int) -> int:
        """Return the line at which a section ends in its box: at the latest with the page's zone.

        Headings are often siblings of their paragraphs. Then the section ends at an element with a
        different tag, or at a heading of the same rank that is no label.
        """
        end = min(self.page.boxes[box].end, limit)
        zone, rank = self.page.lines[number].zone, self.page.lines[number].tag
        sort = ""
        for other in range(number + 1, end):
            tag = self._child(box, other)
            if self.page.lines[other].zone != zone or (sort and tag in _PARTS and tag != sort):
                return other
            if self.page.lines[other].tag == rank in HEADING and not self.page.labels[other]:
                return other
            if other in self._valued:
                sort = sort or tag or "-"
        return end

    def _child(self, box: int, number: int) -> str:
        """Return the tag of the direct child of a box that contains a line, or ""."""
        boxes = map(self.page.boxes.__getitem__, self.page.enclosing(number))
        return next((one.tag for one in boxes if one.parent == box), "")


def _matches(pattern: re.Pattern[str], text: str) -> bool:
    """Return whether a text matches a pattern as written (営業所) or simplified (辦事處)."""
    return bool(pattern.search(text) or pattern.search(simplify(text)))


def _opens_other_owner(line: Line) -> bool:
    """Return whether a heading, or a line ending in a colon, begins a part of another owner."""
    match = OTHER_OWNER.search(line.text)
    heads = line.tag in HEADING or line.text.endswith(":")
    return heads and match is not None and not _OWN_TOO.match(match[0])
