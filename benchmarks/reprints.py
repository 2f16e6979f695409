"""Reprints made from a collection of articles by stated edits, and articles that are none.

The collection's own near-duplicates are left out first (Jaccard of shingles of ``NATURAL`` or
more), so that what is the same story is known. Of what is left

- every second article is on a site that prints the same lines under everything (``framed``);
- reprints get one edit of ``EDITS``, half of them a new title too, half of them the frame of
  their site;
- *hard negatives* are other stories in the same words: four fifths of the numbers changed, or
  every place replaced by another one throughout.

Reprints appear up to two days later. Apart from the stream there are *follow-ups*: one to three
days later, the lead of another article above most of the old text.

A reprint appears after its original, with other articles in between.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

import opencc

from topiccrawl.dedup.shingles import count_common, shingles
from topiccrawl.text.digest import digest_of
from topiccrawl.text.normal import has_han

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from topiccrawl.dedup.shingles import Codes
    from topiccrawl.model import Article

    Edit = Callable[[list[str], random.Random], list[str]]

NATURAL = 0.15
"""Jaccard from which two articles of the collection may be one story."""

SITES = 30
LEAST_PARAGRAPHS = 3
LEAST_LETTERS = 150
LEAST_LEAD = 40
"""Letters of a lead that makes a follow-up."""
LEAST_FACTS = 3
"""Numbers or places that an article must have to become a hard negative."""

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_PLACE = re.compile(
    "北京|上海|天津|重庆|河北|山西|辽宁|吉林|黑龙江|江苏|浙江|安徽|福建|江西|山东|河南|湖北|湖南|广东|海南|"
    "四川|贵州|云南|陕西|甘肃|青海|内蒙古|广西|西藏|宁夏|新疆|香港|澳门|台湾|武汉|广州|深圳|成都|杭州|"
    "南京|西安|郑州|长沙|沈阳|大连|青岛|厦门|昆明|哈尔滨|美国|英国|法国|德国|日本|韩国|俄罗斯|意大利|"
    "西班牙|伊朗|印度|巴西|越南|泰国|加拿大|澳大利亚"
)
_PLACES = _PLACE.pattern.split("|")
_FRAMES_ZH = (
    "您当前的位置：{site}首页 > 新闻中心 > 正文",
    "分享到：微信 微博 朋友圈 打印本页 关闭窗口",
    "{site}声明：刊登此文出于传递更多信息之目的，并不意味着赞同其观点或证实其描述。",
    "凡本网注明来源的作品，均转载自其他媒体，版权归原作者所有，如有异议请在三十日内与{site}联系。",
    "扫描二维码，关注{site}公众号，每天第一时间读到身边的大事小事，还有机会赢取好礼。",
    "新闻热线与投稿邮箱全天开放，欢迎读者提供线索，一经采用，{site}即付稿酬。",
    "下载{site}客户端，看更多精彩内容，参与评论还可以累积积分，兑换话费和电影票。",
    "未经{site}书面授权，任何单位及个人不得转载、摘编或以其他方式使用本网站的内容。",
)
_FRAMES_EN = (
    "You are here: {site} home, news, full story",
    "Share this story by mail, print it, or save it to your reading list",
    "{site} is not responsible for the content of external sites that are linked from this page.",
    "Sign up for the morning letter of {site} and never miss what happens around the corner.",
    "All rights reserved. No part of this page may be copied without the consent of {site}.",
    "Our reporters are glad to hear from you: send tips and pictures to the desk of {site}.",
)
_SOURCES_ZH = (
    "来源：{site}　作者：本网综合",
    "（原标题：{title}）",
    "本文转自{site}，不代表本网立场",
)
_SOURCES_EN = ("Source: {site}", "First published as: {title}", "Reprinted with thanks to {site}")


class Case(NamedTuple):
    """One article of the stream.

    Attributes:
        article: The article.
        stories: URLs of the originals it may be attributed to; () for a new story.
        edit: Name of its edit; "" for an original.
    """

    article: Article
    stories: tuple[str, ...]
    edit: str

    @property
    def is_negative(self) -> bool:
        """Return whether it looks like a reprint and is none."""
        return bool(self.edit) and not self.stories


def distinct(articles: Iterable[Article]) -> list[Article]:
    """Return the articles that resemble no earlier one and are long enough to be edited."""
    posted: dict[int, list[int]] = defaultdict(list)
    kept: list[Article] = []
    texts: list[Codes] = []
    for article in articles:
        if len(article.body) < LEAST_LETTERS or article.body.count("\n") < LEAST_PARAGRAPHS - 1:
            continue
        hashes = shingles(article.body)
        sample = hashes[hashes % 8 == 0].tolist()
        near = Counter(place for one in sample for place in posted[one])
        if any(_jaccard(hashes, texts[place]) >= NATURAL for place, _ in near.most_common(5)):
            continue
        for one in sample:
            posted[one].append(len(kept))
        kept.append(article)
        texts.append(hashes)
    return kept


def stream(articles: Sequence[Article], seed: int) -> list[Case]:
    """Return originals, reprints and hard negatives in the order of the stream."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    timed: list[tuple[float, Case]] = []
    for number, article in enumerate(articles):
        begin = rng.random()
        site = rng.randrange(SITES)
        body = article.body.split("\n")
        original = _printed(article, f"o{number}", site, _maybe(framed, body, site, rng))
        timed.append((begin, Case(original, (), "")))
        other = articles[rng.randrange(len(articles))]
        copies = [
            _reprint(article, original.url, f"r{number}-{copy}", other, rng) for copy in range(2)
        ]
        copies += _negatives(article, f"n{number}", rng)
        timed += [(rng.uniform(begin, 1.0), copy) for copy in copies]
    return [case for _, case in sorted(timed, key=lambda pair: pair[0])]


