"""The records of a page, and the one record that the pages of a site make together."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

from topiccrawl.addons.records.record import Found, Record
from topiccrawl.addons.records.templates.candidate import Candidate
from topiccrawl.addons.records.templates.lines import read_sheet
from topiccrawl.addons.records.templates.owners import NO_OWNER, SUBJECT, Owners
from topiccrawl.addons.records.templates.places import Places
from topiccrawl.addons.records.templates.structured import Subject, subjects
from topiccrawl.addons.records.templates.subject import Called, called, votes_of
from topiccrawl.addons.records.templates.template import Template
from topiccrawl.addons.records.templates.values.names import alike, legal
from topiccrawl.addons.records.templates.values.read import read_values
from topiccrawl.addons.records.templates.values.telephone import area_of, with_area
from topiccrawl.addons.records.templates.values.value import seen
from topiccrawl.addons.records.templates.weights import NAMED, TAKEN, WEIGHTS, ZONES, together
from topiccrawl.addons.records.templates.words import Vocabulary
from topiccrawl.links.urls import host_of
from topiccrawl.text.normal import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SNIPPET = 120
"""Characters of a snippet."""
_SURE = frozenset({"title", "site", "copyright", "registered", "json-ld", "microdata"})
"""Voters that name a site's owner, also on pages without any value of it."""
_LETTERS_GO = re.compile(r"P\.?\s?O\.?\s?Box|Postfach|BP\s\d|私書箱|[郵邮]政信箱", re.IGNORECASE)
"""A postal box; an address of a place counts more."""
_LINKED = frozenset({"link", "icon", "json-ld", "microdata"})
"""Places of numbers that may lack the extension that the text says."""
_STAFF = re.compile(
    r"(?:job )?title|position|role|department|dept\.?|ext(?:ension)?\.?|职务|职位|岗位|部门|姓名|"
    r"负责人|funktion|abteilung|fonction|poste|役職|部署",
    re.IGNORECASE,
)
"""Headings of tables whose rows are people."""


class _Weighed(NamedTuple):
    """A candidate with its owner and how likely it is right."""

    one: Candidate
    owner: str
    weight: float
    snippet: str


def records_of(html: str, url: str, template: Template) -> tuple[Record, ...]:
    """Return the records of a page: its subject's first, then those of others it describes.

    Values of branches, of the site's maker, and of an organisation whose section holds values of
    another one are in none: two organisations on one page are two records or none.
    Never raises. A page without any value gives none, or its subject's legal name alone, which
    other pages of the site may lack; what ``required`` asks for is asked of the whole record only,
    as is that it says more than a name (``combine``).

    Args:
        html: Decoded page.
        url: Where it was fetched.
        template: What is looked for.

    >>> from topiccrawl.addons.records.templates.template import resolve
    >>> page = "<title>四川天府软件有限公司</title><p>电　话：028-85123456/57<p>邮箱：info#tf.com"
    >>> record, = records_of(page, "http://tf.com/", resolve("软件公司-四川"))
    >>> record.name, record.values("联系方式"), record.values("邮箱")
    ('四川天府软件有限公司', ('+86 28 8512 3456', '+86 28 8512 3457'), ('info@tf.com',))
    """
    words = _words(template)
    sheet = read_sheet(html)
    places = Places(sheet, words)
    said = subjects(sheet.scripts, sheet.tree)
    found = list(places.found())
    name = called(list(votes_of(sheet, said, found, template.naming, _hosts(found, url, words))))
    valued = {one.line for one in found if one.where not in {"text", "alone"}}
    owners = Owners(places, name, valued, {one.at for one in found if one.field != template.naming})
    weighed = [_weigh(one, places, owners) for one in found]
    weighed = [one for one in weighed if one.owner != NO_OWNER]
    weighed += _of_machines(said, name, words)
    weighed = _rows(weighed, places)
    groups: dict[str, list[_Weighed]] = defaultdict(list)
    for one in weighed:
        groups[one.owner].append(one)
    if not name.name and len(groups) > 1:
        groups.pop(SUBJECT, None)  # a directory: values without an owner are the directory's
    records = []
    for owner, group in sorted(groups.items(), key=lambda item: item[0] != SUBJECT):
        title = name if owner == SUBJECT else Called(owner, 0.9, "heading")
        record = _record(group, title, url, words)
        if any(one.field != template.naming for one in record.found):
            records.append(record)
    if not records and name.who in _SURE and legal(name.name):
        records = [_record([], name, url, words)]
    return tuple(records)


