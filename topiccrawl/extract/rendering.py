"""Which sites are read in a browser: plain pages are empty there, rendered ones are articles."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topiccrawl.links.urls import site_of

if TYPE_CHECKING:
    from topiccrawl.model import Page

TRIES = 3
"""Blank pages of a site that are rendered to see whether that helps."""

WINS = 2
"""Articles among them from which the site's blank pages are always rendered."""

BLANK = 200
"""Characters of visible text up to which a page with scripts may be one that scripts write."""

MOST_SITES = 10_000
"""Sites remembered."""


@dataclass(slots=True)
class _Site:
    tried: int = 0
    won: int = 0


class RenderingRule:
    """Decides per site. Nothing of a site that shows its text plainly is ever rendered.

    >>> rule = RenderingRule()
    >>> url = "http://a.test/1"
    >>> rule.wants(url), rule.observe(url, article=True), rule.observe(url, article=True)
    (True, None, None)
    >>> [rule.wants(url) for _ in range(5)]
    [True, True, True, True, True]
    """

    def __init__(self) -> None:
        self._sites: OrderedDict[str, _Site] = OrderedDict()

    def wants(self, url: str) -> bool:
        """Whether a blank page of this URL's site is to be rendered."""
        site = self._site(url)
        return site.won >= WINS or site.tried < TRIES

    def observe(self, url: str, *, article: bool) -> None:
        """Take note of what a rendered page held."""
        site = self._site(url)
        site.tried += 1
        site.won += article

    def _site(self, url: str) -> _Site:
        name = site_of(url)
        site = self._sites.setdefault(name, _Site())
        self._sites.move_to_end(name)
        if len(self._sites) > MOST_SITES:
            self._sites.popitem(last=False)
        return site


def is_blank(page: Page, html: str) -> bool:
    """Whether a page says next to nothing, but has scripts that may.

    >>> from topiccrawl.model import Page
    >>> is_blank(Page("http://a.test/", "", ""), "<div id=app></div><script src=a.js></script>")
    True
    """
    return len(page.text) <= BLANK and "<script" in html
