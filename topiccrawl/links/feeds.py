"""Parsing of RSS and Atom feeds and news sitemaps into pages of links."""

from __future__ import annotations

import re
from html import unescape
from operator import itemgetter
from typing import TYPE_CHECKING

from topiccrawl.links.page import limit_texts
from topiccrawl.links.sitemaps import decompressed, name_of, text_of, xml_root
from topiccrawl.links.urls import canonical
from topiccrawl.model import Link, Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml import etree

MAX_ENTRIES = 2_000
"""Most entries read from one feed; a news sitemap has at most 1,000."""

MAX_BYTES = 8_000_000
"""Most bytes read from one feed, after decompression."""

MAX_SITEMAPS = 20
"""Most news sitemaps read from one sitemap index; the most recently changed come first."""

_FEED_ROOT = re.compile(rb"<(?:\w+:)?(?:rss|feed|rdf|urlset|sitemapindex)[\s>]", re.IGNORECASE)
_ROOTS = frozenset({"rss", "rdf", "feed", "urlset", "sitemapindex"})
_ENTRIES = frozenset({"item", "entry", "url"})
_SUMMARIES = ("description", "summary", "keywords")
_HEAD = 2_000  # bytes that contain a feed's root element
_CONTEXT = 200
_LINK = re.compile(rb"<link\b[^<>]{0,500}>", re.IGNORECASE)
_FEED_TYPE = re.compile(rb"application/(?:rss|atom)\+xml", re.IGNORECASE)
_HREF = re.compile(rb"href\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)


def read_feed(data: bytes, url: str) -> Page | None:
    """Parse a feed, compressed or not, into a page of links; return None for other data.

    The title of an entry becomes the anchor of its link, the summary becomes the context. Only the
    news entries of a sitemap are read, since its other entries can be of any age. Never raises.

    >>> feed = b"<rss><channel><title>T</title><item><title>A</title><link>/1</link></item>"
    >>> page = read_feed(feed, "http://a.test/rss.xml")
    >>> page.title, page.links == (Link("http://a.test/1", "A", "", 0),)
    ('T', True)
    """
    root = _root(data)
    return None if root is None else feed_page(root, url)


def feed_page(root: etree._Element, url: str) -> Page:
    """Return the page of links of a parsed feed, see ``read_feed``."""
    links: dict[str, Link] = {}
    for entry in _entries(root):
        link = _link(entry, url)
        if link is not None and link.url != url:
            links.setdefault(link.url, link)
        if len(links) >= MAX_ENTRIES:
            break
    title = _first(one for box in _containers(root) for one in _children(box, "title"))
    text = " ".join([title, *(f"{link.anchor} {link.context}" for link in links.values())])
    return Page(url, title, text, limit_texts(links.values()), prose=text, feed=True)


def find_feeds(data: bytes, url: str) -> list[str]:
    """Return the distinct canonical URLs of feeds linked in a page's head or a sitemap index.

    >>> find_feeds(b'<link rel=alternate type="application/rss+xml" href="/rss">', "http://a.test/")
    ['http://a.test/rss']
    """
    root = _root(data)
    if root is not None:
        found = _news_sitemaps(root) if name_of(root) == "sitemapindex" else []
    else:
        tags = (tag for tag in _LINK.findall(data) if _FEED_TYPE.search(tag))
        hrefs = (href[1] for tag in tags if (href := _HREF.search(tag)))
        found = [href.decode("utf-8", "replace").replace("&amp;", "&") for href in hrefs]
    urls = (canonical(address, url) for address in found)
    return list(dict.fromkeys(one for one in urls if one))


def is_sitemap_index(data: bytes) -> bool:
    """Return whether the data is a sitemap index.

    >>> is_sitemap_index(b"<sitemapindex></sitemapindex>"), is_sitemap_index(b"<urlset></urlset>")
    (True, False)
    """
    root = _root(data)
    return root is not None and name_of(root) == "sitemapindex"


def may_be_news_sitemap(url: str) -> bool:
    """Return whether a sitemap's URL suggests a news sitemap or a sitemap index.

    >>> may_be_news_sitemap("http://a.test/sitemap_index.xml"), may_be_news_sitemap("http://a.test/map.xml")
    (True, False)
    """
    return is_news_sitemap(url) or "index" in url.rpartition("/")[2].lower()


def is_news_sitemap(url: str) -> bool:
    """Return whether a sitemap's URL suggests a news sitemap.

    >>> is_news_sitemap("http://a.test/sitemap-news.xml"), is_news_sitemap("http://a.test/sitemap.xml")
    (True, False)
    """
    return "news" in url.partition("://")[2].partition("/")[2].lower()


def _news_sitemaps(index: etree._Element) -> list[str]:
    """Return the news sitemaps of a sitemap index, most recently changed first."""
    dated = (
        (_first(_children(entry, "lastmod")), _first(_children(entry, "loc")))
        for entry in _children(index, "sitemap")
    )
    named = [(changed, address) for changed, address in dated if is_news_sitemap(address)]
    named.sort(key=itemgetter(0), reverse=True)
    return [address for _, address in named[:MAX_SITEMAPS]]


def _root(data: bytes) -> etree._Element | None:
    data = decompressed(data, MAX_BYTES)
    if not _FEED_ROOT.search(data[:_HEAD]):
        return None
    root = xml_root(data)
    return root if root is not None and name_of(root) in _ROOTS else None


def _containers(root: etree._Element) -> Iterator[etree._Element]:
    """Yield the elements whose children are a feed's entries."""
    yield root
    yield from _children(root, "channel")


def _entries(root: etree._Element) -> Iterator[etree._Element]:
    for element in (element for box in _containers(root) for element in box):
        name = name_of(element)
        if name in _ENTRIES and (
            name != "url" or next(_children(element, "news"), None) is not None
        ):
            yield element


def _link(entry: etree._Element, url: str) -> Link | None:
    address = next(
        (
            one.get("href") or (one.text or "")
            for name in ("link", "loc")
            for one in _children(entry, name)
            if one.get("rel", "alternate") == "alternate"
        ),
        "",
    )
    target = canonical(address.strip(), url)
    if target is None:
        return None
    sources = (entry, *_children(entry, "news"))
    title = _first(one for part in sources for one in _children(part, "title"))
    parts = (one for name in _SUMMARIES for part in sources for one in _children(part, name))
    summary = next(filter(None, map(text_of, parts)), "")
    # HTML in either, as readers take it: its character references are left after XML's
    return Link(target, unescape(title), unescape(summary)[:_CONTEXT], 0)


def _first(elements: Iterable[etree._Element]) -> str:
    """Return the text of the first element, or ""."""
    return next(map(text_of, elements), "")


def _children(element: etree._Element, name: str) -> Iterator[etree._Element]:
    """Yield the child elements with a tag name."""
    return (one for one in element if name_of(one) == name)
