"""Kinds of values with simple patterns: mail, postcodes, QQ numbers, URLs, numbers, dates."""

from __future__ import annotations

import re
from decimal import Decimal
from urllib.parse import parse_qs, unquote, urlsplit

from email_validator import EmailNotValidError, validate_email

from topiccrawl.addons.records.templates.values.value import SOFT, Value
from topiccrawl.extract.calendars import calendar_of, day_of
from topiccrawl.links.urls import canonical

_B = r"[\s\x1f]{0,3}"
_LOCAL = r"[A-Za-z0-9_](?:[A-Za-z0-9_.+'-]{0,62}[A-Za-z0-9_])?"
_IN_BRACKETS = rf"{_B}[\(\[{{<【]{_B}(?:@|at|ät|#|艾特|a|arobase|arroba){_B}[\)\]}}>】]{_B}"
_SURE_AT = rf"(?:@|{_IN_BRACKETS}|{_B}@{_B}|{_B}艾特{_B}|_at_|{_B}☆{_B}|{_B}◎{_B})"
_LOOSE_AT = rf"(?:{_SURE_AT}|{_B}#{_B}|[\s\x1f]{{1,3}}at[\s\x1f]{{1,3}}|{_B}\*{_B})"
_DOT_IN_BRACKETS = rf"{_B}[\(\[{{【]{_B}(?:dot|点|punkt|point|punto|\.){_B}[\)\]}}】]{_B}"
_DOT = rf"(?:\x1f{{0,2}}\.\x1f{{0,2}}|{_DOT_IN_BRACKETS}|{_B}点{_B}|[\s\x1f]dot[\s\x1f])"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DOMAIN = rf"{_LABEL}(?:{_DOT}{_LABEL}){{0,4}}{_DOT}[A-Za-z]{{2,14}}"
_END = r"(?![A-Za-z0-9@])"
_SURE = re.compile(rf"(?<![A-Za-z0-9_.+-])({_LOCAL}){_SURE_AT}({_DOMAIN}){_END}", re.IGNORECASE)
_LOOSE = re.compile(rf"(?<![A-Za-z0-9_.+-])({_LOCAL}){_LOOSE_AT}({_DOMAIN}){_END}", re.IGNORECASE)
_DOTS = re.compile(_DOT, re.IGNORECASE)
_SPELLED = re.compile(r"[\s\x1f](?:dot|点)[\s\x1f]|[\[({](?:dot|点)[\])}]", re.IGNORECASE)
_HOLDS_DOT = re.compile(r"[.点]|dot|punkt|point|punto", re.IGNORECASE)
_HASHED = re.compile(r"(?:^|[\s\x1f:;,，、(])$")
_NO_MAIL = frozenset({"png", "jpg", "jpeg", "gif", "webp", "svg", "css", "js"})
"""Extensions of files whose names look like addresses: logo@2x.png."""

