"""Extraction of records from a page, and merging of the records of a site's pages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

from topiccrawl.addons.records.record import FoundValue, Record
from topiccrawl.addons.records.templates.attribution import NO_OWNER, SUBJECT, Owners
from topiccrawl.addons.records.templates.candidate import (
    MIN_CONFIDENCE,
    MIN_NAME_CONFIDENCE,
    WEIGHTS,
    ZONES,
    combined,
)
from topiccrawl.addons.records.templates.finder import ValueFinder
from topiccrawl.addons.records.templates.layout import Cell, read_layout
from topiccrawl.addons.records.templates.page import LabelledPage
from topiccrawl.addons.records.templates.structured import Subject, subjects
from topiccrawl.addons.records.templates.subject import SubjectName, name_votes, subject_name
from topiccrawl.addons.records.templates.template import Template
from topiccrawl.addons.records.templates.values.names import is_legal, similar
from topiccrawl.addons.records.templates.values.read import read_values
from topiccrawl.addons.records.templates.values.telephone import area_of, with_area
from topiccrawl.addons.records.templates.values.value import shown
from topiccrawl.addons.records.templates.words import Vocabulary
from topiccrawl.links.urls import host_of
from topiccrawl.text.normal import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.addons.records.templates.candidate import Candidate

SNIPPET = 120
"""Maximum length of a snippet, in characters."""
_OWNERS = frozenset({"title", "site", "copyright", "json-ld", "microdata"})
"""Voters whose name is reliable enough for a record without values."""
_POSTAL_BOX = re.compile(r"P\.?\s?O\.?\s?Box|Postfach|BP\s\d|私書箱|[郵邮]政信箱", re.IGNORECASE)
"""A post-office box; street addresses are preferred."""
_LINKED = frozenset({"link", "icon", "json-ld", "microdata"})
"""Places where a number may lack the extension given in the text."""
_STAFF = re.compile(
    r"(?:job )?title|position|role|department|dept\.?|ext(?:ension)?\.?|职务|职位|岗位|部门|姓名|"
    r"负责人|funktion|abteilung|fonction|poste|役職|部署",
    re.IGNORECASE,
)
"""Column headings of tables that list people."""


class _Owned(NamedTuple):
    """A value of a page with its owner and its line; -1 if it is in no line."""

    found: FoundValue
    owner: str
    at: int = -1


def records_of(html: str, url: str, template: Template) -> tuple[Record, ...]:
    """Extract the records of a page: first of its subject, then of other organisations.

    Values of branches and of the site's developer are ignored, as are those of an organisation
    whose section contains values of another one: two organisations on a page are two records or
    none. A page without values has no record, or one with only the legal name of its subject, which
    other pages of the site may lack. Required fields are checked by ``combine``, for the whole
    record. Never raises.

    Args:
        html: Decoded page.
        url: URL of the page.
        template: Fields to extract.

    >>> from topiccrawl.addons.records.templates.template import resolve
    >>> page = "<title>四川天府软件有限公司</title><p>电　话：028-85123456/57<p>邮箱：info#tf.com"
    >>> record, = records_of(page, "http://tf.com/", resolve("软件公司-四川"))
    >>> record.name, record.values("联系方式"), record.values("邮箱")
    ('四川天府软件有限公司', ('+86 28 8512 3456', '+86 28 8512 3457'), ('info@tf.com',))
    """
    words = _vocabulary_of(template)
    layout = read_layout(html)
    page = LabelledPage(layout, words)
    structured = subjects(layout.tree)
    found = list(ValueFinder(page).candidates())
    name = subject_name(
        list(name_votes(layout, structured, found, template.naming, _hosts(found, url, words)))
    )
    owners = Owners(page, name, found)
    owned = [one for one in (_owned(one, page, owners, url) for one in found) if one]
    owned += _structured(structured, name, url, words)
    groups: dict[str, list[_Owned]] = defaultdict(list)
    for one in _assign_rows(owned, page):
        groups[one.owner].append(one)
    if not name.name and len(groups) > 1:
        groups.pop(SUBJECT, None)  # a directory: values without an owner belong to the directory
    records = []
    for owner, group in sorted(groups.items(), key=lambda item: item[0] != SUBJECT):
        title = name if owner == SUBJECT else SubjectName(owner, 0.9, "heading")
        record = _record(group, title, url, words)
        if any(one.field != template.naming for one in record.found):
            records.append(record)
    if not records and name.voter in _OWNERS and is_legal(name.name):
        records = [_record([], name, url, words)]
    return tuple(records)


@lru_cache(maxsize=8)
def _vocabulary(template: str) -> Vocabulary:
    return Vocabulary(Template.model_validate_json(template))


def _vocabulary_of(template: Template) -> Vocabulary:
    """Return the labels of a template, cached."""
    return _vocabulary(template.model_copy(update={"seeds": template.seeds[:1]}).model_dump_json())


def combine(pages: Iterable[Sequence[Record]], template: Template) -> tuple[Record, ...]:
    """Merge the records of a site's pages: records with similar names are one.

    A page without a name is merged into the first record. Records without a required field, or with
    nothing but a name, are discarded. The order of pages is preserved.
    """
    merged: list[list[Record]] = []
    for records in pages:
        for number, record in enumerate(records):
            home = next((group for group in merged if _same(group, record, first=not number)), None)
            if home is None:
                merged.append([record])
            else:
                home.append(record)
    joined = [_merge(group, template) for group in merged]
    needed = [field for field, how in template.crawl.items() if how.required]
    more = set(template.crawl) != {template.naming}
    return tuple(
        one
        for one in joined
        if all(one.values(field) for field in needed)
        and not (more and all(found.field == template.naming for found in one.found))
    )


def _same(group: list[Record], record: Record, *, first: bool) -> bool:
    names = [one.name for one in group if one.name]
    if not record.name or not names:
        return first
    return any(similar(name, record.name) for name in names)


def _merge(group: list[Record], template: Template) -> Record:
    found = _combined((record, one) for record in group for one in record.found)
    names = sorted(
        {one.name for one in group if one.name}, key=lambda name: (not is_legal(name), -len(name))
    )
    urls = tuple(dict.fromkeys(url for record in group for url in record.urls))
    name = names[0] if names else ""
    found = [one for one in found if one.field != template.naming or one.value == name or not name]
    return Record(template.name, name, _ordered(found, template), urls)


def _combined(found: Iterable[tuple[object, FoundValue]]) -> list[FoundValue]:
    """Merge equal values; those in several places, given with each value, have more confidence."""
    by_value: dict[tuple[str, str, bool], dict[object, FoundValue]] = defaultdict(dict)
    for place, one in found:
        kept = by_value[one.field, one.value, one.image]
        if place not in kept or kept[place].confidence < one.confidence:
            kept[place] = one
    return [
        max(kept.values(), key=lambda one: one.confidence)._replace(
            confidence=round(combined([one.confidence for one in kept.values()]), 4)
        )
        for kept in by_value.values()
    ]


def _owned(one: Candidate, page: LabelledPage, owners: Owners, url: str) -> _Owned | None:
    """Return a value with its owner, confidence and evidence; None if it belongs to no record."""
    line, label = page.lines[one.at], page.lines[one.line]
    weight = WEIGHTS[one.where] * ZONES[label.zone] * one.weight
    if _POSTAL_BOX.match(one.value):
        weight = max(0.7 * weight, min(weight, MIN_CONFIDENCE))
    owner = owners.of(one, one.begin if one.begin >= 0 else shown(line.text).find(one.text))
    if owner == NO_OWNER:
        return None
    text = line.text if one.at == one.line else f"{label.text} {line.text}"
    snippet = _snippet(shown(text), one.text)
    value = urljoin(url, one.value) if one.image else one.value
    found = FoundValue(one.field, value, one.text, weight, one.where, url, snippet, one.image)
    return _Owned(found, owner, one.at)


def _hosts(found: Iterable[Candidate], url: str, words: Vocabulary) -> list[str]:
    """Return the page's host and the hosts of the mail addresses on the page."""
    mails = [one.value for one in found if words.kinds[one.field] == "mail"]
    return list(dict.fromkeys([host_of(url), *(mail.rpartition("@")[2] for mail in mails)]))


