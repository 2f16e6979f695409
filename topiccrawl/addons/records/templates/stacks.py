"""Addresses over several lines, or over several parts of one line, that no label announces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.lines import Sheet, above
from topiccrawl.addons.records.templates.values.address import (
    LEADING_CODE,
    LONGEST,
    WITHOUT_CODE,
    goes_on,
    looks_like,
    part_of,
    plausible,
    tidy,
)
from topiccrawl.addons.records.templates.values.names import is_organisation
from topiccrawl.addons.records.templates.values.plain import postcodes
from topiccrawl.addons.records.templates.values.telephone import telephones
from topiccrawl.addons.records.templates.values.value import Value, seen
from topiccrawl.text.normal import fold, has_han

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topiccrawl.addons.records.templates.labels import Label

_STACK = 6
"""Lines of an address at most."""
_FURTHER = 5
"""Lines of a labelled address at most."""
_PARTS = re.compile(r"\s*[|•·¦●◆]\s*|\s+[–—-]\s+")
"""Separators of the parts of one line, as in footers."""
_CODE_FIRST = re.compile(r"^(?:[A-Z]{1,3}-)?\d{4,5}(?: [A-Z]{2})?\s+[^\W\d_]")
"""A town with the postcode before it, as most of Europe writes: 1016 GC Amsterdam."""
_PERSON = re.compile(r"^(?:Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Frau|Mme)\.? [^,\d]{2,30}, ")
_STATE = re.compile(r"(?:,\s*[A-Z][A-Za-z. ]{1,30}){0,2}[ .]*$")
"""Text that may follow the postcode in which an address ends: , Kerala, India."""
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


def parts_of(text: str) -> list[str]:
    """The parts of a line between bars and bullets.

    >>> parts_of("305 Main St | Kearney, NE 68847 · P: 308.555.0162")
    ['305 Main St', 'Kearney, NE 68847', 'P: 308.555.0162']
    """
    parts = (part.strip(" –—-") for part in _PARTS.split(text))
    return [part for part in parts if part]


def without_name(text: str, title: str) -> str:
    """A line without the name that the page's title has, too, before an address.

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


def in_parts(text: str, region: str, title: str = "") -> Iterator[str]:
    """Addresses of a line with parts: whole ones, and those over neighbouring parts.

    >>> list(in_parts("Brandt OHG · Am Deich 4 · 26789 Leer", "DE"))
    ['Am Deich 4, 26789 Leer']
    >>> list(in_parts("305 Main St | Kearney, NE 68847 | P: 308.555.0162", "US"))
    ['305 Main St, Kearney, NE 68847']
    """
    parts, title = parts_of(text), fold(title)
    for number, part in enumerate(parts):
        coded = LEADING_CODE.match(part) and plausible(tidy(part))
        if coded or looks_like(part):
            yield tidy(part)
        elif address := _stack(parts[: number + 1], region, title):
            yield address


def stacked(
    sheet: Sheet, labels: Sequence[Sequence[Label]], region: str
) -> Iterator[tuple[int, str]]:
    """Addresses over several lines, each with the number of its last one."""
    title = fold(sheet.title)
    for number, line in enumerate(sheet.lines):
        text = seen(line.text)
        if labels[number] or has_han(text) or not _ends(text, region):
            continue
        if telephones(text, region, labelled=False):
            continue
        address = _stack([*_before(sheet, labels, number, region), text], region, title, apart=True)
        after = sheet.lines[number + 1] if number + 1 < len(sheet.lines) else None
        if address and after is not None and after.box == line.box:
            country = _COUNTRY.fullmatch(seen(after.text))
            address += f", {country[0].rstrip('.')}" if country else ""
        if address:
            yield number, address


def continued(
    sheet: Sheet, labels: Sequence[Sequence[Label]], number: int, first: str, region: str
) -> str:
    """A Chinese address with the lines after it that belong to it."""
    if not has_han(first):
        return first
    whole = "".join(_onward(sheet, labels, number, first, region, _STACK))
    return whole if len(whole) <= LONGEST else first


