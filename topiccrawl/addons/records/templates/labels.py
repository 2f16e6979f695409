"""Labels in a line of text, and the parts of the line that they label; icons as labels.

Icons indicate kinds of values by class names and by symbol characters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.addons.records.templates.values.address import looks_like
from topiccrawl.addons.records.templates.values.value import shown
from topiccrawl.addons.records.templates.words import LONGEST_LABEL, OTHERS, SOURCE, Hit, Vocabulary
from topiccrawl.text.normal import has_han, simplify_aligned

if TYPE_CHECKING:
    from collections.abc import Sequence

_COLONS = re.compile("[:︰∶]")
_TOKEN = re.compile(r"[^\s\x1f:;,。、|/()\[\]【】<>@!?]*$")
_FOREIGN = re.compile(
    r"(?<![^\s\x1f;,。、|)\]】])[^\s\x1f:;,。、|@/\d][^\s\x1f:;,。、|@/]{0,13}\s?$"
)
_QUALIFIERS = re.compile(
    r"(?:(?<!有限)(?<!责任)(?<!集团)公司|企业|联系|办公|电子|客服|服务|咨询|销售|商务|业务|全国|免费|统一|24小时|热线|总部|注册|通讯|"
    r"通信|邮政|腾讯|在线|售后|售前|招聘|人事|固定|移动|图文|官方|单位|详细|我们的?|的|总公司|订购|预约|"
    r"手机|电话|our|the|my|office|company|contact|business|postal|street|mailing|physical|visiting|"
    r"head|main|registered|trading|general|customer|service|sales|support|by)*\s*$",
    re.IGNORECASE,
)
_SUFFIX = re.compile(
    r"[\s\x1f]*(?:号码|地址|号|专线|咨询|联系|us)?[\s\x1f]*\d?[\s\x1f]*"
    r"(?:[(\[][^()\[\]@]{0,24}[)\]]|[(\[/|-][^\d@:]{0,14}[)\]]?|[^\W\d_]{0,4}\.?)?[\s\x1f\])】>*.]*$"
)
_TRANSLATED = re.compile(r"[\s\x1f/]+[A-Za-z]{2,12}(?:[\s.-][A-Za-z]{2,12}){0,2}[\s\x1f]*$")
"""An English translation after a Chinese label: 公司名称 Company name."""
_JOINT = re.compile(r"^[\s\x1f/&、,和及|\\()\[\]+.-]*(?:and|or)?[\s\x1f]*$")
_AFTER = re.compile(
    r"(?:[\s\x1f]*[/&、和及](?:微信|wechat|whatsapp|手机|传真|fax|tel|mobile|qq))*"
    r"(?:[\s\x1f]*(?:号码|号|专线|客服|no\.?|us|number))?"
    r"(?:(?<=[\u3400-\u9fff])[ /]+[A-Za-z]{2,12}(?: [A-Za-z]{2,12}){0,2}(?=\x1f))?"
    r"[\s\x1f)\]】>|.、/-]*",
    re.IGNORECASE,
)
"""Text allowed between a label without a colon and its value, such as a translation."""
_BEFORE = re.compile(r"(?:^|[\s\x1f;,。、|/(\[【<>·•●*]|[)\]】])$")
_NUMBER = re.compile(r"[+(]?\d")
_DOTTED = re.compile(r"(?<![^\s|·•/])([TPFEAMW])\.(?=\s+(?:[+(]?\d|\S+@|www\.|[\u3400-\u9fff]))")
"""Matches T. 028.8320.7788, but not P. R. China or M. Dupont."""
_STROKE = re.compile(r"[\s\x1f]*[/&、和及|][\s\x1f]*")
_LETTER = re.compile(r"[\s\x1f]*[A-Z][\s\x1f]*")
_LETTERED = re.compile(
    r"(?<![^\s|·•/])(?:[A-DF-VX-Z][\s\x1f]+[+(]?\d|[EW][\s\x1f]+(?:\S+@\S|www\.|https?:))"
)
"""Matches T +31 20 5550161, E info@example.com, W www.example.com, but not 5801 E 41st St."""
_STORES = re.compile(r"工[厂廠]|厂[房址]|仓[库储]|[退收发]货|warehouse|factory", re.IGNORECASE)
"""Factories and warehouses, whose address may differ from the organisation's contact address."""
_NEXT_TO = frozenset({"mail", "url"})
SENTENCE = 8
"""Number of characters before a label from which it counts as part of a sentence."""

