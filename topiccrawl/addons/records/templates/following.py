"""Links of a page that a template follows: filter keywords, layer by layer [S1, step 3.2]."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.addons.records.templates.paging import next_of
from topiccrawl.links.hosts import HostRules
from topiccrawl.links.traps import TrapRules, trap

if TYPE_CHECKING:
    from topiccrawl.addons.records.templates.template import Template
    from topiccrawl.model import Page


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