@lru_cache(maxsize=8)
def _vocabulary(template: str) -> Vocabulary:
    return Vocabulary(Template.model_validate_json(template))


def _words(template: Template) -> Vocabulary:
    """The labels of a template, worked out once."""
    return _vocabulary(template.model_copy(update={"seeds": template.seeds[:1]}).model_dump_json())


def combine(pages: Iterable[Sequence[Record]], template: Template) -> tuple[Record, ...]:
    """Return the records of a site, from those of its pages: like names are one subject.

    A page without its subject's name adds to the first record; a record that lacks what
    the template requires is left out. The order of first pages is kept.
    """
    merged: list[list[Record]] = []
    for records in pages:
        for number, record in enumerate(records):
            home = next((group for group in merged if _same(group, record, first=not number)), None)
            if home is None:
                merged.append([record])
            else:
                home.append(record)
    joined = [_join(group, template) for group in merged]
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
    return any(alike(name, record.name) for name in names)


def _join(group: list[Record], template: Template) -> Record:
    kept: dict[tuple[str, str, bool], list[Found]] = defaultdict(list)
    for record in group:
        for one in record.found:
            kept[one.field, one.value, one.image].append(one)
    found = []
    for same in kept.values():
        best = max(same, key=lambda one: one.confidence)
        found.append(best._replace(confidence=round(together([one.confidence for one in same]), 4)))
    names = sorted(
        {one.name for one in group if one.name}, key=lambda name: (not legal(name), -len(name))
    )
    urls = tuple(dict.fromkeys(url for record in group for url in record.urls))
    name = names[0] if names else ""
    found = [one for one in found if one.field != template.naming or one.value == name or not name]
    return Record(template.name, name, _ordered(found, template), urls)


def _weigh(one: Candidate, places: Places, owners: Owners) -> _Weighed:
    line = places.sheet.lines[one.at]
    label = places.sheet.lines[one.line]
    weight = WEIGHTS[one.where] * ZONES[line.zone] * one.weight
    if _LETTERS_GO.match(one.value):
        weight = max(0.7 * weight, min(weight, TAKEN))
    owner = owners.of[one.at] if owners.of[one.at] != SUBJECT else owners.of[one.line]
    text = line.text if one.at == one.line else f"{label.text} {line.text}"
    begin = one.begin if one.begin >= 0 else seen(line.text).find(one.text)
    if owners.alien_from(one.at) <= begin < len(line.text):
        owner = NO_OWNER
    if owner == SUBJECT and begin > 0 and owners.speaks_of_another(one.at, begin):
        owner = NO_OWNER
    return _Weighed(one, owner, weight, _snippet(seen(text), one.text))


def _hosts(found: Iterable[Candidate], url: str, words: Vocabulary) -> list[str]:
    """The page's host, and those of the mail addresses on it."""
    mails = [one.value for one in found if words.kinds[one.field] == "mail" and not one.image]
    return list(dict.fromkeys([host_of(url), *(mail.rpartition("@")[2] for mail in mails)]))


def _snippet(text: str, value: str) -> str:
    at = max(0, text.find(value))
    begin = max(0, min(at - 30, len(text) - SNIPPET))
    return text[begin : begin + SNIPPET]


def _of_machines(said: list[Subject], name: Called, words: Vocabulary) -> list[_Weighed]:
    """Values of JSON-LD and microdata, of the page's subject only."""
    found = []
    for subject in said:
        if name.name and not alike(subject.name, name.name):
            continue
        for kind, text in subject.says:
            field = words.primary(kind)
            for value in (
                read_values(words.kinds[field], text, words.template.region) if field else ()
            ):
                one = Candidate(field, value.value, text, subject.where, -1)
                found.append(_Weighed(one, SUBJECT, WEIGHTS[subject.where], text[:SNIPPET]))
    return found


