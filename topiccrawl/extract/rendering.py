"""Selection of sites whose blank pages are rendered in a browser."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topiccrawl.links.urls import site_of

if TYPE_CHECKING:
    from topiccrawl.model import Page

TRIALS = 3
"""Blank pages of a site that are rendered on trial."""

MIN_ARTICLES = 2
"""Articles in the trial from which the site's blank pages are always rendered."""

BLANK = 200
"""Most characters of visible text of a blank page."""

MOST_SITES = 10_000
"""Sites stored; above it the least recently used one is evicted."""


@dataclass(slots=True)
class _Site:
    trials: int = 0
    articles: int = 0


class RenderingRule:
    """Decision per site whether its blank pages are rendered.

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
        """Return whether a blank page of this URL's site is to be rendered."""
        site = self._site(url)
        return site.articles >= MIN_ARTICLES or site.trials < TRIALS

    def observe(self, url: str, *, article: bool) -> None:
        """Record whether a rendered page was an article."""
        site = self._site(url)
        site.trials += 1
        site.articles += article

    def _site(self, url: str) -> _Site:
        name = site_of(url)
        site = self._sites.setdefault(name, _Site())
        self._sites.move_to_end(name)
        if len(self._sites) > MOST_SITES:
            self._sites.popitem(last=False)
        return site


def is_blank(page: Page, html: str) -> bool:
    """Return whether a page has almost no text, but scripts that may add text.

    >>> from topiccrawl.model import Page
    >>> is_blank(Page("http://a.test/", "", ""), "<div id=app></div><script src=a.js></script>")
    True
    """
    return len(page.text) <= BLANK and "<script" in html
