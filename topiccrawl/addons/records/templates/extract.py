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
    Candidate,
    combined,
)
from topiccrawl.addons.records.templates.finder import ValueFinder
from topiccrawl.addons.records.templates.layout import read_layout
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

SNIPPET = 120
"""Maximum length of a snippet, in characters."""
_OWNERS = frozenset({"title", "site", "copyright", "registered", "json-ld", "microdata"})
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


class _Weighed(NamedTuple):
    """A candidate with its owner, its confidence in [0, 1] and a snippet."""

    found: Candidate
    owner: str
    weight: float
    snippet: str


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
    page = read_layout(html)
    finder = ValueFinder(page, words)
    structured = subjects(page.scripts, page.tree)
    found = list(finder.candidates())
    name = subject_name(
        list(name_votes(page, structured, found, template.naming, _hosts(found, url, words)))
    )
    valued = {one.line for one in found if one.where not in {"text", "alone"}}
    owners = Owners(finder, name, valued, {one.at for one in found if one.field != template.naming})
    weighed = [_weigh(one, finder, owners) for one in found]
    weighed = [one for one in weighed if one.owner != NO_OWNER]
    weighed += _structured(structured, name, words)
    weighed = _assign_rows(weighed, finder)
    groups: dict[str, list[_Weighed]] = defaultdict(list)
    for one in weighed:
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
    kept: dict[tuple[str, str, bool], list[FoundValue]] = defaultdict(list)
    for record in group:
        for one in record.found:
            kept[one.field, one.value, one.image].append(one)
    found = []
    for same in kept.values():
        best = max(same, key=lambda one: one.confidence)
        found.append(best._replace(confidence=round(combined([one.confidence for one in same]), 4)))
    names = sorted(
        {one.name for one in group if one.name}, key=lambda name: (not is_legal(name), -len(name))
    )
    urls = tuple(dict.fromkeys(url for record in group for url in record.urls))
    name = names[0] if names else ""
    found = [one for one in found if one.field != template.naming or one.value == name or not name]
    return Record(template.name, name, _ordered(found, template), urls)


def _weigh(one: Candidate, finder: ValueFinder, owners: Owners) -> _Weighed:
    line = finder.page.lines[one.at]
    label = finder.page.lines[one.line]
    weight = WEIGHTS[one.where] * ZONES[line.zone] * one.weight
    if _POSTAL_BOX.match(one.value):
        weight = max(0.7 * weight, min(weight, MIN_CONFIDENCE))
    owner = owners.owner[one.at] if owners.owner[one.at] != SUBJECT else owners.owner[one.line]
    text = line.text if one.at == one.line else f"{label.text} {line.text}"
    begin = one.begin if one.begin >= 0 else shown(line.text).find(one.text)
    if owners.foreign_from(one.at) <= begin < len(line.text):
        owner = NO_OWNER
    if owner == SUBJECT and begin > 0 and owners.names_another(one.at, begin):
        owner = NO_OWNER
    return _Weighed(one, owner, weight, _snippet(shown(text), one.text))


def _hosts(found: Iterable[Candidate], url: str, words: Vocabulary) -> list[str]:
    """Return the page's host and the hosts of the mail addresses on the page."""
    mails = [one.value for one in found if words.kinds[one.field] == "mail" and not one.image]
    return list(dict.fromkeys([host_of(url), *(mail.rpartition("@")[2] for mail in mails)]))


def _snippet(text: str, value: str) -> str:
    at = max(0, text.find(value))
    begin = max(0, min(at - 30, len(text) - SNIPPET))
    return text[begin : begin + SNIPPET]


def _structured(structured: list[Subject], name: SubjectName, words: Vocabulary) -> list[_Weighed]:
    """Return values of JSON-LD and microdata that belong to the page's subject."""
    found = []
    for subject in structured:
        if name.name and not similar(subject.name, name.name):
            continue
        for kind, text in subject.facts:
            field = words.primary(kind)
            for value in (
                read_values(words.kinds[field], text, words.template.region) if field else ()
            ):
                one = Candidate(field, value.value, text, subject.where, -1)
                found.append(_Weighed(one, SUBJECT, WEIGHTS[subject.where], text[:SNIPPET]))
    return found


def _assign_rows(weighed: list[_Weighed], finder: ValueFinder) -> list[_Weighed]:
    """Assign the rows of a table with column headings to the organisations that they name."""
    naming = finder.words.template.naming
    rows: dict[tuple[int, int], str] = {}
    for one in weighed:
        cell = finder.page.lines[one.found.at].cell if one.found.at >= 0 else None
        if one.found.where == "column" and one.found.field == naming and cell:
            rows[cell.table, cell.row] = one.found.value
    staff = {
        line.cell.table
        for line in finder.page.lines
        if line.cell and _STAFF.fullmatch(shown(line.text))
    }
    weighed = [
        one
        for one in weighed
        if not (
            one.found.field == naming
            and one.found.where == "column"
            and _table(one, finder) in staff
        )
    ]
    rows = {row: name for row, name in rows.items() if row[0] not in staff}
    if len(set(rows.values())) < 2:  # noqa: PLR2004 - one organisation is the subject
        return weighed
    kept = []
    for one in weighed:
        cell = finder.page.lines[one.found.at].cell if one.found.at >= 0 else None
        owner = (
            rows.get((cell.table, cell.row))
            if cell and one.found.where in {"column", "link", "text", "alone"}
            else None
        )
        kept.append(one._replace(owner=owner) if owner else one)
    return kept


def _table(one: _Weighed, finder: ValueFinder) -> int:
    cell = finder.page.lines[one.found.at].cell if one.found.at >= 0 else None
    return cell.table if cell else -1


def _record(group: list[_Weighed], name: SubjectName, url: str, words: Vocabulary) -> Record:
    template = words.template
    by_value: dict[tuple[str, str, bool], list[_Weighed]] = defaultdict(list)
    for one in _local_numbers(group, words):
        if one.found.field != template.naming:
            by_value[one.found.field, one.found.value, one.found.image].append(one)
    found = [_found(same, url) for same in by_value.values()]
    found = _without_faxes(found, words)
    if template.naming and name.name:
        found.append(
            FoundValue(
                template.naming,
                name.name,
                name.name,
                round(name.confidence, 4),
                name.voter,
                url,
                name.name,
            )
        )
    return Record(template.name, name.name, _ordered(found, template), (url,))


def _found(same: list[_Weighed], url: str) -> FoundValue:
    best = max(same, key=lambda one: one.weight)
    apart = {(one.found.at, one.found.where): one.weight for one in same}
    lines = {at for at, _ in apart}
    weights = [max(weight for (at, _), weight in apart.items() if at == line) for line in lines]
    one = best.found
    value = urljoin(url, one.value) if one.image else one.value
    confidence = round(combined(weights), 4)
    return FoundValue(
        one.field, value, one.text, confidence, one.where, url, best.snippet, one.image
    )


def _local_numbers(group: list[_Weighed], words: Vocabulary) -> list[_Weighed]:
    """Add the area code to local numbers if all other numbers of the subject have the same one."""
    region = words.template.region
    phones = [
        one
        for one in group
        if words.kinds.get(one.found.field) == "telephone" and not one.found.image
    ]
    areas = {area for one in phones if (area := area_of(one.found.value))}
    if len(areas) != 1:
        return group
    area = areas.pop()
    done = []
    for one in group:
        digits, ext, more = one.found.value.partition(" ext. ")
        if one in phones and digits.isdigit():
            value = with_area(digits, area, region) + ext + more
            done.append(one._replace(found=one.found._replace(value=value)))
        else:
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
