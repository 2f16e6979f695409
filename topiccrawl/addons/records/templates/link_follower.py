"""Links that a template follows: selected by filter keywords, layer by layer [S1, step 3.2]."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.extract.pagination import parse_page_url
from topiccrawl.links.hosts import HostRules
from topiccrawl.links.limits import parse_html
from topiccrawl.links.scripted import scripted_next, scripted_redirect
from topiccrawl.links.traps import TrapRules, trap
from topiccrawl.links.urls import canonical

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from topiccrawl.addons.records.templates.template import Template
    from topiccrawl.model import Page

_ARROWS = r"[\s»›→>＞]*"
_NEXT = re.compile(
    rf"^[\s\[【(（]*(?:(?:下|后)一?[页頁张張]|next(?: ?page)?|older(?: posts)?|weiter|suivante?"
    rf"|siguiente|次へ|다음){_ARROWS}[\]】)）\s]*$",
    re.IGNORECASE,
)
_ARROW = re.compile(r"^\s*(?:»|›|→|>{1,2}|＞)\s*$")
_MORE = re.compile(
    r"^\W*(?:(?:点击)?(?:加载|查看|显示)?更多|(?:load|show|view|see) more)\W*$", re.IGNORECASE
)
_NUMBER = re.compile(r"^\W*第?(\d{1,4})页?\W*$")
_LINKS = "a[href], area[href], link[rel][href], button, [data-url], [data-href], [data-next]"
_PLAIN = ("href", "data-href", "data-url", "data-next", "formaction")
"""Attributes with a URL, including those of buttons that load it by script."""


class NextLinks(NamedTuple):
    """Links to follow from a page of a layer.

    Attributes:
        onward: URLs for the next layer, without duplicates, in page order.
        next: URL of the next page of the same list, in the same layer, or "".
        itself: Whether the page itself also belongs to the next layer. That is so if its list has a
            next page [S1], or if none of its links matches a keyword (**D**: one page may be the
            whole site).
    """

    onward: tuple[str, ...] = ()
    next: str = ""
    itself: bool = False


class LinkFollower:
    """Selects the links that a template follows.

    Args:
        template: The template.
        traps: Thresholds of the trap rules; None disables them.
    """

    def __init__(self, template: Template, traps: TrapRules | None = None) -> None:
        self.template = template
        self.last = len(template.filter)
        self._hosts = HostRules(template.allowed_hosts, template.denied_hosts)
        self._traps = traps

    def allows(self, url: str) -> bool:
        """Return whether a URL may be fetched, by the template's hosts and the trap rules."""
        return self._hosts.refuse(url) is None and not (self._traps and trap(url, self._traps))

    def follow(self, layer: int, page: Page, html: str, encoding: str = "utf-8") -> NextLinks:
        """Return the links to follow from a page of a layer; none in the last layer.

        The "next page" link is followed only if a link of the page matches a keyword [S1]. A
        redirect by a script counts as the next page of a seed.

        >>> from topiccrawl.links.page import read_page
        >>> from topiccrawl.addons.records.templates.template import resolve
        >>> html = '<a href="lx.asp">联 系 我们</a> <a href="/?page=2">下一页</a>'
        >>> page = read_page(html, "http://a.test/")
        >>> LinkFollower(resolve("软件公司-四川")).follow(0, page, html)
        NextLinks(onward=('http://a.test/lx.asp',), next='http://a.test/?page=2', itself=True)
        """
        if layer >= self.last:
            return NextLinks()
        matched = [
            link.url
            for link in page.links
            if self.template.layer_word(layer, link.anchor) is not None and self.allows(link.url)
        ]
        if not matched:
            return NextLinks(next=self._moved(layer, page, html), itself=True)
        following = next_page_url(html, page.url, encoding)
        following = following if following and self.allows(following) else ""
        return NextLinks(tuple(dict.fromkeys(matched)), following, itself=bool(following))

    def _moved(self, layer: int, page: Page, html: str) -> str:
        """Return the URL to which a script of a seed without other links leads, or ""."""
        only = page.links[0] if layer == 0 and len(page.links) == 1 else None
        if only is None or only.anchor or not scripted_redirect(html):
            return ""
        return only.url if self.allows(only.url) else ""


def next_page_url(html: str, url: str, encoding: str = "utf-8") -> str:
    """Return the URL of the next page of a list, or "".

    Signs by descending reliability: ``rel=next`` (of ``<link>`` or an anchor); a link with a text
    such as 下一页 or Next; the number after this page's own; an arrow between numbers; a "more"
    button whose URL is another page of the same list; ``scripted_next``. Other buttons with only a
    script have no URL.

    Args:
        html: The decoded page.
        url: URL of the page.
        encoding: Encoding of the page, for query strings.

    >>> next_page_url('<a href="?p=1">1</a><b>2</b><a href="?p=3">3</a>', "http://a.test/list?p=2")
    'http://a.test/list?p=3'
    >>> next_page_url('<a href="/b">下一页 ›</a>', "http://a.test/a")
    'http://a.test/b'
    >>> next_page_url('<script>createPageHTML(9, 0, "index", "htm")</script>', "http://a.test/")
    'http://a.test/index_1.htm'
    >>> next_page_url('<a href="/n">更多</a>', "http://a.test/")
    ''
    """
    ranked: dict[int, str] = {}
    for node in parse_html(html).css(_LINKS):
        if target := _target(node, url, encoding):
            ranked.setdefault(_sign(node, url, target), target)
    if (best := min(ranked, default=_NO_SIGN)) < _NO_SIGN:
        return ranked[best]
    scripted = scripted_next(html)
    return (canonical(scripted, url, encoding) or "") if scripted else ""


_REL, _TEXT, _NEXT_NUMBER, _NEXT_ARROW, _MORE_BUTTON, _NO_SIGN = range(6)


def _target(node: LexborNode, url: str, encoding: str) -> str:
    """Return the URL of a link or button to another page that may be followed, or ""."""
    attributes = node.attributes
    if "nofollow" in (attributes.get("rel") or "").lower().split():
        return ""
    given = (attributes[name] or "" for name in _PLAIN if name in attributes)
    targets = (canonical(one, url, encoding) or url for one in given)
    return next((target for target in targets if target != url), "")


def _sign(node: LexborNode, url: str, target: str) -> int:
    """Return the rank of the sign that a link leads to the next page, or ``_NO_SIGN``."""
    attributes = node.attributes
    if "next" in (attributes.get("rel") or "").lower().split():
        return _REL
    text = " ".join(node.text().split()) or attributes.get("title") or _image(node)
    if _NEXT.match(text) or _NEXT.match(attributes.get("title") or ""):
        return _TEXT
    here, there = parse_page_url(url), parse_page_url(target)
    same = here.base == there.base or url.partition("?")[0] == target.partition("?")[0]
    counted = _NUMBER.match(text)
    if counted and same and int(counted[1]) == max(here.number, 1) + 1:
        return _NEXT_NUMBER
    ahead = same and there.number in (0, max(here.number, 1) + 1)
    if _ARROW.match(text) and ahead:
        return _NEXT_ARROW
    return _MORE_BUTTON if _MORE.match(text) and ahead and there.number else _NO_SIGN


def _image(node: LexborNode) -> str:
    image = node.css_first("img[alt]")
    return "" if image is None else image.attributes.get("alt") or ""