_POSTCODES = {
    "CN": re.compile(r"(?<![\d-])[0-8]\d{5}(?![\d-])"),
    "GB": re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b", re.IGNORECASE),
    "US": re.compile(r"(?<![\d-])\d{5}(?:-\d{4})?(?![\d-])"),
    "AU": re.compile(r"(?<![\d-])\d{4}(?![\d-])(?! ?\d)"),
    "NZ": re.compile(r"(?<![\d-])\d{4}(?![\d-])(?! ?\d)"),
    "IE": re.compile(r"\b[A-Z]\d[\dW] ?[A-Z\d]{4}\b", re.IGNORECASE),
    "IN": re.compile(r"(?<![\d-])\d{3} ?\d{3}(?![\d-])"),
    "SG": re.compile(r"(?<![\d-])\d{6}(?![\d-])"),
    "CA": re.compile(r"\b[A-Z]\d[A-Z] ?\d[A-Z]\d\b", re.IGNORECASE),
    "DE": re.compile(r"(?<![\d/-])\d{5}(?![\d/-])"),
    "FR": re.compile(r"(?<![\d-])\d{5}(?![\d-])"),
    "JP": re.compile(r"(?<![\d-])\d{3}-\d{4}(?![\d-])"),
    "TW": re.compile(r"(?<![\d-])\d{3}(?:\d{2,3})?(?![\d-])"),
}
_ANY_POSTCODE = re.compile(r"(?<![\w-])[A-Z\d]{2,5}[ -]?[A-Z\d]{2,5}(?![\w-])", re.IGNORECASE)
_QQ = re.compile(r"(?<![A-Za-z0-9_.@-])[1-9](?:[ ]?\d){4,10}(?![A-Za-z0-9_@-])(?!\.\w)")
_TALKS = frozenset({"tencent", "mqqwpa", "mqq", "mqqapi"})
"""Schemes of links that open QQ."""
_URL = re.compile(
    r"(?<![A-Za-z0-9_@.-])(?:https?://[^\s\x1f<>\"'，。；、（）(),;|]+"
    r"|(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,5}[A-Za-z]{2,14}"
    r"(?::\d{2,5})?(?:/[^\s\x1f<>\"'，。；、（）(),;|]*)?)(?![A-Za-z0-9_@])",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?:(?<![A-Za-z\d.)百千万萬亿億])[-+])?(?:"
    r"(?P<comma>\d{1,3}(?:[. ]\d{3}){1,6},\d{1,2}|\d{1,3}(?:\.\d{3}){2,6}|(?<![,\d])\d+,\d{1,2})"
    r"(?![,.]?\d)"
    r"|\d{1,4}(?:[,'’]\d{2,4}){0,6}[,'’]\d{3,4}(?!\d)(?:\x1f?\.\x1f?\d+)?"
    r"|\d+(?:\x1f?\.\x1f?\d+)?)"
)
"""A number with a decimal comma (1.299,00) or point (1,299.00). The hyphen of 10-20 is no sign."""
_POINTS = str.maketrans(",", ".", ". ")
_SEPARATORS = str.maketrans("", "", ",'’" + SOFT)
_FILLED = re.compile(r"(\d)\1+|12345(?:6(?:789?0?)?)?")
"""Placeholder digits: 000000, 123456."""
_FILLED_HOST = re.compile(r"//(?:www\.)?(?:x{3,}|\*+|yourdomain|yoursite|domain)\.", re.IGNORECASE)
_MULTIPLES = dict(zip("百千万萬亿億", (10**n for n in (2, 3, 4, 4, 8, 8)), strict=True))
_MULTIPLE = re.compile(r"\s*(?:[-~–—至到]\s*\d[\d,.]*\s*)?([百千]?[万萬亿億]|[百千])")
"""A unit after a number, or after the other number of its range (100-500万)."""
_DATE = re.compile(
    r"(?<!\d)(?P<y>\d{4})\s?(?:[-/.年]\s?(?P<m>\d{1,2})(?:\s?[-/.月]\s?(?P<d>\d{1,2})日?)?月?|年)(?!\d)"
)


def mails(text: str, *, labelled: bool = True) -> list[Value]:
    """Return the mail addresses of a text, in lower case.

    ``@``, ``(at)``, ``[at]``, 艾特, ``(dot)`` and full-width characters are always recognised. If
    ``labelled`` (the text has a mail label), so are ``#`` and the word ``at``. Without a label,
    these need a spelled-out dot, or an ``a#b.com`` separated from other text.

    >>> [one.value for one in mails("Info[at]a-b.com.cn，hr # c.com；d 艾特 e 点 com")]
    ['info@a-b.com.cn', 'hr@c.com', 'd@e.com']
    >>> mails("look at example.com", labelled=False), len(mails("a at b dot com", labelled=False))
    ([], 1)
    """
    if not _HOLDS_DOT.search(text):
        return []
    found = []
    for match in _LOOSE.finditer(text):
        if not (labelled or _SURE.fullmatch(match[0]) or _means_at(text, match)):
            continue
        mail = validated_mail(match[1] + "@" + _DOTS.sub(".", match[2]))
        if mail is not None:
            found.append(Value(mail, match.start(), match.end()))
    return found


def _means_at(text: str, match: re.Match[str]) -> bool:
    """Return whether ``#`` or the word ``at`` clearly stands for ``@``."""
    if "#" in match[0]:
        return " " not in match[0] and bool(_HASHED.search(text[: match.start()]))
    return bool(_SPELLED.search(match[2]))


def validated_mail(mail: str) -> str | None:
    """Return a mail address in lower case, or None if it is not valid; makes no DNS query.

    >>> [validated_mail(text) for text in ("Info@Example.com", "a..b@example.com", "logo@2x.png")]
    ['info@example.com', None, None]
    """
    mail = mail.replace(SOFT, "").lower()
    if mail.rpartition(".")[2] in _NO_MAIL or "." not in mail.partition("@")[2]:
        return None
    try:
        valid = validate_email(mail, check_deliverability=False, test_environment=True)
    except EmailNotValidError:
        return None
    return valid.normalized.lower()


def mail_of_link(href: str) -> str | None:
    """Return the address of a ``mailto:`` link, or None.

    >>> [mail_of_link(href) for href in ("mailto:info%40a.com?subject=hello", "mailto:", "/a")]
    ['info@a.com', None, None]
    """
    scheme, _, rest = href.strip().partition(":")
    if scheme.lower() != "mailto":
        return None
    first = re.split(r"[?,;]", unquote(rest), maxsplit=1)[0].strip()
    return validated_mail(first)


