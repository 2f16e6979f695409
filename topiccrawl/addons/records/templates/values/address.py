"""Postal addresses: parsing of labelled ones, and recognition of those without a label."""

from __future__ import annotations

import re

from topiccrawl.addons.records.templates.values.names import is_organisation
from topiccrawl.addons.records.templates.values.telephone import telephones
from topiccrawl.addons.records.templates.values.value import OBJECT, SOFT, Value, shown
from topiccrawl.text.normal import has_han, simplify

SHORTEST, LONGEST = 5, 160
"""Minimum and maximum length of an address, in characters."""
_UNITS = re.compile(
    r"[省市区县州旗镇乡村路街道巷弄里号楼室层座栋幢园厦城场苑院库桥町県都府]|丁目|番地"
)
_NAMED = re.compile(r"(?:大道|大厦|广场|中心|国际|产业园|科技园|软件园|开发区|高新区|花园)")
_ENGLISH = re.compile(
    r"\b(?:street|st|road|rd|lane|ln|avenue|ave|drive|dr|close|way|court|ct|place|square|terrace|"
    r"quay|hill|row|parade|yard|mews|wharf|harbour|estate|park|unit|building|house|floor|suite|"
    r"crescent|circle|circus|walk|grove|gardens?|boulevard|boul|blvd|highway|hwy|pike|plaza|towers?|"
    r"level|lvl|district|city|town|village|county|p\.?\s?o\.?\s?box|"
    r"rue|quai|impasse|chemin|allée|cours|bureau|platz|am|via|viale|piazza|corso|calle|avenida|"
    r"plaza|rua|praça)\b|(?:stra(?:ß|ss)e|str\.|weg|gasse|platz|allee|damm|ufer|ring|straat|gracht|"
    r"laan|plein|kade|vägen|gatan|gade|vej)\b",
    re.IGNORECASE,
)
_HEAD = 24
"""Maximum length of a label outside the vocabulary, in characters."""
_FURTHER = 60
"""Maximum length of a further line of an address, in characters."""
_ENDED = re.compile(r"(?:[号楼室层座栋幢]|\d)[)]?$")
_HOUSE = re.compile(r"\d\s?号$")
_INSIDE = re.compile(
    r"(?:(?![省市县镇乡村路街道巷号])[\w·-]){2,28}"
    r"(?:[楼室层座栋幢区馆]|大厦|广场|中心|国际|园)[A-Za-z]?-?\d{0,5}[室号房]?"
)
"""A further line with the place inside a building."""
_POSTCODE = re.compile(
    r"\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b|\b(?<!\d[/.-])\d{5,6}\b|\b[A-Z]\d[A-Z] ?\d[A-Z]\d\b"
    r"|(?<!\d )\b\d{3} \d{3}(?=,|\.?$)"
    r"|\b\d{4} ?[A-Z]{2}\b|\b[A-Z]{2,3},? \d{4}\b|\b[A-Z]\d[\dW] ?[A-Z\d]{4}\b"
    r"|(?<=[a-z] )(?!19|20)\d{4}$"
)
"""Postcodes of many countries, including British, Canadian, Dutch and Australian ones."""
WITHOUT_CODE = re.compile(
    r"\b(?:hong kong|kowloon|n\.?t\.?|macau|macao|dubai|u\.?a\.?e|qatar|ireland|"
    r"new zealand|australia|germany|france|netherlands|belgium|switzerland|austria|italy|spain|"
    r"p\.?r\.? ?china)\.?$",
    re.IGNORECASE,
)
"""Places at the end of an address without a postcode."""
LEADING_CODE = re.compile(
    r"^[\s\x1f(]*(?:〒\s?\d{3}-?\d{4}|\d{3}-\d{4}|\d{6}|\d{3}(?:\d{2})?)\)?[\s\x1f,]*(?=[\u3400-\u9fff]|$)"
)
"""A postcode before a Chinese or Japanese address."""
_NEARBY = re.compile(
    r"\s*(?:[,;]\s*(?:距|靠近|近|邻近|毗邻|紧邻|步行|乘|地铁|公交).*|\([^()\dA-Za-z号楼层室栋座幢]*\))$"
)
"""Directions after an address."""
_NAMED_FIRST = re.compile(r"^[\u3400-\u9fff]{2,4}[\s\x1f:]+(?=\S{4,})")
"""A word separated from the address after it: 总部 成都市…."""
_SMALL_PLACE = re.compile("(?:香港|九龙|新界|澳门)")
"""Starts of addresses without province and city."""
_SMALL = re.compile(r"(?<![^\s(])[a-zà-ÿ]+(?![\w'’])")
_SPOKEN = 6
"""Maximum number of lower-case words in an address; a text with more is a sentence."""
_CUT = re.compile(
    r"\s*(?:[\[(【<]?\s*(?:查看地图|地图|电子地图|点击查看|导航|乘车|交通|复制|map\b|view\s+(?:on\s+)?map|"
    r"get\s+directions|directions\b).*|[(\[【]?\s*(?:邮编|邮政编码|postcode|zip).*"
    r"|[\[【][^\[\]【】]{2,12}[\]】])$",
    re.IGNORECASE,
)
_LED = re.compile(
    r"^registered (?:office|address)(?: is)?(?: at)?\b[\s:]*|"
    r"^(?:we(?:'re| are)(?: located| based)?|find us|visit us|located|our (?:shop|workshop) is)"
    r" (?:at|in)\b[\s:]*|^[\u3400-\u9fff]{0,6}?(?:位于|坐落于|坐落在|地处)",
    re.IGNORECASE,
)
_BEHIND = re.compile(rf"((?:{_POSTCODE.pattern})),\s+[a-z].*$")
"""Remainder of a sentence after the postcode: , two blocks south of the bridge."""
_TAIL_CODE = re.compile(r"[\s,(]+(?:P\.?C\.?\s*)?[0-8]\d{5}\)?$")
_SAYS = re.compile(
    r"[。!?]|地处|位于|坐落|是一|占地|成立于|员工|会(?![展议堂所馆昌理东泽宁同仙])|被|可以|我们|如果|时,|以及|进行|点击"
)
_EDGES = " \t,.;:|·•*-—–_/>《》<。，；、"
_FOREIGN = re.compile(r"@|https?:|www\.|\d{7,}|©|版权|copyright", re.IGNORECASE)
_HAN_GAP = re.compile(r"(?<=[\u3400-\u9fff\d])\s+(?=[\u3400-\u9fff])|(?<=[\u3400-\u9fff])\s+(?=\d)")


