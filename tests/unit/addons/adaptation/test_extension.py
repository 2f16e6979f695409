"""Tests of the adaptation extension: choice of the adapter, and the history of terms."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from topiccrawl.addons.adaptation.extension import STORED_TERMS, TopicAdaptation, terms_to_store
from topiccrawl.addons.adaptation.learner import AdaptationParameters, TopicLearner
from topiccrawl.errors import SettingError
from topiccrawl.links.page import read_page
from topiccrawl.links.strategies.contract import LEARNT
from topiccrawl.scheduler.hooks import parameter_settings
from topiccrawl.spiders.topic import TopicSpider
from topiccrawl.topics.vector import TopicVector

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.model import Page
    from topiccrawl.topics import Scorer


def genetic(_settings: Settings, scorer: Scorer, strategy: LinkStrategy) -> TopicLearner:
    """An adapter for ``TOPICCRAWL_ADAPTER``."""
    return TopicLearner(scorer, strategy, "genetic")


def settings(**own: str) -> Settings:
    found = Settings()
    found.setmodule("topiccrawl.settings")
    found.setdict({"MONGODB_URI": "", "REDIS_URL": "", **own}, priority="cmdline")
    return found


def extension(folder: Path, **own: str) -> TopicAdaptation:
    crawler = Crawler(TopicSpider, settings(TOPICCRAWL_DATA_DIR=str(folder), **own))
    crawler.stats = MemoryStatsCollector(crawler)
    crawler.spider = TopicSpider.from_crawler(crawler, topic="新能源汽车")
    return TopicAdaptation.from_crawler(crawler)


def test_a_crawl_learns_with_the_adapter_of_the_settings(tmp_path: Path) -> None:
    learns = {"TOPICCRAWL_ADAPTATION": "auto"}
    assert extension(tmp_path, **learns).adapter.method == "words"
    path = f"{__name__}.genetic"
    assert extension(tmp_path, **learns, TOPICCRAWL_ADAPTER=path).adapter.method == "genetic"
    for off in ({"TOPICCRAWL_ADAPTER": "", **learns}, {"TOPICCRAWL_ADAPTATION": "off"}, {}):
        with pytest.raises(NotConfigured):
            extension(tmp_path, **off)
    with pytest.raises(SettingError, match=r"^TOPICCRAWL_ADAPTER is 'no.such', .*loaded"):
        extension(tmp_path, **learns, TOPICCRAWL_ADAPTER="no.such")


def text_page(number: int) -> Page:
    on = ("新能源汽车", "新能源汽车的动力电池今天有了新进展，充电桩建设加快。")
    title, text = on if number % 2 else ("天气预报", "明天多云转晴，北风三级，气温下降。")
    html = f"<title>{title}</title><p>{text * 3}</p>"
    return read_page(html, f"http://a.test/{number}", (), "utf-8")


async def fed(learning: TopicAdaptation, pages: int) -> None:
    """Judge pages and wait for what is stored."""
    for number in range(pages):
        found = text_page(number)
        learning.judged(found, learning.own.score_page(found))
        await learning.closed()


def test_pages_are_learnt_by_their_words_alone(tmp_path: Path) -> None:
    """Learnt words raise the scores of links, which would confirm them otherwise."""
    learning = extension(tmp_path, TOPICCRAWL_ADAPTATION="words")
    other = text_page(0)
    linked = learning.own.score_page(other._replace(expected=1.0))
    assert linked.relevant
    learning.judged(other, linked)
    assert learning.adapter.state()["for"] == 0.0


def learnt(learning: TopicAdaptation) -> int:
    """Return the number of changes in the version of queued values."""
    return learning.spider.strategy.version - learning.spider.topic.version


@pytest.mark.parametrize(("method", "step"), [("words", LEARNT), ("genetic", 1)])
def test_a_later_run_takes_up_what_was_learnt(tmp_path: Path, method: str, step: int) -> None:
    first = extension(tmp_path, TOPICCRAWL_ADAPTATION=method)
    assert learnt(first) == 0
    asyncio.run(fed(first, 60))
    assert first.number >= 1
    assert learnt(first) == first.number * step
    again = extension(tmp_path, TOPICCRAWL_ADAPTATION=method)
    assert again.number == first.number
    assert learnt(again) == learnt(first)
    text = "充电桩建设"
    scores = [one.spider.scorer.score_many([text]) for one in (first, again)]
    assert scores[0] == scores[1]
    assert (again.spider.scorer is again.own) == (method == "words")


def test_another_method_begins_with_the_topic_of_the_user(tmp_path: Path) -> None:
    first = extension(tmp_path, TOPICCRAWL_ADAPTATION="words")
    asyncio.run(fed(first, 60))
    other = extension(tmp_path, TOPICCRAWL_ADAPTATION="genetic")
    assert learnt(other) == other.number == first.number + 1
    assert other.spider.scorer is other.own


def test_the_switchboard_has_the_numbers_of_the_methods() -> None:
    found = settings()
    for name, field in parameter_settings("TOPICCRAWL_ADAPT_", AdaptationParameters).items():
        assert found[name] == (None if field.name == "floor" else field.default), name


def test_terms_for_the_topic_are_kept_however_many_speak_against_it() -> None:
    against = {f"word{n}": -0.2 for n in range(2 * STORED_TERMS)}
    kept = terms_to_store(TopicVector.of({**against, "电池": 0.1, "汽车": 1.0}))
    assert list(kept)[:3] == ["电池", "汽车", "word0"]
    assert len(kept) == 2 + STORED_TERMS // 2