def longer(
    sheet: Sheet, labels: Sequence[Sequence[Label]], number: int, first: Value, region: str
) -> list[Value]:
    """Return an address with its next lines, in the same box, or up to its postcode."""
    parts = _onward(sheet, labels, number, first.value, region, _FURTHER)
    if len(parts) == 1 and not has_han(first.value) and not postcodes(first.value, region):
        parts += beside(sheet, labels, number, region)
    joint = "" if has_han(first.value) else ", "
    value = joint.join(part.strip(" ,.") for part in parts)
    return [first._replace(value=value)] if len(value) <= LONGEST else [first]


def _onward(
    sheet: Sheet, labels: Sequence[Sequence[Label]], number: int, first: str, region: str, most: int
) -> list[str]:
    """The first line of an address, and those of its box in which it goes on, ``most`` in all."""
    parts = [first]
    for other in range(number + 1, min(number + most, len(sheet.lines))):
        text = seen(sheet.lines[other].text).strip(" ,")
        if sheet.lines[other].box != sheet.lines[number].box or labels[other]:
            break
        if not goes_on(parts[-1], text, region):
            break
        parts.append(text)
    return parts


def beside(sheet: Sheet, labels: Sequence[Sequence[Label]], number: int, region: str) -> list[str]:
    """The lines in boxes after a line's, up to one that ends in a postcode; none without one."""
    found: list[str] = []
    for other in range(number + 1, min(number + _STACK, len(sheet.lines))):
        text = seen(sheet.lines[other].text).strip(" ,")
        if sheet.lines[other].tag != sheet.lines[number].tag or labels[other]:
            break
        if not goes_on("-", text, region):
            break
        found.append(text)
        codes = postcodes(text, region)
        if codes and codes[-1].end == len(text):
            return found
    return []


def _before(sheet: Sheet, labels: Sequence[Sequence[Label]], number: int, region: str) -> list[str]:
    """The lines before one that may belong to the same address: in its box, or boxes beside it."""
    found: list[str] = []
    line = sheet.lines[number]
    for other in range(number - 1, max(-1, number - _STACK), -1):
        before = sheet.lines[other]
        text = seen(before.text)
        beside = before.tag == line.tag and _beside(sheet, other, number)
        if before.bold and not line.bold and not part_of(text):
            break  # a heading: Visit
        if labels[other] or has_han(text) or telephones(text, region, labelled=False):
            break
        if before.box != line.box and not (beside and part_of(text)):
            break
        found.insert(0, text)
    return found


def _beside(sheet: Sheet, one: int, other: int) -> bool:
    """Return whether two lines are in neighbouring boxes, or in cells below each other."""
    here, there = sheet.lines[one], sheet.lines[other]
    if here.cell and there.cell:
        return here.cell.column == there.cell.column and here.cell.table == there.cell.table
    return same_parent(sheet, one, other)


def same_parent(sheet: Sheet, one: int, other: int) -> bool:
    """Return whether the boxes of two lines are in the same box."""
    return _around(sheet, sheet.lines[one].box) == _around(sheet, sheet.lines[other].box)


def _around(sheet: Sheet, box: int) -> int:
    return next(iter(list(above(sheet, box))[1:]), -1)


def _ends(text: str, region: str) -> bool:
    """Return whether an address can end in this line: a postcode, or a postcode and its town."""
    codes = postcodes(text, region)
    if codes and _STATE.match(text, codes[-1].end):
        return True
    return bool(_CODE_FIRST.match(text) or WITHOUT_CODE.search(text))


def _stack(parts: Sequence[str], region: str, title: str, *, apart: bool = False) -> str:
    """The address in which parts of a page end; "" where they end in none."""
    if len(parts) < 2 or not _ends(parts[-1], region):  # noqa: PLR2004
        return ""
    lines = [part.strip(" ,.") for part in parts[-_STACK:]]
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
