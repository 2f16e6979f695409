"""Values that are recognised without a label: mail addresses, links, icons, lone numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from topiccrawl.addons.records.templates.candidate import Candidate, holds_only
from topiccrawl.addons.records.templates.multiline import (
    extended,
    in_parts,
    multiline,
    split_parts,
    without_name,
)
from topiccrawl.addons.records.templates.values import address, names, plain
from topiccrawl.addons.records.templates.values.telephone import telephones
from topiccrawl.addons.records.templates.values.value import SOFT, Value, shown
from topiccrawl.addons.records.templates.words import OTHERS
from topiccrawl.text.normal import has_han

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topiccrawl.addons.records.templates.labels import Label
    from topiccrawl.addons.records.templates.layout import Line, Mark
    from topiccrawl.addons.records.templates.page import LabelledPage

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
_CHAT = re.compile(
    r"https?://(?:wa\.me/|api\.whatsapp\.com/send/?\?phone=)\+?(\d{7,15})", re.IGNORECASE
)
_SITE = re.compile(r"(?<![\w@./-])www\.([\w-]+(?:\.[\w-]+)+)", re.IGNORECASE)
_CLOSED = re.compile(r"\s*(?:$|[^\w\s])")
_ENDS = re.compile(r"[.!?]\s+[A-Z][a-z]{3,}")
_NO_VALUE = re.compile(
    r"qr|ewm|erweima|scan|二维码|logo|banner|map|地图|icon|weixin|wechat|微信|公众号|(?<![a-z])wx",
    re.IGNORECASE,
)
"""Patterns in URLs or ``alt`` texts of images that do not show a value."""
_LINKED = ("mail", "telephone", "qq")
_WORDS_WITH_NUMBERS = 6
"""Maximum number of characters besides the telephone numbers in a line."""
_GAPS = re.compile(r"[\s|]+")
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


def unlabelled(page: LabelledPage, taken: set[int]) -> Iterator[Candidate]:
    """Yield the values of a page that are recognised without a label.

    Args:
        page: The page.
        taken: Numbers of the lines with labelled values.
    """
    words = page.words
    place, phone = words.primary("address"), words.primary("telephone")
    whole = dict(multiline(page)) if place else {}
    for number, line in enumerate(page.lines):
        marks = page.labels[number]
        unknown = not any(one.fields or words.hits(one.text) for one in marks)
        alone = number not in taken and unknown and len(line.text) <= address.LONGEST
        yield from _links(page, number)
        yield from _icons(page, number)
        yield from _websites(page, number)
        yield from _mails(page, number)
        if phone:
            yield from _contact_numbers(page, number, phone)
            yield from _spoken_numbers(page, number, phone)
            if alone:
                yield from _standalone_numbers(page, number, phone)
        if marks and marks[0].start > 0:
            yield from _before_label(page, number, place, phone)
        if place:
            yield from _after_name(page, number, place)
            yield from _in_sentences(page, number, place)
            if alone:
                yield from _addresses_alone(page, number, place)
            if number in whole:
                yield Candidate(place, whole[number], whole[number], "alone", number)


def image_of(line: Line, begin: int, end: int) -> Mark | None:
    """Return the first image in a part of a line that may show a value, or None."""
    images = [mark for mark in line.marks if mark.what == "image" and begin <= mark.start <= end]
    images = [one for one in images if not _NO_VALUE.search(one.value + one.instead)]
    return images[0] if images else None


def of_links(line: Line, kind: str, begin: int, end: int, region: str) -> list[tuple[str, int]]:
    """Return values in link addresses (mailto:, tel:, QQ chats), with the offsets of the links."""
    links = [mark for mark in line.marks if mark.what == "link" and begin <= mark.start <= end]
    found = [(_of_link(mark.value, kind, region), mark.start) for mark in links]
    return [(value, start) for value, start in found if value]


def _of_link(href: str, kind: str, region: str) -> str | None:
    if kind == "mail":
        return plain.mail_of_link(href)
    if kind == "qq":
        return plain.qq_of_link(href)
    if kind == "telephone" and (match := _CHAT.match(href.strip())):
        values = telephones(f"+{match[1]}", region)
        return values[0].value if values else None
    scheme, _, number = href.strip().partition(":")
    if kind == "telephone" and scheme.lower() in {"tel", "callto", "sms", "smsto"}:
        values = telephones(unquote(number).partition("?")[0].strip("/ "), region, labelled=False)
        return values[0].value if len(values) == 1 else None
    return None


def _links(page: LabelledPage, number: int) -> Iterator[Candidate]:
    line = page.lines[number]
    for kind in _LINKED if line.marks else ():
        if field := page.words.primary(kind):
            text = shown(line.text)[: address.LONGEST]
            for one, start in of_links(line, kind, 0, len(line.text), page.region):
                yield Candidate(field, one, text, "link", number, start)


def _icons(page: LabelledPage, number: int) -> Iterator[Candidate]:
    """Yield values after an icon, or in an element whose class indicates a kind."""
    line, words = page.lines[number], page.words
    icons = [mark for mark in line.marks if mark.what == "icon"]
    for icon, after in zip(icons, [*icons[1:], None], strict=False):
        stop = after.start if after else len(line.text)
        stop = min([stop, *(one.start for one in page.labels[number] if one.start >= icon.start)])
        place, text = number, line.text[icon.start : stop]
        field = words.primary(icon.value)
        image = image_of(line, icon.start, len(line.text))
        last = not shown(text) and stop == len(line.text) and not image
        if field and last and of_links(line, words.kinds[field], 0, stop, page.region):
            continue  # the icon of a link, whose address is the value
        if last and number + 1 < len(page.lines):
            place, text = number + 1, page.lines[number + 1].text
            image = image_of(page.lines[place], 0, len(text))
        if field and image and not shown(text):
            yield Candidate(field, image.value, "", "image", place, labelled_at=number, image=True)
            continue
        if not field or (place != number and page.labels[place]):
            continue
        for value in page.read(words.kinds[field], text):
            yield Candidate(field, value.value, shown(text), "icon", place, labelled_at=number)


def _mails(page: LabelledPage, number: int) -> Iterator[Candidate]:
    if field := page.words.primary("mail"):
        for value in plain.mails(page.lines[number].text, labelled=False):
            text = shown(page.lines[number].text[value.start : value.end])
            yield Candidate(field, value.value, text, "text", number, value.start)


def _in_sentences(page: LabelledPage, number: int, field: str) -> Iterator[Candidate]:
    """Yield addresses in sentences about a company's location: 公司总部位于…."""
    text = page.lines[number].text
    for pattern in (_SITUATED, _BASED):
        for match in pattern.finditer(text):
            if address.looks_like(place := address.tidy(match[1])):
                yield Candidate(field, place, place, "text", number, match.start(1))


