"""Helpers for parsing result pages of search engines."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from binascii import Error as NotBase64
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from w3lib.url import add_or_replace_parameters

from topiccrawl.discovery.contract import Blocked, Fetched, Hit, Results
from topiccrawl.links.limits import parse_html
from topiccrawl.links.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from selectolax.lexbor import LexborHTMLParser, LexborNode


MAX_HITS = 2_000
"""Most results read from one page; the crawl's own process reads them."""
_OK = range(200, 300)
_REDIRECT = range(300, 400)
_BING_PREFIX = 2
"""Number of characters before the base64 text in redirects of Bing (``a1``)."""


def tree(page: Fetched) -> LexborHTMLParser:
    """Return the parsed HTML of a page."""
    return parse_html(page.text)


def hits_of(anchors: Iterable[LexborNode], base: str) -> tuple[Hit, ...]:
    """Return the distinct results of ``MAX_HITS`` anchors; known redirects are resolved."""
    links = ((a.attributes.get("href") or "", a.text()) for a in islice(anchors, MAX_HITS))
    return unique(hit_of(href, title, base) for href, title in links)


def unique(hits: Iterable[Hit | None]) -> tuple[Hit, ...]:
    """Return the first result of each URL, in order."""
    found: dict[str, Hit] = {}
    for hit in hits:
        if hit is not None:
            found.setdefault(hit.url, hit)
    return tuple(found.values())


def hit_of(href: str, title: str = "", base: str = "") -> Hit | None:
    """Return the result of a link; None if its URL is invalid. Known redirects are resolved.

    >>> hit_of("//duckduckgo.com/l/?uddg=http%3A%2F%2Fa.test%2F", "A", "https://duckduckgo.com/")
    Hit(url='http://a.test/', title='A', indirect=False)
    >>> hit_of("http://www.baidu.com/link?url=x1").indirect
    True
    """
    url = canonical(href, base or None)
    if url is None:
        return None
    parts = urlsplit(url)
    indirect = parts.netloc.endswith("baidu.com") and parts.path == "/link"
    inner = "" if indirect else _redirect_target(parts.netloc, parts.path, parse_qs(parts.query))
    url = canonical(inner) if inner else url
    return None if url is None else Hit(url, " ".join(title.split()), indirect)


def _redirect_target(host: str, path: str, query: dict[str, list[str]]) -> str:
    """Return the target URL in the query of a redirect, or ""."""
    if host.endswith("duckduckgo.com") and path.startswith("/l"):
        return query.get("uddg", [""])[0]
    if host.endswith("bing.com") and path.startswith("/ck/"):
        return _decode_base64(query.get("u", [""])[0][_BING_PREFIX:])
    return ""


def _decode_base64(text: str) -> str:
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except (NotBase64, UnicodeDecodeError):
        return ""


def with_query(url: str, **values: str | int) -> str:
    """Return a URL with query parameters set; parameters keep their order.

    >>> with_query("http://a.test/s?wd=x&pn=0", pn=10)
    'http://a.test/s?wd=x&pn=10'
    """
    return add_or_replace_parameters(url, {name: str(value) for name, value in values.items()})


def number_in(url: str, name: str, default: int = 0) -> int:
    """Return a query parameter of a URL as an integer.

    >>> number_in("http://a.test/s?pn=20", "pn"), number_in("http://a.test/s?pn=x", "pn", 1)
    (20, 1)
    """
    value = parse_qs(urlsplit(url).query).get(name, [""])[0]
    return int(value) if value.isascii() and value.isdigit() else default


def unusual(page: Fetched, remedy: str) -> Results | Blocked | None:
    """Return the answer for a redirect, which is followed, or an error status; None for 2xx."""
    if page.status in _REDIRECT and page.location:
        return Results((), (page.location,), counts=False)
    if page.status not in _OK:
        return Blocked(f"HTTP status {page.status}", remedy)
    return None


def parse_json(text: str) -> Any:  # noqa: ANN401  (a foreign document)
    """Return a parsed JSON document, or None if the text is not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None
