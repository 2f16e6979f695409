"""Tests of choosing the headline from title, metadata and headings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from topiccrawl.extract.blocks import lay_out
from topiccrawl.extract.titles import LONGEST, NONE, headings_of, headline, shown_headline


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("车展今日开幕_汽车频道_新城网", "车展今日开幕"),
        ("车展今日开幕-新城新闻网", "车展今日开幕"),
        ("车展今日开幕 - 新城在线", "车展今日开幕"),
        ("车展今日开幕|新城|汽车", "车展今日开幕"),
        ("主队5-1大胜客队 球迷欢庆", "主队5-1大胜客队 球迷欢庆"),
        ("主队5-1大胜客队-新城体育", "主队5-1大胜客队"),
        ("主队5-1大胜新城体育学院", "主队5-1大胜新城体育学院"),
        ("新城大学78-65海城大学_新城网", "新城大学78-65海城大学"),
        ("车展今日开幕-新城市商务局", "车展今日开幕"),
        ("车展今日开幕-新城日报-新城数字报", "车展今日开幕"),
        ("一座老城的变迁-大结局", "一座老城的变迁-大结局"),
        ("一座老城的变迁——大结局", "一座老城的变迁——大结局"),
        ("一座老城的变迁——新城网", "一座老城的变迁"),
        ("一座老城的變遷——新城新聞網", "一座老城的變遷"),
        ("車展今日開幕-新城市衛生局", "車展今日開幕"),
        ("车展今日开幕-新城市人民政府", "车展今日开幕"),
        ("暴雨夜袭新城-市政府转移群众", "暴雨夜袭新城-市政府转移群众"),
        ("车展今日开幕-新城市从化区协和医院", "车展今日开幕"),
        ("车展今日开幕-海城理工大学", "车展今日开幕"),
        ("从医四十年-他没有离开过县医院", "从医四十年-他没有离开过县医院"),
        ("谁更好-市一医院还是省医院", "谁更好-市一医院还是省医院"),
        ("医联体建设-从乡镇到三甲医院", "医联体建设-从乡镇到三甲医院"),
        ("山村走出的她-考上了新城大学", "山村走出的她-考上了新城大学"),
        ("停水三天-他打电话到市水务局", "停水三天-他打电话到市水务局"),
        ("Bridge opened - The Valley Post", "Bridge opened"),
        ("Bridge opened to a well-known guest", "Bridge opened to a well-known guest"),
        ("Lock-in times are over", "Lock-in times are over"),
        ("Ten rules for a well-read journal", "Ten rules for a well-read journal"),
        ("Bridge opened-The Valley Post", "Bridge opened"),
        ("Bridge opened | Jane Miller's Blog", "Bridge opened"),
        ("Ten rules - how to write a blog", "Ten rules - how to write a blog"),
        ("  车展   今日\n开幕 ", "车展 今日 开幕"),
        ("", ""),
    ],
)
def test_names_of_sites_are_removed_from_titles(title: str, expected: str) -> None:
    assert headline(NONE, title, []) == expected


@pytest.mark.parametrize(
    "title",
    [
        "他从山村考上了新城-海城大学",
        "全国最难考的学校-新城大学",
        "走进百年名校-新城师范学院",
        "新城首家三甲医院-新城市第一医院",
        "从医四十年-他没有离开过县医院",
        "医联体建设-从乡镇到三甲医院",
        "谁更好-市一医院还是省医院",
        "省厅发文-新城省交通厅",
        "一张罚单的来历-新城市环保局",
        "大胜之后-走进新城体育",
        "一份报纸的百年-新城日报",
        "改变世界的人-海城科技",
    ],
)
def test_end_of_a_heading_after_a_hyphen_is_no_name(title: str) -> None:
    for ending in ("", "_新城网", " - 新城在线", "-新城新闻网"):
        assert headline(((), [title + ending]), title + ending, [title], h1=1) == title
    assert headline(NONE, f"{title}_新城网", [title], site=title.split("-")[1], h1=1) != title


def test_heading_in_the_title_is_preferred_to_metadata() -> None:
    assert (
        headline(((), ["开幕"]), "车展开幕！现场直击-新城", ["新城", "车展开幕！现场直击"])
        == "车展开幕！现场直击"
    )


def test_metadata_is_preferred_to_headings_not_in_the_title() -> None:
    assert headline(((), ["车展开幕_新城网"]), "新城网", ["相关新闻"]) == "车展开幕"


def test_headline_is_preferred_to_a_single_social_title() -> None:
    shared, own = "Ten bridges that every driver knows", "The bridge over the river is open"
    window = f"{shared} | The Valley Post"
    assert headline(((), [shared]), window, [own], h1=1) == own
    assert headline(((), [shared, shared]), window, [own], h1=1) == shared
    assert headline(([own], [shared]), window, [own], h1=1) == own


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("Bridge news - Part two", "Bridge news - Part two - Mill"),
        ("Bridges 2024 – North & South", "Bridges 2024 - North & South | Ann at the river"),
        ("读懂read_file和write_file的区别", "读懂read_file和write_file的区别 - 小河"),
    ],
)
def test_heading_before_the_name_of_the_site_is_whole(heading: str, title: str) -> None:
    assert headline(NONE, title, [heading], h1=1) == heading
    assert headline(([heading], [heading]), title, [heading], h1=1) == heading


def test_heading_with_the_name_of_the_site_is_trimmed() -> None:
    title, h1 = "车展今日开幕-新城体育-新城网", "车展今日开幕-新城体育"
    assert headline(NONE, title, [h1], site="新城体育", h1=1) == "车展今日开幕"


def test_heading_is_used_without_title_and_metadata() -> None:
    assert headline(NONE, "", ["车展开幕"]) == "车展开幕"


def test_byline_at_the_end_of_a_heading_is_no_headline() -> None:
    tree = LexborHTMLParser("<h1>车展今日开幕<br><span>2026-01-12 10:23 来源：新城网</span></h1>")
    assert headings_of(tree, NONE, "车展今日开幕") == (["车展今日开幕"], 1)
    tree = LexborHTMLParser("<h1>回顾 <em>2026年1月</em></h1>")
    assert headings_of(tree, NONE, "") == (["回顾 2026年1月"], 1)
    tree = LexborHTMLParser("<h1>车展今日开幕 <em>2026年1月12日闭幕</em></h1>")
    whole = "车展今日开幕 2026年1月12日闭幕"
    assert headings_of(tree, NONE, f"{whole}_新城网") == ([whole], 1)


@pytest.mark.parametrize("href", ["/", "http://ann.example/", "https://ann.example"])
def test_h1_that_links_to_the_root_is_no_headline(href: str) -> None:
    body = f"<h1><a href='{href}'>Ann at the river</a></h1><h2>Bridge opened</h2><h2>Comments</h2>"
    tree = LexborHTMLParser(f"<title>Bridge opened</title>{body}")
    headings, h1 = headings_of(tree, NONE, "Bridge opened")
    assert (headings, h1) == (["Bridge opened", "Comments"], 0)


@pytest.mark.parametrize("href", ["#top", "?p=1", "/2020/bridge", "http://[a"])
def test_h1_with_another_link_is_a_headline(href: str) -> None:
    tree = LexborHTMLParser(f"<h1><a href='{href}'>Bridge opened</a></h1>")
    assert headings_of(tree, NONE, "") == (["Bridge opened"], 1)


def test_h3_in_the_title_is_a_heading() -> None:
    tree = LexborHTMLParser("<h1>Mill news</h1><h3>Bridge opened</h3><h3>More</h3>")
    title = "Bridge opened - Ann - Mill news"
    assert headings_of(tree, NONE, title) == (["Mill news", "Bridge opened"], 1)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["<a href=/>新城市教育网</a>", "车展今日开幕", "发布时间：2016-01-12"], "车展今日开幕"),
        (["车展今日开幕", "新城网记者 王小五", "2016-01-12"], "车展今日开幕"),
        (["新城市教育网", "车展今日开幕", "2016-01-12"], "新城市教育网"),
        (["<a href=/1>车展今日开幕</a>", "2016-01-12"], "新城市教育网"),
        (["车展今日开幕，观众很多。", "2016-01-12"], "新城市教育网"),
        (["车展今日开幕"], "新城市教育网"),
        (["车展", "2016-01-12"], "新城市教育网"),
        (["车展开幕致辞（2016年1月11日）", "2016-01-12"], "车展开幕致辞（2016年1月11日）"),
        (["车展今日开幕", "(2016-01-12)", "来源：新城网"], "车展今日开幕"),
    ],
)
def test_line_above_the_date_is_a_headline(lines: list[str], expected: str) -> None:
    tree = LexborHTMLParser("".join(f"<div>{line}</div>" for line in lines))
    assert tree.body is not None
    assert shown_headline("新城市教育网", lay_out(tree.body).blocks) == expected


def test_part_of_the_title_above_the_date_is_the_headline() -> None:
    tree = LexborHTMLParser("<div>车展今日开幕</div><div>2016-01-12</div>")
    assert tree.body is not None
    blocks = lay_out(tree.body).blocks
    assert shown_headline("车展今日开幕-新城家长学校", blocks) == "车展今日开幕"
    assert shown_headline("组图：车展今日开幕", blocks) == "组图：车展今日开幕"


@pytest.mark.parametrize("above", ["Jane Miller", "传播正能量的网站"])
def test_begin_of_the_title_above_the_text_keeps_the_title(above: str) -> None:
    tree = LexborHTMLParser(f"<div>新城大桥</div><p>{above}</p><p>2016-01-12</p>")
    assert tree.body is not None
    title = "新城大桥----新城市教育网"
    assert shown_headline(title, lay_out(tree.body).blocks) == title


def test_names_above_the_date_are_no_headline() -> None:
    tree = LexborHTMLParser("<p>Jane Miller</p><p>June 3, 2020</p>")
    assert tree.body is not None
    assert shown_headline("Bridge opens in May", lay_out(tree.body).blocks) == "Bridge opens in May"


def test_repeated_heading_is_no_headline() -> None:
    assert headline(NONE, "Bridge opened", ["Read on"] * 9) == "Bridge opened"


def test_headline_that_is_also_given_as_the_name_of_the_site_is_kept() -> None:
    shown = "Bridge opens to traffic"
    assert headline(((), [shown]), "", [shown], shown, h1=1) == shown
    assert not headline(NONE, shown, [], shown)
    assert not headline(NONE, shown, [shown], shown, h1=1)


def test_given_name_of_the_site_is_removed() -> None:
    assert headline(NONE, "车展开幕-甲乙丙", [], site="甲乙丙") == "车展开幕"


@given(st.text(max_size=2000), st.lists(st.text(max_size=50), max_size=4))
def test_a_headline_is_short_one_line_and_stable(title: str, headings: list[str]) -> None:
    once = headline(NONE, title, headings)
    assert len(once) <= LONGEST
    assert once == " ".join(once.split())
    assert headline(NONE, once, []) == once


def test_h1_that_metadata_repeat_is_the_headline() -> None:
    stated = ((), ("Storm hits coast",))
    found = headline(stated, "The storm", ["Topic - weather", "Storm hits coast"], h1=2)
    assert found == "Storm hits coast"
