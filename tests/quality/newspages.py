"""Generated news pages with known bodies, in common layouts of many years."""

# ruff: noqa: E501, S311 - markup is easier to read in one line; random numbers are seeded

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

WHO = [
    "市政府",
    "教育局",
    "消防队",
    "足球协会",
    "气象台",
    "研究人员",
    "当地居民",
    "博物馆",
    "铁路部门",
    "出版社",
    "农户",
    "志愿者",
]
WHAT = [
    "公布",
    "讨论",
    "修改",
    "完成",
    "推迟",
    "检查",
    "展示",
    "调查",
    "启动",
    "回应",
    "支持",
    "放弃",
]
THING = [
    "新的计划",
    "年度报告",
    "道路工程",
    "比赛结果",
    "水质数据",
    "票价方案",
    "图书目录",
    "救援行动",
    "种植经验",
]
WHEN = ["今天上午", "昨日傍晚", "本月初", "去年冬天", "会议之后", "两天以来", "开幕当天"]
WHERE = ["在市中心", "在东部山区", "在体育馆", "在港口附近", "在社区里", "在新区"]
TAIL = (
    "记者在现场看到，许多人早早来到这里",
    "负责人表示，下一步的安排将很快公开",
    "有人认为这样做还不够，有人则表示满意",
    "据介绍，类似的事情三年前也发生过一次",
    "到发稿时为止，具体数字还在统计之中",
)


class Made(NamedTuple):
    """A page and its true values."""

    layout: str
    html: str
    title: str
    body: str
    day: str


class Story:
    """Random text of one article and of its surroundings."""

    def __init__(self, seed: int) -> None:
        self.luck = random.Random(seed)
        self.title = self.sentence()[:-1][:24]
        self.day = f"20{self.luck.randint(10, 25)}-{self.luck.randint(1, 12):02}-{self.luck.randint(1, 28):02}"

    def sentence(self) -> str:
        pick = self.luck.choice
        return f"{pick(WHEN)}，{pick(WHO)}{pick(WHERE)}{pick(WHAT)}了{pick(THING)}，{pick(TAIL)}。"

    def paragraph(self, least: int = 1, most: int = 4) -> str:
        return "".join(self.sentence() for _ in range(self.luck.randint(least, most)))

    def paragraphs(self, number: int) -> list[str]:
        return [self.paragraph() for _ in range(number)]

    def links(self, number: int, tag: str = "li") -> str:
        one = (
            f'<{tag}><a href="/n/{n}.html">{self.sentence()[:18]}</a></{tag}>'
            for n in range(number)
        )
        return "".join(one)

    def teasers(self, number: int) -> str:
        return "".join(
            f'<div class="item"><a href="/{n}.htm">{self.sentence()[:16]}</a><p>{self.sentence()[:30]}…</p></div>'
            for n in range(number)
        )


def page(story: Story, main: str, before: str = "", after: str = "", head: str = "") -> str:
    year, month, day = story.day.split("-")
    return (
        f"<html><head><title>{story.title}_新闻频道_某地在线</title>{head}</head><body>"
        f'<div class="top"><ul>{story.links(12)}</ul></div>{before}'
        f"<h1>{story.title}</h1><div class=info>{year}年{month}月{day}日 08:15 来源：某地晚报 作者：王小明</div>"
        f"{main}{after}<div class=foot>版权所有 某地在线 京ICP备000号 未经授权不得转载</div></body></html>"
    )


def plain(story: Story) -> Made:
    texts = story.paragraphs(6)
    main = '<div id="article">' + "".join(f"<p>　　{t}</p>" for t in texts) + "</div>"
    return made("plain", story, page(story, main, after=f"<ul>{story.links(20)}</ul>"), texts)


def breaks(story: Story) -> Made:
    texts = story.paragraphs(7)
    main = "<table><tr><td class=zw>" + "<br><br>　　".join(texts) + "</td></tr></table>"
    return made(
        "breaks", story, page(story, main, after=f"<table><tr><td>{story.links(15)}</table>"), texts
    )


