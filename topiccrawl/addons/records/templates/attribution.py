"""Attribution of lines to their owner: the page's subject, another organisation, or neither."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.adjacent import HEADING
from topiccrawl.addons.records.templates.layout import Line, enclosing
from topiccrawl.addons.records.templates.values.address import looks_like
from topiccrawl.addons.records.templates.values.names import (
    is_legal,
    is_organisation,
    organisations,
    similar,
    tidy,
)
from topiccrawl.addons.records.templates.values.value import shown
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
    from topiccrawl.addons.records.templates.finder import ValueFinder
    from topiccrawl.addons.records.templates.subject import SubjectName

SUBJECT = ""
"""Owner of lines that belong to the page's subject."""
NO_OWNER = "-"
"""Owner of lines that are ignored, such as those of branches and technical support."""
_HEADING = 40
"""Maximum length of a section heading, in characters."""
_OWN_SUPPORT = re.compile(
    r"^[\s\x1f]*(?:电话|热线|邮箱|qq|tel|email|中心)?[\s\x1f]*:?[\s\x1f]*[+(\d]|^[\s\x1f]*(?:电话|热线|邮箱|qq)",
    re.IGNORECASE,
)
_OWN_TOO = re.compile(r"主办|承办|物业|来源|技术支持|tech")
"""Words of ``OTHER_OWNER`` that may also head a section of the subject itself."""
_LEAD = 120
"""Number of characters before a value that are searched for its owner."""
_CLOSE = 8
"""Maximum distance between a name without legal form and its value, in characters."""
_INSTITUTION = re.compile(
    r"((?:\b[A-Z][\w'.-]{0,30} ){1,4}(?:Hospital|Police|Council|University|College|School|"
    r"Association|Society|Authority|Agency)|\bthe (?:\w+ ){0,3}\w+['’]s (?:\w+ ){1,3}(?=on|at))"
    r"\W*(?:(?:at|on|via)\W+)?$"
)
"""An institution before its number: County Hospital at 406-555-0180, the gas network's line on."""
_PARTS = frozenset({"div", "section", "article", "footer", "header", "aside", "form", "nav"})
_INVITES = re.compile(r"诚邀|欢迎|洽谈|招募|诚招|招商")
_ACTS = re.compile(r"[。;!?]")


