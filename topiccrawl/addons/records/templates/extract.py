"""Extraction of records from a page, and merging of the records of a site's pages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from topiccrawl.addons.records.records import FoundValue, Record
from topiccrawl.addons.records.templates.attribution import NO_OWNER, SUBJECT, Owners
from topiccrawl.addons.records.templates.candidate import (
    MIN_CONFIDENCE,
    MIN_NAME_CONFIDENCE,
    WEIGHTS,
    ZONES,
    Candidate,
    combined,
)
from topiccrawl.addons.records.templates.finder import ValueFinder
from topiccrawl.addons.records.templates.labels import LabelledPage
from topiccrawl.addons.records.templates.layout import read_layout
from topiccrawl.addons.records.templates.structured import Subject, subjects
from topiccrawl.addons.records.templates.subject import SubjectName, name_votes, subject_name
from topiccrawl.addons.records.templates.template import Template
from topiccrawl.addons.records.templates.values import read_values
from topiccrawl.addons.records.templates.values.names import is_legal, similar
from topiccrawl.addons.records.templates.values.plain import shown
from topiccrawl.addons.records.templates.values.telephone import area_of, with_area
from topiccrawl.addons.records.templates.words import Vocabulary
from topiccrawl.text.normal import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.addons.records.templates.layout import Cell

_ROW_PLACES = frozenset({"column", "link", "text", "alone"})
"""Places of values that belong to the organisation named in their row."""
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
    page = LabelledPage(read_layout(html), _vocabulary_of(template))
    found = list(ValueFinder(page).candidates())
    structured = subjects(page.layout.scripts, page.layout.tree)
    name = subject_name(list(name_votes(page, structured, found, url)))
    owners = Owners(page, name, found)
    weighed = [one for one in (_weigh(one, page, owners) for one in found) if one.owner != NO_OWNER]
    weighed += _structured(structured, name, page.words)
    weighed = _assign_rows(weighed, page)
    groups = {SUBJECT: [one for one in weighed if one.owner == SUBJECT]}
    for one in weighed:
        if one.owner != SUBJECT:
            groups.setdefault(one.owner, []).append(one)
    if not name.name and len(groups) > 1:
        del groups[SUBJECT]  # a directory: values without an owner belong to the directory
    records = []
    for owner, group in groups.items():
        title = name if owner == SUBJECT else SubjectName(owner, 0.9, "heading")
        record = _record(group, title, url, page.words)
        if any(one.field != template.naming for one in record.found):
            records.append(record)
    if not records and name.voter in _OWNERS and is_legal(name.name):
        records = [_record([], name, url, page.words)]
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
    others = set(template.crawl) - {template.naming}
    return tuple(
        one
        for one in joined
        if all(map(one.values, needed))
        and (not others or any(found.field in others for found in one.found))
    )


def _same(group: list[Record], record: Record, *, first: bool) -> bool:
    names = [one.name for one in group if one.name]
    if not record.name or not names:
        return first
    return any(similar(name, record.name) for name in names)


def _merge(group: list[Record], template: Template) -> Record:
    kept: dict[tuple[str, str, bool], list[FoundValue]] = defaultdict(list)
    for record in group:
        for one in record.found:
            kept[one.field, one.value, one.image].append(one)
    found = []
    for same in kept.values():
        best = max(same, key=lambda one: one.confidence)
        found.append(best._replace(confidence=round(combined([one.confidence for one in same]), 4)))
    names = [one.name for one in group if one.name]
    name = min(names, key=lambda name: (not is_legal(name), -len(name)), default="")
    urls = tuple(dict.fromkeys(url for record in group for url in record.urls))
    found = [one for one in found if one.field != template.naming or one.value == name or not name]
    return Record(template.name, name, _ordered(found, template), urls)


def _weigh(one: Candidate, page: LabelledPage, owners: Owners) -> Candidate:
    """Return a candidate with its owner, its confidence and a snippet."""
    line = page.lines[one.at]
    weight = WEIGHTS[one.where] * ZONES[line.zone] * one.weight
    if _POSTAL_BOX.match(one.value):
        weight = max(0.7 * weight, min(weight, MIN_CONFIDENCE))
    begin = one.begin if one.begin >= 0 else shown(line.text).find(one.text)
    text = line.text if one.at == one.line else f"{page.lines[one.line].text} {line.text}"
    snippet = _snippet(shown(text), one.text)
    return one._replace(owner=owners.of(one, begin), weight=weight, snippet=snippet)


def _snippet(text: str, value: str) -> str:
    at = max(0, text.find(value))
    begin = max(0, min(at - 30, len(text) - SNIPPET))
    return text[begin : begin + SNIPPET]


def _structured(structured: list[Subject], name: SubjectName, words: Vocabulary) -> list[Candidate]:
    """Return values of JSON-LD and microdata that belong to the page's subject."""
    found = []
    for subject in structured:
        if name.name and not similar(subject.name, name.name):
            continue
        for kind, text in subject.facts:
            if field := words.primary(kind):
                for value in read_values(words.kinds[field], text, words.template.region):
                    one = Candidate(field, value.value, text, subject.where, -1)
                    weight = WEIGHTS[subject.where]
                    found.append(one._replace(weight=weight, snippet=text[:SNIPPET]))
    return found


