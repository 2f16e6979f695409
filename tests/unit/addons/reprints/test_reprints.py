"""Tests of links to stored stories: their scores are lowered, and they are not lost."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from topiccrawl.addons.reprints.middleware import KnownStoryMiddleware
from topiccrawl.links.strategies import strategy
from topiccrawl.model import Article, Findings, Link, Verdict
from topiccrawl.scheduler.context import CrawlSpec
from topiccrawl.storage.sqlite import SqliteStorage
from topiccrawl.topics.scorer import Scorer
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from topiccrawl.model import Offer

TITLE = "老城区三座旧桥年内大修，行人绕行浮桥"
TOPIC = Topic(name="旧桥", terms={"旧桥": 1.0, "大修": 1.0})


def offered(tmp_path: Path, *links: Link) -> tuple[list[Offer], list[Offer], int]:
    """Return the offers of a page's links, those that are passed on, and the counted ones."""
    settings = {"TOPICCRAWL_DATA_DIR": str(tmp_path), "TOPICCRAWL_REPRINT_LINKS": True}
    crawler, order = get_crawler(settings_dict=settings), strategy("shark-plus", Scorer(TOPIC))
    spider: Any = SimpleNamespace(spec=CrawlSpec(name="", owner="", topic=TOPIC, strategy=order))
    crawler.spider = spider
    middleware = KnownStoryMiddleware.from_crawler(crawler)

    async def act() -> tuple[list[Offer], list[Offer]]:
        store = SqliteStorage(tmp_path).articles()
        await store.open()
        await store.save([Article("http://a.test/1", TITLE, "文", topics={TOPIC.name: 0.5})])
        await store.close()
        await crawler.signals.send_catch_log_async(signals.spider_opened, spider=spider)
        before = order.offers(Verdict(0.5, relevant=True), (), links)

        async def output() -> AsyncIterator[Any]:
            yield Findings(0.5, tuple(before))

        response = Response("http://c.test/")
        outputs = middleware.process_spider_output_async(response, output())
        (found,) = [one async for one in outputs]
        return before, list(found.offers)

    before, after = asyncio.run(act())
    return before, after, crawler.stats.get_value("topiccrawl/links/known-story", 0)


def test_link_to_a_stored_story_is_lowered_and_counted(tmp_path: Path) -> None:
    order = strategy("shark-plus", Scorer(TOPIC))
    (before,), (after,), counted = offered(
        tmp_path, Link("http://b.test/9", TITLE.replace("，", " "))
    )
    assert (after.url, after.lane) == (before.url, 1)
    assert order.value(after.evidence) < order.value(before.evidence)
    assert counted == 1


def test_other_links_are_unchanged(tmp_path: Path) -> None:
    links = (
        Link("http://a.test/1?page=all", TITLE),
        Link("http://b.test/10", "老城区新桥通车，行人不再绕行浮桥"),
        Link("http://b.test/11", "旧桥"),
    )
    before, after, counted = offered(tmp_path, *links)
    assert after == before
    assert counted == 0
