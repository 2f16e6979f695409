"""Values that are recognised without a label: links, icons, mail addresses, telephone numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from topiccrawl.addons.records.templates.addresses import (
    GAPS,
    address_before_label,
    addresses_alone,
    addresses_in_text,
    multiline_address,
    text_before_label,
)
from topiccrawl.addons.records.templates.candidate import Candidate, holds_only
from topiccrawl.addons.records.templates.layout import LONGEST_LINE
from topiccrawl.addons.records.templates.values.address import LONGEST, looks_like
from topiccrawl.addons.records.templates.values.mail import mail_of_link, mails
from topiccrawl.addons.records.templates.values.names import organisations
from topiccrawl.addons.records.templates.values.plain import SOFT, Value, qq_of_link, shown, urls
from topiccrawl.addons.records.templates.values.telephone import telephones
from topiccrawl.addons.records.templates.words import OTHERS
from topiccrawl.text.normal import has_han

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topiccrawl.addons.records.templates.labels import Label, LabelledPage
    from topiccrawl.addons.records.templates.layout import Line, Mark

_CALLS = frozenset({"tel", "callto", "sms", "smsto"})
"""Schemes of links to telephone numbers."""
_SITE = re.compile(r"(?<![\w@./-])www\.([\w-]+(?:\.[\w-]+)+)", re.IGNORECASE)
_NO_VALUE = re.compile(
    r"qr|ewm|erweima|scan|二维码|logo|banner|map|地图|icon|weixin|wechat|微信|公众号|(?<![a-z])wx",
    re.IGNORECASE,
)
"""Patterns in URLs or ``alt`` texts of images that do not show a value."""
_MAX_WORDS = 6
"""Maximum number of characters besides the telephone numbers in a line."""
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
    phone = page.words.primary("telephone")
    for number, line in enumerate(page.lines):
        labels = page.labels[number]
        unknown = not any(one.fields or page.words.hits(one.text) for one in labels)
        alone = number not in taken and unknown and len(line.text) <= LONGEST
        yield from _links(page, number)
        yield from _websites(page, number)
        yield from _icons(page, number)
        yield from _mails(page, number)
        if phone:
            yield from _phones_of_people(page, number, phone)
            yield from _phones_in_sentences(page, number, phone)
            if alone:
                yield from _phones_alone(page, number, phone)
        yield from address_before_label(page, number)
        yield from addresses_in_text(page, number)
        if alone:
            yield from addresses_alone(page, number)
        yield from multiline_address(page, number)


# -- Images, links and icons ---------------------------------------------------------------------


def image_of(line: Line, begin: int = 0, end: int = LONGEST_LINE) -> Mark | None:
    """Return the first image in a part of a line that may show a value, or None."""
    images = (mark for mark in line.marks if mark.what == "image" and begin <= mark.start <= end)
    return next((one for one in images if not _NO_VALUE.search(one.value + one.instead)), None)


def of_links(
    line: Line, kind: str, region: str, begin: int = 0, end: int = LONGEST_LINE
) -> list[tuple[str, int]]:
    """Return values in link addresses (mailto:, tel:, QQ chats), with the offsets of the links."""
    links = [mark for mark in line.marks if mark.what == "link" and begin <= mark.start <= end]
    found = [(_of_link(mark.value.strip(), kind, region), mark.start) for mark in links]
    return [(value, start) for value, start in found if value]


def _of_link(href: str, kind: str, region: str) -> str | None:
    if kind == "mail":
        return mail_of_link(href)
    if kind == "qq":
        return qq_of_link(href)
    if kind != "telephone":
        return None
    scheme, _, number = href.partition(":")
    number = unquote(number).partition("?")[0].strip("/ ")
    values = telephones(number, region, labelled=False) if scheme.lower() in _CALLS else []
    return values[0].value if len(values) == 1 else None


def _links(page: LabelledPage, number: int) -> Iterator[Candidate]:
    line = page.lines[number]
    for kind in ("mail", "telephone", "qq") if line.marks else ():
        if field := page.words.primary(kind):
            for one, start in of_links(line, kind, page.region):
                text = shown(line.text)[:LONGEST]
                yield Candidate(field, one, text, "link", number, begin=start)


def _icons(page: LabelledPage, number: int) -> Iterator[Candidate]:
    """Yield values after an icon, or in an element whose class indicates a kind."""
    line = page.lines[number]
    icons = [mark for mark in line.marks if mark.what == "icon"]
    starts = [*(icon.start for icon in icons[1:]), len(line.text)]
    for icon, after in zip(icons, starts, strict=False):
        field = page.words.primary(icon.value)
        stop = min([after, *(one.start for one in page.labels[number] if one.start >= icon.start)])
        place, text, image = number, line.text[icon.start : stop], image_of(line, icon.start)
        last = not shown(text) and stop == len(line.text) and not image
        if not field or (last and of_links(line, page.words.kinds[field], page.region)):
            continue  # the icon of a link, whose address is the value
        if last and number + 1 < len(page.lines):
            place, text = number + 1, page.lines[number + 1].text
            image = image_of(page.lines[place])
        if image and not shown(text):
            yield Candidate(field, image.value, "", "image", place, label_at=number)
        elif place == number or not page.labels[place]:
            for value in page.read(field, text):
                yield Candidate(field, value.value, shown(text), "icon", place, label_at=number)


# -- Mail addresses and URLs ---------------------------------------------------------------------


def _mails(page: LabelledPage, number: int) -> Iterator[Candidate]:
    field, text = page.words.primary("mail"), page.lines[number].text
    for value in mails(text, labelled=False) if field else ():
        written = shown(text[value.start : value.end])
        yield Candidate(field, value.value, written, "text", number, begin=value.start)


def _websites(page: LabelledPage, number: int) -> Iterator[Candidate]:
    """Yield URLs (``www...``) without a label: alone in a line, or of a mail address's host."""
    field, text = page.words.primary("url"), page.lines[number].text
    for match in _SITE.finditer(text) if field else ():
        if any(one.fields and one.start <= match.start() < one.stop for one in page.labels[number]):
            continue
        mail = re.search(rf"@{re.escape(match[1])}\b", text, re.IGNORECASE)
        if mail or match[0] == text.strip():
            for value in urls(match[0]):
                yield Candidate(field, value.value, match[0], "alone", number)


