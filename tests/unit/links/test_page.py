"""Tests of page reading: text, links, contexts, blocks, directives and hostile pages."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from topiccrawl.links.feeds import read_feed
from topiccrawl.links.page import CONTEXT, MAX_ANCHOR, MAX_TEXTS, read_page
from topiccrawl.links.reading import MAX_LINKS
from topiccrawl.model import Directives, Link

if TYPE_CHECKING:
    from collections.abc import Iterator

URL = "http://news.test/sport/index.html"


def links(html: str, encoding: str = "utf-8") -> list[Link]:
    return list(read_page(html, URL, encoding=encoding).links)


def anchors(html: str) -> dict[str, str]:
    return {link.url.removeprefix("http://news.test"): link.anchor for link in links(html)}


def test_visible_text_is_separated_at_blocks_only() -> None:
    page = read_page(
        "<title> A\n title </title><style>b{}</style><h1>Head</h1><p>one <b>t</b>wo<br>three"
        "<script>x()</script><noscript>no</noscript><template>t</template><!-- c -->"
        "<ul><li>four<li>five</ul>six<div>seven</div><svg><title>s</title></svg><textarea>x</textarea>",
        URL,
    )
    assert page.title == "A title"
    assert page.text == "Head one two three four five six seven"


def test_context_of_a_link_in_prose_is_the_text_around_it() -> None:
    (link,) = links("<p>今天上午，<a href='/a'>国家队</a>抵达北京。</p><p>下一段")
    assert link[:4] == ("http://news.test/a", "国家队", "今天上午， 抵达北京。 下一段", -1)


def test_context_is_short_and_keeps_latin_words_whole() -> None:
    (link,) = links(f"<p>{'wonderful ' * 20}<a href=/a>x</a>{' wonderful' * 20}")
    assert len(link.context) <= 2 * CONTEXT + 1
    assert set(link.context.split()) == {"wonderful"}
    (link,) = links(f"<p>{'汉' * 200}<a href=/a>x</a>{'字' * 200}")
    assert link.context == "汉" * CONTEXT + " " + "字" * CONTEXT


def test_list_links_form_a_block_with_its_heading() -> None:
    found = links(
        "<div><div class=hd><h2>体育</h2><a href=/m>更多</a></div>"
        "<ul><li><a href=1>足球新闻</a><li><a href=2>篮球</a></ul>"
        "<ul><li><a href=5>排球新闻</a><li><a href=6>网球</a></ul></div>"
        "<div class=t>财经</div><ul><li><a href=3>股市</a><li><a href=4>基金</a></ul>"
    )
    assert [(link.context, link.block) for link in found if link.block >= 0] == [
        ("体育", 0), ("体育", 0), ("体育", 1), ("体育", 1), ("财经", 2), ("财经", 2),
    ]  # fmt: skip


def test_heading_applies_only_within_its_container() -> None:
    found = links(
        "<div><h2>体育</h2><ul><li><a href=1>足球</a><li><a href=2>篮球</a></ul></div>"
        "<ul><li><a href=3>关于我们</a><li><a href=4>联系方式</a></ul>"
    )
    assert [link.context for link in found] == ["体育", "体育", "", ""]


@pytest.mark.parametrize(
    "box", [f"<div>{'今日' * 20}</div>", "<div><a href=/0><div>图片</div></a></div>"]
)
def test_long_text_and_boxes_in_anchors_are_no_captions(box: str) -> None:
    found = links(
        f"<div><h2>体育</h2>{box}<ul><li><a href=1>足球</a><li><a href=2>篮球</a></ul></div>"
    )
    assert [link.context for link in found if link.block >= 0] == ["体育", "体育"]


def test_tables_captions_and_definition_lists_have_captions() -> None:
    found = links(
        "<table><caption>排名</caption><tr><td><a href=1>甲队</a><td><a href=2>乙队</a></table>"
        "<dl><dt>国内<dd><a href=3>要闻</a><a href=4>地方</a><dt>国际<dd><a href=5>亚洲</a></dl>"
    )
    assert [link.context for link in found] == ["排名", "排名", "国内", "国内", "国际"]
    assert [link.block for link in found] == [0, 0, 1, 1, 1]


def test_menu_is_a_block_but_a_paragraph_is_not() -> None:
    menu = links("<div><a href=1>首页</a> | <a href=2>新闻</a> | <a href=3>体育</a></div>")
    assert {link.block for link in menu} == {0}
    text = links(
        "<p>昨天晚上进行的比赛里<a href=1>甲队</a>以三比零战胜了<a href=2>乙队</a>，"
        "比赛在<a href=3>某地</a>进行。"
    )
    assert {link.block for link in text} == {-1}


def test_the_innermost_list_is_the_block() -> None:
    found = links(
        "<div><ul><li><a href=1>一</a><li><a href=2>二</a></ul>"
        "<ul><li><a href=3>三</a><li><a href=4>四</a></ul></div>"
    )
    assert [link.block for link in found] == [0, 0, 1, 1]


def test_anchor_is_text_or_title_or_image_alt() -> None:
    assert anchors(
        "<a href=/1> a\n <b>b</b></a><a href=/2 title=t></a><a href=/3><img alt=pic></a>"
        "<a href=/4><img></a><a href=/5 title=t>text</a><a href=/6><script>x</script><i>i</i></a>"
    ) == {"/1": "a b", "/2": "t", "/3": "pic", "/4": "", "/5": "text", "/6": "i"}
    (link,) = links(f"<a href=/1>{'x' * 500}</a>")
    assert len(link.anchor) == MAX_ANCHOR


def test_repeated_link_is_listed_once_with_its_longest_anchor() -> None:
    found = links(
        "<p><a href=/a><img></a>近日消息<p><a href=/b>乙</a>"
        "<p>图片说明<a href=/a#x>甲队夺冠</a>现场"
    )
    assert [(link.url[-1], link.anchor) for link in found] == [("a", "甲队夺冠"), ("b", "乙")]
    assert "图片说明" in found[0].context


def test_maps_frames_and_refresh_give_http_links_only() -> None:
    assert anchors(
        "<meta http-equiv=Refresh content=\"5; url='/next'\"><a href='javascript:x()'>j</a>"
        "<a href=mailto:a@b.test>m</a><a href=tel:1>t</a><a>n</a><a href=''>own</a>"
        "<a href=#top>up</a><map><area href=/area alt=north></map>"
        "<iframe src=/frame name=f><a href=/no>no</a></iframe>"
        "<iframe src=about:blank></iframe>"
    ) == {"/next": "", "/area": "north", "/frame": "f"}
    assert list(anchors("<frameset><frame src=/menu title=menu><frame src=/main></frameset>")) == [
        "/menu", "/main",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "links"),
    [
        ("600", []),
        ("600;", []),
        (" 5 ; url=", []),
        ("0;url='/a'", ["http://a.test/a"]),
        ("0; URL = /a", ["http://a.test/a"]),
        ("0 /a", ["http://a.test/a"]),
    ],
)
def test_refresh_is_a_link_if_it_has_a_url(content: str, links: list[str]) -> None:
    page = read_page(f'<meta http-equiv=refresh content="{content}">', "http://a.test/")
    assert [link.url for link in page.links] == links


def test_base_applies_to_all_relative_links() -> None:
    page = read_page("<a href=a.html>a</a><base href='/zh/'><link rel=canonical href=c>", URL)
    assert page.links[0].url == "http://news.test/zh/a.html"
    assert page.canonical == "http://news.test/zh/c"
    (link,) = links("<base href='javascript:x'><a href=a.html>a</a>")
    assert link.url == "http://news.test/sport/a.html"


def test_queries_are_sent_in_the_encoding_of_the_page() -> None:
    (link,) = links("<a href='/s?w=你'>你</a>", encoding="gb18030")
    assert link.url == "http://news.test/s?w=%C4%E3"


def test_nofollow_ugc_and_sponsored_links_are_skipped() -> None:
    html = "".join(f"<a rel='{rel}' href=/{rel[:3]}>x</a>" for rel in
                   ("NoFollow noopener", "ugc", "sponsored", "author", ""))  # fmt: skip
    assert list(anchors(html)) == ["/aut", "/"]
    assert links("<map><area rel=nofollow href=/x></map>") == []


@pytest.mark.parametrize(
    ("metas", "headers", "expected"),
    [
        ("", [], Directives()),
        (
            "<meta name=robots content='NOINDEX, nofollow'>",
            [],
            Directives(noindex=True, nofollow=True),
        ),
        ("<meta name=robots content=none>", [], Directives(noindex=True, nofollow=True)),
        ("<meta name=TopicCrawl content=noarchive>", [], Directives(noarchive=True)),
        ("<meta name=googlebot content=none>", [], Directives()),
        (
            "<meta name=robots content=index><meta name=robots content=nocache>",
            ["noindex"],
            Directives(noindex=True, noarchive=True),
        ),
        (
            "",
            ["googlebot: noindex", "topiccrawl: nofollow, noarchive"],
            Directives(nofollow=True, noarchive=True),
        ),
        (
            "",
            ["unavailable_after: 1 Jan 2030 00:00:00 GMT", "max-snippet:0, noindex"],
            Directives(noindex=True),
        ),
    ],
)
def test_directives_of_page_and_headers_are_combined(
    metas: str, headers: list[str], expected: Directives
) -> None:
    page = read_page(f"{metas}<a href=/x>x</a>", URL, headers)
    assert page.directives == expected
    assert bool(page.links) != expected.nofollow


@contextmanager
def untraced() -> Iterator[None]:
    """Suspend tracing, so that coverage is not measured."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 10_000 + "<a href=x>y</a>",
        "<div>" * 500_000,
        "<ul><li><a href=x>y</a>" * 20_000,
        "".join(f"<p><a href={n}>link</a> text" for n in range(100_000)),
        "<p>" + "x " * 3_000_000,
        "<b>" * 1_600_000,
        "<table><tr><td>" * 5_000,
        "<a " + " ".join(f"a{n}" for n in range(100_000)) + " href=x>y</a>",
        f"<a href='{'x' * 4_000_000}'>y</a>",
        "".join(f"<b id={n}>" for n in range(2_000)) + "<p>x" * 2_000,
        "<!--" * 1_000_000,
        "\x00<a href='\x00'>\ud800</a>",
        "<datastore><![CDATA[<script>" * 150_000,
        "createPageHTML('" * 300_000 + "createPageHTML(" + " " * 1_000_000,
    ],
    ids=["deep", "abyss", "lists", "links", "long", "bold", "tables", "attributes", "href",
         "formats", "comments", "bytes", "datastores", "paging"],
)  # fmt: skip
def test_hostile_page_takes_limited_time(html: str) -> None:
    with untraced():
        started = time.process_time()
        page = read_page(html, URL)
        assert time.process_time() - started < 5
    assert len(page.links) <= MAX_LINKS


