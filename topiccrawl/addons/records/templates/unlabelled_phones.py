"""Telephone numbers without a known label: on separate lines, of contacts, in sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.candidate import Candidate, holds_only
from topiccrawl.addons.records.templates.values.address import looks_like
from topiccrawl.addons.records.templates.values.names import organisations
from topiccrawl.addons.records.templates.values.plain import mails
from topiccrawl.addons.records.templates.values.telephone import telephones
from topiccrawl.addons.records.templates.values.value import SOFT, Value, shown
from topiccrawl.addons.records.templates.words import OTHERS
from topiccrawl.text.normal import has_han

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topiccrawl.addons.records.templates.labels import Label
    from topiccrawl.addons.records.templates.page import LabelledPage

WORDS_WITH_NUMBERS = 6
"""Maximum number of characters besides the telephone numbers in a line."""
GAPS = re.compile(r"[\s|]+")
_MAX_LEAD = 24
"""Maximum number of characters before a number without a label."""
_CONTACT_WORDS = re.compile(
    r"\b(?:call|ring|phone|contact|reach|us|nous|appel\w*|joindre|anrufen|erreich\w*|uns)\b|"
    r"致电|拨打|来电|联系我|咨询",
    re.IGNORECASE,
)
"""Words of sentences that tell how to contact an organisation."""
_REMARK = re.compile(
    r"\((?!\s*[+\d])[^()]*\)|"
    r"(?<![\d.])\d{1,2}(?:[:.]\d{2}(?:\s?[ap]\.?m)?|\s?(?:[ap]\.?m|h\d{0,2}|uhr|[时時点]))(?![\d.])|"
    r"\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\b|(?:周|星期)[一二三四五六日天]",
    re.IGNORECASE,
)
"""Text allowed next to a number without a label: remarks in brackets, opening hours."""
_PEOPLE = re.compile(
    r"联系人|负责人|经理|先生|女士|小姐|老师|主任|秘书|服务|客服|咨询|热线|值班|办公室|[^全]部$|科$|处$|销售|售[前后]|技术|业务|"
    r"财务|市场|人事|商务|\b(?:contact|sales|support|service|office|desk)\b",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"[|•·¦●◆;]")
"""Separators of the parts of a line; no dash, since the owner of a number may precede one."""
_OTHER_NUMBERS = re.compile(
    r"出租|叫车|打车|车站|机场|派出所|急救|\b(?:taxis?|cabs?|station|airport|police|hospital)\b|"
    r"タクシー|ハイヤー",
    re.IGNORECASE,
)
"""Labels of numbers useful to visitors, such as taxis, that are not the subject's."""


def spoken_numbers(page: LabelledPage, number: int, field: str) -> Iterator[Candidate]:
    """Yield numbers, with separators or a plus sign, in sentences about how to get in touch."""
    text = page.lines[number].text
    if not _CONTACT_WORDS.search(text):
        return
    for value in telephones(text, page.region, labelled=False):
        written = text[value.start : value.end]
        labelled = any(mark.start <= value.start < mark.stop for mark in page.labels[number])
        if not written.isdigit() and not labelled:
            yield Candidate(field, value.value, shown(written), "text", number, value.start)


def standalone_numbers(page: LabelledPage, number: int, field: str) -> Iterator[Candidate]:
    """Yield telephone numbers that fill a line, or a part of a line between separators.

    A word that is not a known label may precede them: 销售部, 李经理.
    """
    marks, text, region = page.labels[number], page.lines[number].text, page.region
    rest = text[marks[-1].end :] if marks else text
    sentence = len(marks) == 1 and marks[0].start > _MAX_LEAD
    if sentence or (marks and _is_of_others(marks[-1])):
        return
    bare = _REMARK.sub(lambda match: " " * len(match[0]), rest)
    for mail in mails(rest, labelled=False):
        bare = bare[: mail.start] + " " * (mail.end - mail.start) + bare[mail.end :]
    begin = len(text) - len(rest)
    for part in dict.fromkeys((bare, *_SEPARATOR.split(bare))):
        values = telephones(part, region) if telephones(part, region, labelled=False) else []
        if values and (
            holds_only(values, part, WORDS_WITH_NUMBERS)
            or _after_words(values, part)
            or (not marks and _after_heading(values, part) and next_to_label(page, number))
        ):
            offset = begin + bare.find(part)
            yield from (
                Candidate(field, one.value, shown(rest), "alone", number, offset + one.start)
                for one in values
            )
            if part == bare:
                return
    if _has_address(rest):
        for value in telephones(rest, region, labelled=False):
            yield Candidate(field, value.value, shown(rest), "alone", number)


def _is_of_others(label: Label) -> bool:
    """Return whether an unknown label marks the numbers of other organisations."""
    return bool(_OTHER_NUMBERS.search(label.text) or OTHERS.search(label.text))


def _after_heading(values: Sequence[Value], text: str) -> bool:
    """Return whether a short element precedes the numbers: <b>客房预订</b> 028-85123456."""
    lead = text[: values[0].start].rstrip(" (+")
    rest = text[values[0].start :]
    few = lead.endswith(SOFT) and len(lead) <= _MAX_LEAD and not organisations(lead)
    return few and holds_only(values, rest.rjust(len(text)))


def next_to_label(page: LabelledPage, number: int) -> bool:
    """Return whether an adjacent line, in a sibling box, begins with a label of the template."""
    return any(
        page.labels[other][:1]
        and page.labels[other][0].fields
        and not page.labels[other][0].start
        and page.lines[other].tag == page.lines[number].tag
        and page.parent(other) == page.parent(number)
        for other in (number - 1, number + 1)
        if 0 <= other < len(page.labels)
    )


def _after_words(values: Sequence[Value], text: str) -> bool:
    """Return whether a few words other than names precede a number: Main line 541-555-0190."""
    lead = shown(text[: values[0].start])
    rest = text[values[0].start :].rjust(len(text))
    names = sum(word[0].isupper() for word in lead.split())
    few = len(lead) <= _MAX_LEAD and names <= 1 and not re.search(r"\d", lead)
    return few and not has_han(lead) and holds_only(values, rest)


def contact_numbers(page: LabelledPage, number: int, field: str) -> Iterator[Candidate]:
    """Yield numbers of people and departments: 联系人:刘先生 13980607711, 会员服务:85339911.

    Several unknown labels, each with a number, are treated as departments.
    """
    numbered = []
    for mark in page.labels[number]:
        stretch = page.lines[number].text[mark.end : mark.stop]
        values = [] if mark.fields else telephones(stretch, page.region)
        if values and holds_only(values, stretch, WORDS_WITH_NUMBERS):
            numbered.append((mark, shown(stretch), values))
    unknown = [mark for mark, _, _ in numbered if not page.words.hits(mark.text)]
    listed = len(unknown) > 1 and not any(map(_is_of_others, unknown))
    for mark, text, values in numbered:
        if _PEOPLE.search(mark.text) or (listed and mark in unknown):
            for value in values:
                yield Candidate(field, value.value, text, "alone", number, mark.end)


def _has_address(text: str) -> bool:
    """Return whether a part of a line between gaps is an address: 四川省…1号 028-85123456."""
    text = shown(text)
    return not looks_like(text) and any(map(looks_like, GAPS.split(text)))