def fonts(story: Story) -> Made:
    texts = story.paragraphs(5)
    soup = "".join(
        f"<font size=3><font color=#333><span>{t}</span></font></font><BR>" for t in texts
    )
    html = page(
        story,
        f"<center><font><b>{soup}</b></font></center>",
        before=f"<center>{story.links(8, 'font')}</center>",
    )
    return made("fonts", story, html, texts)


def nested_tables(story: Story) -> Made:
    texts = story.paragraphs(6)
    cell = "".join(f"<p>{t}" for t in texts)
    side = f"<td width=180><table><tr><td>{story.links(18, 'div')}</td></tr></table></td>"
    main = (
        f"<table><tr>{side}<td><table><tr><td><table><tr><td>{cell}</td></tr></table></td></tr>"
        f"<tr><td>{story.links(6, 'span')}</td></tr></table></td>{side}</tr></table>"
    )
    return made("nested tables", story, page(story, main), texts)


def listed(story: Story) -> Made:
    texts = [
        story.paragraph(),
        *(f"{n}、{story.sentence()}" for n in range(1, 7)),
        story.paragraph(),
    ]
    items = "".join(f"<li>{t}</li>" for t in texts[1:-1])
    main = f"<div class=content><p>{texts[0]}</p><ul>{items}</ul><p>{texts[-1]}</p></div>"
    return made("list inside", story, page(story, main, after=f"<ul>{story.links(12)}</ul>"), texts)


def tabled(story: Story) -> Made:
    rows = [f"{who} {story.luck.randint(10, 99)} 分" for who in WHO[:6]]
    texts = [story.paragraph(2), *rows, story.paragraph(2)]
    cells = "".join(f"<tr><td>{r.split()[0]}</td><td>{r.split()[1]} 分</td></tr>" for r in rows)
    main = f"<div class=content><p>{texts[0]}</p><table>{cells}</table><p>{texts[-1]}</p></div>"
    return made("table inside", story, page(story, main), texts)


def short(story: Story) -> Made:
    texts = [story.paragraph(2, 2)]
    main = f"<div class=art><p>{texts[0]}</p></div>"
    return made(
        "short",
        story,
        page(story, main, after=f'<div class="tuijian">{story.teasers(6)}</div>'),
        texts,
    )


def flash(story: Story) -> Made:
    texts = [f"【{story.title}】{story.paragraph(2, 3)}"]
    main = f"<div class=flash>{texts[0]}</div><div class=share>分享到：微信 微博 收藏</div>"
    return made("flash", story, page(story, main, after=f"<ul>{story.links(30)}</ul>"), texts)


def captions(story: Story) -> Made:
    texts = []
    parts = []
    for number in range(4):
        caption, text = f"图为第{number + 1}处现场", story.paragraph(1, 2)
        parts.append(f'<p><img src="/{number}.jpg"></p><p align=center>{caption}</p><p>{text}</p>')
        texts += [caption, text]
    return made("captions", story, page(story, f"<div class=text>{''.join(parts)}</div>"), texts)


def video(story: Story) -> Made:
    texts = story.paragraphs(2)
    player = '<div class="player"><object><param></object><div>正在播放</div></div>'
    main = f"{player}<div class='intro'>{''.join(f'<p>{t}</p>' for t in texts)}</div><div class=list>{story.links(24)}</div>"
    return made("video", story, page(story, main), texts)


def related(story: Story) -> Made:
    texts = story.paragraphs(6)
    parts = [f"<p>{t}</p>" for t in texts]
    parts.insert(3, f"<div class=relnews><h4>相关阅读</h4><ul>{story.links(4)}</ul></div>")
    parts.append(f"<p>(责任编辑：李大华)</p><p>相关新闻：</p>{story.links(6, 'p')}")
    return made("related inside", story, page(story, f"<div>{''.join(parts)}</div>"), texts)