# -- Telephone numbers ---------------------------------------------------------------------------


def _phones_in_sentences(page: LabelledPage, number: int, field: str) -> Iterator[Candidate]:
    """Yield numbers, with separators or a plus sign, in sentences about how to get in touch."""
    text, labels = page.lines[number].text, page.labels[number]
    for value in (
        telephones(text, page.region, labelled=False) if _CONTACT_WORDS.search(text) else ()
    ):
        written = text[value.start : value.end]
        labelled = any(one.start <= value.start < one.stop for one in labels)
        if not written.isdigit() and not labelled:
            yield Candidate(field, value.value, shown(written), "text", number, begin=value.start)


def _phones_alone(page: LabelledPage, number: int, field: str) -> Iterator[Candidate]:
    """Yield telephone numbers that fill a line, or a part of a line between separators.

    A word that is not a known label may precede them: 销售部, 李经理.
    """
    labels, text, region = page.labels[number], page.lines[number].text, page.region
    sentence = len(labels) == 1 and labels[0].start > _MAX_LEAD
    if sentence or (labels and _is_of_others(labels[-1])):
        return
    begin = labels[-1].end if labels else 0
    rest = text[begin:]
    bare = _blank_remarks(rest)
    headed = not labels and page.next_to_label(number)
    for part in dict.fromkeys((bare, *_SEPARATOR.split(bare))):
        values = telephones(part, region) if telephones(part, region, labelled=False) else []
        if values and _are_own(values, part, headed=headed):
            for one in values:
                at = begin + bare.find(part) + one.start
                yield Candidate(field, one.value, shown(rest), "alone", number, begin=at)
            if part == bare:
                return
    if _has_address(rest):
        for value in telephones(rest, region, labelled=False):
            yield Candidate(field, value.value, shown(rest), "alone", number)


def _blank_remarks(text: str) -> str:
    """Replace remarks and mail addresses by spaces."""
    bare = _REMARK.sub(lambda match: " " * len(match[0]), text)
    for mail in mails(text, labelled=False):
        bare = bare[: mail.start] + " " * (mail.end - mail.start) + bare[mail.end :]
    return bare


def _is_of_others(label: Label) -> bool:
    """Return whether an unknown label marks the numbers of other organisations."""
    return bool(_OTHER_NUMBERS.search(label.text) or OTHERS.search(label.text))


def _are_own(values: Sequence[Value], text: str, *, headed: bool) -> bool:
    """Return whether numbers fill a text, but for a few words other than names before them.

    Examples are ``Main line 541-555-0190`` and, if a heading may precede the numbers, an element
    such as ``<b>客房预订</b> 028-85123456``.
    """
    if holds_only(values, text, _MAX_WORDS):
        return True
    lead, rest = text[: values[0].start], text[values[0].start :].rjust(len(text))
    if not holds_only(values, rest):
        return False
    words = shown(lead)
    names = sum(word[0].isupper() for word in words.split())
    if (
        len(words) <= _MAX_LEAD
        and names <= 1
        and not re.search(r"\d", words)
        and not has_han(words)
    ):
        return True
    heading = lead.rstrip(" (+")
    short = heading.endswith(SOFT) and len(heading) <= _MAX_LEAD
    return headed and short and not organisations(heading)


def _phones_of_people(page: LabelledPage, number: int, field: str) -> Iterator[Candidate]:
    """Yield numbers before the first label, and of people and departments.

    Examples are 联系人:刘先生 13980607711 and 会员服务:85339911. Several unknown labels, each with
    a number, are treated as departments.
    """
    text, labels = page.lines[number].text, page.labels[number]
    lead = text_before_label(page, number)
    values = telephones(lead, page.region, labelled=False)
    if values and holds_only(values, lead, _MAX_WORDS):
        for value in values:
            yield Candidate(field, value.value, lead, "alone", number)
    numbered = []
    for label in labels:
        stretch = text[label.end : label.stop]
        values = [] if label.fields else telephones(stretch, page.region)
        if values and holds_only(values, stretch, _MAX_WORDS):
            numbered.append((label, shown(stretch), values))
    unknown = [label for label, _, _ in numbered if not page.words.hits(label.text)]
    listed = len(unknown) > 1 and not any(map(_is_of_others, unknown))
    for label, written, values in numbered:
        if _PEOPLE.search(label.text) or (listed and label in unknown):
            for value in values:
                yield Candidate(field, value.value, written, "alone", number, begin=label.end)


def _has_address(text: str) -> bool:
    """Return whether a part of a line between gaps is an address: 四川省…1号 028-85123456."""
    text = shown(text)
    return not looks_like(text) and any(map(looks_like, GAPS.split(text)))
