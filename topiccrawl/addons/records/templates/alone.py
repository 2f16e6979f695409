"""Telephone numbers without a label of the vocabulary: alone in a line, of people, in sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.candidate import Candidate, only
from topiccrawl.addons.records.templates.stacks import same_parent
from topiccrawl.addons.records.templates.values.address import looks_like
from topiccrawl.addons.records.templates.values.mail import mails
from topiccrawl.addons.records.templates.values.names import organisations
from topiccrawl.addons.records.templates.values.telephone import telephones
from topiccrawl.addons.records.templates.values.value import SOFT, Value, seen
from topiccrawl.addons.records.templates.words import OTHERS, Vocabulary
from topiccrawl.text.normal import has_han

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topiccrawl.addons.records.templates.labels import Label
    from topiccrawl.addons.records.templates.lines import Line, Sheet

WORDS_WITH_NUMBERS = 6
"""Characters of words that a line of telephone numbers may hold beside them."""
GAPS = re.compile(r"[\s|]+")
_WORDS_BEFORE = 24
"""Characters that may precede a number without a label."""
_REACHED = re.compile(
    r"\b(?:call|ring|phone|contact|reach|us|nous|appel\w*|joindre|anrufen|erreich\w*|uns)\b|"
    r"致电|拨打|来电|联系我|咨询",
    re.IGNORECASE,
)
"""Words of a sentence that announce how to get in touch."""
_BESIDE = re.compile(
    r"\((?!\s*[+\d])[^()]*\)|"
    r"(?<![\d.])\d{1,2}(?:[:.]\d{2}(?:\s?[ap]\.?m)?|\s?(?:[ap]\.?m|h\d{0,2}|uhr|[时時点]))(?![\d.])|"
    r"\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\b|(?:周|星期)[一二三四五六日天]",
    re.IGNORECASE,
)
"""Text that may accompany a number without a label: a remark in brackets, hours."""
_PEOPLE = re.compile(
    r"联系人|负责人|经理|先生|女士|小姐|老师|主任|秘书|服务|客服|咨询|热线|值班|办公室|[^全]部$|科$|处$|销售|售[前后]|技术|业务|"
    r"财务|市场|人事|商务|\b(?:contact|sales|support|service|office|desk)\b",
    re.IGNORECASE,
)
_APART = re.compile(r"[|•·¦●◆;]")
"""Separators of a line's parts; no dash, since the owner of a number may be named before one."""
_ELSEWHERE = re.compile(
    r"出租|叫车|打车|车站|机场|派出所|急救|\b(?:taxis?|cabs?|station|airport|police|hospital)\b|"
    r"タクシー|ハイヤー",
    re.IGNORECASE,
)
"""Labels of numbers that visitors need and that are not the place's."""


def spoken(
    number: int, line: Line, marks: Sequence[Label], words: Vocabulary
) -> Iterator[Candidate]:
    """Yield numbers in a sentence about getting in touch, written with gaps or a plus."""
    field = words.primary("telephone")
    if not field or not _REACHED.search(line.text):
        return
    for value in telephones(line.text, words.template.region, labelled=False):
        written = line.text[value.start : value.end]
        labelled = any(mark.start <= value.start < mark.stop for mark in marks)
        if not written.isdigit() and not labelled:
            yield Candidate(
                field, value.value, seen(written), "text", number, at=number, begin=value.start
            )


