"""Values that tell their kind themselves: mail addresses, links, icons, lone numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from topiccrawl.templates.candidate import Candidate, only
from topiccrawl.templates.stacks import (
    continued,
    in_parts,
    parts_of,
    same_parent,
    stacked,
    without_name,
)
from topiccrawl.templates.values.address import (
    LEADING_CODE,
    LONGEST,
    lead_of,
    looks_like,
    plausible,
    tidy,
)
from topiccrawl.templates.values.mail import mails, of_link
from topiccrawl.templates.values.names import organisations
from topiccrawl.templates.values.plain import postcodes, qq_of_link, urls
from topiccrawl.templates.values.read import read_values
from topiccrawl.templates.values.telephone import telephones
from topiccrawl.templates.values.value import SOFT, Value, seen
from topiccrawl.text.normal import has_han

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topiccrawl.templates.labels import Label
    from topiccrawl.templates.lines import Line, Mark, Sheet
    from topiccrawl.templates.words import Vocabulary

_WORDS_WITH_NUMBERS = 6
_WORDS_BEFORE = 24
"""Letters before a number that stands alone."""
_GAPS = re.compile(r"[\s|]+")
_BASED = re.compile(
    r"\b(?:(?:located|based|situated|find us|visit us|offices? (?:is|are)) (?:at|in)|"
    r"(?:situés?|situées?|sise?s?|installés?|domiciliée?s?) (?:au|à)|"
    r"(?:befinden? sich|ansässig) (?:in|an)):?\s+"
    r"([^;!?]{8,120}?)(?=\.\s|\.?$|;|\s(?:and|or|et|ou|und)\s)",
    re.IGNORECASE,
)
_REACHED = re.compile(
    r"\b(?:call|ring|phone|contact|reach|us|nous|appel\w*|joindre|anrufen|erreich\w*|uns)\b|"
    r"致电|拨打|来电|联系我|咨询",
    re.IGNORECASE,
)
"""What a sentence says that tells how to be reached."""
_SITUATED = re.compile(
    r"(?:公司|总部|我司|我们|办公地点|办公室)[^,。;:!?]{0,6}(?:位于|坐落[于在]|地处|设[在于])([^,。;:!?]{8,60})"
)
_CHAT = re.compile(
    r"https?://(?:wa\.me/|api\.whatsapp\.com/send/?\?phone=)\+?(\d{7,15})", re.IGNORECASE
)
_BESIDE = re.compile(
    r"\((?!\s*[+\d])[^()]*\)|[\w.+-]+@[\w.-]+|"
    r"(?<!\d)\d{1,2}(?:[:.]\d{2}(?:\s?[ap]\.?m\.?)?|\s?[ap]\.?m\.?)(?!\d)|"
    r"\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\b|(?:周|星期)[一二三四五六日天]",
    re.IGNORECASE,
)
"""What may stand beside a number that stands alone: a remark in brackets, a mail address, hours."""
_PEOPLE = re.compile(
    r"联系人|负责人|经理|先生|女士|小姐|老师|主任|秘书|服务|客服|咨询|热线|值班|办公室|[^全]部$|科$|处$|销售|售[前后]|技术|业务|"
    r"财务|市场|人事|商务|\b(?:contact|sales|support|service|office|desk)\b",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"出租|叫车|打车|车站|机场|派出所|急救|\b(?:taxis?|cabs?|station|airport|police|hospital)\b|"
    r"タクシー|ハイヤー",
    re.IGNORECASE,
)
"""Labels of numbers that visitors need and that are not the place's."""
_SITE = re.compile(r"(?<![\w@./-])www\.([\w-]+(?:\.[\w-]+)+)", re.IGNORECASE)
_CLOSED = re.compile(r"\s*(?:$|[^\w\s])")
_ENDS = re.compile(r"[.!?]\s+[A-Z][a-z]{3,}")
_NO_VALUE = re.compile(
    r"qr|ewm|erweima|scan|二维码|logo|banner|map|地图|icon|weixin|wechat|微信|公众号|(?<![a-z])wx",
    re.IGNORECASE,
)
"""Images that show no value, by their addresses or what stands instead."""
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
        if labels[number] and labels[number][0].start > 0:
            yield from _before_label(sheet, number, labels[number][0].start, words)
        yield from _of_people(number, line, labels[number], words)
        yield from _after_name(number, line, words)
        yield from _home(number, line, labels[number], words)
        yield from _icons(sheet, labels, number, words)
        yield from _mails(number, line, words)
        yield from _situated(number, line, words)
        yield from _spoken(number, line, labels[number], words)
        unknown = not any(one.fields or words.hits(one.text) for one in labels[number])
        if number not in taken and unknown and len(line.text) <= LONGEST:
            yield from _numbers_alone(sheet, labels, number, words)
            yield from _addresses_alone(sheet, labels, number, words)
    if field := words.primary("address"):
        for number, whole in stacked(sheet, labels, words.template.region):
            yield Candidate(field, whole, whole, "alone", number, at=number)