def _reprint(article: Article, story: str, name: str, other: Article, rng: random.Random) -> Case:
    edit = rng.choice(sorted(EDITS))
    site = rng.randrange(SITES)
    body = EDITS[edit](article.body.split("\n"), rng)
    if edit == "source":
        body = _sourced(body, article, rng)
    title = _retitled(article, other, rng) if rng.random() < 0.5 else article.title  # noqa: PLR2004
    body = _maybe(framed, body, site, rng)
    day = _moved_day(article, rng.choice((0, 0, 1, 2)))
    copied = replace(article, title=title, published=day)
    return Case(_printed(copied, name, site, body), (story,), edit)


def follow_ups(articles: Sequence[Article], seed: int) -> Iterator[tuple[Article, Article]]:
    """Yield articles with their follow-ups, where there is a day and another article's lead."""
    rng = random.Random(seed)  # noqa: S311
    for number, article in enumerate(articles):
        other = articles[rng.randrange(len(articles))]
        day, lead = _moved_day(article, rng.randint(1, 3)), other.body.split("\n")[0]
        if not day or article is other or len(lead) < LEAST_LEAD:
            continue
        body = [lead, *_trimmed(article.body.split("\n"), rng)]
        later = replace(article, title=other.title, published=day)
        yield article, _printed(later, f"f{number}", rng.randrange(SITES), body)


def _moved_day(article: Article, days: int) -> str:
    """Return the day of publication so many days later; "" without one."""
    if not article.published:
        return ""
    return (date.fromisoformat(article.published[:10]) + timedelta(days=days)).isoformat()


def _negatives(article: Article, name: str, rng: random.Random) -> list[Case]:
    site = rng.randrange(SITES)
    changed = {
        "numbers": _renumbered(article.body, rng),
        "places": _moved(article.body, rng),
    }
    return [
        Case(_printed(article, f"{name}-{edit}", site, body.split("\n")), (), edit)
        for edit, body in changed.items()
        if body
    ]


def _printed(article: Article, name: str, site: int, body: Sequence[str]) -> Article:
    text = "\n".join(body)
    host = f"site{site}.test"
    url = f"http://{host}/{name}.html"
    return replace(article, url=url, body=text, site=host, digest=digest_of(text))