def _before_label(page: LabelledPage, number: int, place: str, phone: str) -> Iterator[Candidate]:
    """Yield values before the first label of a line: 305 Main St | Kearney, NE 68847 | P: …."""
    end = page.labels[number][0].start
    text = without_name(shown(page.lines[number].text[:end]), page.title)
    yield from leading_code(page, number, text)
    values = telephones(text, page.region, labelled=False)
    for one in (
        in_parts(text, page.region, page.title) if place and len(text) <= address.LONGEST else ()
    ):
        if not telephones(one, page.region, labelled=False):
            yield Candidate(place, one, text, "alone", number)
    if phone and holds_only(values, text, _WORDS_WITH_NUMBERS):
        for value in values:
            yield Candidate(phone, value.value, text, "alone", number)


def _after_name(page: LabelledPage, number: int, field: str) -> Iterator[Candidate]:
    """Yield the address after a name, up to the postcode: Tarn Ltd, 6 High St, Kendal LA9 4LL."""
    line = page.lines[number]
    for one in names.organisations(line.text)[:3] if not has_han(line.text) else ():
        rest = line.text[one.end :]
        code = next(iter(plain.postcodes(rest[: address.LONGEST], page.region)), None)
        place = address.tidy(rest[: code.end]) if code else ""
        closed = code and _CLOSED.match(rest, code.end)
        if place and closed and address.looks_like(place) and not _ENDS.search(place):
            yield Candidate(field, place, place, "alone", number, one.end + 1)


def _websites(page: LabelledPage, number: int) -> Iterator[Candidate]:
    """Yield URLs (``www...``) without a label, outside of labelled text."""
    field, text = page.words.primary("url"), page.lines[number].text
    for match in _SITE.finditer(text) if field else ():
        mail = re.search(rf"@{re.escape(match[1])}\b", text, re.IGNORECASE)
        if mail or match[0] == text.strip():
            for value in plain.urls(match[0]):
                yield Candidate(field, value.value, match[0], "alone", number)


