"""Extraction of records from a page, and merging of the records of a site's pages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING
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
from topiccrawl.addons.records.templates.layout import read_layout
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

    Group = list[tuple[int, FoundValue]]
    """Values of one owner, each with its line; -1 if it is in no line."""

SNIPPET = 120
"""Maximum length of a snippet, in characters."""
_OWNERS = frozenset({"title", "site", "copyright", "json-ld", "microdata"})
"""Voters whose name is reliable enough for a record without values."""
_POSTAL_BOX = re.compile(r"P\.?\s?O\.?\s?Box|Postfach|BP\s\d|私書箱|[郵邮]政信箱", re.IGNORECASE)
"""A post-office box; street addresses are preferred."""
_LINKED = frozenset({"link", "icon", "json-ld", "microdata"})
"""Places where a number may lack the extension given in the text."""


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
    groups: defaultdict[str, Group] = defaultdict(list)
    for one in found:
        groups[owners.of(one)].append((one.at, _evidence(one, page, url)))
    groups.pop(NO_OWNER, None)
    groups[SUBJECT] += ((-1, one) for one in _structured(structured, name, url, words))
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


def _evidence(one: Candidate, page: LabelledPage, url: str) -> FoundValue:
    """Return a value with its confidence and evidence."""
    line, label = page.lines[one.at], page.lines[one.line]
    weight = WEIGHTS[one.where] * ZONES[label.zone] * one.weight
    if _POSTAL_BOX.match(one.value):
        weight = max(0.7 * weight, min(weight, MIN_CONFIDENCE))
    text = line.text if one.at == one.line else f"{label.text} {line.text}"
    snippet = _snippet(shown(text), one.text)
    value = urljoin(url, one.value) if one.image else one.value
    return FoundValue(one.field, value, one.text, weight, one.where, url, snippet, one.image)


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
) -> list[FoundValue]:
    """Return values of JSON-LD and microdata that belong to the page's subject."""
    return [
        FoundValue(field, value.value, text, WEIGHTS[one.where], one.where, url, text[:SNIPPET])
        for one in structured
        if not name.name or similar(one.name, name.name)
        for kind, text in one.facts
        if (field := words.primary(kind))
        for value in read_values(words.kinds[field], text, words.template.region)
    ]


def _record(group: Group, name: SubjectName, url: str, words: Vocabulary) -> Record:
    template = words.template
    values = [(at, one) for at, one in group if one.field != template.naming]
    found = _without_faxes(_combined(_with_area_codes(values, words)), words)
    if template.naming and name.name:
        confidence = round(name.confidence, 4)
        found.append(FoundValue(template.naming, name.name, name.name, confidence, name.voter, url,
                                name.name))  # fmt: skip
    return Record(template.name, name.name, _ordered(found, template), (url,))


def _with_area_codes(group: Group, words: Vocabulary) -> Group:
    """Add the area code to local numbers if all other numbers of the subject have the same one."""
    phones = [one for _, one in group if words.kinds[one.field] == "telephone"]
    areas = {area for one in phones if not one.image and (area := area_of(one.value))}
    if len(areas) != 1:
        return group
    (area,) = areas

    def whole(one: FoundValue) -> FoundValue:
        digits, ext, more = one.value.partition(" ext. ")
        if one not in phones or not digits.isdigit():
            return one
        return one._replace(value=with_area(digits, area, words.template.region) + ext + more)

    return [(at, whole(one)) for at, one in group]


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
            own = own[:1] if how.kind == "number" else _single_value(own)
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
