"""Responses of the demo web: status, headers, bytes, faults, and pages of endless traps."""

from __future__ import annotations

import hashlib
import re
from email.utils import formatdate
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from lab.demo.plan import Kind, Plan, Trait

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.demo.plan import Host
    from lab.demo.render import Renderer
    from lab.demo.sites import Charset

COOKIE = "seen=1"
"""Cookie that a client must send to get past a page that redirects to itself."""
OK, NOT_MODIFIED = 200, 304
_NEW_YEAR = 1_735_689_600
"""1 January 2025, seconds since the epoch."""
_CACHED = 1_000
"""Maximum number of cached responses, about 10 kB each."""
_PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
_GIF = (
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,"
    b"\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
)
_TEXT = ("Content-Type", "text/plain; charset=utf-8")
_STATIC = {"gif": ("image/gif", _GIF), "css": ("text/css", b""), "js": ("text/javascript", b"")}


class Answer(NamedTuple):
    """A response and its fault.

    Attributes:
        status: HTTP status.
        headers: Names and values, except Content-Length.
        body: Bytes.
        cut: ``half`` closes after half of the body, ``drop`` before the first byte, ``hang`` never
            ends; "" for a complete response.
        latency: Seconds until the response.
    """

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    cut: str = ""
    latency: float = 0.0


class Answers:
    """Responses for every URL of a plan.

    Args:
        plan: Plan of the web.
        by_name: ``host/path?query`` to entry.
        renderer: Writes the pages.
    """

    def __init__(self, plan: Plan, by_name: Mapping[str, int], renderer: Renderer) -> None:
        self.plan = plan
        self.by_name = by_name
        self.renderer = renderer
        self.page = lru_cache(maxsize=_CACHED)(self._page)
        self.snaring = {
            entry.url.split("/")[2] for entry in plan.entries if entry.kind == Kind.TRAP
        }

    def answer(self, name: str, visit: int, cookie: str) -> Answer:
        """Return the response to the ``visit``-th request (from 0) for ``host/path?query``."""
        host_name, _, path = name.partition("/")
        host = self.plan.hosts.get(host_name)
        if host is None or host.fault == "refused":
            return Answer(502, (_TEXT,), b"no such host")
        answer = self._on(host, "/" + path, name, visit, cookie)
        return answer._replace(latency=host.latency) if host.latency else answer

    def _on(self, host: Host, path: str, name: str, visit: int, cookie: str) -> Answer:
        if host.fault == "drop":
            return Answer(0, cut="drop")
        if path == "/robots.txt":
            status, text = host.robots_file
            return Answer(status, (("Content-Type", "text/plain"),), text.encode())
        if host.fault == "busy":
            return _busy(503, 1)
        number = self.by_name.get(name)
        if number is not None and self.plan.entries[number].kind != Kind.TRAP:
            return self._entry(number, visit, cookie)
        trap = snare(name) if host.name in self.snaring else None
        if trap is not None:
            return _snared(trap)
        return self._unknown(host, path)

    def _unknown(self, host: Host, path: str) -> Answer:
        if path.startswith("/static/"):
            kind, body = _STATIC.get(path.rpartition(".")[2], _STATIC["gif"])
            return Answer(OK, (("Content-Type", kind), ("ETag", _etag(body))), body)
        status = OK if host.soft else 404
        text = "<html><head><title>404</title></head><body><p>抱歉，页面不存在。</p></body></html>"
        return Answer(status, (_html("utf-8"),), text.encode())

    def _entry(self, number: int, visit: int, cookie: str) -> Answer:
        trait = self.plan.trait(number)
        if trait.target:
            return Answer(trait.status, (("Location", self._location(number, trait.target)),))
        if trait.cookie and COOKIE not in cookie:
            url = self.plan.entries[number].url
            return Answer(302, (("Location", url), ("Set-Cookie", f"{COOKIE}; Path=/")))
        failing = not trait.flaky or visit < trait.flaky
        if trait.status != OK and failing:
            return _busy(trait.status, trait.retry_after)
        page = self.page(number)
        return page._replace(cut=trait.cut) if trait.cut and failing else page

    def _location(self, number: int, target: str) -> str:
        """Return the Location header; every other redirect inside a host is a path."""
        here = self.plan.entries[number].url.split("/")[2]
        return target.removeprefix(f"http://{here}") if number % 2 else target

    def _page(self, number: int) -> Answer:
        entry, trait = self.plan.entries[number], self.plan.trait(number)
        charset = self.plan.sites[entry.site].charset
        kind, body = self._body(number, trait, charset)
        dated = self.plan.validators == "mixed" and entry.site % 3 == 1
        headers = [kind, ("Last-Modified", _date(body)) if dated else ("ETag", _etag(body))]
        if trait.robots_header:
            headers.append(("X-Robots-Tag", trait.robots_header))
        return Answer(OK, tuple(headers), body)

    def _body(self, number: int, trait: Trait, charset: Charset) -> tuple[tuple[str, str], bytes]:
        if trait.body == "pdf":
            return ("Content-Type", "application/pdf"), _PDF
        if trait.body == "image":
            return _html(""), _GIF
        if trait.body == "empty":
            return _html(charset.header), b""
        html = self.renderer.page(number)
        if trait.body == "broken":
            html = _break(html)
        body = html.encode(charset.codec, "xmlcharrefreplace")
        return _html(charset.header), (b"\xef\xbb\xbf" if charset.bom else b"") + body


def _break(html: str) -> str:
    """Return a page as malformed HTML: unclosed elements, unquoted attributes, stray end tags."""
    html = html.replace("</p>", "").replace("</li>", "").replace("</head>", "")
    html = html.replace("<body", "<div></span></table><body bgcolor=#fff lang=", 1)
    return html.replace("</body>", "<p <b>&nbsp;&copy <a name=x><a href=>").replace("</html>", "")


def _snared(trap: Snare) -> Answer:
    if trap.redirect:
        return Answer(302, (("Location", trap.redirect),))
    links = "".join(f'<li><a href="{escape(href)}">{text}</a></li>' for href, text in trap.links)
    html = (
        f'<html><head><meta charset="utf-8"><title>{trap.title}</title></head>'
        f"<body><h1>{trap.title}</h1><p>{trap.text}</p><ul>{links}</ul></body></html>"
    )
    body = html.encode()
    return Answer(OK, (_html("utf-8"), ("ETag", _etag(body))), body)


def _busy(status: int, retry_after: int) -> Answer:
    later = (("Retry-After", str(retry_after)),) if retry_after else ()
    return Answer(status, (_TEXT, *later), b"error")


def _html(charset: str) -> tuple[str, str]:
    return "Content-Type", f"text/html; charset={charset}" if charset else "text/html"


def _date(body: bytes) -> str:
    """Return a date that changes with the bytes."""
    digest = hashlib.md5(body, usedforsecurity=False).digest()
    return formatdate(_NEW_YEAR + int.from_bytes(digest[:3], "big"), usegmt=True)


def _etag(body: bytes) -> str:
    return f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'


# -- Traps ---------------------------------------------------------------------------------------

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