_ICONS = {
    "telephone": r"phone|^(?:电话|手机|热线|座机)$|"
                 r"(?:^|[\s_/-])(?:tel|mobile|call|dh|dianhua)(?:$|[\s_./-])",
    "mail": r"envelope|e?mail|youxiang|^(?:电子)?邮[箱件]$",
    "address": r"map-?(?:marker|pin)|location|address|geo-alt|dizhi|^(?:公司)?地址$",
    "qq": r"(?:^|[\s_/-])qq(?:$|[\s_./-])",
    "url": r"globe|(?:^|[\s_/-])(?:www|website|wangzhi|网址|官网)(?:$|[\s_./-])",
    "fax": r"(?:^|[\s_/-])(?:fax|chuanzhen|传真)(?:$|[\s_./-])",
}  # fmt: skip
_ICON = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _ICONS.items()}
_SIGNS = {
    "telephone": "☎☏✆📞📱🕿🕻🕽",
    "fax": "📠🖷",
    "mail": "✉📧📨📩🖂🖃",
    "address": "📍🗺🏠📌",
    "url": "🌐🔗",
}
SIGN = {sign: kind for kind, signs in _SIGNS.items() for sign in signs}
SIGNED = re.compile("[" + "".join(SIGN) + "]\ufe0f?")
ORNAMENT = re.compile("[\ue000-\uf8ff\U0001f300-\U0001faff\ufe0f\u200b-\u200d\u2060\ufeff]")
"""Glyphs of icon fonts, pictographs and zero-width characters."""


class Label(NamedTuple):
    """A label in a line.

    Attributes:
        fields: Fields of the template; empty for unrelated labels, which only end values.
        start: Offset of the label with its qualifiers.
        end: Offset at which the labelled text begins.
        stop: Offset at which the labelled text ends.
        weight: Weight of the label, in [0, 1].
        text: The label as written.
    """

    fields: tuple[str, ...]
    start: int
    end: int
    stop: int
    weight: float
    text: str


def labels(text: str, words: Vocabulary) -> list[Label]:
    """Return the labels of a line, in order; the text of each ends where the next one begins.

    >>> from topiccrawl.addons.records.templates.template import resolve
    >>> words = Vocabulary(resolve("软件公司-四川"))
    >>> line = "地址:天府大道1号邮编:610041 联系人:王 电 话/传真:028-1"
    >>> for one in labels(line, words):
    ...     print(one.fields, line[one.end:one.stop].strip())
    ('地址',) 天府大道1号
    ('邮编',) 610041
    () 王
    ('联系方式', '传真') 028-1
    """
    text = _DOTTED.sub(r"\1:", text)
    text = simplify_aligned(text)
    hits = _merged(text, words.hits(text), words)
    colons = [at for one in _COLONS.finditer(text) if _labels_something(text, at := one.start())]
    if not hits and not colons:
        return []
    found = _with_colons(text, colons, hits, words)
    found += _colonless(text, hits, found, words)
    return with_stops([_adjusted(one, words) for one in found], len(text))


def with_stops(found: list[Label], length: int) -> list[Label]:
    """Sort the labels of a line; the text of each ends where the next one begins."""
    found = sorted(found, key=lambda one: one.start)
    ends = [*(one.start for one in found[1:]), length]
    return [one._replace(stop=max(end, one.end)) for one, end in zip(found, ends, strict=False)]


def _adjusted(label: Label, words: Vocabulary) -> Label:
    """Adjust a label: 会员单位 labels no name; 工厂地址 weighs less than 公司地址."""
    if OTHERS.search(label.text):
        fields = tuple(field for field in label.fields if words.kinds[field] != "name")
        return label._replace(fields=fields)
    if _STORES.search(label.text) and any(words.kinds[one] == "address" for one in label.fields):
        return label._replace(weight=0.8 * label.weight)
    return label


def _labels_something(text: str, at: int) -> bool:
    """Return whether a colon is not part of a URL or a time of day."""
    after = text[at + 1 : at + 3]
    if after == "//":
        return False
    return not (
        text[max(0, at - 1) : at].isdigit()
        and after[:2].isdigit()
        and not text[at + 3 : at + 4].isdigit()
    )


def _with_colons(
    text: str, colons: Sequence[int], hits: list[Hit], words: Vocabulary
) -> list[Label]:
    found: list[Label] = []
    begin = 0
    for colon in colons:
        inside = [hit for hit in hits if begin <= hit.start and hit.end <= colon]
        label = _at_colon(text, begin, colon, inside, words)
        if label is not None:
            found.append(label)
            begin = colon + 1
    return found


def _at_colon(
    text: str, begin: int, colon: int, hits: list[Hit], words: Vocabulary
) -> Label | None:
    cluster = _cluster(text, hits, colon)
    end = colon + 1
    if cluster:
        start = _label_start(text, begin, cluster[0].start)
        group = "群" in text[cluster[-1].end : colon]  # the number of a QQ group is no QQ number
        fields = () if group else _fields(cluster)
        weight = min(hit.weight for hit in cluster)
        if len(text[begin : cluster[0].start].strip()) > SENTENCE and start == cluster[0].start:
            weight *= 0.9
        return Label(fields, start, end, end, weight, text[start:colon])
    token = _FOREIGN.search(text[begin:colon])
    if token is None:
        return None
    start = begin + token.start()
    if start == begin and begin and len(token[0]) > 4:  # noqa: PLR2004 - glued to a value
        return None
    field = words.whole_field(token[0])
    return Label((field,) if field else (), start, end, end, SOURCE, token[0])