def shared(story: Story) -> Made:
    texts = story.paragraphs(5)
    main = (
        f"<div class=main><div class=tools>字号：大 中 小 打印 收藏 分享到：</div><p>原标题：{story.title}</p>"
        + "".join(f"<p>{t}</p>" for t in texts)
        + "<p>来源：某地晚报</p><p>责任编辑：李大华</p><p>声明：本文只代表作者观点，转载请注明出处。</p></div>"
    )
    return made("share bars", story, page(story, main), texts)


def commented(story: Story) -> Made:
    texts = story.paragraphs(3)
    comments = "".join(f"<li><b>读者{n}</b><p>{story.sentence()}</p></li>" for n in range(12))
    main = f"<div class=article>{''.join(f'<p>{t}</p>' for t in texts)}</div><div id=comments><ul>{comments}</ul></div>"
    return made("comments", story, page(story, main), texts)


def columns(story: Story) -> Made:
    texts = story.paragraphs(8)
    half = len(texts) // 2
    sides = [
        f"<div class='col'>{''.join(f'<p>{t}</p>' for t in part)}</div>"
        for part in (texts[:half], texts[half:])
    ]
    main = f"<div class=columns>{sides[0]}{sides[1]}</div><div class=rank>{story.teasers(8)}</div>"
    return made("columns", story, page(story, main), texts)


def divided(story: Story) -> Made:
    texts = story.paragraphs(9)
    lines = "".join(f"<section><div><div><span>{t}</span></div></div></section>" for t in texts)
    return made(
        "div soup",
        story,
        page(story, f"<div><div>{lines}</div></div>", after=story.teasers(6)),
        texts,
    )


def bare(story: Story) -> Made:
    texts = story.paragraphs(6)
    html = page(
        story, "\n".join(f"{t}<br>" for t in texts), before=f"<p>{story.links(10, 'b')}</p>"
    )
    return made("bare body", story, html, texts)


def subheaded(story: Story) -> Made:
    texts, parts = [], []
    for number in range(3):
        heading, text = f"其{number + 1} {story.luck.choice(THING)}", story.paragraph(2, 3)
        texts += [heading, text]
        parts.append(f"<h3>{heading}</h3><p><strong>{text[:6]}</strong>{text[6:]}</p>")
    return made("subheadings", story, page(story, f"<article>{''.join(parts)}</article>"), texts)


def linked(story: Story) -> Made:
    texts = story.paragraphs(5)
    lines = "".join(
        f'<p><a href="/k/{t[:3]}">{t[:5]}</a>{t[5:30]}<a href="/w">{t[30:36]}</a>{t[36:]}</p>'
        for t in texts
    )
    return made(
        "links inside",
        story,
        page(story, f"<div class=nr>{lines}</div>", after=story.links(9, "p")),
        texts,
    )


def interview(story: Story) -> Made:
    texts = []
    for _ in range(8):
        texts += [f"记者：{story.luck.choice(WHEN)}怎么样？", f"答：{story.paragraph(1, 2)}"]
    return made(
        "interview",
        story,
        page(story, "<div>" + "".join(f"<p>{t}</p>" for t in texts) + "</div>"),
        texts,
    )


LAYOUTS: tuple[Callable[[Story], Made], ...] = (
    plain, breaks, fonts, nested_tables, listed, tabled, short, flash, captions, video, related,
    shared, commented, columns, divided, bare, subheaded, linked, interview,
)  # fmt: skip


def made(layout: str, story: Story, html: str, texts: list[str]) -> Made:
    return Made(layout, html, story.title, "\n".join(texts), story.day)


def pages(seeds: range) -> list[Made]:
    """Every layout with every seed."""
    return [layout(Story(seed)) for layout in LAYOUTS for seed in seeds]