def _maybe(
    edit: Callable[[list[str], int], list[str]], body: list[str], site: int, rng: random.Random
) -> list[str]:
    return edit(body, site) if rng.random() < 0.5 else body  # noqa: PLR2004


def framed(body: list[str], site: int) -> list[str]:
    """Return the body between the lines that a site prints around every article."""
    rng = random.Random(site)  # noqa: S311
    pool = _FRAMES_ZH if has_han(body[0]) else _FRAMES_EN
    lines = [line.format(site=f"第{site}号新闻网" if pool is _FRAMES_ZH else f"Herald {site}")
             for line in rng.sample(pool, rng.randint(2, 6))]  # fmt: skip
    return [*lines[:1], *body, *lines[1:]]


def _dropped(body: list[str], rng: random.Random) -> list[str]:
    gone = set(rng.sample(range(len(body)), max(1, round(len(body) * rng.uniform(0.1, 0.4)))))
    return [line for place, line in enumerate(body) if place not in gone]


def _merged(body: list[str], rng: random.Random) -> list[str]:
    size = rng.randint(2, 4)
    glue = "" if has_han(body[0]) else " "
    return [glue.join(body[at : at + size]) for at in range(0, len(body), size)]


def _trimmed(body: list[str], rng: random.Random) -> list[str]:
    return body[: max(1, round(len(body) * rng.uniform(0.55, 0.85)))]


def _typed(body: list[str], rng: random.Random) -> list[str]:  # noqa: ARG001 - as all edits
    return [line.replace("，", ", ").replace("“", "「").replace("”", "」") for line in body]


def _traditional(body: list[str], rng: random.Random) -> list[str]:  # noqa: ARG001
    convert = opencc.OpenCC("s2twp").convert
    return [convert(line) for line in body]


EDITS: dict[str, Edit] = {
    "whole": lambda body, rng: body,  # noqa: ARG005
    "lead": lambda body, rng: body[1:],  # noqa: ARG005
    "dropped": _dropped,
    "merged": _merged,
    "trimmed": _trimmed,
    "source": lambda body, rng: body,  # noqa: ARG005 - lines added with the title at hand
    "typed": _typed,
    "traditional": _traditional,
    "several": lambda body, rng: _merged(_dropped(_trimmed(body, rng), rng), rng),
}
"""Edits by name; title and surrounding lines may change as well."""


def _sourced(body: list[str], article: Article, rng: random.Random) -> list[str]:
    han = has_han(article.body)
    line = rng.choice(_SOURCES_ZH if han else _SOURCES_EN)
    line = line.format(site="晨报" if han else "The Courier", title=article.title)
    return [line, *body] if rng.random() < 0.5 else [*body, line]  # noqa: PLR2004


def _retitled(article: Article, other: Article, rng: random.Random) -> str:
    first = re.split(r"[，。,.]", article.body, maxsplit=1)[0][:40]
    return rng.choice((first, f"{article.title[: len(article.title) // 2]}……", other.title))


def _renumbered(body: str, rng: random.Random) -> str:
    """Return a body with four of five numbers changed; "" if there are too few."""
    if len(_NUMBER.findall(body)) < LEAST_FACTS:
        return ""

    def other(found: re.Match[str]) -> str:
        if rng.random() < 0.2:  # noqa: PLR2004
            return found[0]
        return str((int(float(found[0])) + rng.randint(1, 8)) % 10 ** len(found[0]) or 3)

    changed = _NUMBER.sub(other, body)
    return changed if changed != body else ""


def _moved(body: str, rng: random.Random) -> str:
    """Return a body with every place replaced by another one; "" if there are too few."""
    named = _PLACE.findall(body)
    if len(named) < LEAST_FACTS:
        return ""
    free = [place for place in _PLACES if place not in named]
    other = dict(zip(sorted(set(named)), rng.sample(free, len(set(named))), strict=True))
    return _PLACE.sub(lambda found: other[found[0]], body)


def _jaccard(one: Codes, other: Codes) -> float:
    common = count_common(one, other)
    return common / max(1, len(one) + len(other) - common)
