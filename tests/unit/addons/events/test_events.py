"""Tests of events: articles about one event are grouped as they arrive."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy.utils.test import get_crawler

from tests.contracts.articles import stored_in
from topiccrawl.addons.events.pipeline import EventPipeline, Events
from topiccrawl.addons.events.section import events
from topiccrawl.model import Article
from topiccrawl.storage.selection import group_by_event
from topiccrawl.storage.sqlite import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.storage.contract import ArticleStore

FIRE = (
    "城东纺织厂深夜起火，18辆消防车扑救",
    "9月14日晚11时许，纺织路一处废弃厂房突然起火，消防支队派出18辆消防车。大火烧毁1200平方米厂房，无人伤亡。",
)
FIRE_TOO = (
    "废弃厂房着火，消防员奋战两小时",
    "居民李先生说，纺织路的厂房夜里11点冒出浓烟。消防支队的18辆消防车很快赶到，1200平方米的厂房化为灰烬。",
)
OTHER_FIRE = (
    "港口仓库起火，两名工人受伤",
    "7号码头的仓库昨天中午起火，海事局调来三艘消防船。仓库里存放着棉花，两名装卸工被送往医院。",
)
CHESS = (
    "女子围棋甲级联赛第九轮战罢",
    "江苏队三比零战胜上海队，升至积分榜首位。主将在中盘抓住对手的失误，屠掉一条大龙。",
)


def article(name: str, text: tuple[str, str], day: str = "2026-09-15") -> Article:
    url = f"http://{name}.test/1"
    return Article(url, *text, site=f"{name}.test", published=day, topics={"火灾": 0.5})


def test_different_articles_about_one_event_are_grouped() -> None:
    grouping = Events(7)
    found = [
        grouping.add(article(name, text))
        for name, text in zip("abcd", (FIRE, OTHER_FIRE, CHESS, FIRE_TOO), strict=True)
    ]
    assert found == ["http://a.test/1", "http://b.test/1", "http://c.test/1", "http://a.test/1"]


def test_an_event_ends_with_the_window() -> None:
    grouping = Events(7)
    first = grouping.add(article("a", FIRE))
    assert grouping.add(article("b", FIRE_TOO, "2026-09-17")) == first
    assert grouping.add(article("c", FIRE_TOO, "2026-09-30")) == "http://c.test/1"


def test_a_stored_event_is_kept() -> None:
    grouping = Events(7)
    known = replace(article("a", FIRE), event="http://z.test/1")
    assert grouping.add(known) == "http://z.test/1"
    assert grouping.add(article("b", FIRE_TOO)) == "http://z.test/1"


def test_crawl_continues_stored_events(tmp_path: Path) -> None:
    settings = {"TOPICCRAWL_EVENTS": 7, "TOPICCRAWL_DATA_DIR": str(tmp_path)}
    crawler = get_crawler(settings_dict=settings)

    async def crawl(*articles: Article) -> list[str]:
        pipeline = EventPipeline(crawler.settings, lambda _: None)
        await pipeline.open_spider()
        store: ArticleStore = SqliteStore(tmp_path)
        await store.open()
        processed = [await pipeline.process_item(one) for one in articles]
        await store.save([one for one in processed if isinstance(one, Article)])
        found = await stored_in(store)
        await store.close()
        return [one.event for one in found]

    asyncio.run(crawl(article("a", FIRE), article("b", CHESS)))
    assert asyncio.run(crawl(article("c", FIRE_TOO)))[0] == "http://a.test/1"
    shown = asyncio.run(events(crawler.settings, None))["events"]
    assert [(one["title"], one["articles"], one["sites"]) for one in shown] == [(FIRE[0], 2, 2)]


def test_events_of_one_article_are_not_listed() -> None:
    found = [replace(article(name, FIRE), event=name[0]) for name in ("b", "a2", "a1")]
    assert [(one.event, len(one.articles)) for one in group_by_event(found)] == [("a", 2)]
