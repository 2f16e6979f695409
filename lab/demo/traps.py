"""Endless pages: a calendar, session ids, growing paths, an endless redirect."""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

_CALENDAR = re.compile(r"^rili\.[^/]+/(\d{4})/(\d{2})/(?:(\d{2})\.html)?$")
_SHOP = re.compile(r"^shop\.[^/]+/(?:item\?id=(\d+)(?:&sid=\w+)?|s/\w+/item-(\d+)\.html)?$")
_DIRECTORY = re.compile(r"^www\.[^/]+(/dir/(?:list/|more/)*)$")
_HOP = re.compile(r"^www\.[^/]+/hop/(\d+)$")
_ITEMS = 5
"""Number of pages of the shop; every visit gives them new URLs, by query or by path."""


class Snare(NamedTuple):
    """Response of a trap: a title, a text and links (href, anchor), or a redirect."""

    title: str = ""
    text: str = ""
    links: tuple[tuple[str, str], ...] = ()
    redirect: str = ""


def snare(name: str) -> Snare | None:
    """Return the response of a trap for ``host/path?query``, or None if it is not a trap.

    >>> snare("www.a.test/hop/7").redirect
    '/hop/8'
    """
    for pattern, make in _TRAPS:
        match = pattern.match(name)
        if match:
            return make(match)
    return None


def _calendar(match: re.Match[str]) -> Snare:
    year, month, day = int(match[1]), int(match[2]), match[3]
    if day:
        title = f"{year}年{month}月{int(day)}日 宜忌"
        return Snare(title, "宜出行，忌动土。", ((f"/{year:04}/{month:02}/", "返回月历"),))
    after, before = year * 12 + month, year * 12 + month - 2
    links = [(f"/{n // 12:04}/{n % 12 + 1:02}/", t) for n, t in ((before, "上月"), (after, "下月"))]
    links += [(f"/{year:04}/{month:02}/{d:02}.html", f"{d}日") for d in range(1, 29)]
    return Snare(f"{year}年{month}月 日历", "老黄历 节气 放假安排", tuple(links))


def _shop(match: re.Match[str]) -> Snare:
    item = int(match[1] or match[2] or 0) % _ITEMS
    session = hashlib.md5(match[0].encode(), usedforsecurity=False).hexdigest()[:12]
    forms = ("/item?id={}&sid={}", "/s/{1}/item-{0}.html")
    links = tuple((forms[i % 2].format(i, session), f"商品{i}号") for i in range(_ITEMS))
    return Snare(f"商品{item}号 - 商城", f"商品{item}号，现货供应，七天退换。", links)


def _directory(match: re.Match[str]) -> Snare:
    return Snare("目录", f"共{match[1].count('/')}级", (("list/", "下一级"), ("more/", "更多")))


def _hop(match: re.Match[str]) -> Snare:
    return Snare(redirect=f"/hop/{int(match[1]) + 1}")


_TRAPS = ((_CALENDAR, _calendar), (_SHOP, _shop), (_DIRECTORY, _directory), (_HOP, _hop))