def _snippet(text: str, value: str) -> str:
    at = max(0, text.find(value))
    begin = max(0, min(at - 30, len(text) - SNIPPET))
    return text[begin : begin + SNIPPET]


def _structured(
    structured: list[Subject], name: SubjectName, url: str, words: Vocabulary
) -> list[_Owned]:
    """Return values of JSON-LD and microdata that belong to the page's subject."""
    return [
        _Owned(
            FoundValue(field, value.value, text, WEIGHTS[one.where], one.where, url,
                       text[:SNIPPET]), SUBJECT,
        )
        for one in structured
        if not name.name or similar(one.name, name.name)
        for kind, text in one.facts
        if (field := words.primary(kind))
        for value in read_values(words.kinds[field], text, words.template.region)
    ]  # fmt: skip


def _assign_rows(owned: list[_Owned], page: LabelledPage) -> list[_Owned]:
    """Assign the rows of a table with column headings to the organisations that they name."""
    naming = page.words.template.naming
    staff = {
        line.cell.table for line in page.lines if line.cell and _STAFF.fullmatch(shown(line.text))
    }
    kept, rows = [], {}
    for one in owned:
        cell = _cell(one, page)
        if cell is not None and one.found.field == naming and one.found.where == "column":
            if cell.table in staff:
                continue
            rows[cell[:2]] = one.found.value
        kept.append(one)
    if len(set(rows.values())) < 2:  # noqa: PLR2004 - one organisation is the subject
        return kept
    return [
        one._replace(owner=rows.get(cell[:2], one.owner))
        if (cell := _cell(one, page)) and one.found.where in {"column", "link", "text", "alone"}
        else one
        for one in kept
    ]