@pytest.mark.parametrize("is_feed", [False, True])
def test_texts_of_links_are_limited_together(*, is_feed: bool) -> None:
    text = "x" * 190
    one = (
        "<item><title>{1}</title><link>/{0}</link></item>" if is_feed else "<p><a href=/{0}>{1}</a>"
    )
    body = "".join(one.format(n, text) for n in range(1_500))
    page = read_feed(f"<rss>{body}</rss>".encode(), URL) if is_feed else read_page(body, URL)
    assert page is not None
    assert len(page.links) == 1_500
    assert page.links[0].anchor == text
    assert page.links[-1][1:3] == ("", "")
    size = sum(len(link.anchor) + len(link.context) for link in page.links)
    assert 0.9 * MAX_TEXTS < size <= MAX_TEXTS


def test_links_of_a_long_feed_keep_their_anchors_rather_than_contexts() -> None:
    summary = f"<description>{'x' * 200}</description>"
    one = f"<item><title>新能源汽车展览会开幕</title><link>/{{}}</link>{summary}</item>"
    page = read_feed(f"<rss>{''.join(map(one.format, range(2_000)))}</rss>".encode(), URL)
    assert page is not None
    assert all(link.anchor for link in page.links)
    contexts = sum(len(link.context) for link in page.links)
    assert 0.9 * MAX_TEXTS < contexts + 10 * len(page.links) <= MAX_TEXTS