def address(text: str) -> list[Value]:
    """Return the address in a labelled text; nothing if it cannot be an address.

    Links to maps, a postcode in brackets and surrounding punctuation are removed.

    >>> address(" 成都市高新区天府大道1号 （邮编：610041）。[查看地图]")
    [Value(value='成都市高新区天府大道1号', start=0, end=32)]
    >>> address("******"), address("请登录后查看")
    ([], [])
    """
    text = text.partition(OBJECT)[0]
    written = tidy(text)
    return [Value(written, 0, len(text))] if plausible(written) else []


def tidy(text: str) -> str:
    """Remove text that commonly precedes or follows an address."""
    parts = [part for part in text.split(SOFT) if part.strip()]
    if len(parts) > 1 and is_organisation(parts[-1].strip()):
        text = SOFT.join(parts[:-1])  # the name after it, in a separate element
    written = _LED.sub("", shown(text))
    for _ in range(2):
        written = _CUT.sub("", written).strip(_EDGES)
    if has_han(written):
        written = _NEARBY.sub("", written)
        written = LEADING_CODE.sub("", _TAIL_CODE.sub("", written))
        written = _HAN_GAP.sub("", written)
    else:
        written = _BEHIND.sub(r"\1", written)
    written = written.strip(_EDGES)
    opened, closed = written.count("("), written.count(")")
    if closed > opened:
        written = written.rstrip(")").strip(_EDGES)
    return written.rstrip("(").strip(_EDGES) if opened > closed else written


