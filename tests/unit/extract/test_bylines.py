"""Tests of reading authors and sources from bylines."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.extract.bylines import author_in, marked_author, medium_near_date, source_in
from topiccrawl.extract.extract import extract
from topiccrawl.links.limits import parse_html


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("2016年01月12日10:23\n来源：\n新城晚报\n作者：\n张三", "新城晚报"),
        ("稿源：新城网-新城日报 2016-01-12", "新城网-新城日报"),
        ("文章来源:《新城周刊》", "新城周刊"),
        ("来源： 编辑：李四", ""),
        ("他说消息的来源不明", ""),
        ("來源：新城時報", "新城時報"),
        ("来源丨新城晚报 编辑丨李四", "新城晚报"),
        ("图片来源：新城图库", ""),
        ("头图来自：新城图库", ""),
        ("来源:未知 作者:admin", ""),
        ("来源：\n发布时间：\n2016-01-12", ""),
        ("来源：admin", ""),
        ("来源：\n2016年1月12日，车展开幕。", ""),
        ("来源：21世纪新城报", "21世纪新城报"),
        ("来源：\n新城网\n2016-01-12", "新城网"),
        ("来源：\n新城网 作者：张三", "新城网"),
        ("来源：\n各区、县人民政府：", ""),
        ("来源：\n历史，总是在特殊的时刻给人启迪。", ""),
    ],
)
def test_source_is_read_from_text(text: str, source: str) -> None:
    assert source_in(text) == source


@pytest.mark.parametrize(
    ("text", "author"),
    [
        ("来源：新城晚报 作者：张三", "张三"),
        ("作者：张三 李小四 王五", "张三 李小四 王五"),
        ("作者：张三 新浪微博", "张三"),
        ("作者：朱 渊", "朱渊"),
        ("文/记者：王五　摄影：赵六", "王五"),
        ("本报记者 王小五 报道", "王小五"),
        ("新城讯（记者 王五 赵六）昨天", "王五 赵六"),
        ("(责任编辑：李四)", ""),
        ("记者：您好，请问您怎么看？", ""),
        ("记者：这已经是第 15次车展。", ""),
        ("记者：王小五；摄影：李四", "王小五"),
        ("新城网记者 王小五 通讯员 李四", "王小五"),
        ("新城网记者 王小五 实习生 李四", "王小五"),
        ("撰稿人：王小五、李四", "王小五 李四"),
        ("文/图 王小五", "王小五"),
        ("文图：王小五", "王小五"),
        ("图文/王小五", "王小五"),
        ("文/钱小七", "钱小七"),
        ("责编：李四\n作者：张三", "张三"),
        ("作者：佚名", ""),
        ("By Jane Miller\nMarch 3, 2020", "Jane Miller"),
        ("By\nJane Miller\nMarch 3, 2020", "Jane Miller"),  # a link
        ("Tall Hill\nBy: Jane M.\nMarch", "Jane M."),
        ("Von Jane Miller und Jo Hill\nLeeds", "Jane Miller, Jo Hill"),
        ("Publié par Jane Miller\n3 mars 2020", "Jane Miller"),
        ("Por:\nJane Miller\nLeeds", "Jane Miller"),
        ("di Jane Miller", "Jane Miller"),
        ("By Jane van der Berg\nLeeds", "Jane van der Berg"),
        ("By Bike across Africa\nLeeds", ""),
        ("Von der Küste kam\nRegen", ""),
        ("这篇文章没有署名", ""),
        ("本报记者　王小五　李　四", "王小五 李四"),
        ("文/本报记者 王小五", "王小五"),
        ("作者：新城社记者 王小五", "王小五"),
        ("作者 | 王小五", "王小五"),
        ("来源：新城社\n。\n车展今天闭幕。（王小五）", "王小五"),
        ("车展今天闭幕”。(王小五 李四)", "王小五 李四"),
        ("車展今天閉幕。（張小五）", "張小五"),
        ("车展今天闭幕。（作者 谷小五）", "谷小五"),
        ("请各单位遵照执行。（盖章）", ""),
        ("车展今天闭幕。（广告）", ""),
        ("车展今天闭幕。（附件）", ""),
        ("车展今天闭幕。（评论员）", ""),
        ("车展今天闭幕。（王小摄）", ""),
        ("车展今天闭幕。（未完待续）", ""),
        ("车展今天闭幕。（新城报）", ""),
        ("车展今天闭幕。（有删节）", ""),
        ("车展今天闭幕（王小五）", ""),
        ("车展今天闭幕。（王小五）\n展会", ""),
        ("原文 | 新城", ""),
        ("读者|作者|专题|视频", ""),
        ("新城新闻记者 王小五", "王小五"),
        ("新城讯（记者王小五 通讯员李四）昨天", "王小五"),
        ("〔記者王小五／新城報導〕", "王小五"),
        ("（新城社記者王小五海城19日電）", "王小五"),
        ("（新城社記者王五海城3日電）", "王五"),
        ("（记者 王小五、李四/文）", "王小五 李四"),
        ("作者：王小五　責任編輯：李四", "王小五"),
        ("首页/记者观察/正文 2016-01-12", ""),
        ("首页/记者在线/图片 记者 协会/网站", ""),
        ("本报记者王小五新城报道", "王小五"),
        ("本报记者 王小五 新城报道", "王小五"),
        ("本报记者 王小五摄", "王小五"),
        ("本报记者王五", "王五"),
        ("本报记者 欧阳小五）", "欧阳小五"),
        ("新城社记者 王小五 李四 报道", "王小五 李四"),
        ("撰文 新城晚报记者 王小五 \n正文", "王小五"),
        ("（新城都市报记者 王小五）", "王小五"),
        ("新城晚报记者 王小五摄影", "王小五"),
        ("新城商报记者 王五 每逢岁末，球队都要集训。", "王五"),
        ("新城新闻记者 王小五 新城新闻编辑 李四", "王小五"),
        ("他告诉新城日报记者 事情已经解决 他很高兴。", ""),
        ("他在接受电视台记者 采访时 说明了情况。", ""),
        ("他对新城社记者 表示 事情已经解决。", ""),
        ("有一位报社记者 前往现场 拍照。", ""),
        ("他说，晚报记者 独家专访 了球员。", ""),
        ("昨天，新城台记者 探访灾区 时发现了它。", ""),
        ("她请周刊记者 到家里 坐坐。", ""),
        ("几名首席记者 走进新城 采访。", ""),
        ("新城网记者 从市政府获悉 大桥通车。", ""),
        ("新城社记者 今天 到达现场。", ""),
        ("本报记者 从市政府获悉 大桥通车。", ""),
        ("本报记者昨天从市政府获悉 大桥通车。", ""),
    ],
)
def test_author_is_read_from_text(text: str, author: str) -> None:
    assert author_in(text) == author


def test_by_inside_a_sentence_names_no_author() -> None:
    lines = "Bridge opens\nText.\nThis\nwork\n{}\nis licensed"
    assert author_in(lines.format("by\nJane Miller")) == ""
    assert author_in(lines.format("by Newtown Weekly")) == ""
    assert author_in(lines.format("von\nJane Miller")) == ""
    assert author_in(lines.format("by:\nJane Miller")) == "Jane Miller"
    assert author_in("Bridge opens\nby\nJane Miller\nMay 3, 2020") == "Jane Miller"
    assert author_in("Bridge opens\nPosted on\nMay 3, 2020\nby\nJane Miller") == "Jane Miller"


@pytest.mark.parametrize(
    ("text", "medium"),
    [
        ("国内\n新城晚报\n[\n微博\n]\n张三\n2016-01-12 10:23\n评论", "新城晚报"),
        ("2016-01-12 10:23\n新城网\n评论", "新城网"),
        ("张三\n2016-01-12 10:23\n评论", ""),
        ("新城晚报\n没有日期", ""),
    ],
)
def test_medium_is_read_from_lines_near_the_date(text: str, medium: str) -> None:
    assert medium_near_date(text) == medium


@given(st.text(alphabet=st.sampled_from(list("来源作者记编辑：: \n（）张三李2016-年A.b"))))
def test_any_text_gives_one_line(text: str) -> None:
    for found in (source_in(text), author_in(text), medium_near_date(text)):
        assert found == found.strip()
        assert "\n" not in found


@pytest.mark.parametrize(
    ("html", "author"),
    [
        ('<p class="byline">By <a href="/j">Jane Miller</a></p>', "Jane Miller"),
        (
            '<span class=byline>by <a rel="author" href="/j">Jane de Vries</a></span>',
            "Jane de Vries",
        ),
        ("<p class=article-author>Jo Hill, Li Wen &amp; Åsa Ek</p>", "Jo Hill, Li Wen, Åsa Ek"),
        ("<p class=byline>Posted by Jane Miller</p>", "Jane Miller"),
        ("<p class=byline><i class=hidden>Author </i><a>Jane Miller</a></p>", "Jane Miller"),
        ("<p class=byline>由 <a rel=author href=/c>陈清扬</a></p>", "陈清扬"),
        ('<span class="author">陈清扬</span>', "陈清扬"),
        ('<span class="author">编辑</span><span class="author">新城晚报</span>', ""),
        ('<button class="author-follow">关注</button><b class="author">陈清扬</b>', "陈清扬"),
        ('<p class="author">陈清扬 <i>关注</i></p>', "陈清扬"),
        ('<p class="author">新城市政府发布 关注</p>', ""),
        ('<i class="authorized">我已授权</i>', ""),
        ('<p class="author-bio">Jane Miller writes about cars and lives in Leeds.</p>', ""),
        ('<p class="author">admin</p><p class="byline">Jane Miller 2 days ago</p>', ""),
        ("<main><p class=byline>By Jo Hill</p><p id=comments>x</p></main>", "Jo Hill"),
        ("<p class=byline>Veröffentlicht am</p><p class=author>Von Jo Hill</p>", "Jo Hill"),
        ("<p class=author>محمد علي</p>", "محمد علي"),
        ('<div id="comments"><b class="comment-author">Jane Miller</b></div>', ""),
        ('<div class="comment"><b class="author">Jane Miller</b></div>', ""),
        ("<i class=vcard><a class=fn href=/u>riverfan</a></i>", "riverfan"),
        ("<i itemprop=author><b>By</b><a href=/u>riverfan</a></i>", "riverfan"),
        ("<a rel=author href=/u>riverfan</a><p class=byline>Jo Hill</p>", "Jo Hill"),
        ("<a rel=author href=/u>Admin</a><p class=byline>Monday</p>", ""),
        ("<div class=comment><b class=vcard><i class=fn>riverfan</i></b></div>", ""),
        (
            "<p class=byline><a href=/people/jo-hill>Jo Hill</a> <a href=/x/jh>Twitter</a>",
            "Jo Hill",
        ),
        (f"<p class=authorities>{'<a href=/city-plans>City Plans</a> ' * 12}</p>", ""),
        (
            "<p class=byline><a href=/u/jo-hill>Jo Hill</a> <a href=/tag/big-bears>Big Bears</a>",
            "Jo Hill",
        ),
        ("<p class=authorities>Governing Board</p>", ""),
        ("<p class=author>Jane Miller<br>4 August 2010</p>", "Jane Miller"),
        ("<p class=byline>By Jane Miller • <i>March 12, 2025</i></p>", "Jane Miller"),
        ("<p class=byline>Jane Miller | jm@a.test</p>", "Jane Miller"),
        ("<p class=byline>By Jane Miller in <a href=/new-york>New York</a></p>", ""),
        (
            "<p class=byline>By <a href=/a/17>Jane Miller</a> | <a href=/x/city-news>City News</a>",
            "Jane Miller",
        ),
        ("<p class=author>Jane Miller at the <a href=//big-news.test/staff>Big News</a></p>", ""),
        (f"<p class=author>{'<a href=/by/jo-hill>Jo Hill</a> ' * 2}</p>", "Jo Hill"),
        (
            "<p class=byline><a href=/jo-hill>Jo Hill</a>, <a href=/jane-miller>Jane Miller</a> 5m",
            "Jo Hill, Jane Miller",
        ),
        ("<p class=author>Last Updated<br>4 August 2010</p>", ""),
        ("<p class=author>浏览次数<br>201</p>", ""),
        ("<p class=author>更新时间 | 打印</p>", ""),
        ("<p class=author>欧阳靖<br>2010-08-04</p>", "欧阳靖"),
        ("<p class=author>本文由 Jane 于2012年8月31日发表在 Rivers, 桥 分类下</p>", ""),
    ],
)
def test_author_is_read_from_marked_elements(html: str, author: str) -> None:
    assert marked_author(parse_html(html)) == author


@pytest.mark.parametrize("place", [0, 1, 2])
def test_byline_of_an_embedded_post_is_not_that_of_the_article(place: int) -> None:
    post = (
        "<div class=fb-post><blockquote cite='https://social.test/1'><p>We are sad.</p>Posted by "
        "<a href=/ann>Ann Other</a> on&nbsp;<a href=/1>Monday, March 4, 2024</a></blockquote></div>"
    )
    parts = [f"<p>{'The council closed the bridge until next spring. ' * 12}</p>"] * 2
    parts.insert(place, post)
    head = "<title>Old bridge closes</title><article><h1>Old bridge closes</h1>{}<p>March 5, 2024"
    for byline, author in (("", ""), ("<p>By Jane Miller", "Jane Miller")):
        found = extract(head.format(byline) + "".join(parts), "http://a.test/old-bridge-closes/")
        assert found is not None
        assert found.author == author


@pytest.mark.parametrize("quoted", ["", "<p>2", "<p>March 5, 2024"])
def test_byline_and_day_stay_beside_and_in_quotations(quoted: str) -> None:
    head = "<p>By Jane Miller</p><p>Published March 5, 2024</p>"
    text = f"<p>{'The council closed the bridge until next spring. ' * 12}</p>"
    quote = f"<blockquote cite='http://b.test/1'>{quoted or head + text}</blockquote>"
    page = "<title>Old bridge closes</title><article><h1>Old bridge closes</h1>"
    found = extract(page + (head + text + quote if quoted else quote), "http://a.test/old-bridge/")
    assert found is not None
    assert (found.author, found.published) == ("Jane Miller", "2024-03-05")


def test_time_for_names_in_brackets_is_linear() -> None:
    begin = time.process_time()
    author_in("。（王" * 30_000)
    assert time.process_time() - begin < 2  # 14 s with an unbounded search for notes
