"""Tests of articles on several pages: links to the parts, and joining them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.extract.pagination import (
    Pager,
    joined,
    pager_of,
    parse_page_url,
    without_pages,
)
from topiccrawl.model import Article, Link
from topiccrawl.text.digest import digest_of

HOST = "http://a.test"


def links(*pairs: tuple[str, str]) -> list[Link]:
    return [Link(HOST + url, anchor) for url, anchor in pairs]


@pytest.mark.parametrize(
    ("url", "pager", "expected"),
    [
        ("/1.html", [("/1_2.html", "下一页")], "/1_2.html"),
        ("/1.html", [("/1_1.html", "2"), ("/1_2.html", "3")], "/1_1.html"),  # counted from 0
        ("/1_2.html", [("/1.html", "1"), ("/1_3.html", "[3]"), ("/1_4.html", "4")], "/1_3.html"),
        ("/a-b.html", [("/a-b-2.html", "后一页 >>")], "/a-b-2.html"),
        ("/s?id=3", [("/s?id=3&page=2", "第2页")], "/s?id=3&page=2"),
        ("/s?id=3&page=2", [("/s?id=3&page=3", "Next")], "/s?id=3&page=3"),
        ("/2016/n4/", [("/2016/n4_2/", "2")], "/2016/n4_2/"),
        ("/1.html", [("/1_2.html", "下一页：电池从哪里来")], "/1_2.html"),
        ("/1.html", [("/1_2.html", "后页")], "/1_2.html"),
        ("/1.html", [("/1_full.html", "阅读全文>>")], "/1_full.html"),
        ("/1.html", [("/1_0.html", "在本页阅读全文")], "/1_0.html"),
        ("/1.html", [("/1_2.html", "2"), ("/1_all.html", "显示全文")], "/1_2.html"),
        ("/s?id=3", [("/s?id=3&all=1", "Read full story")], "/s?id=3&all=1"),
        ("/a/b/", [("/a/b/full/", "View as single page")], "/a/b/full/"),
        ("/1.html?from=list", [("/1_2.html", "下一页")], "/1_2.html"),
        ("/1.html?from=list", [("/1_all.html", "阅读全文")], "/1_all.html"),
        ("/s?id=3", [("/s?page=2", "下一页")], ""),
        ("/s.php?id=3", [("/s_all.php?id=4", "阅读全文")], ""),
        ("/s?id=3", [("/s?id=4&all=1", "阅读全文")], ""),
        ("/1.html", [("/2.html", "阅读全文")], ""),
        ("/news/", [("/news/43.html", "阅读全文")], ""),
        ("/1.html", [("/1_all.html", "全文搜索")], ""),
        ("/a/b/", [("/a/b/comments/", "View all")], ""),
        ("/1.html", [("/2.html", "下一页")], ""),
        ("/1.html", [("/2.html", "2"), ("/1_9.html", "相关图片")], ""),
        ("/s?id=3", [("/s?id=4&page=2", "下一页")], ""),
        ("/1_3.html", [("/1_2.html", "上一页"), ("/1.html", "1")], ""),
        ("/1.html", [("/1_2.html", "Headline above an image"), ("/1_3.html", "3")], "/1_2.html"),
        ("/1_2.html", [("/1.html", "1"), ("/1_3.html", "Headline above an image")], "/1_3.html"),
        ("/n_1.html", [("/n_1_2.html", "2"), ("/n_1_3.html", "3")], "/n_1_2.html"),
        ("/n_8.html", [("/n_8_2.html", "下一页")], "/n_8_2.html"),
        ("/1.html", [("/1_2.html", "下一篇")], ""),
        ("/t20160112_43.html", [("/t20160112_44.html", "相关新闻")], ""),
    ],
)
def test_next_part_is_found(url: str, pager: list[tuple[str, str]], expected: str) -> None:
    found = pager_of(HOST + url, links(*pager))
    assert found.next == (HOST + expected if expected else "")


def test_first_part_is_found_from_a_later_one() -> None:
    pager = links(("/1.html", "1"), ("/1_2.html", "上一页"), ("/1_4.html", "下一页"))
    assert pager_of(f"{HOST}/1_3.html", pager) == Pager(f"{HOST}/1_4.html", f"{HOST}/1.html")
    assert pager_of(f"{HOST}/1_3.html", links(("/", "首页"), ("/1.html", "标题"))).first == ""
    pager = links(("/1.html", "标题"), ("/1_3.html", "3"))
    assert pager_of(f"{HOST}/1_2.html", pager).first == f"{HOST}/1.html"


def test_first_part_may_have_an_id_that_looks_like_a_page_number() -> None:
    pager = links(("/n_1.html", "1"), ("/n_1_3.html", "3"))
    assert pager_of(f"{HOST}/n_1_2.html", pager) == Pager(f"{HOST}/n_1_3.html", f"{HOST}/n_1.html")


def test_links_to_own_parts_are_removed() -> None:
    pager = links(("/1_2.html", "2"), ("/2.html", "二"), ("/1.html", "一"))
    assert without_pages(f"{HOST}/1.html", pager) == tuple(pager[1:])


def test_links_to_the_whole_article_are_removed() -> None:
    pager = links(("/1_all.html", "阅读全文"), ("/2.html", "阅读全文"))
    assert without_pages(f"{HOST}/1.html", pager) == tuple(pager[1:])


def test_joining_replaces_a_truncated_line() -> None:
    first = Article(f"{HOST}/1", "题", "一。\n二的开头……")
    assert joined(first, "一。\n二的开头和结尾。\n三。").body == "一。\n二的开头和结尾。\n三。"


def test_joining_adds_new_lines_and_images_only() -> None:
    first = Article(f"{HOST}/1", "题", "导读。\n一。", images=("a",))
    both = joined(first, "导读。\n二。\n三。", ("a", "b"))
    assert both.body == "导读。\n一。\n二。\n三。"
    assert both.images == ("a", "b")
    assert both.digest == digest_of(both.body)
    assert joined(both, both.body) == both


@given(st.text(), st.lists(st.tuples(st.text(), st.text()), max_size=5))
def test_any_text_raises_no_exception(url: str, pairs: list[tuple[str, str]]) -> None:
    found = pager_of(HOST + "/" + url, links(*pairs))
    assert found.next in {"", *(HOST + path for path, _ in pairs)}


@given(st.integers(1, 99), st.sampled_from(["_", "-"]))
def test_all_parts_have_one_base_url(number: int, mark: str) -> None:
    assert parse_page_url(f"{HOST}/n7{mark}{number}.html") == (f"{HOST}/n7.html", number)