def plausible(text: str) -> bool:
    """Return whether a labelled text can be an address."""
    if not SHORTEST <= len(text) <= LONGEST or _FOREIGN.search(text):
        return False
    if has_han(text):
        text = simplify(text)
        units = len(set(_UNITS.findall(text)))
        placed = units > 1 or (units and re.search(r"\d", text)) or _NAMED.search(text)
        return bool(placed) and not _SAYS.search(text)
    return any(map(str.isalpha, text)) and bool(
        any(map(str.isdigit, text)) or "," in text or _ENGLISH.search(text)
    )


def looks_like(text: str) -> bool:
    """Return whether a text without a label looks like an address.

    >>> looks_like("四川省成都市高新区天府大道1号A座"), looks_like("我们的市场遍布全国各省市区")
    (True, False)
    >>> [looks_like(text) for text in ("2 Quay St, Truro, TR1 2HB", "We walk down the road")]
    [True, False]
    """
    if not plausible(text) or re.search(r"[。!?;]", text):
        return False
    if has_han(text):
        text = simplify(text)
        kinds = set(_UNITS.findall(text))
        numbered = bool(
            re.search(r"\d\s?(?:号|楼|室|层|座|栋|幢|弄)|[号楼室层座栋]\w?$|\d-\d|\dF$", text)
        )
        needed = 2 if _SMALL_PLACE.match(text) else 3
        return len(kinds) >= needed and numbered and len(text) <= 60  # noqa: PLR2004
    if len(_SMALL.findall(text)) > _SPOKEN:
        return False
    codes = [*_POSTCODE.finditer(text), *WITHOUT_CODE.finditer(text)]
    street = text[: codes[-1].start()] if codes else ""
    return bool(re.search(r"\d", street) or _ENGLISH.search(street) or street.count(",") > 1)


def lead_end(text: str) -> int:
    """Return the length of a word separated from the address after it; 0 if there is none.

    >>> lead_end("总部 成都市高新区高朋东路10号"), lead_end("成都市 高新区高朋东路10号")
    (3, 0)
    """
    lead = _NAMED_FIRST.match(text)
    led = lead and not _UNITS.search(lead[0]) and looks_like(tidy(text[lead.end() :]))
    return lead.end() if lead and led else 0


def heading_end(text: str) -> int:
    r"""Return the length of a short element before an address; 0 if there is none.

    >>> heading_end("Workshop\x1f 2 Quay Street, Truro, TR1 2HB")
    9
    >>> heading_end("2 Quay\x1f Street, Truro")
    0
    """
    lead, apart, rest = text.partition(SOFT)
    few = apart and len(lead) <= _HEAD and not re.search(r"[\d,]", lead)
    return len(lead) + 1 if few and looks_like(shown(rest)) else 0


def is_part(text: str) -> bool:
    """Return whether a line can be part of a non-Chinese address: it has a number or a street."""
    if not 0 < len(text) <= _FURTHER or _FOREIGN.search(text) or re.search(r"[.!?]\s", text):
        return False
    return bool(re.search(r"\d", text) or (_ENGLISH.search(text) and " " in text))


def continues(before: str, text: str, region: str) -> bool:
    """Return whether a line can continue an address in the line before it.

    >>> [continues("成都市青羊区", text, "CN") for text in ("人民中路1号8楼", "欢迎光临")]
    [True, False]
    >>> [continues("2 Quay Street", text, "GB") for text in ("Falmouth", "01872 272727")]
    [True, False]
    """
    if not 0 < len(text) <= _FURTHER or _FOREIGN.search(text) or re.search(r"[.!?。]\s", text):
        return False
    if telephones(text, region, labelled=False):
        return False
    if has_han(before):
        if _HOUSE.search(before) and _INSIDE.fullmatch(text):
            return True
        return not _ENDED.search(before) and len(_UNITS.findall(text)) > 1 and has_han(text)
    return not has_han(text)
