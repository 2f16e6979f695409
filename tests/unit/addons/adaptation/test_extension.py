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
from topiccrawl.topics import Scorer
from topiccrawl.topics.vector import TopicVector

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.model import Page


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


def test_adapter_is_chosen_by_the_settings(tmp_path: Path) -> None:
    adapting = {"TOPICCRAWL_ADAPTATION": "auto"}
    assert extension(tmp_path, **adapting).adapter.method == "words"
    path = f"{__name__}.genetic"
    assert extension(tmp_path, **adapting, TOPICCRAWL_ADAPTER=path).adapter.method == "genetic"
    for off in ({"TOPICCRAWL_ADAPTER": "", **adapting}, {"TOPICCRAWL_ADAPTATION": "off"}, {}):
        with pytest.raises(NotConfigured):
            extension(tmp_path, **off)
    with pytest.raises(SettingError, match=r"^TOPICCRAWL_ADAPTER is 'no.such', .*loaded"):
        extension(tmp_path, **adapting, TOPICCRAWL_ADAPTER="no.such")


def text_page(number: int) -> Page:
    on = ("新能源汽车", "新能源汽车的动力电池今天有了新进展，充电桩建设加快。")
    title, text = on if number % 2 else ("天气预报", "明天多云转晴，北风三级，气温下降。")
    html = f"<title>{title}</title><p>{text * 3}</p>"
    return read_page(html, f"http://a.test/{number}", (), "utf-8")


async def judge_pages(learning: TopicAdaptation, pages: int) -> None:
    """Judge pages and wait until the changes are stored."""
    for number in range(pages):
        found = text_page(number)
        learning.judged(found, learning.own.score_page(found))
        await learning.closed()


def test_link_scores_do_not_count_as_evidence(tmp_path: Path) -> None:
    """Learnt words raise link scores, which must not confirm those words."""
    learning = extension(tmp_path, TOPICCRAWL_ADAPTATION="words")
    other = text_page(0)
    linked = learning.own.score_page(other._replace(expected=1.0))
    assert linked.relevant
    learning.judged(other, linked)
    assert learning.adapter.state()["for"] == 0.0


def learnt_changes(learning: TopicAdaptation) -> int:
    """Return the number of changes in the version of queued values."""
    return learning.spider.strategy.version - learning.spider.topic.version


@pytest.mark.parametrize(("method", "step"), [("words", LEARNT), ("genetic", 1)])
def test_later_run_restores_the_learnt_terms(tmp_path: Path, method: str, step: int) -> None:
    first = extension(tmp_path, TOPICCRAWL_ADAPTATION=method)
    assert learnt_changes(first) == 0
    asyncio.run(judge_pages(first, 60))
    assert first.number >= 1
    assert learnt_changes(first) == first.number * step
    again = extension(tmp_path, TOPICCRAWL_ADAPTATION=method)
    assert again.number == first.number
    assert learnt_changes(again) == learnt_changes(first)
    text = "充电桩建设"
    scores = [one.spider.scorer.score_many([text]) for one in (first, again)]
    assert scores[0] == scores[1]
    assert (again.spider.scorer is again.own) == (method == "words")
    assert all(one.spider.judge is one.spider.scorer for one in (first, again))


def test_custom_relevance_model_judges_after_changes(tmp_path: Path) -> None:
    learning = extension(tmp_path, TOPICCRAWL_ADAPTATION="genetic")
    custom = learning.spider.judges[0] = Scorer(learning.spider.topic)
    asyncio.run(judge_pages(learning, 60))
    assert learning.number >= 1
    assert learning.spider.judge is custom


def test_another_method_starts_from_the_users_topic(tmp_path: Path) -> None:
    first = extension(tmp_path, TOPICCRAWL_ADAPTATION="words")
    asyncio.run(judge_pages(first, 60))
    other = extension(tmp_path, TOPICCRAWL_ADAPTATION="genetic")
    assert learnt_changes(other) == other.number == first.number + 1
    assert other.spider.scorer is other.own


def test_settings_have_the_default_parameters() -> None:
    found = settings()
    for name, field in parameter_settings("TOPICCRAWL_ADAPT_", AdaptationParameters).items():
        assert found[name] == (None if field.name == "floor" else field.default), name


def test_positive_terms_are_stored_among_many_negative_ones() -> None:
    against = {f"word{n}": -0.2 for n in range(2 * STORED_TERMS)}
    kept = terms_to_store(TopicVector.of({**against, "电池": 0.1, "汽车": 1.0}))
    assert list(kept)[:3] == ["电池", "汽车", "word0"]
    assert len(kept) == 2 + STORED_TERMS // 2
