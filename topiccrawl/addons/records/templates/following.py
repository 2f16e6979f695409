"""Links of a page that a template follows: filter keywords, layer by layer [S1, step 3.2]."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.extract.pagination import parse_page_url
from topiccrawl.links.hosts import HostRules
from topiccrawl.links.limits import parse_html
from topiccrawl.links.traps import TrapRules, trap
from topiccrawl.links.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    r"^\W*(?:(?:点击)?(?:加载|查看|显示)?更多|(?:load|show|view|see) more)\W*$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"^\W*第?(\d{1,4})页?\W*$")
_LINKS = "a[href], area[href], link[rel][href], button, [data-url], [data-href], [data-next]"
_PLAIN = ("href", "data-href", "data-url", "data-next", "formaction")
"""Attributes that hold a plain address, also of buttons whose script would fetch it."""


class Steps(NamedTuple):
    """Next steps from a page of a layer.

    Attributes:
        onward: URLs for the next layer, once each, in page order.
        next: URL of the page that continues this one, in the same layer, or "".
        itself: Whether the page itself belongs to the next layer, too: it is one of a list that
            goes on [S1], or no link of it says a keyword (**D**: one page may be the whole site).
    """

    onward: tuple[str, ...] = ()
    next: str = ""
    itself: bool = False


class Following:
    """Follows a template's layers.

    Args:
        template: Whose.
        traps: Thresholds of the trap rules; None switches them off.
    """

    def __init__(self, template: Template, traps: TrapRules | None = None) -> None:
        self.template = template
        self.last = len(template.filter)
        self._hosts = HostRules(template.allowed_hosts, template.denied_hosts)
        self._traps = traps

    def wants(self, url: str) -> bool:
        """Return whether a URL may be fetched at all."""
        return self._hosts.refuse(url) is None and not (self._traps and trap(url, self._traps))

    def steps(self, layer: int, page: Page, html: str, encoding: str = "utf-8") -> Steps:
        """Return the steps from a page of a layer; none in the last, whose pages hold the values.

        A page goes on to its next page only where it holds a keyword of the layer itself [S1].

        >>> from topiccrawl.links.page import read_page
        >>> from topiccrawl.addons.records.templates.template import resolve
        >>> html = '<a href="lx.asp">联 系 我们</a> <a href="/?page=2">下一页</a>'
        >>> page = read_page(html, "http://a.test/")
        >>> Following(resolve("软件公司-四川")).steps(0, page, html)
        Steps(onward=('http://a.test/lx.asp',), next='http://a.test/?page=2', itself=True)
        """
        if layer >= self.last:
            return Steps()
        matched = [
            link.url
            for link in page.links
            if self.template.layer_word(layer, link.anchor) is not None and self.wants(link.url)
        ]
        if not matched:
            return Steps(itself=True)
        following = next_of(html, page.url, encoding)
        following = following if following and self.wants(following) else ""
        return Steps(tuple(dict.fromkeys(matched)), following, itself=bool(following))


def next_of(html: str, url: str, encoding: str = "utf-8") -> str:
    """Return the URL of the page that continues this one's list, or "".

    Signs, the surest first: ``rel=next`` (of ``<link>`` or an anchor); a link that says so (下一页,
    Next, 下页 …); the number after this page's own; an arrow between numbers; a "more" button whose
    address is another page of the same list. What is only a script has no address.

    Args:
        html: The decoded page.
        url: Where it was fetched.
        encoding: What it was decoded from.

    >>> next_of('<a href="?p=1">1</a><b>2</b><a href="?p=3">3</a>', "http://a.test/list?p=2")
    'http://a.test/list?p=3'
    >>> next_of('<a href="/b">下一页 ›</a>', "http://a.test/a"), next_of('<a href="/n">更多</a>', "http://a.test/")
    ('http://a.test/b', '')
    """
    said: dict[int, str] = {}
    for node in parse_html(html).css(_LINKS):
        for target in _targets(node, url, encoding):
            said.setdefault(_how(node, url, target), target)
    ranks = sorted(rank for rank in said if rank < _NOTHING)
    return said[ranks[0]] if ranks else ""


_REL, _SAYS, _COUNTS, _POINTS, _MORE_OF_IT, _NOTHING = range(6)


def _targets(node: LexborNode, url: str, encoding: str) -> Iterator[str]:
    attributes = node.attributes
    if "nofollow" in (attributes.get("rel") or "").lower().split():
        return
    for name in _PLAIN:
        target = (
            canonical(attributes.get(name) or "", url, encoding) if name in attributes else None
        )
        if target is not None and target != url:
            yield target
            return


def _how(node: LexborNode, url: str, target: str) -> int:
    """Return the rank of the sign by which a link leads on, ``_NOTHING`` without one."""
    attributes = node.attributes
    if "next" in (attributes.get("rel") or "").lower().split():
        return _REL
    text = " ".join(node.text().split()) or attributes.get("title") or _image(node)
    if _NEXT.match(text) or _NEXT.match(attributes.get("title") or ""):
        return _SAYS
    here, there = parse_page_url(url), parse_page_url(target)
    same = here.base == there.base or url.partition("?")[0] == target.partition("?")[0]
    counted = _NUMBER.match(text)
    if counted and same and int(counted[1]) == max(here.number, 1) + 1:
        return _COUNTS
    ahead = same and there.number in (0, max(here.number, 1) + 1)
    if _ARROW.match(text) and ahead:
        return _POINTS
    return _MORE_OF_IT if _MORE.match(text) and ahead and there.number else _NOTHING


def _image(node: LexborNode) -> str:
    image = node.css_first("img[alt]")
    return "" if image is None else image.attributes.get("alt") or ""
