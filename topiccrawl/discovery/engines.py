"""Search engines: Baidu [S1], Bing and DuckDuckGo by their HTML pages, SearXNG by its JSON API.

SearXNG, which users host themselves, is the recommended provider. Most other engines disallow
result pages in robots.txt, and the frontier then does not request them. If you operate an engine,
or have its consent, add its host to TOPICCRAWL_OWN_HOSTS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from typing_extensions import override

from topiccrawl.discovery.contract import (
    ALTERNATIVES,
    Answer,
    Blocked,
    Changed,
    Fetched,
    Hit,
    Results,
)
from topiccrawl.discovery.pages import (
    MAX_HITS,
    hit_of,
    hits_of,
    number_in,
    parse_json,
    tree,
    unique,
    unusual,
    with_query,
)
from topiccrawl.links.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborHTMLParser


BAIDU_STEP = 10
"""Number of results per page of Baidu [S1]."""

_SLOW_DOWN = f"wait some hours, crawl fewer pages more slowly (DOWNLOAD_DELAY), or {ALTERNATIVES}"
_UPDATE = f"the engine changed its page format: update topiccrawl, or {ALTERNATIVES}"


class SearchEngine:
    """Base class of engines whose result pages are parsed by CSS selectors.

    Args:
        base: URL of the search page; "" for ``default_base``.
    """

    name: str
    searches = True
    default_base: str
    """Default URL of the search page."""
    blocked_selector = ""
    """Selector of an element of pages that reject crawlers."""
    blocked_message: str
    """Description of such a page."""
    slow_down = _SLOW_DOWN
    """Remedy for such a page."""
    update = _UPDATE
    """Remedy for a page of unknown format."""

    def __init__(self, base: str = "") -> None:
        self.base = base or self.default_base

    def start(self, query: str) -> Results:
        """See ``SeedProvider.start``."""
        return Results((), (f"{self.base}?{urlencode(self._values(query))}",))

    def read(self, page: Fetched) -> Answer:
        """See ``SeedProvider.read``."""
        if (answer := unusual(page, self.slow_down)) is not None:
            return answer
        elements = tree(page)
        if self.blocked_selector and elements.css_first(self.blocked_selector) is not None:
            return Blocked(f"{self.name}: {self.blocked_message}", self.slow_down)
        found = self._results(elements, page.url)
        if found is None:
            return Changed(f"{self.name}: no known result container in the page", self.update)
        return found

    def _values(self, query: str) -> dict[str, str | int]:
        return {"q": query}

    def _results(self, elements: LexborHTMLParser, here: str) -> Answer | None:
        """Return the answer of a result page; None for a page of unknown format."""
        raise NotImplementedError


class Baidu(SearchEngine):
    """Baidu: ``wd=`` in UTF-8 (as the source shows; its text says GB2312), ``pn=`` in tens [S1]."""

    name = "baidu"
    default_base = "https://www.baidu.com/s"
    captcha = Blocked("baidu: a captcha is required (百度安全验证)", _SLOW_DOWN)

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
        return Results(unique(self._hits(elements, here)), (following,) if more else ())

    @staticmethod
    def _hits(elements: LexborHTMLParser, base: str) -> Iterator[Hit]:
        for box in elements.css("#content_left .c-container, #content_left .result")[:MAX_HITS]:
            anchor = box.css_first("h3 a[href]")
            if anchor is None or "tuiguang" in " ".join(box.attributes):
                continue
            direct = box.attributes.get("mu") or ""
            href = direct if canonical(direct) else anchor.attributes.get("href") or ""
            hit = hit_of(href, anchor.text(), base)
            if hit is not None and "/baidu.php" not in hit.url:  # redirect of an advertisement
                own = urlsplit(hit.url)[1:3] == (urlsplit(base).netloc, "/link")
                yield hit._replace(indirect=own or hit.indirect)


class Bing(SearchEngine):
    """Bing, with result pages numbered by ``first=``."""

    name = "bing"
    default_base = "https://www.bing.com/search"
    blocked_selector = "#b_captcha, .captcha, #turnstile-widget, .cf-turnstile"
    blocked_message = "a captcha is required"

    @override
    def _results(self, elements: LexborHTMLParser, here: str) -> Results | None:
        hits = hits_of(elements.css("#b_results li.b_algo h2 a[href]"), here)
        if not hits and elements.css_first("#b_results .b_no") is None:
            return None
        following = (a.attributes.get("href") or "" for a in elements.css("a.sb_pagN[href]")[:1])
        return Results(hits, tuple(filter(None, (canonical(href, here) for href in following))))


class DuckDuckGo(SearchEngine):
    """DuckDuckGo, by its HTML pages without scripts."""

    name = "duckduckgo"
    default_base = "https://html.duckduckgo.com/html/"
    blocked_selector = ".anomaly-modal__modal, #challenge-form"
    blocked_message = "a challenge for humans is shown"

    @override
    def _results(self, elements: LexborHTMLParser, here: str) -> Results | None:
        if elements.css_first(".no-results") is not None:
            return Results()
        anchors = elements.css(".result:not(.result--ad) a.result__a[href]")
        return Results(hits_of(anchors, here), self._next(elements)) if anchors else None

    def _next(self, elements: LexborHTMLParser) -> tuple[str, ...]:
        """Return the URL of the next page, from the form of its button."""
        for form in elements.css(".nav-link form"):
            button = form.css_first("input[type=submit]")
            if button is not None and (button.attributes.get("value") or "").lower() == "next":
                fields = form.css("input[type=hidden][name]")
                sent = [f.attributes for f in fields]
                values = [(one["name"] or "", one.get("value") or "") for one in sent]
                return (f"{self.base}?{urlencode(values)}",)
        return ()


_FORBIDDEN, _LIMITED = 403, 429
_FORMATS = "add json to search.formats in its settings.yml and restart it"
_LIMITER = "set server.limiter to false in its settings.yml, or allow this host in its limiter"
_ENGINES = "choose other engines in its settings.yml, or wait until they respond again"


class SearXNG:
    """SearXNG instance, queried by ``GET /search?format=json``.

    Args:
        base: URL of the instance, such as ``http://localhost:8888``.
    """

    name = "searxng"
    searches = True

    def __init__(self, base: str) -> None:
        self.base = base.rstrip("/").removesuffix("/search")

    def start(self, query: str) -> Results:
        """See ``SeedProvider.start``."""
        values = {"q": query, "format": "json", "pageno": 1}
        return Results((), (f"{self.base}/search?{urlencode(values)}",))

    def read(self, page: Fetched) -> Answer:
        """See ``SeedProvider.read``; ``Blocked`` if no result and engines did not respond."""
        if page.status == _FORBIDDEN:
            return Blocked("searxng: JSON responses are disabled (403)", _FORMATS)
        if page.status == _LIMITED:
            return Blocked("searxng: its limiter rejects requests (429)", _LIMITER)
        if (answer := unusual(page, "see the log of the instance")) is not None:
            return answer
        found = parse_json(page.text)
        if not isinstance(found, dict) or not isinstance(found.get("results"), list):
            return Changed("searxng: unexpected response format", f"check the address; {_FORMATS}")
        hits = unique(_named(found["results"][:MAX_HITS]))
        if not hits:
            return _no_results(found.get("unresponsive_engines"))
        following = with_query(page.url, pageno=number_in(page.url, "pageno", 1) + 1)
        return Results(hits, (following,))


def _named(results: list[Any]) -> Iterator[Hit]:
    for result in results:
        url = canonical(str(result.get("url") or "")) if isinstance(result, dict) else None
        if url is not None:
            yield Hit(url, str(result.get("title") or ""))


def _no_results(silent: Any) -> Results | Blocked:  # noqa: ANN401  (a foreign document)
    """Return empty results, or ``Blocked`` if engines did not respond."""
    names = [": ".join(map(str, one)) for one in silent if one] if isinstance(silent, list) else []
    if not names:
        return Results()
    return Blocked(f"searxng: its engines do not respond ({'; '.join(names)})", _ENGINES)