def test_page_with_a_long_script_is_read_completely() -> None:
    script = f"<script>{'x<1;' * 50_000}</script>"
    picture = f"<img src='data:image/png;base64,{'A' * 50_000}'>"
    page = read_page(f"<p>one{script}{picture}<p><a href=/end>end</a>", URL)
    assert page.text == "one end"
    assert len(page.links) == 1


def test_prose_excludes_menu_anchors() -> None:
    page = read_page(
        "<ul><li><a href=1>体育</a><li><a href=2>财经</a></ul><p>正文提到<a href=3>足球</a>。</p>",
        "http://a.test/",
    )
    assert page.prose == "正文提到足球。"
    assert page.text == "体育 财经 正文提到足球。"


def test_links_at_the_same_place_have_the_same_regions() -> None:
    menu = "<ul class=menu><li><a href=/m>m</a></ul>"
    text = menu + "<div class='post-{0} list'><p><a href=/{0}>x</a></div>"
    first, second, elsewhere = (
        read_page(text.format(page), f"http://news.test/{place}/{page}").links
        for place, page in (("a", 1), ("a", 22), ("b", 1))
    )
    assert [link.regions[:2] for link in first] == [link.regions[:2] for link in second]
    assert not {link.regions[2] for link in first} & {link.regions[2] for link in second}
    assert [link.regions[0] for link in first] == [link.regions[0] for link in elsewhere]
    assert first[0].regions[0] != first[1].regions[0]
    assert first[0].regions[1] != elsewhere[0].regions[1]
    assert all(0 < number < 2**24 for link in first for number in link.regions)


