"""Values that tell their kind themselves: mail addresses, links, icons, lone numbers."""

from __future__ import annotations

import re
from itertools import dropwhile
from typing import TYPE_CHECKING
from urllib.parse import unquote

from topiccrawl.templates.candidate import Candidate, only
from topiccrawl.templates.values.address import LONGEST, looks_like, tidy
from topiccrawl.templates.values.mail import mails, of_link
from topiccrawl.templates.values.plain import postcodes, qq_of_link
from topiccrawl.templates.values.read import read_values
from topiccrawl.templates.values.telephone import telephones
from topiccrawl.templates.values.value import seen
from topiccrawl.text.normal import fold, has_han

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topiccrawl.templates.labels import Label
    from topiccrawl.templates.lines import Line, Sheet
    from topiccrawl.templates.words import Vocabulary

_WORDS_WITH_NUMBERS = 6
_GAPS = re.compile(r"[\s|]+")
_STACK = 6
"""Lines of an address at most."""
_SITUATED = re.compile(
    r"(?:公司|总部|我司|我们|办公地点|办公室)[^,。;:!?]{0,6}(?:位于|坐落[于在]|地处|设[在于])([^,。;:!?]{8,60})"
)
_LINKED = ("mail", "telephone", "qq")


def telling(
    sheet: Sheet, labels: Sequence[Sequence[Label]], words: Vocabulary, taken: set[int]
) -> Iterator[Candidate]:
    """The values of a page that need no label.

    Args:
        sheet: The page.
        labels: Labels of each line.
        words: The template's words.
        taken: Numbers of lines that hold labelled values.
    """
    for number, line in enumerate(sheet.lines):
        yield from _links(number, line, words)
        yield from _icons(sheet, labels, number, words)
        yield from _mails(number, line, words)
        yield from _situated(number, line, words)
        unknown = not any(one.fields or words.hits(one.text) for one in labels[number])
        if number not in taken and unknown and len(line.text) <= LONGEST:
            begin = labels[number][-1].end if labels[number] else 0
            yield from _alone(number, line, words, begin)
    if field := words.primary("address"):
        yield from _stacked(sheet, labels, field, words.template.region)


def of_links(line: Line, kind: str, begin: int, end: int, region: str) -> list[tuple[str, int]]:
    """Values in the addresses of links (mailto:, tel:, talks on QQ), and where these begin."""
    links = [mark for mark in line.marks if mark.what == "link" and begin <= mark.start <= end]
    found = [(_of_link(mark.value, kind, region), mark.start) for mark in links]
    return [(value, start) for value, start in found if value]


def _of_link(href: str, kind: str, region: str) -> str | None:
    if kind == "mail":
        return of_link(href)
    if kind == "qq":
        return qq_of_link(href)
    scheme, _, number = href.strip().partition(":")
    if kind == "telephone" and scheme.lower() in {"tel", "callto", "sms", "smsto"}:
        values = telephones(unquote(number).partition("?")[0].strip("/ "), region, labelled=False)
        return values[0].value if len(values) == 1 else None
    return None


def _links(number: int, line: Line, words: Vocabulary) -> Iterator[Candidate]:
    for kind in _LINKED if line.marks else ():
        if field := words.primary(kind):
            text = seen(line.text)[:LONGEST]
            for one, start in of_links(line, kind, 0, len(line.text), words.template.region):
                yield Candidate(field, one, text, "link", number, at=number, begin=start)


def _icons(
    sheet: Sheet, labels: Sequence[Sequence[Label]], number: int, words: Vocabulary
) -> Iterator[Candidate]:
    """Values after an icon or in an element whose class names a kind."""
    line = sheet.lines[number]
    icons = [mark for mark in line.marks if mark.what == "icon"]
    for icon, after in zip(icons, [*icons[1:], None], strict=False):
        stop = after.start if after else len(line.text)
        place, text = number, line.text[icon.start : stop]
        field = words.primary(icon.value)
        shown = [one for one in line.marks if one.what == "image" and icon.start <= one.start]
        last = not seen(text) and stop == len(line.text) and not shown
        if last and number + 1 < len(labels):
            place, text = number + 1, sheet.lines[number + 1].text
            shown = [one for one in sheet.lines[place].marks if one.what == "image"]
        if field and shown and not seen(text):
            yield Candidate(field, shown[0].value, "", "image", number, image=True, at=place)
            continue
        if not field or labels[place]:
            continue
        for value in read_values(words.kinds[field], text, words.template.region):
            yield Candidate(field, value.value, seen(text), "icon", number, at=place)


def _mails(number: int, line: Line, words: Vocabulary) -> Iterator[Candidate]:
    if field := words.primary("mail"):
        for value in mails(line.text, labelled=False):
            text = seen(line.text[value.start : value.end])
            yield Candidate(field, value.value, text, "text", number, at=number, begin=value.start)


def _situated(number: int, line: Line, words: Vocabulary) -> Iterator[Candidate]:
    """Where a sentence says that a company is: 公司总部位于…."""
    field = words.primary("address")
    for match in _SITUATED.finditer(line.text) if field else ():
        if looks_like(match[1].strip()):
            place = tidy(match[1])
            yield Candidate(field, place, place, "text", number, at=number, begin=match.start(1))


def _alone(number: int, line: Line, words: Vocabulary, begin: int) -> Iterator[Candidate]:
    """Telephone numbers and addresses that are all that a line holds.

    Before ``begin`` may stand a label that nobody knows: 销售部, 李经理.
    """
    text, region = seen(line.text[begin:]), words.template.region
    if field := words.primary("telephone"):
        values = telephones(line.text[begin:], region, labelled=False)
        if values and only(values, line.text[begin:], _WORDS_WITH_NUMBERS):
            for value in values:
                yield Candidate(field, value.value, text, "alone", number, at=number)
    field = words.primary("address")
    parts = [text] if looks_like(text) else [one for one in _GAPS.split(text) if looks_like(one)]
    for part in parts if field else ():
        for value in read_values("address", part, region):
            yield Candidate(field, value.value, text, "alone", number, at=number)
    phone = words.primary("telephone")
    if phone and parts and parts != [text]:
        for value in telephones(line.text, region, labelled=False):
            yield Candidate(phone, value.value, text, "alone", number, at=number)


def _stacked(
    sheet: Sheet, labels: Sequence[Sequence[Label]], field: str, region: str
) -> Iterator[Candidate]:
    """Addresses over several lines of a box, the last of which ends in a postcode."""
    title = fold(sheet.title)
    begin = 0
    for number, line in enumerate(sheet.lines):
        if labels[number] or line.box != sheet.lines[begin].box or has_han(line.text):
            begin = number + bool(labels[number])
            begin = min(begin, len(sheet.lines) - 1)
        text = seen(line.text)
        codes = postcodes(text, region)
        if labels[number] or not codes or codes[-1].end < len(text.rstrip(" .")):
            continue
        lines = [seen(one.text).strip(" ,.") for one in sheet.lines[begin : number + 1]]
        lines = list(dropwhile(lambda one: fold(one) in title, lines[-_STACK:]))
        whole = ", ".join(one for one in lines if not telephones(one, region, labelled=False))
        if len(lines) > 1 and looks_like(whole):
            yield Candidate(field, tidy(whole), whole, "alone", number, at=number)