def numbers_alone(
    sheet: Sheet, labels: Sequence[Sequence[Label]], number: int, words: Vocabulary
) -> Iterator[Candidate]:
    """Yield telephone numbers that are all that a line, or a part of it between bars, holds.

    A label outside the vocabulary may precede them: 销售部, 李经理.
    """
    field, region = words.primary("telephone"), words.template.region
    marks, text = labels[number], sheet.lines[number].text
    rest = text[marks[-1].end :] if marks else text
    sentence = len(marks) == 1 and marks[0].start > _WORDS_BEFORE
    if not field or sentence or (marks and _of_others(marks[-1])):
        return
    bare = _BESIDE.sub(lambda match: " " * len(match[0]), rest)
    for mail in mails(rest, labelled=False):
        bare = bare[: mail.start] + " " * (mail.end - mail.start) + bare[mail.end :]
    begin = len(text) - len(rest)
    for part in dict.fromkeys((bare, *_APART.split(bare))):
        values = telephones(part, region) if telephones(part, region, labelled=False) else []
        if values and (
            only(values, part, WORDS_WITH_NUMBERS)
            or _announced(values, part)
            or (not marks and _headed(values, part) and among_labels(sheet, labels, number))
        ):
            yield from _candidates(field, values, number, begin + bare.find(part), seen(rest))
            if part == bare:
                return
    if _placed(rest):
        for value in telephones(rest, region, labelled=False):
            yield Candidate(field, value.value, seen(rest), "alone", number, at=number)


def _candidates(
    field: str, values: Sequence[Value], number: int, begin: int, text: str
) -> Iterator[Candidate]:
    for value in values:
        at = begin + value.start
        yield Candidate(field, value.value, text, "alone", number, at=number, begin=at)


def _of_others(label: Label) -> bool:
    """Return whether a label outside the vocabulary marks numbers as those of others."""
    return bool(_ELSEWHERE.search(label.text) or OTHERS.search(label.text))


def _headed(values: Sequence[Value], text: str) -> bool:
    """Return whether an element with a few words precedes numbers: <b>客房预订</b> 028-85123456."""
    lead = text[: values[0].start].rstrip(" (+")
    rest = text[values[0].start :]
    few = lead.endswith(SOFT) and len(lead) <= _WORDS_BEFORE and not organisations(lead)
    return few and only(values, rest.rjust(len(text)))


def among_labels(sheet: Sheet, labels: Sequence[Sequence[Label]], number: int) -> bool:
    """Return whether a neighbour in the same box or a like one begins with a template's label."""
    return any(
        labels[other][:1]
        and labels[other][0].fields
        and not labels[other][0].start
        and sheet.lines[other].tag == sheet.lines[number].tag
        and same_parent(sheet, other, number)
        for other in (number - 1, number + 1)
        if 0 <= other < len(labels)
    )


def _announced(values: Sequence[Value], text: str) -> bool:
    """Return whether a few words that are no names announce a number: Main line 541-555-0190."""
    lead = seen(text[: values[0].start])
    rest = text[values[0].start :].rjust(len(text))
    names = sum(word[0].isupper() for word in lead.split())
    few = len(lead) <= _WORDS_BEFORE and names <= 1 and not re.search(r"\d", lead)
    return few and not has_han(lead) and only(values, rest)


def of_people(
    number: int, line: Line, marks: Sequence[Label], words: Vocabulary
) -> Iterator[Candidate]:
    """Yield numbers of people and departments: 联系人:刘先生 13980607711, 会员服务:85339911.

    Several labels outside the vocabulary, each with its number, are those of departments.
    """
    field = words.primary("telephone")
    numbered = []
    for mark in marks if field else ():
        stretch = line.text[mark.end : mark.stop]
        values = [] if mark.fields else telephones(stretch, words.template.region)
        if values and only(values, stretch, WORDS_WITH_NUMBERS):
            numbered.append((mark, stretch, values))
    unknown = [mark for mark, _, _ in numbered if not words.hits(mark.text)]
    listed = len(unknown) > 1 and not any(map(_of_others, unknown))
    for mark, stretch, values in numbered:
        if _PEOPLE.search(mark.text) or (listed and mark in unknown):
            for value in values:
                yield Candidate(
                    field, value.value, seen(stretch), "alone", number, at=number, begin=mark.end
                )


def _placed(text: str) -> bool:
    """Return whether a line holds an address between gaps: 四川省…1号 028-85123456."""
    text = seen(text)
    return not looks_like(text) and any(map(looks_like, GAPS.split(text)))