def decode_cfemail(code: str) -> str | None:
    """Decode the attribute ``data-cfemail`` of Cloudflare's mail obfuscation; None if not valid.

    The first byte is the key; the address is the exclusive or of the key and each other byte.

    >>> decode_cfemail("00604f6e")
    >>> decode_cfemail("0a636c6a")
    >>> decode_cfemail("2a4b6a48044945")
    'a@b.co'
    """
    try:
        data = bytes.fromhex(code)
    except ValueError:
        return None
    return (
        validated_mail(bytes(one ^ data[0] for one in data[1:]).decode("utf-8", "replace"))
        if data
        else None
    )


def postcodes(text: str, region: str) -> list[Value]:
    """Return the postcodes of a text in a country's format, in upper case.

    >>> postcodes("(610041)", "CN")[0].value, postcodes("Truro tr1 2ab", "GB")[0].value
    ('610041', 'TR1 2AB')
    """
    pattern = _POSTCODES.get(region, _ANY_POSTCODE)
    found = []
    for match in pattern.finditer(text.replace("\x1f", " ")):
        code = match[0].upper()
        if _FILLED.fullmatch(code):
            continue
        if region == "GB" and " " not in code:
            code = f"{code[:-3]} {code[-3:]}"
        found.append(Value(code, match.start(), match.end()))
    return found


def qqs(text: str) -> list[Value]:
    """Return QQ numbers: 5 to 11 digits, no mail addresses at qq.com, no placeholders of forms.

    >>> [one.value for one in qqs("10001、1234 5687；12345@qq.com；123456")]
    ['10001', '12345687']
    """
    return [
        Value(number, match.start(), match.end())
        for match in _QQ.finditer(text)
        if not _FILLED.fullmatch(number := match[0].replace(" ", ""))
    ]


def qq_of_link(href: str) -> str | None:
    """Return the QQ number of a chat link, or None.

    >>> qq_of_link("http://wpa.qq.com/msgrd?v=3&uin=10001&site=qq&menu=yes")
    '10001'
    >>> qq_of_link("tencent://message/?uin=10002&Site=a"), qq_of_link("http://a.test/?uin=10002")
    ('10002', None)
    """
    if "uin=" not in href:
        return None
    try:
        parts = urlsplit(href.strip())
    except ValueError:
        return None
    if parts.scheme.lower() not in _TALKS and not (parts.hostname or "").endswith("qq.com"):
        return None
    number = parse_qs(parts.query).get("uin", [""])[0]
    return number if _QQ.fullmatch(number) else None


def urls(text: str) -> list[Value]:
    """Return the canonical URLs of a labelled text; the scheme may be missing.

    >>> [one.value for one in urls("www.Example.com，a@b.com")]
    ['http://www.example.com/']
    """
    found = []
    for match in _URL.finditer(text):
        written = match[0].rstrip(".。/") if "//" not in match[0] else match[0].rstrip(".。")
        url = canonical(written if "://" in written else f"http://{written}")
        if url is not None and not _FILLED_HOST.search(url):
            found.append(Value(url, match.start(), match.end()))
    return found


def numbers(text: str) -> list[Value]:
    """Return decimal numbers without separators, multiplied by units such as 万.

    >>> [one.value for one in numbers("注册资金 1,200.5万元，员工80-100人，1.299,00 €")]
    ['12005000', '80', '100', '1299']
    """
    found = []
    for match in _NUMBER.finditer(text):
        multiple = _MULTIPLE.match(text, match.end())
        number = Decimal(match[0].translate(_POINTS if match["comma"] else _SEPARATORS))
        for sign in multiple[1] if multiple else "":
            number *= _MULTIPLES[sign]
        found.append(Value(f"{number.normalize():f}", *match.span()))
    return found


def dates(text: str, region: str = "CN") -> list[Value]:
    """Return dates in ISO 8601: months or years if no more is given.

    Dates with names of months, and those that end with the year, are read as in the region.

    >>> [one.value for one in dates("成立于2003年5月，2004/1/31，1998年")]
    ['2003-05', '2004-01-31', '1998']
    >>> [one.value for one in dates("12 May 2003, 03/04/2005", "GB")]
    ['2003-05-12', '2005-04-03']
    """
    found = []
    for match in _DATE.finditer(text):
        day = day_of(match["y"], match["m"] or 1, match["d"] or 1)
        if day is not None:
            given = 10 if match["d"] else 7 if match["m"] else 4
            found.append(Value(day.isoformat()[:given], match.start(), match.end()))
    days = () if found else calendar_of(f"en-{region}").days(text)
    return found or [Value(day.isoformat(), 0, len(text)) for day, _ in days]
