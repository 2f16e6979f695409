"""Names of organisations: recognition in texts, and comparison of names."""

from __future__ import annotations

import re
from functools import lru_cache

from topiccrawl.addons.records.templates.values.value import OBJECT, SOFT, Value, shown
from topiccrawl.text.normal import fold

LONGEST = 80
"""Maximum length of a name, in characters."""
_LEGAL = (
    r"(?:股份有限公司|有限责任公司|集团有限公司|有限公司|株式会社|集团公司|总公司|公司|集团|有限会社|合同会社|合伙企业|个体工商户"
    r"|研究院|研究所|设计院|事务所|诊所|診所|门诊部|幼儿园|出版社|基金会|度假村|工作室|经营部|商行|合作社|总厂|工厂|(?:机械|制造|加工|食品|印刷|家具|玻璃|化工|电器|设备|配件|水泥|纺织|服装|酒|茶)厂|(?<![出原进建办入全各本我化])厂(?![\u3400-\u9fff])|医院|学校|学院|大学|协会|学会|委员会|酒店|宾馆|书店)"
)
_ORG = re.compile(
    rf"[\u3400-\u9fffA-Za-z0-9·&.\-]{{2,30}}?(?:\([^()]{{1,12}}\)[\u3400-\u9fffA-Za-z0-9·&]{{0,16}}?)?"
    rf"{_LEGAL}(?:\((?!以下|简称|下称|原)[^()“”\"]{{1,12}}\))?(?!(?:(?![是系]|成立|位于)[\u3400-\u9fff])*{_LEGAL})"
)
_FORMS = (
    r"(?:(?i:Co\.?,? ?Ltd|(?:Pte|Pvt|Pty|Sdn)\.? (?:Bhd|Ltd|Limited)|Ltd|Limited|L\.?L\.?C|Inc|LLP|"
    r"PLL?C|g?GmbH(?: & Co\.? KG)?|Corp(?:oration)?|Pty|e\. ?[KV]|S\.?r\.?l|S\.?p\.?A|"
    r"S\.?A\.?S\.?U?|S\.?A\.?R\.?L|S\.r\.o|d\.o\.o|Sp\. z o\.o|ApS|Oyj?)"
    r"|AG|KG|OHG|UG(?: \(haftungsbeschränkt\))?|SE|B\.?V|N\.V|S\.?A|S\.L|AB|A/S|AS|K\.K|Ltée)"
    r"(?!\w)\.?"
)
"""Legal forms of companies outside of China; short forms are case-sensitive."""
_ENGLISH = re.compile(
    r"\b[A-Z][\w&'.-]{0,40}(?:[ ,]{1,5}(?:[A-Z][\w&'.-]{0,40}|and|of|the|&|"
    r"du|des|de|et|la|le|les|und|für|am)){0,12}[ ,]{1,5}"
    rf"{_FORMS}"
)
"""All repetitions are bounded, so that matching takes linear time on pages full of capitals."""
_BEFORE_FORM = re.compile(r"(?<=[a-z.]),\s?(?=(?:ltd|limited|inc|p?llc|llp|plc)\b)", re.IGNORECASE)
"""The comma in Co., Ltd., which does not separate clauses."""
_FORM_FIRST = re.compile(
    r"\b(?:SARL|EURL|SASU?|SCOP|SCI|Firma|PT\.?|OOO|ООО|TOO|ZAO|株式会社|有限会社|合同会社)(?<!\s)\s?"
    r"[^\W\d_][\w&'.-]*(?: [^\W\d_][\w&'.-]*){0,5}"
)
"""Names that begin with the legal form, such as French and Japanese ones."""
_SHOP = re.compile(r"[\u3400-\u9fff]{5,16}(?<![分总门本网舰卖])店")
_APPOSED = re.compile(rf",\s+(?!{_FORMS})")
"""A comma not followed by a legal form: Jane Dow, Redstart Ltd."""
_LED = re.compile(
    r"^(?:欢迎(?:您)?(?:来到|访问|光临|咨询)?|(?:联系|关于|联络)(?:我们|方式)|关于|联系|走进|感谢(?:您)?(?:关注|访问)?|(?:版权所有|copyright)|所有|"
    r"contact(?:\s+us)?\s*[-:|–]+|归|由|属于|©|\(c\)|(?:19|20)\d\d(?!\d)|[\s\-–.,:]|all\s+rights?\s+reserved\b|by\b)+",
    re.IGNORECASE,
)
_TRAILED = re.compile(
    r"(?:[\s-]*(?:官方网站|官方|官网|网站|首页|主页|欢迎您|版权所有|所有|保留所有权利|联系我们|联系方式|"
    r"all\s+rights?\s+reserved|official\s+(?:web)?site|home\s*page|\d{4})[\s.!。]*)+$",
    re.IGNORECASE,
)
_COMMON = re.compile(
    r"^[\u3400-\u9fff]{0,3}(?:[总總]公司|工厂)$|^(?:我们?|本|贵|该|您|某|各|其他|母|子|分|总|软件|上市|科技|网络|专业|知名|一家|公司|集团|企业|有限)*"
    r"(?:公司|集团|企业)$"
)
_EDGES = " \t,.;:|·•*-—–_/>《》<\"'“”。，；、!?"
_SAYS = re.compile(r"[,。;!?、]|成立|致力|欢迎|位于|拥有|是一|为您|提供|我们|专注")
_CORE = re.compile(r"[\W_]+")
_FORM = re.compile(
    rf"{_LEGAL}$|(?:co|pte|pvt|pty|sdn)?(?:ltd|limited|p?llc|inc|llp|plc|gmbh|corp|corporation|company|pty|bhd)$"
)
_ENDS_LEGAL = re.compile(rf"公司(?:\([^()]*\))?$|株式会社$|合同会社$|(?<!\w){_FORMS}$")
_BEGINS_FORM = re.compile(r"^(?:SARL|EURL|SASU?|SCOP|SCI|Firma|株式会社|有限会社|合同会社)\s?")
_ENDS_FORM = re.compile(rf"[\s,]+{_FORMS}$")
_PLACES = re.compile(
    r"^(?:中国|四川省?|成都市?|重庆市?|北京市?|上海市?|天津市?|[\u3400-\u9fff]{2,3}(?:省|市))+"
)


