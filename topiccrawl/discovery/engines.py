"""Search engines by their result pages: Baidu [S1], Bing, DuckDuckGo.

Their robots.txt forbids most programs to read result pages; then the frontier does not request
them. An operator who has an engine's consent, or runs it, lists it in TOPICCRAWL_OWN_HOSTS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from typing_extensions import override

from topiccrawl.discovery.contract import ELSEWHERE, Answer, Blocked, Fetched, Hit, Results
from topiccrawl.discovery.pages import (
    changed,
    hit_of,
    hits_of,
    number_in,
    once,
    tree,
    unusual,
    with_query,
)
from topiccrawl.links.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborHTMLParser


BAIDU_STEP = 10
"""Results on one page of Baidu [S1]."""

_SLOWER = f"wait some hours and ask fewer pages more slowly (DOWNLOAD_DELAY), or {ELSEWHERE}"
_REPORT = f"the engine has changed its pages: update topiccrawl, or {ELSEWHERE}"


class _SearchEngine:
    """An engine whose result pages are read by selectors.

    Args:
        base: Address of its search; "" for its own.
    """

    name: str
    searches = True
    own: str
    """Address of its search."""
    refused = ""
    """Selects an element of pages that refuse programs."""
    sign: str
    """Text or form that such a page shows."""

    def __init__(self, base: str = "") -> None:
        self.base = base or self.own

    def start(self, query: str) -> Results:
        """See ``SeedProvider.start``."""
        return Results((), (f"{self.base}?{urlencode(self._values(query))}",))

    def read(self, page: Fetched) -> Answer:
        """See ``SeedProvider.read``."""
        if (answer := unusual(page, _SLOWER)) is not None:
            return answer
        elements = tree(page)
        if self.refused and elements.css_first(self.refused) is not None:
            return Blocked(f"{self.name}: {self.sign}", _SLOWER)
        found = self._results(elements, page.url)
        return changed(self.name, _REPORT) if found is None else found

    def _values(self, query: str) -> dict[str, str | int]:
        return {"q": query}

    def _results(self, elements: LexborHTMLParser, here: str) -> Answer | None:
        """Return what a page of results has; None for a page of an unknown format."""
        raise NotImplementedError


class Baidu(_SearchEngine):
    """Baidu: ``wd=`` in UTF-8 (as the source shows; its text says GB2312), ``pn=`` in tens [S1]."""

    name = "baidu"
    own = "https://www.baidu.com/s"
    captcha = Blocked("baidu: a captcha is asked for (百度安全验证)", _SLOWER)

    @override
    def read(self, page: Fetched) -> Answer:
        """See ``SeedProvider.read``."""
        if "wappass.baidu.com" in f"{page.url} {page.location}":
            return self.captcha
        return super().read(page)

    @override
    def _values(self, query: str) -> dict[str, str | int]:
        return {"wd": query, "pn": 0, "ie": "utf-8"}

    @override
    def _results(self, elements: LexborHTMLParser, here: str) -> Answer | None:
        title = elements.css_first("title")
        if title is not None and "安全验证" in title.text():
            return self.captcha
        if elements.css_first(".content_none, .nors") is not None:
            return Results()
        if elements.css_first("#content_left") is None:
            return None
        more = any("下一页" in anchor.text() for anchor in elements.css("#page a"))
        following = with_query(here, pn=number_in(here, "pn") + BAIDU_STEP)
        return Results(once(self._hits(elements, here)), (following,) if more else ())

    @staticmethod
    def _hits(elements: LexborHTMLParser, base: str) -> Iterator[Hit]:
        for box in elements.css("#content_left .c-container, #content_left .result"):
            anchor = box.css_first("h3 a[href]")
            if anchor is None or "tuiguang" in " ".join(box.attributes):
                continue
            direct = box.attributes.get("mu") or ""
            href = direct if canonical(direct) else anchor.attributes.get("href") or ""
            hit = hit_of(href, anchor.text(), base)
            if hit is not None and "/baidu.php" not in hit.url:  # redirect of adverts
                own = urlsplit(hit.url)[1:3] == (urlsplit(base).netloc, "/link")
                yield hit._replace(indirect=own or hit.indirect)


class Bing(_SearchEngine):
    """Bing's result pages, numbered by ``first=``."""

    name = "bing"
    own = "https://www.bing.com/search"
    refused = "#b_captcha, .captcha, #turnstile-widget, .cf-turnstile"
    sign = "a captcha is asked for"

    @override
    def _results(self, elements: LexborHTMLParser, here: str) -> Results | None:
        hits = hits_of(elements.css("#b_results li.b_algo h2 a[href]"), here)
        if elements.css_first("#b_results") is None:
            return None
        if not hits and elements.css_first(".b_no") is None:
            return None
        following = (a.attributes.get("href") or "" for a in elements.css("a.sb_pagN[href]")[:1])
        return Results(hits, tuple(filter(None, (canonical(href, here) for href in following))))


class DuckDuckGo(_SearchEngine):
    """DuckDuckGo's pages without scripts."""

    name = "duckduckgo"
    own = "https://html.duckduckgo.com/html/"
    refused = ".anomaly-modal__modal, #challenge-form"
    sign = "a challenge for people is shown"

    @override
    def _results(self, elements: LexborHTMLParser, here: str) -> Results | None:
        if elements.css_first(".no-results") is not None:
            return Results()
        anchors = elements.css(".result:not(.result--ad) a.result__a[href]")
        return Results(hits_of(anchors, here), self._next(elements)) if anchors else None

    def _next(self, elements: LexborHTMLParser) -> tuple[str, ...]:
        """Return the address of the next page, which is that of the form behind its button."""
        for form in elements.css(".nav-link form"):
            button = form.css_first("input[type=submit]")
            if button is not None and (button.attributes.get("value") or "").lower() == "next":
                fields = form.css("input[type=hidden][name]")
                sent = [f.attributes for f in fields]
                values = [(one["name"] or "", one.get("value") or "") for one in sent]
                return (f"{self.base}?{urlencode(values)}",)
        return ()
