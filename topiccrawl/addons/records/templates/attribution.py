"""Attribution of lines to their owner: the page's subject, another organisation, or neither."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.page import HEADING, LabelledPage
from topiccrawl.addons.records.templates.values import address, names
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
    from collections.abc import Sequence

    from topiccrawl.addons.records.templates.candidate import Candidate
    from topiccrawl.addons.records.templates.layout import Line
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
_ACTS = re.compile(r"[。;!?]|诚邀|欢迎|洽谈|招募|诚招|招商")
"""Signs of a sentence, which is no heading."""
_STAFF = re.compile(
    r"(?:job )?title|position|role|department|dept\.?|ext(?:ension)?\.?|职务|职位|岗位|部门|姓名|"
    r"负责人|funktion|abteilung|fonction|poste|役職|部署",
    re.IGNORECASE,
)
"""Column headings of tables that list people."""
_IN_ROWS = frozenset({"column", "link", "text", "alone"})
"""Places of values that belong to the organisation that the row of their table names."""


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
        self._naming = naming = page.words.template.naming
        self._valued = {one.line for one in found if one.where not in {"text", "alone"}}
        self._values = sorted(self._valued)
        self._held = sorted({one.at for one in found if one.field != naming})
        self._other_owner_offsets: dict[int, int] = {}
        self._rows: dict[tuple[int, int], str] = {}
        self.owner = [SUBJECT] * len(page.lines)
        self._offices = any(
            len(line.text) <= _HEADING and HEAD_OFFICE.search(line.text) for line in page.lines
        )
        self._assign_sections()
        self._disown_site()
        self._staff = {
            line.cell.table
            for line in page.lines
            if line.cell and _STAFF.fullmatch(shown(line.text))
        }
        self._rows = self._named_rows(found)  # last, as ``of`` reads the other attributes

    def _assign_sections(self) -> None:
        """Assign the lines of each heading's section to its owner."""
        heads = [
            (number, owner)
            for number in range(len(self.owner))
            if (owner := self._heading(number)) is not None
        ]
        self._heads = [number for number, _ in heads]
        heads = self._without_members(heads)
        for (number, owner), after in zip(heads, [*heads[1:], (len(self.owner), "")], strict=False):
            end = self._end(number, after[0], unowned=owner == NO_OWNER)
            self.owner[number:end] = [owner] * (end - number)

    def _disown_site(self) -> None:
        """Remove lines of the site's owner, if it is not the subject, from those of the subject."""
        portal = self.subject.portal
        for number, line in enumerate(self.page.lines):
            outer = self.subject.other_owner and line.zone in {"header", "footer", "nav"}
            named = portal and self.page.text(number).startswith(portal)
            if named or (outer and self.owner[number] == SUBJECT):
                self.owner[number] = NO_OWNER

    def _named_rows(self, found: Sequence[Candidate]) -> dict[tuple[int, int], str]:
        """Return the organisations that rows of tables name; a single one is the subject."""
        rows = {
            cell[:2]: one.value
            for one in found
            if self._names_row(one)
            and self.of(one) != NO_OWNER
            and (cell := self.page.lines[one.at].cell)
        }
        return rows if len(set(rows.values())) > 1 else {}

    def _names_row(self, one: Candidate) -> bool:
        """Return whether a value is the name in a row of a table with column headings."""
        return one.field == self._naming and one.where == "column"

    def _without_members(self, heads: list[tuple[int, str]]) -> list[tuple[int, str]]:
        """Return the headings without entries in lists of dealers, customers and partners."""
        kept: list[tuple[int, str]] = []
        tag = ""
        for number, owner in heads:
            line = self.page.lines[number]
            if tag and owner not in {SUBJECT, NO_OWNER} and line.tag != tag:
                continue
            tag = line.tag if OTHERS.search(names.tidy(shown(line.text))) else ""
            kept.append((number, owner))
        return kept

    def of(self, one: Candidate) -> str:
        """Return the owner of a value."""
        line = self.page.lines[one.at]
        begin = one.begin if one.begin >= 0 else shown(line.text).find(one.text)
        owner = self.owner[one.at] if self.owner[one.at] != SUBJECT else self.owner[one.line]
        if one.at not in self._other_owner_offsets:
            self._other_owner_offsets[one.at] = self._foreign_from(line)
        if self._other_owner_offsets[one.at] <= begin < len(line.text):
            return NO_OWNER
        if owner == SUBJECT and begin > 0 and self._names_another(one.at, begin):
            return NO_OWNER
        if owner == NO_OWNER or line.cell is None:
            return owner
        if self._names_row(one) and line.cell.table in self._staff:
            return NO_OWNER
        return self._rows.get(line.cell[:2], owner) if one.where in _IN_ROWS else owner

    def _foreign_from(self, line: Line) -> int:
        """Return the offset from which a line belongs to another owner; its length if none."""
        text = simplify_aligned(line.text)
        match = OTHER_OWNER.search(text)
        if match and match[0] == "主办" and line.zone == "footer":
            return len(text)  # the owner of the site
        if match is None or (_OWN_SUPPORT.match(text[match.end() :]) and "支持" in match[0]):
            return len(text)
        named = names.organisations(text[match.end() :])[:1]
        own = named and self.subject.name and names.similar(named[0].value, self.subject.name)
        return len(text) if own else match.start()

    def _names_another(self, number: int, begin: int) -> bool:
        """Return whether the last organisation named before an offset is not the subject.

        An example is a partner in a news text, with its telephone number in brackets.
        """
        line = self.page.lines[number]
        place = _INSTITUTION.search(line.text[max(0, begin - _LEAD) : begin])
        if place and self.subject.name and not names.similar(place[1], self.subject.name):
            return True
        if not names.is_legal(self.subject.name):
            return False
        named = names.organisations(line.text[:begin])
        named = [one for one in named if names.is_legal(one.value) or begin - one.end <= _CLOSE]
        if not named or names.similar(named[-1].value, self.subject.name):
            return False
        return not any(
            label.end <= named[-1].start < label.stop
            and self.page.kinds_of(label) & {"address", "name"}
            for label in self.page.labels[number]
        )

    def _heading(self, number: int) -> str | None:
        """Return the owner of the section that a line heads; None if it is no heading."""
        line, marks = self.page.lines[number], self.page.labels[number]
        text = shown(line.text)
        if marks and self.page.words.template.naming in marks[0].fields:
            text = shown(line.text[marks[0].end : marks[0].stop])
        elif any(shown(line.text[one.end : one.stop]) for one in marks):
            return self._leading_office(number)
        name = names.tidy(text)
        if not 1 < len(name) <= _HEADING or _ACTS.search(text) or line.zone in {"nav", "links"}:
            return None
        return None if address.looks_like(shown(line.text)) else self._section_owner(line, name)

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
        if names.is_organisation(text):
            other = text if names.is_legal(text) else NO_OWNER
            return SUBJECT if names.similar(text, self.subject.name) else other
        return None

    def _leading_office(self, number: int) -> str | None:
        """Return the owner of a line that begins with an office's name (北京分公司 电话：…)."""
        text = self.page.lines[number].text
        lead = shown(text[: self.page.labels[number][0].end])
        if _matches(BRANCH, lead) if len(lead) <= _HEADING else BRANCH.match(lead):
            return NO_OWNER
        if len(lead) <= _HEADING and _matches(HEAD_OFFICE, lead):
            return SUBJECT
        return None

    def _end(self, number: int, limit: int, *, unowned: bool) -> int:
        """Return the end line of a heading's section: that of the smallest box with values.

        A line that has a telephone number itself is no heading.
        """
        marks, line = self.page.labels[number], self.page.lines[number]
        if "telephone" in self.page.kinds(number) and shown(line.text[marks[-1].end :]):
            return number + 1
        first, alone = self._next(self._values, number), self._next(self._held, number)
        if number in self._valued:
            first = min(first, number + 1)
        for index in self.page.enclosing(number):
            box = self.page.boxes[index]
            if first < box.end or (alone < box.end and (unowned or box.begin == number)):
                return self._end_in(index, number, limit)
            if bisect_left(self._heads, box.end) - bisect_left(self._heads, box.begin) > 1:
                break  # a list, such as of customers
        return number + 1

    def _end_in(self, box: int, number: int, limit: int) -> int:
        """Return the line at which a section ends in its box: at the latest with the page's zone.

        Headings are often siblings of their paragraphs. Then the section ends at an element with a
        different tag, or at a heading of the same rank that is no label.
        """
        page = self.page
        end = min(page.boxes[box].end, limit)
        zone, rank = page.lines[number].zone, page.lines[number].tag
        sort = ""
        for other in range(number + 1, end):
            around = list(page.enclosing(other))
            tag = page.boxes[around[around.index(box) - 1]].tag if around[0] != box else ""
            if page.lines[other].zone != zone or (sort and tag in _PARTS and tag != sort):
                return other
            if page.lines[other].tag == rank in HEADING and not page.labels[other]:
                return other
            if other in self._valued:
                sort = sort or tag or "-"
        return end

    def _next(self, numbers: list[int], number: int) -> int:
        at = bisect_right(numbers, number)
        return numbers[at] if at < len(numbers) else len(self.owner)


def _matches(pattern: re.Pattern[str], text: str) -> bool:
    """Return whether a text matches a pattern as written (営業所) or simplified (辦事處)."""
    return bool(pattern.search(text) or pattern.search(simplify(text)))


def _opens_other_owner(line: Line) -> bool:
    """Return whether a heading, or a line ending in a colon, begins a part of another owner."""
    match = OTHER_OWNER.search(line.text)
    heads = line.tag in HEADING or line.text.endswith(":")
    return heads and match is not None and not _OWN_TOO.match(match[0])
