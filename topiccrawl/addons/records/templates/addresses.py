"""Addresses without a label: in one line, in parts of a line, in sentences, over several lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.candidate import Candidate
from topiccrawl.addons.records.templates.values.address import (
    LEADING_CODE,
    LONGEST,
    WITHOUT_CODE,
    continues,
    heading_end,
    is_part,
    lead_end,
    looks_like,
    plausible,
    tidy,
)
from topiccrawl.addons.records.templates.values.names import is_organisation, organisations
from topiccrawl.addons.records.templates.values.plain import Value, postcodes, shown
from topiccrawl.addons.records.templates.values.telephone import telephones
from topiccrawl.text.normal import fold, has_han

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topiccrawl.addons.records.templates.labels import LabelledPage

_MAX_LINES = 6
"""Maximum number of lines of an address."""
_MAX_CONTINUED = 5
"""Maximum number of lines of an address whose first line is known."""
GAPS = re.compile(r"[\s|]+")
_PARTS = re.compile(r"\s*[|•·¦●◆]\s*|\s+[–—-]\s+")
"""Separators of the parts of a line, for example in footers."""
_CODE_FIRST = re.compile(r"^(?:[A-Z]{1,3}-)?\d{4,5}(?: [A-Z]{2})?\s+[^\W\d_]")
"""A town after its postcode, as in most of Europe: 1016 GC Amsterdam."""
_PERSON = re.compile(r"^(?:Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Frau|Mme)\.? [^,\d]{2,30}, ")
_STATE = re.compile(r"(?:,\s*[A-Z][A-Za-z. ]{1,30}){0,2}[ .]*$")
"""Text that may follow the postcode at the end of an address: , Kerala, India."""
_ABROAD = re.compile(r"^[A-Z]{1,3}-(?=\d)")
_COUNTRY = re.compile(
    r"(?:[a-z][\w ]{1,30}[,(] ?)?(?:the )?"
    r"(?:netherlands|united (?:kingdom|states)(?: of america)?|usa|uk|u\.k\.|u\.s\.a\.|"
    r"ireland|germany|deutschland|austria|österreich|switzerland|schweiz|suisse|france|belgium|"
    r"belgique|italy|italia|spain|españa|portugal|poland|sweden|sverige|norway|denmark|danmark|"
    r"finland|canada|australia|new zealand|india|malaysia|china|taiwan|japan|england|scotland|"
    r"wales|p\.?\s?r\.?\s?china|singapore|hong kong|macau|macao|dubai|u\.?a\.?e\.?)[.)]?",
    re.IGNORECASE,
)
_BASED = re.compile(
    r"\b(?:(?:located|based|situated|find us|visit us|offices? (?:is|are)) (?:at|in)|"
    r"(?:situés?|situées?|sise?s?|installés?|domiciliée?s?) (?:au|à)|"
    r"(?:befinden? sich|ansässig) (?:in|an)):?\s+"
    r"([^;!?]{8,120}?)(?=\.\s|\.?$|;|\s(?:and|or|et|ou|und)\s)",
    re.IGNORECASE,
)
_SITUATED = re.compile(
    r"(?:(?:公司|总部|我司|我们|办公地点|办公室|店)[^,。;:!?]{0,6}(?:位于|坐落[于在]|地处|设[在于])"
    r"|(?:地址|店址|厂址|校址)(?:位于|[在是为]))([^,。;:!?]{8,60})"
)
_CLOSED = re.compile(r"\s*(?:$|[^\w\s])")


def text_before_label(page: LabelledPage, number: int) -> str:
    """Return the text before the first label of a line, without a name; "" if there is no label."""
    labels = page.labels[number]
    text = page.lines[number].text[: labels[0].start] if labels else ""
    return without_name(shown(text), page.layout.title)


def address_before_label(page: LabelledPage, number: int) -> Iterator[Candidate]:
    """Yield the address before the first label of a line."""
    field, text = page.words.primary("address"), text_before_label(page, number)
    for one in in_parts(page, text) if field and len(text) <= LONGEST else ():
        if not telephones(one, page.region, labelled=False):
            yield Candidate(field, one, text, "alone", number)


def addresses_in_text(page: LabelledPage, number: int) -> Iterator[Candidate]:
    """Yield addresses after the name of an organisation, and in sentences about its location."""
    field, text = page.words.primary("address"), page.lines[number].text
    if not field:
        return
    foreign = not has_han(text)
    for one in organisations(text)[:3] if foreign else ():
        rest = text[one.end :]  # up to the postcode: Tarn Ltd, 6 High St, Kendal LA9 4LL
        code = next(iter(postcodes(rest[:LONGEST], page.region)), None)
        place = tidy(rest[: code.end]) if code and _CLOSED.match(rest, code.end) else ""
        if looks_like(place):
            yield Candidate(field, place, place, "alone", number, begin=one.end + 1)
    for match in (*_SITUATED.finditer(text), *(_BASED.finditer(text) if foreign else ())):
        if looks_like(place := tidy(match[1])):
            yield Candidate(field, place, place, "text", number, begin=match.start(1))


def addresses_alone(page: LabelledPage, number: int) -> Iterator[Candidate]:
    """Yield addresses that fill a line, or a part of a line between separators or gaps."""
    field, line, labels = page.words.primary("address"), page.lines[number], page.labels[number]
    if not field:
        return
    begin = labels[-1].end if labels else 0
    begin += lead_end(line.text[begin:])
    if not begin and page.next_to_label(number):
        begin = heading_end(line.text)
    text = shown(line.text[begin:])
    if not labels:
        yield from leading_code(page, number, text)
    text = without_name(text, page.layout.title)
    written = tidy(text)
    if len(split_parts(text)) > 1:
        found = list(in_parts(page, text))
    elif looks_like(written) or (LEADING_CODE.match(text) and plausible(written)):
        found = [_with_next_lines(page, number, written)]
    else:
        found = [tidy(one) for one in GAPS.split(text) if looks_like(one)]
    for one in found:
        for value in page.read(field, one):
            yield Candidate(field, value.value, text, "alone", number)


def leading_code(
    page: LabelledPage, number: int, text: str, weight: float = 1.0
) -> Iterator[Candidate]:
    """Yield the postcode at the start of a Chinese or Japanese address: 〒101-0054 東京都….

    A weight below 1 is that of the address's label.
    """
    field = page.words.primary("postcode")
    match = LEADING_CODE.match(text) if field else None
    codes = postcodes(match[0], page.region) if match else []
    if match and codes:
        if weight < 1:
            yield Candidate(field, codes[0].value, text, "line", number, weight)
        elif "〒" in text or looks_like(tidy(text[match.end() :])):
            yield Candidate(field, codes[0].value, text, "alone", number)


def split_parts(text: str) -> list[str]:
    """Split a line at bars and bullets.

    >>> split_parts("305 Main St | Kearney, NE 68847 · P: 308.555.0162")
    ['305 Main St', 'Kearney, NE 68847', 'P: 308.555.0162']
    """
    parts = (part.strip(" –—-") for part in _PARTS.split(text))
    return [part for part in parts if part]


def without_name(text: str, title: str) -> str:
    """Remove a name before an address, if the name is also in the page's title.

    >>> without_name("Ploughman's Rest, Church Lane, Barton OX18 4TE", "Ploughman's Rest | Pub")
    'Church Lane, Barton OX18 4TE'
    """
    text = _PERSON.sub("", text)
    if has_han(text):
        first, gap, rest = text.partition(" ")
        return rest.strip() if gap and is_organisation(first) else text
    first, comma, rest = text.partition(",")
    named = len(first) > 3 and (fold(first) in fold(title) or is_organisation(first))  # noqa: PLR2004
    return rest.strip() if comma and named and looks_like(rest.strip()) else text


def in_parts(page: LabelledPage, text: str) -> Iterator[str]:
    """Yield the addresses of a line with several parts: in one part or over adjacent parts.

    Examples are ``305 Main St | Kearney, NE 68847`` and ``Brandt OHG · Am Deich 4 · 26789 Leer``.
    """
    parts = split_parts(text)
    for number, part in enumerate(parts):
        if looks_like(part):
            yield tidy(part)
        elif address := _join(page, parts[: number + 1]):
            yield address


def multiline_address(page: LabelledPage, number: int) -> Iterator[Candidate]:
    """Yield an address over several lines that ends in a line."""
    field, line = page.words.primary("address"), page.lines[number]
    text = shown(line.text)
    if not field or page.labels[number] or has_han(text) or not _can_end(text, page.region):
        return
    if telephones(text, page.region, labelled=False):
        return
    address = _join(page, [*_lines_before(page, number), text], apart=True)
    if not address:
        return
    for after in page.lines[number + 1 : number + 2]:
        if after.box == line.box and (country := _COUNTRY.fullmatch(shown(after.text))):
            address += f", {country[0].rstrip('.')}"
    yield Candidate(field, address, address, "alone", number)


def _with_next_lines(page: LabelledPage, number: int, first: str) -> str:
    """Return a Chinese address extended by the lines that continue it."""
    if not has_han(first):
        return first
    whole = "".join(_continued(page, number, first))
    return whole if len(whole) <= LONGEST else first


def extended(page: LabelledPage, number: int, first: Value) -> list[Value]:
    """Return an address extended by the next lines: of the same box, or up to its postcode."""
    parts = _continued(page, number, first.value)
    if len(parts) == 1 and not has_han(first.value) and not postcodes(first.value, page.region):
        parts += _to_postcode(page, number)
    joint = "" if has_han(first.value) else ", "
    value = joint.join(part.strip(" ,.") for part in parts)
    return [first._replace(value=value)] if len(value) <= LONGEST else [first]


def _continued(page: LabelledPage, number: int, first: str) -> list[str]:
    """Return the lines of an address in its box."""
    parts = [first]
    for other in range(number + 1, min(number + _MAX_CONTINUED, len(page.lines))):
        text = shown(page.lines[other].text).strip(" ,")
        if page.lines[other].box != page.lines[number].box or page.labels[other]:
            break
        if not continues(parts[-1], text, page.region):
            break
        parts.append(text)
    return parts


def _to_postcode(page: LabelledPage, number: int) -> list[str]:
    """Return the next lines up to one that ends in a postcode; none if there is no such line."""
    found: list[str] = []
    for other in range(number + 1, min(number + _MAX_LINES, len(page.lines))):
        text = shown(page.lines[other].text).strip(" ,")
        if page.lines[other].tag != page.lines[number].tag or page.labels[other]:
            break
        if not continues("-", text, page.region):
            break
        found.append(text)
        codes = postcodes(text, page.region)
        if codes and codes[-1].end == len(text):
            return found
    return []


def _lines_before(page: LabelledPage, number: int) -> list[str]:
    """Return preceding lines that may belong to the same address, in the same or a sibling box."""
    found: list[str] = []
    line = page.lines[number]
    for other in range(number - 1, max(-1, number - _MAX_LINES), -1):
        before = page.lines[other]
        text = shown(before.text)
        sibling = before.tag == line.tag and _are_neighbours(page, other, number)
        if before.bold and not line.bold and not is_part(text):
            break  # a heading: Visit
        if page.labels[other] or has_han(text) or telephones(text, page.region, labelled=False):
            break
        if before.box != line.box and not (sibling and is_part(text)):
            break
        found.insert(0, text)
    return found


def _are_neighbours(page: LabelledPage, one: int, other: int) -> bool:
    """Return whether two lines are in sibling boxes, or in cells of the same column."""
    here, there = page.lines[one].cell, page.lines[other].cell
    if here and there:
        return (here.table, here.column) == (there.table, there.column)
    return page.parent(one) == page.parent(other)


def _can_end(text: str, region: str) -> bool:
    """Return whether an address can end in a line: with a postcode, or a postcode and a town."""
    codes = postcodes(text, region)
    if codes and _STATE.match(text, codes[-1].end):
        return True
    return bool(_CODE_FIRST.match(text) or WITHOUT_CODE.search(text))


def _join(page: LabelledPage, parts: Sequence[str], *, apart: bool = False) -> str:
    """Return the address formed by the last of the parts; "" if there is none."""
    if len(parts) < 2 or not _can_end(parts[-1], page.region):  # noqa: PLR2004
        return ""
    title = fold(page.layout.title)
    lines = [part.strip(" ,.") for part in parts[-_MAX_LINES:]]
    for number in range(len(lines) - 2, -1, -1):
        named = is_organisation(lines[number])
        if named or not 0 < len(lines[number]) <= 60 or "@" in lines[number]:  # noqa: PLR2004
            lines = lines[number + 1 :]
            break
    if title and fold(lines[0]) in title:
        lines = lines[1:]
    if lines and _CODE_FIRST.match(lines[-1]):
        lines = [*lines[-2:-1], _ABROAD.sub("", lines[-1])]
        if len(lines) > 1 and apart and plausible(", ".join(lines)):
            return tidy(", ".join(lines))
    whole = ", ".join(lines)
    return tidy(whole) if len(lines) > 1 and looks_like(whole) else ""
