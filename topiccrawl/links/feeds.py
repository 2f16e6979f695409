"""Parsing of RSS and Atom feeds and news sitemaps into pages of links."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

from topiccrawl.links.page import MAX_ANCHOR, limit_texts
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

_FEED_ROOT = re.compile(rb"<(?:\w+:)?(?:rss|feed|rdf|urlset|sitemapindex)[\s>]", re.IGNORECASE)
_ROOTS = frozenset({"rss", "rdf", "feed", "urlset", "sitemapindex"})
_ENTRIES = frozenset({"item", "entry", "url"})
_SUMMARIES = ("description", "summary", "keywords")
_HEAD = 2_000  # bytes that contain a feed's root element
_CONTEXT = 200
_REFERENCE = re.compile(r"&#?\w+;")  # without ";", it may be text: "?a=1&copy=2"


def read_feed(data: bytes, url: str) -> Page | None:
    """Parse a feed, compressed or not, into a page of links; return None for other data.

    The title of an entry becomes the anchor of its link, the summary becomes the context. Only the
    news entries of a sitemap are read, since its other entries can be of any age. Never raises.

    >>> feed = b"<rss><channel><title>T</title><item><title>A</title><link>/1</link></item>"
    >>> page = read_feed(feed, "http://a.test/rss.xml")
    >>> page.title, page.links == (Link("http://a.test/1", "A", "", 0),)
    ('T', True)
    """
    root = feed_root(data)
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


def feed_root(data: bytes) -> etree._Element | None:
    """Return the root element of a feed, a sitemap or a sitemap index; None for other data.

    >>> root = feed_root(b"<sitemapindex></sitemapindex>")
    >>> root is not None and name_of(root)
    'sitemapindex'
    """
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
            address
            for name in ("link", "loc", "guid")
            for one in _children(entry, name)
            if one.get("rel", "alternate") == "alternate" and (name != "guid" or _is_permalink(one))
            if (address := (one.get("href") or one.text or "").strip())
        ),
        None,
    )
    target = None if address is None else canonical(address, url)
    if target is None:
        return None
    sources = (entry, *_children(entry, "news"))
    title = _first(one for part in sources for one in _children(part, "title"))
    parts = (one for name in _SUMMARIES for part in sources for one in _children(part, name))
    summary = next(filter(None, map(text_of, parts)), "")
    # HTML in either, as readers take it: its character references are left after XML's
    return Link(target, _unescaped(title)[:MAX_ANCHOR], _unescaped(summary)[:_CONTEXT], 0)


def _is_permalink(guid: etree._Element) -> bool:
    text = (guid.text or "").strip()
    return guid.get("isPermaLink", "true") == "true" and text.startswith(("http://", "https://"))


def _unescaped(text: str) -> str:
    return _REFERENCE.sub(lambda reference: unescape(reference[0]), text)


def _first(elements: Iterable[etree._Element]) -> str:
    """Return the text of the first element, or ""."""
    return next(map(text_of, elements), "")


def _children(element: etree._Element, name: str) -> Iterator[etree._Element]:
    """Yield the child elements with a tag name."""
    return (one for one in element if name_of(one) == name)