def image_of(line: Line, begin: int, end: int) -> Mark | None:
    """The image in a stretch of a line that may show a value."""
    images = [mark for mark in line.marks if mark.what == "image" and begin <= mark.start <= end]
    images = [one for one in images if not _NO_VALUE.search(one.value + one.instead)]
    return images[0] if images else None


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
    if kind == "telephone" and (match := _CHAT.match(href.strip())):
        values = telephones(f"+{match[1]}", region)
        return values[0].value if values else None
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
        shown = image_of(line, icon.start, len(line.text))
        last = not seen(text) and stop == len(line.text) and not shown
        if field and last and of_links(line, words.kinds[field], 0, stop, words.template.region):
            continue  # a link's icon, which says its value
        if last and number + 1 < len(labels):
            place, text = number + 1, sheet.lines[number + 1].text
            shown = image_of(sheet.lines[place], 0, len(text))
        if field and shown and not seen(text):
            yield Candidate(field, shown.value, "", "image", number, image=True, at=place)
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
    for match in _BASED.finditer(line.text) if field and not has_han(line.text) else ():
        if looks_like(place := tidy(match[1])):
            yield Candidate(field, place, place, "text", number, at=number, begin=match.start(1))


def _spoken(
    number: int, line: Line, marks: Sequence[Label], words: Vocabulary
) -> Iterator[Candidate]:
    """Numbers in a sentence that says how to be reached, written with gaps or a plus."""
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


def _numbers_alone(
    sheet: Sheet, labels: Sequence[Sequence[Label]], number: int, words: Vocabulary
) -> Iterator[Candidate]:
    """Telephone numbers that are all that a line, or a part of it between bars, holds.

    Before them may stand a label that nobody knows: 销售部, 李经理.
    """
    field, region = words.primary("telephone"), words.template.region
    marks, text = labels[number], sheet.lines[number].text
    rest = text[marks[-1].end :] if marks else text
    if not field or (marks and _ELSEWHERE.search(marks[-1].text)):
        return
    bare = _BESIDE.sub(lambda match: " " * len(match[0]), rest)
    parts = parts_of(bare)
    for part in (bare, *(parts if len(parts) > 1 else ())):
        values = telephones(part, region) if telephones(part, region, labelled=False) else []
        if values and (
            only(values, part, _WORDS_WITH_NUMBERS)
            or _announced(values, part)
            or (not marks and _headed(values, part) and _among_labels(sheet, labels, number))
        ):
            for value in values:
                yield Candidate(field, value.value, seen(rest), "alone", number, at=number)
            return
    if _placed(rest):
        for value in telephones(rest, region, labelled=False):
            yield Candidate(field, value.value, seen(rest), "alone", number, at=number)


def _headed(values: Sequence[Value], text: str) -> bool:
    """Whether an element with a few words stands before numbers: <b>客房预订</b> 028-85123456."""
    lead = text[: values[0].start].rstrip(" (+")
    rest = text[values[0].start :]
    few = lead.endswith(SOFT) and len(lead) <= _WORDS_BEFORE and not organisations(lead)
    return few and only(values, rest.rjust(len(text)))


def _among_labels(sheet: Sheet, labels: Sequence[Sequence[Label]], number: int) -> bool:
    """Whether a line beside one, in the same box or a like one, begins with a known label."""
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
    """Whether a few words that are no names announce a number: Main line 541-555-0190."""
    lead = seen(text[: values[0].start])
    rest = text[values[0].start :].rjust(len(text))
    names = sum(word[0].isupper() for word in lead.split())
    return len(lead) <= _WORDS_BEFORE and names <= 1 and not has_han(lead) and only(values, rest)