def _assign_rows(found: list[Candidate], page: LabelledPage) -> list[Candidate]:
    """Assign the rows of a table with column headings to the organisations that they name."""
    naming = page.words.template.naming
    staff = {one.cell.table for one in page.lines if one.cell and _STAFF.fullmatch(shown(one.text))}
    cells = [page.lines[one.at].cell if one.at >= 0 else None for one in found]
    rows: dict[tuple[int, int], str] = {}
    kept: list[tuple[Candidate, Cell | None]] = []
    for one, cell in zip(found, cells, strict=True):
        if one.where == "column" and one.field == naming and cell:
            if cell.table in staff:
                continue
            rows[cell.table, cell.row] = one.value
        kept.append((one, cell))
    several = len(set(rows.values())) > 1  # one organisation is the subject
    return [
        one._replace(owner=rows.get((cell.table, cell.row), one.owner))
        if several and cell and one.where in _ROW_PLACES
        else one
        for one, cell in kept
    ]


def _record(group: list[Candidate], name: SubjectName, url: str, words: Vocabulary) -> Record:
    template = words.template
    by_value: dict[tuple[str, str, bool], list[Candidate]] = defaultdict(list)
    for one in _with_area_codes(group, words):
        if one.field != template.naming:
            by_value[one.field, one.value, one.image].append(one)
    found = _without_faxes([_found(same, url) for same in by_value.values()], words)
    if template.naming and name.name:
        evidence = (round(name.confidence, 4), name.voter, url, name.name)
        found.append(FoundValue(template.naming, name.name, name.name, *evidence))
    return Record(template.name, name.name, _ordered(found, template), (url,))


def _found(same: list[Candidate], url: str) -> FoundValue:
    best = max(same, key=lambda one: one.weight)
    lines: dict[int, float] = defaultdict(float)
    for one in same:
        lines[one.at] = max(lines[one.at], one.weight)
    value = urljoin(url, best.value) if best.image else best.value
    evidence = (round(combined(lines.values()), 4), best.where, url, best.snippet)
    return FoundValue(best.field, value, best.text, *evidence, best.image)


def _with_area_codes(group: list[Candidate], words: Vocabulary) -> list[Candidate]:
    """Add the area code to local numbers if all other numbers of the subject have the same one."""
    phones = [one for one in group if words.kinds[one.field] == "telephone" and not one.image]
    areas = {area_of(one.value) for one in phones} - {""}
    if len(areas) != 1:
        return group
    (area,), region = areas, words.template.region
    return [
        one._replace(value=with_area(one.value, area, region)) if one in phones else one
        for one in group
    ]


def _without_faxes(found: list[FoundValue], words: Vocabulary) -> list[FoundValue]:
    """Remove fax numbers from telephone fields unless they have a telephone label as well."""
    faxes = {one.value for one in found if one.field in words.faxes}
    return [
        one
        for one in found
        if one.value not in faxes
        or one.field in words.faxes
        or words.kinds[one.field] != "telephone"
        or one.where not in _LINKED | {"alone"}
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