def leading_code(
    page: LabelledPage, number: int, text: str, where: str = "alone", weight: float = 1.0
) -> Iterator[Candidate]:
    """Yield the postcode at the start of a Chinese or Japanese address: 〒101-0054 東京都…."""
    field = page.words.primary("postcode")
    match = address.LEADING_CODE.match(text) if field else None
    codes = plain.postcodes(match[0], page.region) if match else []
    rest = text[match.end() :] if match else ""
    if codes and ("〒" in text or where != "alone" or address.looks_like(address.tidy(rest))):
        yield Candidate(field, codes[0].value, text, where, number, weight=weight)


def _addresses_alone(page: LabelledPage, number: int, field: str) -> Iterator[Candidate]:
    """Yield addresses that fill a line, or a part of a line between separators or gaps."""
    line, marks = page.lines[number], page.labels[number]
    begin = marks[-1].end if marks else 0
    lead = address.lead_end(line.text[begin:])
    if not (lead or marks) and _next_to_label(page, number):
        lead = address.heading_end(line.text)
    text = shown(line.text[begin + lead :])
    if not marks:
        yield from leading_code(page, number, text)
    text = without_name(text, page.title)
    coded = address.LEADING_CODE.match(text) and address.plausible(address.tidy(text))
    if len(split_parts(text)) > 1:
        found = list(in_parts(text, page.region, page.title))
    elif coded or address.looks_like(address.tidy(text)):
        whole = address.tidy(text)
        found = [extended(page, number, whole) if has_han(whole) else whole]
    else:
        found = [address.tidy(one) for one in _GAPS.split(text) if address.looks_like(one)]
    for one in found:
        for value in page.read("address", one):
            yield Candidate(field, value.value, text, "alone", number)


def _spoken_numbers(page: LabelledPage, number: int, field: str) -> Iterator[Candidate]:
    """Yield numbers, with separators or a plus sign, in sentences about how to get in touch."""
    text = page.lines[number].text
    if not _CONTACT_WORDS.search(text):
        return
    for value in telephones(text, page.region, labelled=False):
        written = text[value.start : value.end]
        labelled = any(mark.start <= value.start < mark.stop for mark in page.labels[number])
        if not written.isdigit() and not labelled:
            yield Candidate(field, value.value, shown(written), "text", number, value.start)


def _standalone_numbers(page: LabelledPage, number: int, field: str) -> Iterator[Candidate]:
    """Yield telephone numbers that fill a line, or a part of a line between separators.

    A word that is not a known label may precede them: 销售部, 李经理.
    """
    marks, text, region = page.labels[number], page.lines[number].text, page.region
    rest = text[marks[-1].end :] if marks else text
    sentence = len(marks) == 1 and marks[0].start > _MAX_LEAD
    if sentence or (marks and _is_of_others(marks[-1])):
        return
    bare = _REMARK.sub(lambda match: " " * len(match[0]), rest)
    for mail in plain.mails(rest, labelled=False):
        bare = bare[: mail.start] + " " * (mail.end - mail.start) + bare[mail.end :]
    begin = len(text) - len(rest)
    for part in dict.fromkeys((bare, *_SEPARATOR.split(bare))):
        values = telephones(part, region) if telephones(part, region, labelled=False) else []
        if values and (
            holds_only(values, part, _WORDS_WITH_NUMBERS)
            or _after_words(values, part)
            or (not marks and _after_heading(values, part) and _next_to_label(page, number))
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
    few = lead.endswith(SOFT) and len(lead) <= _MAX_LEAD and not names.organisations(lead)
    return few and holds_only(values, rest.rjust(len(text)))


def _next_to_label(page: LabelledPage, number: int) -> bool:
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
    capitals = sum(word[0].isupper() for word in lead.split())
    few = len(lead) <= _MAX_LEAD and capitals <= 1 and not re.search(r"\d", lead)
    return few and not has_han(lead) and holds_only(values, rest)


def _contact_numbers(page: LabelledPage, number: int, field: str) -> Iterator[Candidate]:
    """Yield numbers of people and departments: 联系人:刘先生 13980607711, 会员服务:85339911.

    Several unknown labels, each with a number, are treated as departments.
    """
    numbered = []
    for mark in page.labels[number]:
        stretch = page.lines[number].text[mark.end : mark.stop]
        values = [] if mark.fields else telephones(stretch, page.region)
        if values and holds_only(values, stretch, _WORDS_WITH_NUMBERS):
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
    return not address.looks_like(text) and any(map(address.looks_like, _GAPS.split(text)))
