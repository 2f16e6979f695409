"""Kinds of values indicated by icons: by class names and by symbol characters."""

from __future__ import annotations

import re

_ICONS = (
    (
        "telephone",
        re.compile(
            r"phone|^(?:电话|手机|热线|座机)$|(?:^|[\s_/-])(?:tel|mobile|call|dh|dianhua)(?:$|[\s_./-])",
            re.IGNORECASE,
        ),
    ),
    ("mail", re.compile(r"envelope|e?mail|youxiang|^(?:电子)?邮[箱件]$", re.IGNORECASE)),
    (
        "address",
        re.compile(
            r"map-?(?:marker|pin)|location|address|geo-alt|dizhi|^(?:公司)?地址$", re.IGNORECASE
        ),
    ),
    ("qq", re.compile(r"(?:^|[\s_/-])qq(?:$|[\s_./-])", re.IGNORECASE)),
    (
        "url",
        re.compile(
            r"globe|(?:^|[\s_/-])(?:www|website|wangzhi|网址|官网)(?:$|[\s_./-])", re.IGNORECASE
        ),
    ),
    ("fax", re.compile(r"(?:^|[\s_/-])(?:fax|chuanzhen|传真)(?:$|[\s_./-])", re.IGNORECASE)),
)
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


def icon_kind(names: str | None) -> str:
    """Return the kind of value that a class name or an icon's URL indicates; "" if none.

    >>> icon_kind("fa fa-phone"), icon_kind("iconfont icon-chuanzhen"), icon_kind("fa fa-clock")
    ('telephone', 'fax', '')
    """
    if not names:
        return ""
    return next((kind for kind, pattern in _ICONS if pattern.search(names)), "")