def name(text: str) -> list[Value]:
    """Return the name in a labelled text; nothing if it cannot be a name.

    >>> name("：四川天府软件有限公司（官网）"), name("2013")
    ([Value(value='四川天府软件有限公司', start=0, end=15)], [])
    """
    written = tidy(text)
    fits = OBJECT not in text and "@" not in written and 2 <= len(written) <= LONGEST  # noqa: PLR2004
    return [Value(written, 0, len(text))] if fits and any(map(str.isalpha, written)) else []


def tidy(text: str) -> str:
    """Remove greetings, punctuation and phrases such as "official site" around a name.

    >>> tidy("欢迎访问四川天府软件有限公司官方网站！"), tidy("Copyright © 2020 Penrose Cycles Ltd.")
    ('四川天府软件有限公司', 'Penrose Cycles Ltd')
    """
    written = shown(text).strip(_EDGES)
    for _ in range(2):
        written = _TRAILED.sub("", _LED.sub("", written)).strip(_EDGES)
        written = re.sub(r"\((?:官网|官方网站|首页)\)$", "", written).strip(_EDGES)
    opened, closed = written.count("("), written.count(")")
    return written if opened == closed else written.strip("()").strip(_EDGES)


def organisations(text: str) -> list[Value]:
    """Return the names with a legal form in a text.

    >>> [one.value for one in organisations("Copyright©2019 四川天府软件有限公司 版权所有")]
    ['四川天府软件有限公司']
    """
    plain = text.replace(SOFT, " ")
    found = []
    for match in [
        *_ORG.finditer(plain), *_ENGLISH.finditer(plain), *_FORM_FIRST.finditer(plain)
    ]:  # fmt: skip
        written = tidy(re.split(_APPOSED, match[0])[-1])
        if is_organisation(written):
            found.append(Value(written, match.start(), match.end()))
    return found


def is_organisation(text: str) -> bool:
    """Return whether a text as a whole is the name of an organisation with its legal form.

    >>> is_organisation("四川天府软件有限公司"), is_organisation("我们公司")
    (True, False)
    >>> is_organisation("Sichuan Tianfu Software CO., LTD.")
    True
    """
    if not 4 <= len(text) <= LONGEST or _COMMON.match(text):  # noqa: PLR2004
        return False
    if _SAYS.search(_BEFORE_FORM.sub(" ", text)):
        return False
    return any(form.fullmatch(text) for form in (_ORG, _ENGLISH, _FORM_FIRST, _SHOP))


def is_legal(text: str) -> bool:
    """Return whether a name ends in a legal form (有限公司, Ltd)."""
    return bool(_ENDS_LEGAL.search(text) or _FORM_FIRST.fullmatch(text))


@lru_cache(maxsize=4_096)
def core(text: str) -> str:
    """Return the distinctive part of a name, without place and legal form.

    >>> core("四川天府软件有限公司") == core("天府软件"), core("Penrose Cycles Ltd.")
    (True, 'penrosecycles')
    """
    bare = _CORE.sub("", fold(_BEGINS_FORM.sub("", _ENDS_FORM.sub("", text))))
    short = _FORM.sub("", bare) or bare
    return _PLACES.sub("", short) or short


def similar(one: str, other: str) -> bool:
    """Return whether two names may be of the same organisation: one core contains the other.

    >>> [similar(name, "天府软件") for name in ("四川天府软件有限公司", "蜀网科技有限公司")]
    [True, False]
    """
    a, b = core(one), core(other)
    return bool(a and b) and (a in b or b in a)