def _cell(one: _Owned, page: LabelledPage) -> Cell | None:
    return page.lines[one.at].cell if one.at >= 0 else None


def _record(group: list[_Owned], name: SubjectName, url: str, words: Vocabulary) -> Record:
    template = words.template
    values = [one for one in group if one.found.field != template.naming]
    found = _combined((one.at, one.found) for one in _with_area_codes(values, words))
    found = _without_faxes(found, words)
    if template.naming and name.name:
        confidence = round(name.confidence, 4)
        found.append(FoundValue(template.naming, name.name, name.name, confidence, name.voter, url,
                                name.name))  # fmt: skip
    return Record(template.name, name.name, _ordered(found, template), (url,))


def _with_area_codes(group: list[_Owned], words: Vocabulary) -> list[_Owned]:
    """Add the area code to local numbers if all other numbers of the subject have the same one."""
    phones = [one.found for one in group if words.kinds[one.found.field] == "telephone"]
    areas = {area for one in phones if not one.image and (area := area_of(one.value))}
    if len(areas) != 1:
        return group
    area = areas.pop()
    done = []
    for one in group:
        digits, ext, more = one.found.value.partition(" ext. ")
        if one.found in phones and digits.isdigit():
            value = with_area(digits, area, words.template.region) + ext + more
            one = one._replace(found=one.found._replace(value=value))  # noqa: PLW2901
        done.append(one)
    return done


def _without_faxes(found: list[FoundValue], words: Vocabulary) -> list[FoundValue]:
    """Remove fax numbers from telephone fields unless they have a telephone label as well."""
    faxes = {one.value for one in found if one.field in words.faxes}
    weak = {"link", "alone", "icon", "json-ld", "microdata"}
    return [
        one
        for one in found
        if not (
            words.kinds.get(one.field) == "telephone"
            and one.field not in words.faxes
            and one.value in faxes
            and one.where in weak
        )
    ]


def _ordered(found: Iterable[FoundValue], template: Template) -> tuple[FoundValue, ...]:
    """Sort values by field and confidence; reduce single-value fields to the best value."""
    kept: list[FoundValue] = []
    for field, how in template.crawl.items():
        least = MIN_NAME_CONFIDENCE if how.kind == "name" else MIN_CONFIDENCE
        own = [one for one in found if one.field == field and one.confidence >= least]
        own.sort(key=lambda one: (one.image, -one.confidence))
        if how.kind == "telephone":
            own = _without_repeated(own)
        if not how.several:
            own = _single_value(own)
        kept += own
    return tuple(kept)


def _without_repeated(own: list[FoundValue]) -> list[FoundValue]:
    """Remove numbers that another place gives with an extension.

    The number of a switchboard is kept: it has several extensions, or one under another label.
    """
    whole = Counter(one.value.partition(" ext. ")[0] for one in own if " ext. " in one.value)
    others = {one.value.partition(" ext. ")[0] for one in own if one.where == "alone"}
    return [
        one
        for one in own
        if whole[one.value] != 1 or (one.value in others and one.where not in _LINKED)
    ]


def _single_value(own: list[FoundValue]) -> list[FoundValue]:
    """Return the value with the highest confidence, or the longest value that contains it."""
    if len(own) < 2:  # noqa: PLR2004
        return own
    best = own[0]
    for one in own[1:]:
        if not one.image and fold(best.value) in fold(one.value):
            best = one._replace(confidence=max(one.confidence, best.confidence))
    return [best]
