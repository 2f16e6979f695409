"""Discovery of feeds and news sitemaps to watch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from topiccrawl.links.feeds import feed_root
from topiccrawl.links.sitemaps import name_of, text_of
from topiccrawl.links.urls import canonical

if TYPE_CHECKING:
    from lxml import etree

MAX_SITEMAPS = 20
"""Most news sitemaps read from one sitemap index; the most recently changed come first."""

_LINK = re.compile(rb"<link\b[^<>]{0,500}>", re.IGNORECASE)
_FEED_TYPE = re.compile(rb"application/(?:rss|atom)\+xml", re.IGNORECASE)
_HREF = re.compile(rb"href\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)


def find_feeds(data: bytes, url: str) -> list[str]:
    """Return the distinct canonical URLs of feeds linked in a page's head or a sitemap index.

    >>> find_feeds(b'<link rel=alternate type="application/rss+xml" href="/rss">', "http://a.test/")
    ['http://a.test/rss']
    """
    root = feed_root(data)
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
    root = feed_root(data)
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
    entries = (
        {name_of(part): text_of(part) for part in entry.iterchildren("*", reversed=True)}
        for entry in index
        if name_of(entry) == "sitemap"
    )
    named = [entry for entry in entries if is_news_sitemap(entry.get("loc", ""))]
    named.sort(key=lambda entry: entry.get("lastmod", ""), reverse=True)
    return [entry["loc"] for entry in named[:MAX_SITEMAPS]]
