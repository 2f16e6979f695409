"""The headline of a page, without the names of site and channel in ``<title>``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from topiccrawl.text.digest import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONGEST = 300
"""Characters of a headline that are kept."""

_SITE = re.compile(
    r"网$|网站|频道|新闻|日报|晚报|时报|早报|门户|首页|论坛|社区|博客|在线|客户端|电视台|资讯|中心|专题|"
    r"新浪|搜狐|网易|腾讯|凤凰|人民|新华|央视|澎湃|财经|体育|娱乐|科技|军事|汽车|房产|教育|"
    r"\.com|\.cn|\.net|\.org|\bnews\b|\btimes\b|\bpost\b|\bjournal\b|\bdaily\b",
    re.IGNORECASE,
)
_HARD = re.compile(r"[_|｜]|\s[-–—·•»:]{1,2}\s|——|--")
"""Separators that rarely occur inside a headline."""
_SOFT = re.compile(r"[-–—]")
_TAIL = 20
"""Longest name of a site or channel, characters of a Chinese title."""
_SHARE = 0.4
"""Share of ``<title>`` that a heading must cover to be its headline part."""


def headline(stated: Iterable[str], title: str, headings: Sequence[str], site: str = "") -> str:
    """Return the headline: a heading in ``<title>``, else metadata's, else ``<title>``'s own.

    Args:
        stated: Headlines of the metadata, most trusted first.
        title: Text of ``<title>``.
        headings: Texts of h1 and the like, page order.
        site: Name of the site if the metadata has one.

    >>> headline((), "国足三比零获胜-搜狐体育", ["搜狐体育", "国足三比零获胜"])
    '国足三比零获胜'
    >>> headline((), "22年前退货一方是火箭_体育_腾讯网", [])
    '22年前退货一方是火箭'
    >>> headline(["Rain - and more rain"], "Rain - and more rain | The Valley Post", [])
    'Rain - and more rain'
    """
    whole = fold(title[: 4 * LONGEST])
    inside = [h for h in headings if len(h) <= LONGEST and _covers(fold(h), whole)]
    if inside:
        return _trim(max(inside, key=lambda heading: len(fold(heading))), site)
    for one in (*stated, title, *headings):
        trimmed = _trim(one, site)
        if trimmed:
            return trimmed
    return ""


def _covers(heading: str, title: str) -> bool:
    return bool(heading) and heading in title and len(heading) >= _SHARE * len(title)


def _trim(text: str, site: str) -> str:
    """Return a title with its blanks folded and without the names at its end."""
    text = " ".join(text[: 4 * LONGEST].split())
    while True:
        shorter = _without_tail(text, site)
        if shorter == text:
            return text[:LONGEST]
        text = shorter


def _without_tail(text: str, site: str) -> str:
    for separator, sure in ((_HARD, True), (_SOFT, False)):
        found = list(separator.finditer(text))
        if not found:
            continue
        last = found[-1]
        head, tail = text[: last.start()].strip(), text[last.end() :].strip()
        if head and _is_name(tail, head, site, sure=sure):
            return head
    return text


def _is_name(tail: str, head: str, site: str, *, sure: bool) -> bool:
    if not tail or (site and fold(tail) == fold(site)):
        return True
    if len(tail) > (_TAIL if not tail.isascii() else 2 * _TAIL):
        return False
    if sure:
        return len(fold(head)) > len(fold(tail)) or bool(_SITE.search(tail))
    return bool(_SITE.search(tail))
