"""Feeds: RSS, Atom and news sitemaps read as the pages of links that they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from topiccrawl.links.sitemaps import unpacked
from topiccrawl.links.urls import canonical
from topiccrawl.links.xml_root import name_of, text_of, xml_root
from topiccrawl.model import Link, Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

MOST = 2_000
"""Entries read of one feed; a news sitemap has a thousand at most."""

MOST_BYTES = 8_000_000
"""Bytes of one feed that are read, unpacked; the rest is ignored."""

MOST_MAPS = 20
"""News sitemaps read of one index: those that changed last, if it has dates."""

_LOOKS = re.compile(rb"<(?:\w+:)?(?:rss|feed|rdf|urlset|sitemapindex)[\s>]", re.IGNORECASE)
_ROOTS = frozenset({"rss", "rdf", "feed", "urlset", "sitemapindex"})
_ENTRIES = frozenset({"item", "entry", "url"})
_SUMMARIES = ("description", "summary", "keywords")
_HEAD = 2_000  # bytes that contain a feed's root element
_CONTEXT = 200
_LINK = re.compile(rb"<link\b[^<>]{0,500}>", re.IGNORECASE)
_FEED = re.compile(rb"application/(?:rss|atom)\+xml", re.IGNORECASE)
_HREF = re.compile(rb"href\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)


def read_feed(data: bytes, url: str) -> Page | None:
    """Return a feed, packed or not, as a page of links; None if it is no feed. Never raises.

    An entry's title is the link's anchor, its summary the context. Of a sitemap only entries that
    are marked as news are taken; its other entries are pages of any age.

    >>> feed = b"<rss><channel><title>T</title><item><title>A</title><link>/1</link></item>"
    >>> page = read_feed(feed, "http://a.test/rss.xml")
    >>> page.title, page.links == (Link("http://a.test/1", "A", "", 0),)
    ('T', True)
    """
    root = _root(data)
    if root is None:
        return None
    links: dict[str, Link] = {}
    for entry in _entries(root):
        link = _link(entry, url)
        if link is not None and link.url != url:
            links.setdefault(link.url, link)
        if len(links) >= MOST:
            break
    title = next((text_of(one) for box in _boxes(root) for one in _named(box, "title")), "")
    text = " ".join([title, *(f"{link.anchor} {link.context}" for link in links.values())])
    return Page(url, title, text, tuple(links.values()), prose=text, feed=True)


def feeds_on(data: bytes, url: str) -> list[str]:
    """Return the canonical URLs of the feeds in a page's head or an index of sitemaps, each once.

    >>> feeds_on(b'<link rel=alternate type="application/rss+xml" href="/rss">', "http://a.test/")
    ['http://a.test/rss']
    """
    root = _root(data)
    if root is not None:
        found = _maps(root) if name_of(root) == "sitemapindex" else []
    else:
        tags = (tag for tag in _LINK.findall(data) if _FEED.search(tag))
        hrefs = (href[1] for tag in tags if (href := _HREF.search(tag)))
        found = [href.decode("utf-8", "replace").replace("&amp;", "&") for href in hrefs]
    urls = (canonical(address, url) for address in found)
    return list(dict.fromkeys(one for one in urls if one))


def is_index(data: bytes) -> bool:
    """Return whether the data is an index of sitemaps.

    >>> is_index(b"<sitemapindex></sitemapindex>"), is_index(b"<urlset></urlset>")
    (True, False)
    """
    root = _root(data)
    return root is not None and name_of(root) == "sitemapindex"


def may_name_news(url: str) -> bool:
    """Return whether a sitemap's URL names the latest news, or an index of sitemaps.

    >>> may_name_news("http://a.test/sitemap_index.xml"), may_name_news("http://a.test/map.xml")
    (True, False)
    """
    return is_news_map(url) or "index" in url.rpartition("/")[2].lower()


def is_news_map(url: str) -> bool:
    """Return whether a sitemap's URL names the latest news.

    >>> is_news_map("http://a.test/sitemap-news.xml"), is_news_map("http://a.test/sitemap.xml")
    (True, False)
    """
    return "news" in url.partition("://")[2].partition("/")[2].lower()


def _maps(index: etree._Element) -> list[str]:
    """Return the news sitemaps of an index, the latest first."""
    dated = []
    for entry in _named(index, "sitemap"):
        address = next((text_of(loc) for loc in _named(entry, "loc")), "")
        changed = next((text_of(date) for date in _named(entry, "lastmod")), "")
        dated.append((changed, address))
    named = [(changed, address) for changed, address in dated if is_news_map(address)]
    return [address for _, address in sorted(named, key=_date, reverse=True)][:MOST_MAPS]


def _date(entry: tuple[str, str]) -> str:
    return entry[0]


def _root(data: bytes) -> etree._Element | None:
    data = unpacked(data, MOST_BYTES)
    if not _LOOKS.search(data[:_HEAD]):
        return None
    root = xml_root(data)
    return root if root is not None and name_of(root) in _ROOTS else None


def _boxes(root: etree._Element) -> Iterator[etree._Element]:
    """Yield the elements that hold a feed's entries; nested entries do not count."""
    yield root
    yield from _named(root, "channel")


def _entries(root: etree._Element) -> Iterator[etree._Element]:
    for element in (element for box in _boxes(root) for element in box):
        name = name_of(element)
        if name in _ENTRIES and (name != "url" or next(_named(element, "news"), None) is not None):
            yield element


def _link(entry: etree._Element, url: str) -> Link | None:
    address = next(
        (
            one.get("href") or (one.text or "")
            for name in ("link", "loc")
            for one in _named(entry, name)
            if one.get("rel", "alternate") == "alternate"
        ),
        "",
    )
    target = canonical(address.strip(), url)
    if target is None:
        return None
    said = (entry, *_named(entry, "news"))
    title = next((text_of(one) for part in said for one in _named(part, "title")), "")
    parts = (one for name in _SUMMARIES for part in said for one in _named(part, name))
    summaries = map(text_of, parts)
    return Link(target, title, next(filter(None, summaries), "")[:_CONTEXT], 0)


def _named(element: etree._Element, name: str) -> Iterator[etree._Element]:
    """Yield the children of a name."""
    return (one for one in element if name_of(one) == name)
