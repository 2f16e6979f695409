"""Tests of the feeds and news sitemaps that a watch finds."""

from __future__ import annotations

import gzip

from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.addons.watch.feeds import MAX_SITEMAPS, find_feeds, is_sitemap_index

AT = "http://a.test/feed.xml"


def test_html_page_links_to_feeds() -> None:
    html = (
        b"<?xml version='1.0'?><html><head><link rel='alternate' type='application/atom+xml'"
        b" href='/atom?a=1&amp;b=2'><link rel=stylesheet href=x.css></head><body>feed</body></html>"
    )
    assert find_feeds(html, "http://a.test/") == ["http://a.test/atom?a=1&b=2"]


def test_sitemap_index_links_to_news_sitemaps() -> None:
    maps = "".join(f"<sitemap><loc>http://a.test/{n}.xml</loc></sitemap>" for n in ("news", "all"))
    index = f"<sitemapindex>{maps}</sitemapindex>".encode()
    assert find_feeds(index, AT) == ["http://a.test/news.xml"]


def test_latest_of_many_news_sitemaps_are_used() -> None:
    maps = "".join(
        f"<sitemap><loc>http://a.test/news-{n}.xml.gz</loc><lastmod>20{n:02}-01-01</lastmod></sitemap>"
        for n in range(60)
    )
    index = gzip.compress(f"<sitemapindex>{maps}</sitemapindex>".encode())
    found = find_feeds(index, AT)
    assert found[0] == "http://a.test/news-59.xml.gz"
    assert len(found) == MAX_SITEMAPS
    assert is_sitemap_index(index)


@given(st.binary(max_size=200), st.sampled_from((b"", b"<rss ", b"<urlset>", b"<sitemapindex>")))
def test_any_bytes_are_read_without_error(data: bytes, head: bytes) -> None:
    find_feeds(head + data, AT)