def _rows(weighed: list[_Weighed], places: Places) -> list[_Weighed]:
    """Rows of a table with headings that name an organisation each are that organisation's."""
    naming = places.words.template.naming
    rows: dict[tuple[int, int], str] = {}
    for one in weighed:
        cell = places.sheet.lines[one.one.at].cell if one.one.at >= 0 else None
        if one.one.where == "column" and one.one.field == naming and cell:
            rows[cell.table, cell.row] = one.one.value
    staff = {
        line.cell.table
        for line in places.sheet.lines
        if line.cell and _STAFF.fullmatch(seen(line.text))
    }
    weighed = [
        one
        for one in weighed
        if not (
            one.one.field == naming and one.one.where == "column" and _table(one, places) in staff
        )
    ]
    rows = {row: name for row, name in rows.items() if row[0] not in staff}
    if len(set(rows.values())) < 2:  # noqa: PLR2004 - one organisation is the subject
        return weighed
    kept = []
    for one in weighed:
        cell = places.sheet.lines[one.one.at].cell if one.one.at >= 0 else None
        owner = (
            rows.get((cell.table, cell.row))
            if cell and one.one.where in {"column", "link", "text", "alone"}
            else None
        )
        kept.append(one._replace(owner=owner) if owner else one)
    return kept


def _table(one: _Weighed, places: Places) -> int:
    cell = places.sheet.lines[one.one.at].cell if one.one.at >= 0 else None
    return cell.table if cell else -1


def _record(group: list[_Weighed], name: Called, url: str, words: Vocabulary) -> Record:
    template = words.template
    places: dict[tuple[str, str, bool], list[_Weighed]] = defaultdict(list)
    for one in _local_numbers(group, words):
        if one.one.field != template.naming:
            places[one.one.field, one.one.value, one.one.image].append(one)
    found = [_found(same, url) for same in places.values()]
    found = _without_faxes(found, words)
    if template.naming and name.name:
        found.append(
            Found(
                template.naming,
                name.name,
                name.name,
                round(name.confidence, 4),
                name.who,
                url,
                name.name,
            )
        )
    return Record(template.name, name.name, _ordered(found, template), (url,))


def _found(same: list[_Weighed], url: str) -> Found:
    best = max(same, key=lambda one: one.weight)
    apart = {(one.one.at, one.one.where): one.weight for one in same}
    lines = {at for at, _ in apart}
    weights = [max(weight for (at, _), weight in apart.items() if at == line) for line in lines]
    one = best.one
    value = urljoin(url, one.value) if one.image else one.value
    confidence = round(together(weights), 4)
    return Found(one.field, value, one.text, confidence, one.where, url, best.snippet, one.image)


def _local_numbers(group: list[_Weighed], words: Vocabulary) -> list[_Weighed]:
    """Numbers without area code take that of the others of the same subject, if it is one."""
    region = words.template.region
    phones = [
        one for one in group if words.kinds.get(one.one.field) == "telephone" and not one.one.image
    ]
    areas = {area for one in phones if (area := area_of(one.one.value))}
    if len(areas) != 1:
        return group
    area = areas.pop()
    done = []
    for one in group:
        digits, ext, more = one.one.value.partition(" ext. ")
        if one in phones and digits.isdigit():
            value = with_area(digits, area, region) + ext + more
            done.append(one._replace(one=one.one._replace(value=value)))
        else:
            done.append(one)
    return done


def _without_faxes(found: list[Found], words: Vocabulary) -> list[Found]:
    """A number that is labelled a fax is no telephone unless it is labelled so, too."""
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


def _ordered(found: Iterable[Found], template: Template) -> tuple[Found, ...]:
    """By field and confidence; of fields that hold one value the most certain."""
    kept: list[Found] = []
    for field, how in template.crawl.items():
        least = NAMED if how.kind == "name" else TAKEN
        own = [one for one in found if one.field == field and one.confidence >= least]
        own.sort(key=lambda one: (one.image, -one.confidence))
        if how.kind == "telephone":
            own = _without_doubles(own)
        if not how.several:
            own = _the_one(own)
        kept += own
    return tuple(kept)


def _without_doubles(own: list[Found]) -> list[Found]:
    """Return the values, numbers whose extension another place leaves out once, with it.

    A switchboard's number stays, too: it has several extensions, or one under another word.
    """
    whole = Counter(one.value.partition(" ext. ")[0] for one in own if " ext. " in one.value)
    others = {one.value.partition(" ext. ")[0] for one in own if one.where == "alone"}
    return [
        one
        for one in own
        if whole[one.value] != 1 or (one.value in others and one.where not in _LINKED)
    ]


def _the_one(own: list[Found]) -> list[Found]:
    """The most certain value; of those that hold each other the longest."""
    if len(own) < 2:  # noqa: PLR2004
        return own
    best = own[0]
    for one in own[1:]:
        if not one.image and fold(best.value) in fold(one.value):
            best = one._replace(confidence=max(one.confidence, best.confidence))
    return [best]
