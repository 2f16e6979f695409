"""Links that a template follows: selected by filter keywords, layer by layer [S1, step 3.2]."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.extract.hubs import next_page_url
from topiccrawl.links.hosts import HostRules
from topiccrawl.links.scripted import scripted_redirect
from topiccrawl.links.traps import TrapRules, trap

if TYPE_CHECKING:
    from topiccrawl.addons.records.templates.template import Template
    from topiccrawl.model import Page


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
