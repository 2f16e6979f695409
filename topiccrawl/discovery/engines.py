"""Search engines by their result pages: Baidu [S1], Bing, DuckDuckGo.

Their robots.txt forbids most programs to read result pages; then the frontier does not request
them. An operator who has an engine's consent, or runs it, lists it in TOPICCRAWL_OWN_HOSTS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from topiccrawl.discovery.contract import ELSEWHERE, Answer, Blocked, Hit, Results
from topiccrawl.discovery.pages import (
    changed,
    hit_of,
    hits_of,
    number_in,
    tree,
    unusual,
    with_query,
)
from topiccrawl.links.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from topiccrawl.discovery.contract import Fetched

BAIDU_STEP = 10
"""Results on one page of Baidu [S1]."""

_SLOWER = f"wait some hours and ask fewer pages more slowly (DOWNLOAD_DELAY), or {ELSEWHERE}"
_REPORT = f"the engine has changed its pages: update topiccrawl, or {ELSEWHERE}"


class Baidu:
    """Baidu: ``wd=`` in UTF-8 (as the source shows; its text says GB2312), ``pn=`` in tens [S1].

    Args:
        base: Address of its search.
    """

    name = "baidu"
    searches = True

    def __init__(self, base: str = "https://www.baidu.com/s") -> None:
        self.base = base

    def start(self, query: str) -> Results:
        """See ``SeedProvider.start``."""
        return Results((), (f"{self.base}?{urlencode({'wd': query, 'pn': 0, 'ie': 'utf-8'})}",))

    def read(self, page: Fetched) -> Answer:
        """See ``SeedProvider.read``."""
        if "wappass.baidu.com" in f"{page.url} {page.location}":
            return Blocked("baidu: a captcha is asked for (百度安全验证)", _SLOWER)
        if (answer := unusual(page, _SLOWER)) is not None:
            return answer
        elements = tree(page)
        title = elements.css_first("title")
        if title is not None and "安全验证" in title.text():
            return Blocked("baidu: a captcha is asked for (百度安全验证)", _SLOWER)
        if elements.css_first(".content_none, .nors") is not None:
            return Results()
        if elements.css_first("#content_left") is None:
            return changed(self.name, _REPORT)
        hits = _once(self._hits(elements, page.url))
        more = any(_says_next(anchor) for anchor in elements.css("#page a"))
        following = with_query(page.url, pn=number_in(page.url, "pn") + BAIDU_STEP)
        return Results(hits, (following,) if more else ())

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


class Bing:
    """Bing's result pages, numbered by ``first=``."""

    name = "bing"
    searches = True

    def __init__(self, base: str = "https://www.bing.com/search") -> None:
        self.base = base

    def start(self, query: str) -> Results:
        """See ``SeedProvider.start``."""
        return Results((), (f"{self.base}?{urlencode({'q': query})}",))

    def read(self, page: Fetched) -> Answer:
        """See ``SeedProvider.read``."""
        if (answer := unusual(page, _SLOWER)) is not None:
            return answer
        elements = tree(page)
        if elements.css_first("#b_captcha, .captcha, #turnstile-widget, .cf-turnstile") is not None:
            return Blocked("bing: a captcha is asked for", _SLOWER)
        if elements.css_first("#b_results") is None:
            return changed(self.name, _REPORT)
        hits = hits_of(elements.css("#b_results li.b_algo h2 a[href]"), page.url)
        if not hits and elements.css_first("#b_results .b_no, .b_no") is None:
            return changed(self.name, _REPORT)
        return Results(hits, _next_of(elements.css("a.sb_pagN[href]"), page.url))


class DuckDuckGo:
    """DuckDuckGo's pages without scripts."""

    name = "duckduckgo"
    searches = True

    def __init__(self, base: str = "https://html.duckduckgo.com/html/") -> None:
        self.base = base

    def start(self, query: str) -> Results:
        """See ``SeedProvider.start``."""
        return Results((), (f"{self.base}?{urlencode({'q': query})}",))

    def read(self, page: Fetched) -> Answer:
        """See ``SeedProvider.read``."""
        if (answer := unusual(page, _SLOWER)) is not None:
            return answer
        elements = tree(page)
        if elements.css_first(".anomaly-modal__modal, #challenge-form") is not None:
            return Blocked("duckduckgo: a challenge for people is shown", _SLOWER)
        if elements.css_first(".no-results") is not None:
            return Results()
        anchors = elements.css(".result:not(.result--ad) a.result__a[href]")
        if not anchors:
            return changed(self.name, _REPORT)
        return Results(hits_of(anchors, page.url), self._next(elements))

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


def _once(hits: Iterator[Hit]) -> tuple[Hit, ...]:
    found: dict[str, Hit] = {}
    for hit in hits:
        found.setdefault(hit.url, hit)
    return tuple(found.values())


def _says_next(anchor: LexborNode) -> bool:
    return "下一页" in anchor.text()


def _next_of(anchors: list[LexborNode], base: str) -> tuple[str, ...]:
    found = [canonical(anchor.attributes.get("href") or "", base) for anchor in anchors]
    return tuple(url for url in found[:1] if url is not None)