def _before_label(sheet: Sheet, number: int, end: int, words: Vocabulary) -> Iterator[Candidate]:
    """Addresses before the first label of a line: 305 Main St | Kearney, NE 68847 | P: …."""
    field, region = words.primary("address"), words.template.region
    text = without_name(seen(sheet.lines[number].text[:end]), sheet.title)
    parts = list(in_parts(text, region, sheet.title)) if field and len(text) <= LONGEST else []
    for one in parts:
        yield Candidate(field, one, text, "alone", number, at=number)
    phone = words.primary("telephone")
    values = telephones(text, region, labelled=False) if phone else []
    if values and only(values, text, _WORDS_WITH_NUMBERS):
        for value in values:
            yield Candidate(phone, value.value, text, "alone", number, at=number)


def _of_people(
    number: int, line: Line, marks: Sequence[Label], words: Vocabulary
) -> Iterator[Candidate]:
    """Numbers of people and departments: 联系人:刘先生 13980607711, 会员服务:85339911."""
    field = words.primary("telephone")
    for mark in marks if field else ():
        if mark.fields or not _PEOPLE.search(mark.text):
            continue
        stretch = line.text[mark.end : mark.stop]
        values = telephones(stretch, words.template.region)
        if values and only(values, stretch, _WORDS_WITH_NUMBERS):
            for value in values:
                yield Candidate(
                    field, value.value, seen(stretch), "alone", number, at=number, begin=mark.end
                )


def _after_name(number: int, line: Line, words: Vocabulary) -> Iterator[Candidate]:
    """An address right behind a name, up to its postcode: Tarn Ltd, 6 High St, Kendal LA9 4LL."""
    field, region = words.primary("address"), words.template.region
    for one in organisations(line.text)[:3] if field and not has_han(line.text) else ():
        rest = line.text[one.end :]
        code = next(iter(postcodes(rest[:LONGEST], region)), None)
        place = tidy(rest[: code.end]) if code else ""
        closed = code and _CLOSED.match(rest, code.end)
        if place and closed and looks_like(place) and not _ENDS.search(place):
            yield Candidate(field, place, place, "text", number, at=number, begin=one.end + 1)


def _home(
    number: int, line: Line, marks: Sequence[Label], words: Vocabulary
) -> Iterator[Candidate]:
    """An address of a site without label: in a line that holds other values, or alone."""
    field = words.primary("url")
    for match in _SITE.finditer(line.text) if field else ():
        if any(mark.start <= match.start() < mark.stop and mark.fields for mark in marks):
            continue
        mail = re.search(rf"@{re.escape(match[1])}\b", line.text, re.IGNORECASE)
        if mail or match[0] == line.text.strip():
            for value in urls(match[0]):
                yield Candidate(field, value.value, match[0], "alone", number, at=number)


def leading_code(number: int, text: str, weight: float, words: Vocabulary) -> Iterator[Candidate]:
    """The postcode with which a Chinese or Japanese address begins: 〒101-0054 東京都…."""
    field = words.primary("postcode")
    match = LEADING_CODE.match(text) if field else None
    codes = postcodes(match[0], words.template.region) if match else []
    rest = text[match.end() :] if match else ""
    if codes and ("〒" in text or looks_like(tidy(rest)) or weight < 1):
        yield Candidate(field, codes[0].value, text, "line", number, min(weight, 1.0), at=number)


def _placed(text: str) -> bool:
    """Whether a line holds an address between gaps: 四川省…1号 028-85123456."""
    text = seen(text)
    return not looks_like(text) and any(map(looks_like, _GAPS.split(text)))


def _addresses_alone(
    sheet: Sheet, labels: Sequence[Sequence[Label]], number: int, words: Vocabulary
) -> Iterator[Candidate]:
    """Addresses that are all that a line holds, or a part of it between bars or gaps."""
    field, region = words.primary("address"), words.template.region
    if not field:
        return
    line = sheet.lines[number]
    begin = labels[number][-1].end if labels[number] else 0
    text = seen(line.text[begin + lead_of(line.text[begin:]) :])
    if not labels[number]:
        yield from leading_code(number, text, 1.0, words)
    text = without_name(text, sheet.title)
    coded = LEADING_CODE.match(text) and plausible(tidy(text))
    if len(parts_of(text)) > 1:
        found = list(in_parts(text, region, sheet.title))
    elif coded or looks_like(tidy(text)):
        found = [continued(sheet, labels, number, tidy(text), region)]
    else:
        found = [tidy(one) for one in _GAPS.split(text) if looks_like(one)]
    for one in found:
        for value in read_values("address", one, region):
            yield Candidate(field, value.value, text, "alone", number, at=number)