def test_links_to_the_own_host_keep_the_scheme_of_the_page() -> None:
    html = (
        '<a href="https://a.test/x">Fair</a> <a href="/x">Fair opens</a> <a href="//a.test/y">Y</a>'
        '<a href="https://a.test/">Home</a> <a href="https://a.test:8443/z">Z</a>'
        '<a href="https://b.test/">B</a> <a href="https://a.test.b.test/">C</a>'
    )
    found = [(link.url, link.anchor) for link in read_page(html, "http://a.test/").links]
    assert found[:2] == [("http://a.test/x", "Fair opens"), ("http://a.test/y", "Y")]
    other = ["https://a.test:8443/z", "https://b.test/", "https://a.test.b.test/"]
    assert [url for url, _ in found[2:]] == other
    links = read_page('<a href="http://a.test/x">X</a>', "https://a.test/").links
    assert [link.url for link in links] == ["https://a.test/x"]


def test_links_of_an_http_home_page_keep_http_if_its_canonical_url_is_https() -> None:
    """The https twin may not answer, or redirect to http; older crawls have the http pages."""
    html = '<link rel=canonical href="https://a.test/"><a href=/x>X</a> <a href="http://a.test/y">Y</a>'
    links = read_page(html, "http://a.test/").links
    assert [link.url for link in links] == ["http://a.test/x", "http://a.test/y"]


def test_page_that_only_links_to_itself_with_the_other_scheme_moved() -> None:
    html = '<p>We moved to <a href="https://a.test/new?id=1">https</a>. <a href="#top">Top</a>'
    links = read_page(html, "http://a.test/new?id=1").links
    assert [link.url for link in links] == ["https://a.test/new?id=1"]


def test_a_link_to_another_registrable_domain_is_foreign() -> None:
    page = read_page(
        "<a href=/a>a</a><a href=http://sport.news.com/b>b</a><a href=http://other.org/>c</a>",
        "http://www.news.com/",
    )
    assert [link.foreign for link in page.links] == [False, False, True]


@pytest.mark.parametrize(
    ("attributes", "found"),
    [
        ("""href="#" onclick="location.href='index_2.htm'\"""", "http://a.test/l/index_2.htm"),
        ("""href="" onclick="location.href=encodeURI('i_2.htm');\"""", "http://a.test/l/i_2.htm"),
        ("""onclick="javascript:window.location = '/2.shtml';\"""", "http://a.test/2.shtml"),
        ("""href="JavaScript:location.replace('2')\"""", "http://a.test/l/2"),
        ("""href="/3" onclick="location.href='/2'\"""", "http://a.test/3"),
        ("""href="#" rel="nofollow" onclick="location.href='/2'\"""", None),
        ("""href="#" onclick="location.href='/s?q='+words\"""", None),
        ("""href="#" onclick="window.open('http://b.test/share')\"""", None),
        ("""href=" javascript:location='/2'" onclick="count()\"""", "http://a.test/2"),
        ("""href="#" onclick="if(confirm('Delete?')) location.href='/delete?id=2'\"""", None),
        ("""href="#" onclick="location.href='/list/'.concat(next)\"""", None),
        ("""href="#" onclick="location.href=encodeURI('/s?q=') + words\"""", None),
    ],
)
def test_script_of_a_link_without_url_is_its_url(attributes: str, found: str | None) -> None:
    page = read_page(f"<a href=/1>1</a> <a {attributes}>下一页</a>", "http://a.test/l/")
    links = [(link.url, link.anchor) for link in page.links]
    assert links == [("http://a.test/1", "1"), *([(found, "下一页")] if found else [])]


