"""Mail addresses, including obfuscated ones."""

from __future__ import annotations

import re
from urllib.parse import unquote

from email_validator import EmailNotValidError, validate_email

from topiccrawl.addons.records.templates.values.value import SOFT, Value

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
