"""Tests of feeds, read as pages of links."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.links import feeds
from topiccrawl.links.feeds import read_feed
from topiccrawl.links.page import MAX_ANCHOR
from topiccrawl.model import Link

AT = "http://a.test/feed.xml"
RSS = """<?xml version="1.0" encoding="gb2312"?><rss version="2.0"><channel><title>足球</title>
<link>http://a.test/</link><!-- made daily -->
<item><title>甲队获胜</title><link>http://a.test/1.html#top</link>
<description><![CDATA[<p>昨晚 <b>三比零</b></p>]]></description></item>
<item><title>乙队</title><link>http://a.test/1.html</link></item>
<item><title>无地址</title></item>
<item><title>脚本</title><link>javascript:void(0)</link></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>足球</title>
<link rel="self" href="http://a.test/feed.xml"/><entry>
<title type="html">甲队&lt;b&gt;获胜&lt;/b&gt;</title>
<link rel="edit" href="/edit/1"/><link href="/1.html"/>
<summary>昨晚 三比零</summary></entry></feed>"""
MAP = """<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"><url>
<loc>http://a.test/old.html</loc></url>
<url><loc>http://a.test/1.html</loc><news:news><news:title>甲队获胜</news:title>
<news:keywords>昨晚 三比零</news:keywords></news:news></url></urlset>"""
INDEX = b"<sitemapindex><sitemap><loc>http://a.test/news.xml</loc></sitemap></sitemapindex>"


@pytest.mark.parametrize(
    "data", [RSS.encode("gb2312"), ATOM.encode(), MAP.encode()], ids=["rss", "atom", "news-map"]
)
def test_entries_are_links_with_title_and_summary(data: bytes) -> None:
    page = read_feed(data, AT)
    assert page is not None
    assert page.feed
    link = page.links[0]
    assert link._replace(anchor="", context="") == Link("http://a.test/1.html", block=0)
    assert link.anchor.replace(" ", "") == "甲队获胜"
    assert link.context == "昨晚 三比零"
    assert len(page.links) == 1
    assert "三比零" in page.text


@pytest.mark.parametrize(
    ("title", "anchor"),
    [
        ("&lt;b&gt;Rain&lt;/b&gt; &amp;amp; wind", "Rain & wind"),
        ("<![CDATA[<b>Rain</b> &ldquo;wind&rdquo;]]>", "Rain “wind”"),
        ("<b>Rain</b> 3 &lt; 5", "Rain 3 < 5"),
        ("《题》&lt;图&gt;", "《题》<图>"),
        ("open ?a=1&amp;copy=2&amp;lt=3", "open ?a=1&copy=2&lt=3"),
    ],
    ids=["escaped", "section", "element", "no tag", "no reference"],
)
def test_titles_are_read_as_html_and_as_text(title: str, anchor: str) -> None:
    page = read_feed(f"<rss><item><title>{title}</title><link>/1</link></item></rss>".encode(), AT)
    assert page is not None
    assert page.links[0].anchor == anchor


@pytest.mark.parametrize(
    ("entry", "url", "anchor"),
    [
        (
            "<title>A & B &amp; C</title><link>/?a=1&b=2&copy=3</link>",
            "/?a=1&b=2&copy=3",
            "A & B & C",
        ),
        (
            "<title><![CDATA[A & B]]></title><link><![CDATA[/?a=1&b=2]]></link>",
            "/?a=1&b=2",
            "A & B",
        ),
        ("<title>A</title><guid>http://a.test/1</guid>", "/1", "A"),
        ("<title>A</title><guid isPermaLink='true'>http://a.test/1</guid>", "/1", "A"),
        ("<title>A</title><guid>http://a.test/1</guid><link>/2</link>", "/2", "A"),
        ("<title>A</title><guid>http://a.test/1</guid><link/>", "/1", "A"),
        ("<title>A</title><guid isPermaLink='false'>http://a.test/1</guid>", None, ""),
        ("<title>A</title><guid>12345</guid>", None, ""),
    ],
)
def test_links_with_bare_ampersands_and_permalinks_are_read(
    entry: str, url: str | None, anchor: str
) -> None:
    feed = f"<rss><channel><item>{entry}</item></channel></rss>".encode()
    page = read_feed(feed, "http://a.test/rss.xml")
    assert page is not None
    expected = [] if url is None else [(f"http://a.test{url}", anchor)]
    assert [(link.url, link.anchor) for link in page.links] == expected


def test_html_page_is_not_a_feed() -> None:
    html = (
        b"<?xml version='1.0'?><html><head><link rel='alternate' type='application/atom+xml'"
        b" href='/atom?a=1&amp;b=2'><link rel=stylesheet href=x.css></head><body>feed</body></html>"
    )
    assert read_feed(html, "http://a.test/") is None


def test_sitemap_index_is_a_feed_without_links() -> None:
    page = read_feed(INDEX, AT)
    assert page is not None
    assert page.links == ()


@pytest.mark.parametrize("data", [RSS.encode("gb2312"), MAP.encode()], ids=["rss", "news-map"])
def test_compressed_feed_is_read_like_the_plain_one(data: bytes) -> None:
    assert read_feed(gzip.compress(data), AT) == read_feed(data, AT)
    assert read_feed(gzip.compress(data)[:-9] + b"damaged!", AT) in {None, read_feed(data, AT)}


def test_decompressed_size_is_limited() -> None:
    entries = "".join(
        f"<url><loc>http://a.test/{n}</loc><news>甲</news></url>"
        for n in range(feeds.MAX_ENTRIES + 9)
    )
    bomb = gzip.compress(f"<urlset>{entries}".encode() + b" " * 3 * feeds.MAX_BYTES)
    page = read_feed(bomb, AT)
    assert page is not None
    assert len(page.links) == feeds.MAX_ENTRIES


@given(st.binary(max_size=200), st.sampled_from((b"", b"<rss ", b"<feed>", b"<urlset>")))
def test_any_bytes_are_read_without_error(data: bytes, head: bytes) -> None:
    read_feed(head + data, AT)


def test_title_is_cut_as_an_anchor() -> None:
    page = read_feed(
        f"<rss><channel><item><title>{'足' * 9000}</title><link>/1</link>".encode(), AT
    )
    assert page is not None
    assert page.links[0].anchor == "足" * MAX_ANCHOR