class Owners:
    """Determines the owner of each line of a page.

    Args:
        finder: The page with its labels.
        subject: Name of the page's subject.
        valued: Numbers of the lines with labelled values.
        held: Numbers of the lines with any values.
    """

    def __init__(
        self, finder: ValueFinder, subject: SubjectName, valued: set[int], held: set[int]
    ) -> None:
        self.page = finder.page
        self.finder = finder
        self.subject = subject
        self.valued = valued
        self._values = sorted(valued)
        self._held = sorted(held)
        self._other_owner_offsets: dict[int, int] = {}
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
        if subject.other_owner:
            self._disown_site_parts()
        for number, line in enumerate(self.page.lines):
            if subject.portal and shown(line.text).startswith(subject.portal):
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

    def foreign_from(self, number: int) -> int:
        """Return the offset from which a line belongs to another owner; its length if none."""
        if number not in self._other_owner_offsets:
            self._other_owner_offsets[number] = self._find_foreign(number)
        return self._other_owner_offsets[number]

    def _find_foreign(self, number: int) -> int:
        text = simplify_aligned(self.page.lines[number].text)
        match = OTHER_OWNER.search(text)
        if match and match[0] == "主办" and self.page.lines[number].zone == "footer":
            return len(text)  # the owner of the site
        if match is None or (_OWN_SUPPORT.match(text[match.end() :]) and "支持" in match[0]):
            return len(text)
        rest = text[match.end() :]
        if self.subject.name and any(
            similar(one.value, self.subject.name) for one in organisations(rest)[:1]
        ):
            return len(text)
        return match.start()

    def names_another(self, number: int, begin: int) -> bool:
        """Return whether the last organisation named before an offset is not the subject.

        An example is a partner in a news text, with its telephone number in brackets.
        """
        line = self.page.lines[number]
        place = _INSTITUTION.search(line.text[max(0, begin - _LEAD) : begin])
        if place and self.subject.name and not similar(place[1], self.subject.name):
            return True
        if not is_legal(self.subject.name):
            return False
        named = organisations(line.text[:begin])
        named = [one for one in named if is_legal(one.value) or begin - one.end <= _CLOSE]
        if not named or similar(named[-1].value, self.subject.name):
            return False
        kinds = self.finder.words.kinds
        return not any(
            label.end <= named[-1].start < label.stop and kinds[field] in {"address", "name"}
            for label in self.finder.labels[number]
            for field in label.fields
        )

    def _disown_site_parts(self) -> None:
        """Ignore header and footer if the site belongs to another owner than the subject."""
        for number, line in enumerate(self.page.lines):
            if line.zone in {"header", "footer", "nav"} and self.owner[number] == SUBJECT:
                self.owner[number] = NO_OWNER

    def _heading(self, number: int) -> str | None:
        """Return the owner of the section that a line heads; None if it is no heading."""
        line = self.page.lines[number]
        marks = self.finder.labels[number]
        text = shown(line.text)
        naming = self.finder.words.template.naming
        if marks and naming in marks[0].fields:
            text = shown(line.text[marks[0].end : marks[0].stop])
        elif marks and any(shown(line.text[one.end : one.stop]) for one in marks):
            return self._leading_office(number)
        spoken_numbers = _ACTS.search(text) or _INVITES.search(text)
        text = tidy(text)
        short = 1 < len(text) <= _HEADING
        if spoken_numbers or not short or _ACTS.search(text) or line.zone in {"nav", "links"}:
            return None
        return None if looks_like(shown(line.text)) else self._section_owner(line, text)

    def _section_owner(self, line: Line, text: str) -> str | None:
        """Return the owner of the section that a short line heads, or None."""
        if _matches(HEAD_OFFICE, text) or text == self.subject.name:
            return SUBJECT
        other_office = self._offices and (CITY.fullmatch(simplify(text)) or OFFICE.fullmatch(text))
        if (
            _matches(BRANCH, text)
            or _matches(OTHERS, text)
            or other_office
            or _opens_other_owner(line)
        ):
            return NO_OWNER
        if is_organisation(text):
            other = text if is_legal(text) else NO_OWNER
            return SUBJECT if similar(text, self.subject.name) else other
        return None

    def _leading_office(self, number: int) -> str | None:
        """Return the owner of a line that begins with an office's name (北京分公司 电话：…)."""
        text = self.page.lines[number].text
        first = self.finder.labels[number][0]
        lead = shown(text[: first.end])
        if _matches(BRANCH, lead) if len(lead) <= _HEADING else BRANCH.match(lead):
            return NO_OWNER
        if len(lead) <= _HEADING and _matches(HEAD_OFFICE, lead):
            return SUBJECT
        return None

    def _has_number(self, number: int) -> bool:
        """Return whether a line that names an office has its number and is thus no heading."""
        marks = self.finder.labels[number]
        kinds = {self.finder.words.kinds[field] for mark in marks for field in mark.fields}
        line = self.page.lines[number]
        return "telephone" in kinds and bool(shown(line.text[marks[-1].end :]))

    def _end(self, number: int, limit: int, *, unowned: bool) -> int:
        """Return the end line of a heading's section: that of the smallest box with values."""
        line = self.page.lines[number]
        first = self._next(self._values, number)
        if number in self.valued:
            first = min(first, number + 1)
        alone = self._next(self._held, number)
        for box in enclosing(self.page, line.box):
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
            tag = self._child(box, self.page.lines[other].box)
            if self.page.lines[other].zone != zone or (sort and tag in _PARTS and tag != sort):
                return other
            if self.page.lines[other].tag == rank in HEADING and not self.finder.labels[other]:
                return other
            if other in self.valued:
                sort = sort or tag or "-"
        return end

    def _child(self, box: int, inner: int) -> str:
        """Return the tag of the direct child of a box that contains an inner box, or ""."""
        while inner >= 0 and inner != box:
            parent = self.page.boxes[inner].parent
            if parent == box:
                return self.page.boxes[inner].tag
            inner = parent
        return ""


def _matches(pattern: re.Pattern[str], text: str) -> bool:
    """Return whether a text matches a pattern as written (営業所) or simplified (辦事處)."""
    return bool(pattern.search(text) or pattern.search(simplify(text)))


def _opens_other_owner(line: Line) -> bool:
    """Return whether a heading, or a line ending in a colon, begins a part of another owner."""
    match = OTHER_OWNER.search(line.text)
    heads = line.tag in HEADING or line.text.endswith(":")
    return heads and match is not None and not _OWN_TOO.match(match[0])
