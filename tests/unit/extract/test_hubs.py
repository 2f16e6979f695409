"""Tests of finding the list of articles on a hub, and its next page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.extract.hubs import hub_list

URL = "http://a.test/news/"
MENU = "".join(f"<li><a href='/c{n}/'>频道{n}</a></li>" for n in range(9))
HOT = "".join(
    f"<li><a href='/20200{n}01/n{n}1111.html'>大家都在看的第{n}条</a></li>" for n in range(1, 6)
)
SITE = "<ul class=menu>{menu}</ul>{main}<div><h3>热文</h3><ul>{hot}</ul></div>{foot}"


def page(main: str, foot: str = "") -> str:
    return SITE.format(menu=MENU, main=main, hot=HOT, foot=foot)


ROWS = {
    "list": "<ul>{}</ul>", "table": "<table>{}</table>", "boxes": "<div>{}</div>",
}  # fmt: skip
LINK = "<a href='/20200{n}05/n{n}.html'>今天的第{n}条新闻标题</a>"
ROW = {
    "list": f"<li><span>03-0{{n}} 12:3{{n}}</span>{LINK}",
    "table": f"<tr><td>{LINK}<td>03-0{{n}} 12:3{{n}}</tr>",
    "boxes": f"<div><h4>{LINK}</h4><a href='#'><img></a><i>2020-03-0{{n}} 12:3{{n}}</i></div>",
}


@pytest.mark.parametrize("kind", sorted(ROWS))
def test_list_is_found_among_menus_and_charts(kind: str) -> None:
    rows = "".join(ROW[kind].format(n=n) for n in range(1, 6))
    found = hub_list(page(ROWS[kind].format(rows)), URL, fetched_at=1_590_000_000)
    assert found is not None
    assert [item.title for item in found.items] == [f"今天的第{n}条新闻标题" for n in range(1, 6)]
    assert found.items[0].url == "http://a.test/20200105/n1.html"
    assert [item.published for item in found.items][:2] == [
        "2020-03-01T12:31:00+08:00", "2020-03-02T12:32:00+08:00"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "published"),
    [("12-31", "2025-12-31"), ("09月20日", "2026-09-20"), ("9/21", "2026-09-21"), ("02-30", "")],
)
def test_date_without_a_year_is_the_last_one_before_the_fetch(written: str, published: str) -> None:
    rows = "".join(f"<li><a href='/n/{n}a'>第{n}条新闻标题</a> {written}" for n in range(4))
    found = hub_list(f"<ul>{rows}</ul>", URL, fetched_at=1_790_000_000)  # 21 September 2026
    assert found is not None
    assert {item.published for item in found.items} == {published}


@pytest.mark.parametrize(
    ("foot", "target"),
    [
        ("<a href='?p=2'>下一页</a>", "http://a.test/news/?p=2"),
        ("<a href='2.html'>[下一页]</a>", "http://a.test/news/2.html"),
        ("<a href='2.html'>Next »</a>", "http://a.test/news/2.html"),
        ("<a rel=next href='2.html'>&gt;</a>", "http://a.test/news/2.html"),
        ("<a href='2.html' aria-label='pages'><img alt='下一页'></a>", "http://a.test/news/2.html"),
        (
            "<a href='?p=2' title='»' aria-label='Weiterblättern'></a>",
            "http://a.test/news/?p=2",
        ),
        ("<a href='javascript:more()'>下一页</a>", None),
        ("<a href='/news/'>下一页</a>", None),
        ("<a href='2.html'>下一页的故事</a>", None),
        ("", None),
    ],
)
def test_next_page_is_found(foot: str, target: str | None) -> None:
    found = hub_list(page("", foot), URL)
    assert found is not None
    assert found.next_page == target


def test_links_refer_to_the_base_and_encoding_of_the_page() -> None:
    foot = "<base href='/2020/'><a href='?q=新闻&p=2'>下一页</a>"
    rows = "".join(
        f"<li>03-0{n} <a href='2020030{n}/n1.html'>今天的第{n}条新闻标题</a>" for n in range(1, 6)
    )
    found = hub_list(page(f"<ul>{rows}</ul>", foot), URL, encoding="gb18030")
    assert found is not None
    assert found.items[4].url == "http://a.test/2020/20200305/n1.html"
    assert found.next_page == "http://a.test/2020/?q=%D0%C2%CE%C5&p=2"


def test_prose_and_menus_have_no_list() -> None:
    assert hub_list("<p>他说<a href='/1.html'>这里</a>什么也没有。</p>" * 9, URL) is None
    assert hub_list(f"<ul>{MENU}</ul>", URL) is None


@given(st.text(alphabet="<>/a ='hrefulidvtsp1.", max_size=200))
def test_any_text_gives_a_list_or_none(html: str) -> None:
    found = hub_list(html, URL)
    assert found is None or found.items