def _cluster(text: str, hits: list[Hit], colon: int) -> list[Hit]:
    """Return the adjacent keywords right before a colon: 电话/传真."""
    if not hits or not _ends_label(text, hits[-1], colon):
        return []
    cluster = [hits[-1]]
    for hit in reversed(hits[:-1]):
        if not _JOINT.match(text[hit.end : cluster[0].start]):
            break
        cluster.insert(0, hit)
    return cluster


def _ends_label(text: str, hit: Hit, colon: int) -> bool:
    """Return whether the text between a keyword and a colon belongs to the label."""
    rest = text[hit.end : colon]
    translated = has_han(text[hit.start : hit.end]) and _TRANSLATED.match(rest)
    return bool(translated or _SUFFIX.match(rest))


def _label_start(text: str, begin: int, at: int) -> int:
    """Return the offset at which a label with its qualifiers begins: 公司|联系|电话."""
    token = _TOKEN.search(text[begin:at])
    start = begin + token.start() if token else at
    if at - start <= SENTENCE and (start > begin or not begin):
        return start
    qualifiers = _QUALIFIERS.search(text, begin, at)
    return qualifiers.start() if qualifiers else at


def _merged(text: str, hits: list[Hit], words: Vocabulary) -> list[Hit]:
    """Merge adjacent keywords; the last one counts (企业QQ), except in 邮箱地址 and 传真电话."""
    kept: list[Hit] = []
    for hit in hits:
        before = kept[-1] if kept else None
        letter = hit.end - hit.start == 1  # A and E are no words of a longer label
        if before is None or letter or text[before.end : hit.start].strip(" \x1f"):
            kept.append(hit)
            continue
        kinds = words.kinds.get(before.field), words.kinds.get(hit.field)
        fax = before.field in words.faxes and kinds[1] == "telephone"
        if fax or (kinds[1] == "address" and kinds[0] in _NEXT_TO):
            kept[-1] = before._replace(end=hit.end)
        elif kinds == ("telephone", "telephone"):
            kept.append(hit)  # 电话传真 labels both
        else:
            kept[-1] = hit._replace(start=before.start)
    return kept


def _fields(hits: list[Hit]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(hit.field for hit in hits if hit.field))


def _colonless(text: str, hits: list[Hit], found: list[Label], words: Vocabulary) -> list[Label]:
    """Return labels without a colon: at the start of a line or after a gap, before a value."""
    more: list[Label] = []
    for hit in hits:
        letter = hit.end - hit.start == 1  # T, F and E need a colon, a separate line or a value
        if letter and not (_LETTER.fullmatch(text) or _LETTERED.match(text, hit.start)):
            continue
        if any(one.start <= hit.start < one.end for one in (*found, *more)):
            continue
        start = _label_start(text, 0, hit.start)
        if hit.start - start > SENTENCE or not _BEFORE.search(text[:start]):
            continue
        after = _AFTER.match(text, hit.end)
        end = after.end() if after else hit.end
        whole = not text[:start].strip("\x1f ·•●*-()[]【】<>") and _SUFFIX.match(text[hit.end :])
        fields = _fields(_with_joined(text, hit, hits))
        if whole and len(text) <= LONGEST_LABEL + 5:
            end = len(text)
        elif not ((end > hit.end or _NUMBER.match(text, end)) and _fits(text, hit, end, words)):
            continue
        more.append(Label(fields, start, end, end, hit.weight * 0.95, text[start : hit.end]))
    return more


def _with_joined(text: str, first: Hit, hits: list[Hit]) -> list[Hit]:
    """Return a keyword with those joined to it by slashes and the like: 地址/邮编."""
    found = [first]
    for hit in hits:
        if hit.start >= found[-1].end and _STROKE.fullmatch(text[found[-1].end : hit.start]):
            found.append(hit)
    return found


def _fits(text: str, hit: Hit, end: int, words: Vocabulary) -> bool:
    """Return whether the text after a label without a colon can be its value."""
    kind = words.kinds.get(hit.field)
    if kind in {"telephone", "qq", "postcode"} or not hit.field:
        return bool(_NUMBER.match(text, end))
    marked = set(text[hit.end : end]) & set("\x1f)]】>|-")
    if kind == "address":
        return bool(marked) or looks_like(shown(text[end:]))
    return bool(marked) or kind in {"mail", "url"}


def icon_kind(names: str | None) -> str:
    """Return the kind of value that a class name or an icon's URL indicates; "" if none.

    >>> icon_kind("fa fa-phone"), icon_kind("iconfont icon-chuanzhen"), icon_kind("fa fa-clock")
    ('telephone', 'fax', '')
    """
    if not names:
        return ""
    return next((kind for kind, pattern in _ICON.items() if pattern.search(names)), "")
