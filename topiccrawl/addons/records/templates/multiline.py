"""Addresses without a label that extend over several lines, or over several parts of a line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.values import address, names, plain
from topiccrawl.addons.records.templates.values.telephone import telephones
from topiccrawl.addons.records.templates.values.value import shown
from topiccrawl.text.normal import fold, has_han

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topiccrawl.addons.records.templates.layout import Line
    from topiccrawl.addons.records.templates.page import LabelledPage

_MAX_LINES = 6
"""Maximum number of lines of an address."""
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
        return rest.strip() if gap and names.is_organisation(first) else text
    first, comma, rest = text.partition(",")
    named = len(first) > 3 and (fold(first) in fold(title) or names.is_organisation(first))  # noqa: PLR2004
    return rest.strip() if comma and named and address.looks_like(rest.strip()) else text


def in_parts(text: str, region: str, title: str = "") -> Iterator[str]:
    """Yield the addresses of a line with several parts: in one part or over adjacent parts.

    >>> list(in_parts("Brandt OHG · Am Deich 4 · 26789 Leer", "DE"))
    ['Am Deich 4, 26789 Leer']
    >>> list(in_parts("305 Main St | Kearney, NE 68847 | P: 308.555.0162", "US"))
    ['305 Main St, Kearney, NE 68847']
    """
    parts, title = split_parts(text), fold(title)
    for number, part in enumerate(parts):
        coded = address.LEADING_CODE.match(part) and address.plausible(address.tidy(part))
        if coded or address.looks_like(part):
            yield address.tidy(part)
        elif joined := _join(parts[: number + 1], region, title):
            yield joined


def multiline(page: LabelledPage) -> Iterator[tuple[int, str]]:
    """Yield addresses over several lines, each with the number of its last line."""
    title, region = fold(page.title), page.region
    for number, line in enumerate(page.lines):
        text = page.text(number)
        if page.labels[number] or has_han(text) or not _can_end(text, region):
            continue
        if telephones(text, region, labelled=False):
            continue
        whole = _join([*_lines_before(page, number), text], region, title, apart=True)
        after = page.lines[number + 1] if number + 1 < len(page.lines) else None
        if whole and after is not None and after.box == line.box:
            country = _COUNTRY.fullmatch(shown(after.text))
            whole += f", {country[0].rstrip('.')}" if country else ""
        if whole:
            yield number, whole


def extended(page: LabelledPage, number: int, first: str) -> str:
    """Return an address extended by the next lines: of the same box, or up to its postcode."""
    parts, box = [first], page.lines[number].box
    for line, text in _following(page, number):
        if line.box != box or not address.continues(parts[-1], text, page.region):
            break
        parts.append(text)
    if len(parts) == 1 and not has_han(first) and not plain.postcodes(first, page.region):
        parts += _to_postcode(page, number)
    whole = ("" if has_han(first) else ", ").join(part.strip(" ,.") for part in parts)
    return whole if len(whole) <= address.LONGEST else first


def _following(page: LabelledPage, number: int) -> Iterator[tuple[Line, str]]:
    """Yield the next lines, up to one with a label, and their texts."""
    for other in range(number + 1, min(number + _MAX_LINES, len(page.lines))):
        if page.labels[other]:
            return
        yield page.lines[other], page.text(other).strip(" ,")


def _to_postcode(page: LabelledPage, number: int) -> list[str]:
    """Return the next lines up to one that ends in a postcode; none if there is no such line."""
    found: list[str] = []
    for line, text in _following(page, number):
        if line.tag != page.lines[number].tag or not address.continues("-", text, page.region):
            break
        found.append(text)
        codes = plain.postcodes(text, page.region)
        if codes and codes[-1].end == len(text):
            return found
    return []


def _lines_before(page: LabelledPage, number: int) -> list[str]:
    """Return preceding lines that may belong to the same address, in the same or a sibling box."""
    found: list[str] = []
    line = page.lines[number]
    for other in range(number - 1, max(-1, number - _MAX_LINES), -1):
        before, text = page.lines[other], page.text(other)
        sibling = before.tag == line.tag and _are_neighbours(page, other, number)
        if before.bold and not line.bold and not address.is_part(text):
            break  # a heading: Visit
        if page.labels[other] or has_han(text) or telephones(text, page.region, labelled=False):
            break
        if before.box != line.box and not (sibling and address.is_part(text)):
            break
        found.insert(0, text)
    return found


def _are_neighbours(page: LabelledPage, one: int, other: int) -> bool:
    """Return whether two lines are in sibling boxes, or in cells of the same column."""
    here, there = page.lines[one].cell, page.lines[other].cell
    if here and there:
        return here.column == there.column and here.table == there.table
    return page.parent(one) == page.parent(other)


def _can_end(text: str, region: str) -> bool:
    """Return whether an address can end in a line: with a postcode, or a postcode and a town."""
    codes = plain.postcodes(text, region)
    if codes and _STATE.match(text, codes[-1].end):
        return True
    return bool(_CODE_FIRST.match(text) or address.WITHOUT_CODE.search(text))


def _join(parts: Sequence[str], region: str, title: str, *, apart: bool = False) -> str:
    """Return the address formed by the last of the parts; "" if there is none."""
    if len(parts) < 2 or not _can_end(parts[-1], region):  # noqa: PLR2004
        return ""
    lines = [part.strip(" ,.") for part in parts[-_MAX_LINES:]]
    for number in range(len(lines) - 2, -1, -1):
        named = names.is_organisation(lines[number])
        if named or not 0 < len(lines[number]) <= 60 or "@" in lines[number]:  # noqa: PLR2004
            lines = lines[number + 1 :]
            break
    if title and fold(lines[0]) in title:
        lines = lines[1:]
    if lines and _CODE_FIRST.match(lines[-1]):
        lines = [*lines[-2:-1], _ABROAD.sub("", lines[-1])]
        if len(lines) > 1 and apart and address.plausible(", ".join(lines)):
            return address.tidy(", ".join(lines))
    whole = ", ".join(lines)
    return address.tidy(whole) if len(lines) > 1 and address.looks_like(whole) else ""
