"""Tests of extracting the fields of an article from HTML."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topiccrawl.extract.extract import extract
from topiccrawl.links.page import read_page
from topiccrawl.model import Page

if TYPE_CHECKING:
    from topiccrawl.model import Extracted

SENTENCE = "今天上午，新能源汽车展览会在市中心的展馆开幕，记者在现场看到许多新车型。"
BODY = "".join(f"<p>第{n}段。{SENTENCE}</p>" for n in range(6))
ENGLISH = "".join(
    f"<p>Paragraph {n}. The new bridge over the river was opened to traffic on Monday morning, "
    "and the first drivers said that they had waited for it since the winter.</p>"
    for n in range(8)
)
URL = "http://news.site.test/2016-01/12/content_1.html"


def page(body: str = BODY, head: str = "", title: str = "车展开幕_汽车频道_本地新闻网") -> str:
    return (
        f"<html><head><title>{title}</title>{head}</head><body>"
        '<div class="nav"><a href="/">首页</a> <a href="/auto">汽车</a></div>'
        f"<h1>车展开幕</h1><div class=info>2016年01月12日 10:23　来源：<a href=/>新城晚报</a>　"
        f'作者：王小明</div><div class="article">{body}</div>'
        "<div class=foot>版权所有 2009-2020 备案号 1234</div></body></html>"
    )


def found(html: str, url: str = URL, fetched_at: float = 0.0) -> Extracted:
    extracted = extract(html, url, fetched_at=fetched_at)
    assert extracted is not None
    return extracted


def test_chinese_page_gives_all_fields() -> None:
    article = found(page(f'<p><img src="/img/1.jpg"></p>{BODY}'))
    assert article.title == "车展开幕"
    assert article.published == "2016-01-12T10:23:00+08:00"
    assert (article.source, article.author, article.language) == ("新城晚报", "王小明", "zh")
    assert article.images == ("http://news.site.test/img/1.jpg",)
    assert article.body.split("\n") == [f"第{n}段。{SENTENCE}" for n in range(6)]


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ('{"@type": "WebPage", "datePublished": "2016-01-13"}', "2016-01-13"),
        ('{"@type": "Article", "datePublished": "2016-01-13" "broken}', "2016-01-13"),
        ("{}", "2016-01-11"),
    ],
)
def test_date_without_article_object_and_byline(stated: str, expected: str) -> None:
    html = (
        f'<title>Bridge</title><script type="application/ld+json">{stated}</script>'
        "<h1>Bridge</h1>" + ENGLISH + '<p>More.</p><i class="pubDate">January 11, 2016</i>'
    )
    assert found(html, "http://a.test/x").published == expected


def test_language_is_read_from_a_meta_element() -> None:
    html = "<meta property=og:locale content=nl_NL><h1>Brug</h1><i>03/12/2015</i>" + ENGLISH
    article = found(html, "http://a.test/x")
    assert (article.language, article.published) == ("nl", "2015-12-03")


@pytest.mark.parametrize(
    "head",
    [
        '<meta name="w-published-date" content="2016-01-13">',
        '<span property="schema:dateCreated" content="2016-01-13T08:00:00+08:00"></span>',
        '<abbr class="published" title="2016-01-13T08:00:00+08:00">8:00</abbr>',
    ],
)
def test_machine_readable_dates_of_other_elements_are_read(head: str) -> None:
    article = found(page(head=head), "http://a.test/x")
    assert article.published[:10] == "2016-01-13"


def test_metadata_is_preferred_to_text() -> None:
    linked = {
        "@context": "https://schema.org",
        "@graph": [
            {"@type": "WebSite", "name": "别的"},
            {
                "@type": ["NewsArticle"],
                "headline": "新车展开幕",
                "datePublished": "2016-01-13T08:00:00Z",
                "author": [{"@type": "Person", "name": "李大华"}, "赵一"],
                "publisher": {"name": "新城网"},
                "image": {"url": "/big.jpg"},
            },
        ],
    }
    head = f'<script type="application/ld+json">{json.dumps(linked, ensure_ascii=False)}</script>'
    html = page(head=head, title="").replace("<h1>车展开幕</h1>", "")
    article = found(html)
    assert article.title == "新车展开幕"
    assert article.published == "2016-01-13T08:00:00+00:00"
    assert article.author == "李大华 赵一"
    assert article.images == ("http://news.site.test/big.jpg",)


def test_source_and_time_are_read_from_meta_elements() -> None:
    head = (
        '<meta name="source" content="本地日报"><meta name="publishdate" content="2016-01-12">'
        '<meta property="og:image" content="http://img.test/a.png">'
    )
    article = found(page(head=head))
    assert (article.source, article.published) == ("本地日报", "2016-01-12T10:23:00+08:00")
    assert article.images == ("http://img.test/a.png",)


def test_source_in_a_meta_element_loses_its_label() -> None:
    head = '<meta name="source" content="来源：新城晚报">'
    assert found(page(head=head)).source == "新城晚报"


def test_headline_of_a_page_with_the_title_of_its_site_is_above_the_date() -> None:
    head = "<div><b>车展今日开幕</b></div><div>发布时间：2016-01-12</div>"
    assert found(f"<title>新城教育网</title>{head}{BODY}").title == "车展今日开幕"


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("本地新闻网", "王小明"),
        ("新城晚报", "王小明"),
        ("李小四", "李小四"),
        ("记者李小四／新城报导", "李小四"),
    ],
)
def test_author_of_the_byline_is_preferred_to_names_of_media(stated: str, expected: str) -> None:
    assert found(page(head=f'<meta name=author content="{stated}">')).author == expected


def test_name_of_the_site_is_the_author_of_a_page_without_byline() -> None:
    html = f'<title>车展开幕_新城</title><meta name=author content="新城"><h1>车展开幕</h1>{BODY}'
    assert found(html).author == "新城"


def test_role_of_an_editor_is_no_source() -> None:
    head = "<i class=source>编辑：小李</i><i class=source>新城 ⋅</i>"
    assert found(f"<title>车展开幕</title>{head}<h1>车展开幕</h1>{BODY}").source == "新城"


def test_author_in_a_long_first_line_is_read_whole() -> None:
    first = "本文来自公众号新城周边，作者：王小五，原题《车展开幕记》，图片来自：新城图库。"
    article = found(f"<title>车展开幕</title><h1>车展开幕</h1><p>{first}</p>{BODY}")
    assert (article.author, article.source) == ("王小五", "")


def test_byline_without_a_name_has_no_name_of_another_part_of_the_page() -> None:
    head = "<a href=/add>收藏本站</a><h1>车展开幕</h1><div>2016-01-12 来源： 作者：</div>"
    article = found(f"<title>车展开幕</title>{head}<p>{SENTENCE * 4}</p>")
    assert (article.author, article.source) == ("", "")


def test_day_of_the_url_is_preferred_to_that_of_the_first_sentence() -> None:
    first = f"<p>2016年1月5日，{SENTENCE * 3}</p>"
    html = f"<title>车展开幕</title><h1>车展开幕</h1>{first}{BODY}"
    assert found(html).published == "2016-01-12"
    assert found(html, "http://news.site.test/1.html").published == "2016-01-05"


def test_reporter_in_the_line_after_a_short_first_line_is_read() -> None:
    lead = "<p>现场人山人海，来自各地的观众络绎不绝，停车也难。</p>"
    lines = f"{lead}<p>新城晚报讯（记者王小五）{SENTENCE * 3}</p>"
    assert found(f"<title>车展开幕</title><h1>车展开幕</h1>{lines}{BODY}").author == "王小五"


def test_english_page_gives_its_fields() -> None:
    html = (
        '<html lang="en"><head><title>Bridge opened | The Valley Post</title></head><body>'
        f"<h1>Bridge opened</h1><p>By Jane Miller</p><p>March 3, 2020</p>{ENGLISH}</body></html>"
    )
    article = found(html, "http://valley.test/bridge")
    assert (article.title, article.language) == ("Bridge opened", "en")
    assert (article.published, article.author) == ("2020-03-03", "Jane Miller")
    assert "waited for it since the winter" in article.body


@pytest.mark.parametrize("name", ["name, editor@valley.test", "104363", "https://valley.test/ann"])
def test_invalid_author_is_ignored(name: str) -> None:
    page = (
        f'<meta name=author content="{name}"><h1>Bridge opened</h1><p>{"The bridge is open. " * 40}'
    )
    article = extract(page, "http://valley.test/2020/bridge.html")
    assert article is not None
    assert article.author in ("", None)


def test_day_with_an_ordinal_after_the_body_is_no_text() -> None:
    posted = "<p>The toll was lower.<p>Posted by toyo on Sunday, December 4th, 2005 at 9:48 am."
    article = found(
        f"<html lang=en><h1>Bridge opened</h1>{ENGLISH}{posted}", "http://valley.test/b"
    )
    assert article.published == "2005-12-04T09:48:00"
    assert article.body.endswith("The toll was lower.")


def test_time_in_the_first_line_of_the_body_is_read() -> None:
    text = "<p>The council approved the new budget after a long debate, officials said.</p>" * 8
    html = (
        "<html lang=en><title>Council approves budget</title><h1>Council approves budget</h1>"
        f"<div><p>Mar. 1, 2026, 8:22 p.m. ET</p>{text}</div>"
    )
    assert found(html).published == "2026-03-01T20:22:00"


def test_byline_and_time_above_the_text_are_not_in_the_body() -> None:
    text = "The council approved the new budget after a long debate, officials said."
    html = (
        "<html lang=en><title>Council approves budget</title><h1>Council approves budget</h1><div>"
        f"<p>By Jane Miller</p><p>15 February 2026, 07:18</p>{f'<p>{text}</p>' * 8}</div>"
    )
    article = found(html)
    assert set(article.body.split("\n")) == {text}
    assert (article.author, article.published) == ("Jane Miller", "2026-02-15T07:18:00")
    dated = f"On 15 February 2026, {text}"
    assert found(html.replace(text, dated)).body.startswith(dated)


def test_date_after_the_fetch_is_ignored() -> None:
    html = page().replace("2016年01月12日 10:23", "2017年05月06日")
    assert found(html, "http://a.test/x", fetched_at=1_452_600_000.0).published == ""
    assert found(html, "http://a.test/x").published == "2017-05-06"


def test_title_of_the_page_record_is_used() -> None:
    html = page().replace("<h1>车展开幕</h1>", "")
    record = Page(URL, "新车展开幕 - 本地新闻网", "")
    extracted = extract(html, URL, record)
    assert extracted is not None
    assert extracted.title == "新车展开幕"


LINKS = "".join(
    f'<li><a href="/{n}.html">第{n}条新闻的标题在这里写得很长</a></li>' for n in range(80)
)


TITLE = "新城市人民政府办公室关于进一步做好今年全市重点建设项目招标文件下载时间延长工作的通知" * 2
MISSING = (
    "<title>页面不存在</title><p>很抱歉，您要访问的页面不存在，可能已被删除或移动。"
    "请检查您输入的网址是否正确，或者返回网站首页继续浏览。如果您认为这是一个错误，"
    "请与网站管理员联系，谢谢您的支持与理解。"
)


@pytest.mark.parametrize(
    ("html", "url"),
    [
        ("", URL),
        ("<html><body></body></html>", URL),
        (f"<title>频道</title><ul>{LINKS}</ul>", "http://a.test/channel/"),
        (f"<title>频道</title><div>{LINKS}</div><p>{SENTENCE}</p>", "http://a.test/channel/"),
        (page(), "http://news.site.test/"),
        ("<title>404</title><p>您访问的页面不存在。</p>", URL),
        (
            "<title>表</title><p>" + "<br>".join(["一月 12 34", "二月 56 78"] * 50),
            "http://a.test/t",
        ),
        (MISSING, "http://a.test/t"),
        ("<div>" * 6000 + BODY, URL),
        (f"<title>{TITLE}</title><div>{TITLE}</div>", URL),
        (f"<title>{TITLE}</title><div>{TITLE}</div><p>详见附件</p>", URL),
    ],
    ids=[
        "empty", "no text", "links", "hub with a teaser", "root", "error", "table", "long error",
        "too deep", "headline", "headline and a line",
    ],
)  # fmt: skip
def test_pages_that_are_no_articles_give_none(html: str, url: str) -> None:
    assert extract(html, url) is None


def test_table_is_an_article() -> None:
    rows = "".join(f"<p>{n}月 本地车展 展馆{n}号厅 门票{n}0元</p>" for n in range(1, 13))
    head = (
        '<meta property="og:type" content="article">'
        '<meta property="article:published_time" content="2016-01-12T10:23:00+08:00">'
    )
    assert "展馆7号厅" in found(page(rows, head)).body


def test_broken_markup_and_urls_raise_no_exception() -> None:
    head = (
        '<script type="application/ld+json">{"@type": "NewsArticle", "headline": </script>'
        '<script type="application/ld+json">' + "[" * 5000 + "</script>"
    )
    body = f'<p><img src="http://[bad"><img src=""><img></p>{BODY}<p>\x00\ud800<b><i></p>'
    article = found("<?xml version='1.0' encoding='gbk'?>" + page(body, head))
    assert article.images == ()
    assert "\ud800" not in article.body


@settings(max_examples=60, deadline=None)
@given(
    st.text(
        alphabet=st.sampled_from(
            list("<>/=\"' apdivtable!-[]&;文。年月日12:：作者来源\n\x00\ud800")
        )
    )
)
def test_any_text_raises_no_exception(noise: str) -> None:
    extract(noise, noise)
    extract(page(noise + BODY), f"http://a.test/{noise}")


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 60_000,
        "<!--" * 100_000,
        "<title>" + "甲 - " * 100_000 + "</title>",
        "作者：" + "张三 " * 50_000,
        "2016年1月1" * 50_000,
        ('<a href="/1">链接文字</a> ' * 20_000),
        "字<br>" * 50_000,
    ],
    ids=["nested", "comments", "title", "names", "dates", "links", "lines"],
)
def test_hostile_pages_take_limited_time(html: str) -> None:
    begin = time.process_time()
    extract(html + BODY, URL)
    assert time.process_time() - begin < 8


def page_with_paywall(first: str, day: str = "12.05.2024, 10:23 Uhr") -> str:
    """Return a page whose article continues in a separate box after the first paragraph."""
    rest = "".join(
        f"<p>Die Brücke Nummer {n} wird im Sommer saniert, sagte er.</p>" for n in range(9)
    )
    return (
        "<html lang=de><title>Drei alte Brücken werden saniert</title><body>"
        f"<h1>Drei alte Brücken werden saniert</h1><div class=when>{day}</div>"
        f"<div class=text><p>{first}</p><div class=more>{rest}</div></div>"
    )


def test_paragraph_before_the_paywall_is_in_the_body() -> None:
    first = "Der Rat hat gestern beschlossen, dass drei alte Brücken saniert werden."
    found = extract(
        page_with_paywall(first), "http://a.test/bruecken/2024/05/12/drei-alte-bruecken"
    )
    assert found is not None
    assert found.body.startswith(first)


def test_text_of_a_box_before_that_of_the_body_is_below_an_h2_without_h1() -> None:
    first = "<p>Der Rat hat gestern beschlossen, dass drei alte Brücken saniert werden.</p>"
    slogan = "<p>Aus der Stadt, jeden Tag.</p>"
    html = page_with_paywall("").replace("h1>", "h2>").replace("<p></p>", "")
    html = html.replace("<div class=text>", f"<div class=text>{first}</div><div class=text>")
    url = "http://a.test/bruecken/2024/05/12/drei-alte-bruecken"
    found = extract(html.replace("<body>", f"<body><div>{slogan}</div>"), url)
    assert found is not None
    assert found.body.startswith("Der Rat hat gestern")


def test_request_for_consent_above_the_headline_is_not_in_the_body_without_h1() -> None:
    asked = (
        "<p>We use cookies to improve your experience on this website, to measure our audience "
        "and to show you content, and we share data with our partners, who may use it.</p>"
    )
    story = "".join(
        f"<p>Old bridge {n} is to be closed in the summer, he said.</p>" for n in range(30)
    )
    html = (
        f"<title>Old bridges</title><div><h2>Your privacy</h2>{3 * asked}</div>"
        f"<div><h3>Old bridges</h3><div>{story}</div></div>"
    )
    found = extract(html, URL)
    assert found is not None
    assert found.body.startswith("Old bridge 0")


@pytest.mark.parametrize("end", [".", ""])
def test_paragraph_of_many_links_is_in_the_body(end: str) -> None:
    first = (
        "Der <a href=/1>Rat der alten Stadt am Fluss</a>, das <a href=/2>Amt für Brücken und "
        "Wege</a>, die <a href=/3>Feuerwehr der Altstadt</a> und die <a href=/4>Bahn</a> "
        f"sind nun, wie gewünscht, doch dafür{end}"
    )
    found = extract(
        page_with_paywall(first), "http://a.test/bruecken/2024/05/12/drei-alte-bruecken"
    )
    assert found is not None
    assert found.body.startswith("Der Rat der alten Stadt")


@pytest.mark.parametrize(
    ("begin", "links"),
    [
        (
            "版权：新城晚报，未经许可，不得转载",
            "关于我们联系方式 广告服务招聘信息 网站地图法律声明",
        ),
        (
            "相关：（新城晚报，记者王五，5月）",
            "大桥通车，市民欢呼 车展开幕，观众爆满 市长辞职，全市震动",
        ),
    ],
)
def test_chinese_links_without_a_sentence_are_not_in_the_body(begin: str, links: str) -> None:
    text = "".join(f"<p>第{n}座桥将维修，市长昨天在会上说，工期三个月。</p>" for n in range(9))
    line = "，".join([begin, *(f"<a href=/1>{link}</a>" for link in links.split()), "电话"])
    html = f"<title>三座桥将维修</title><h1>三座桥将维修</h1><div>{text}<p>{line}</p></div>"
    found = extract(html, "http://a.test/2024/05/12/123456.html")
    assert found is not None
    assert found.body.endswith("工期三个月。")


@pytest.mark.parametrize(
    "day", ["Stand: 12.05.2024 16:11 Uhr", "Published May 12, 2024 • 3 minute read"]
)
def test_line_with_a_date_is_not_in_the_body(day: str) -> None:
    text = "".join(
        f"<p>Die Brücke Nummer {n} wird im Sommer saniert, sagte er.</p>" for n in range(9)
    )
    html = f"<title>Brücken</title><body><div class=t><div>{day}</div>{text}</div>"
    found = extract(html, "http://a.test/bruecken/2024/05/12/drei-alte-bruecken")
    assert found is not None
    assert found.body.startswith("Die Brücke Nummer 0")


@pytest.mark.parametrize("headline", ["", "<h1>车&#1;展开幕</h1>"])
def test_references_to_control_characters_are_no_text(headline: str) -> None:
    html = f"<title>车&#1;展开幕</title>{headline}" + f"<p>第一&#x1f;天。{SENTENCE}</p>" * 3
    article = extract(html, URL, read_page(html, URL))
    assert article is not None
    assert article.title == "车 展开幕"
    assert article.body.startswith("第一 天。")