def test_next_page_of_a_list_with_scripted_paging_is_a_link() -> None:
    script = '<script>\n//<![CDATA[\ncreatePageHTML(25, {}, "index", "htm");\n//]]></script>'
    article = "<ul><li><a href=./202611/t1.htm>新能源汽车</a></ul>"
    url = "http://www.gov.test/news/index.htm"
    *others, last = read_page(article + script.format(0), url).links
    assert (last.url, last.anchor, last.foreign) == (
        "http://www.gov.test/news/index_1.htm",
        "下一页",
        False,
    )
    assert [link.url for link in others] == ["http://www.gov.test/news/202611/t1.htm"]
    assert len(read_page(article + script.format(24), url).links) == 1
    assert [link.anchor for link in read_page(script.format(0), url).links] == ["下一页"]
    named = read_page("<a href=index_1.htm>第2页</a>" + script.format(0), url).links
    assert [link.anchor for link in named] == ["第2页"]
    forbidden = "<meta name=robots content=nofollow>" + article + script.format(0)
    assert read_page(forbidden, url).links == ()


def test_redirect_by_script_is_a_link_of_a_page_without_links() -> None:
    script = "<script>if (1) { window.location.href = 'http://www.gov.test/index.html' }</script>"
    url = "http://www.gov.test/"
    (link,) = read_page(script, url).links
    assert (link.url, link.anchor) == ("http://www.gov.test/index.html", "")
    assert [link.anchor for link in read_page("<a href=/a>a</a>" + script, url).links] == ["a"]
    assert read_page("<script>location = '/'</script>", url).links == ()
    assert read_page("<div data-location='Oslo'>Oslo</div>", url).links == ()
    unusable = "<a href='javascript:'>more</a><a href=/>home</a>"
    (link,) = read_page(
        unusable + r"<script>location = 'http:\/\/www.gov.test\/a'</script>", url
    ).links
    assert link.url == "http://www.gov.test/a"


@pytest.mark.parametrize(
    "html",
    [
        "<script>// location.href = '/old'\nlocation = '/new'</script>",
        "<script>/* location = '/old'; */ location = '/new'</script>",
        "<!-- <script>location = '/old'</script> --><SCRIPT>location='/new'</SCRIPT>",
        "<script><!--\nlocation = '/new'\n//--></script>",
        "<script>/* moved */ var a = 'http://b.test'; location = '/new'</script>",
        "<script>//<![CDATA[\nx()//]]></script><script>location = '/new'</script>",
        "<script>ask({Accept: '*/*'}); location = '/new'</script>",
        "<body onload=\"location.href='/new'\">",
    ],
)
def test_redirect_by_script_is_not_commented_out(html: str) -> None:
    assert [link.url for link in read_page(html, URL).links] == ["http://news.test/new"]


@pytest.mark.parametrize(
    "text",
    [
        "<script type='text/xml'><?xml version='1.0'?>{}</script>",
        "<script>{}</script>",
        "<div hidden>{}</div>",
    ],
)
def test_page_around_an_embedded_list_is_read(text: str) -> None:
    entries = "<datastore><record><![CDATA[<a href=/1>one</a>]]></record></datastore>"
    page = read_page(text.format(entries) + "<a href=/2>two</a>", "http://a.test/")
    assert [link.anchor for link in page.links] == ["one", "two"]


@pytest.mark.parametrize("code", ["var list; {}</datastore>", "if (text.indexOf('{}') > 0) run();"])
def test_page_around_a_script_that_names_an_embedded_list_is_read(code: str) -> None:
    script = f"<script>{code.format('<datastore>')}</script>"
    page = read_page(script + "<a href=/2>two</a>", "http://a.test/")
    assert [link.anchor for link in page.links] == ["two"]
