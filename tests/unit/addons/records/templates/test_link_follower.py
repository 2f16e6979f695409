"""Tests of the links to the next layer and to next pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.addons.records.templates.link_follower import LinkFollower, NextLinks
from topiccrawl.addons.records.templates.template import Template
from topiccrawl.extract.hubs import next_page_url
from topiccrawl.links.page import read_page

PAGE = "http://a.test/list?page=2"
NEXT_PAGE = "http://a.test/list?page=3"


@pytest.mark.parametrize(
    "html",
    [
        '<link rel="next" href="/list?page=3"><a href="/x">下一页</a>',
        '<a rel="next" href="?page=3">继续</a>',
        '<a href="?page=1">上一页</a> <a href="?page=3">下一页</a>',
        '<a href="?page=3">下一頁</a>',
        '<a href="?page=3">[下页]</a>',
        '<a href="?page=3">下一页 ›</a>',
        '<a href="?page=3">Next »</a>',
        '<a href="?page=3"><span>下一</span><span>页</span></a>',
        '<a href="?page=3" title="下一页"><i class="icon"></i></a>',
        '<a href="?page=3"><img src="n.gif" alt="下一页"></a>',
        '<a href="?page=3" aria-label="Next"><svg></svg></a>',
        '<a href="?page=3">Nächste Seite</a>',
        '<a href="?page=3">Page suivante ▶</a>',
        '<a href="?page=3">次のページ</a>',
        '<a href="?page=1">1</a><b>2</b><a href="?page=3">3</a><a href="?page=4">4</a>',
        '<a href="?page=1">‹</a><a href="?page=3">›</a>',
        '<button data-url="/list?page=3">加载更多</button>',
        '<a href="?page=3">查看更多</a>',
        '<a href="javascript:go(3)">下一页</a><a href="?page=3">3</a>',
    ],
)
def test_next_page_link_is_found_in_every_form(html: str) -> None:
    assert next_page_url(html, PAGE) == NEXT_PAGE


@pytest.mark.parametrize(
    "html",
    [
        '<a href="?page=1">上一页</a>',
        '<a href="?page=2">2</a>',
        '<a href="/news">更多</a>',
        '<a href="javascript:next()">下一页</a>',
        '<a href="?page=3" rel="nofollow">下一页</a>',
        '<a href="/next-generation">Next generation software</a>',
        '<a href="/other/3">3</a>',
        "",
    ],
)
def test_other_links_are_no_next_page(html: str) -> None:
    assert next_page_url(html, PAGE) == ""


def test_next_page_of_a_first_page_without_number() -> None:
    html = "<b>1</b><a href='list_2.html'>2</a><a href='list_3.html'>3</a>"
    assert next_page_url(html, "http://a.test/list.html") == "http://a.test/list_2.html"


@given(st.text(alphabet="<a href=?下一页>1234\"'/", max_size=80))
def test_next_page_of_any_markup_is_another_page(html: str) -> None:
    assert next_page_url(html, PAGE) != PAGE


TEMPLATE = Template(
    name="t",
    seeds=("http://a.test/",),
    filter=({"企业名录": ("会员",)}, {"联系我们": ("联系",)}),
    crawl={"QQ": "qq"},  # type: ignore[dict-item]  # as a file says it
    denied_hosts=("bad.test",),
)


def follow(layer: int, html: str) -> NextLinks:
    return LinkFollower(TEMPLATE).follow(layer, read_page(html, PAGE), html)


def test_each_layer_follows_links_with_its_own_words() -> None:
    html = (
        '<a href="m/1.html">会员单位</a><a href="/m/1.html">会员</a><a href="http://bad.test/">会员</a>'
        '<a href="lx.asp">联系方式</a>'
    )
    assert follow(0, html).onward == ("http://a.test/m/1.html",)
    assert follow(1, html).onward == ("http://a.test/lx.asp",)
    assert follow(2, html) == NextLinks()


def test_redirect_by_script_is_followed_from_a_seed_without_other_links() -> None:
    script = "<script>location.href = '/cn/'</script>"
    moved = NextLinks(next="http://a.test/cn/", itself=True)
    assert follow(0, script) == moved
    assert follow(1, script) == NextLinks(itself=True), "only once, not in each layer"
    assert follow(0, script + "<a href=/x>x</a>") == NextLinks(itself=True)
    assert follow(0, script.replace("/cn/", "http://bad.test/")) == NextLinks(itself=True)


def test_next_page_needs_the_word_of_the_layer() -> None:
    assert follow(1, '<a href="?page=3">下一页</a>') == NextLinks(itself=True)
    html = '<a href="lx.asp">联系我们</a><a href="?page=3">下一页</a>'
    assert follow(1, html) == NextLinks(("http://a.test/lx.asp",), NEXT_PAGE, itself=True)
