"""What the topic learns with, and which learnt terms are kept for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings

from topiccrawl.addons.adaptation.contract import AdaptationParameters
from topiccrawl.addons.adaptation.extension import STORED_TERMS, TopicAdaptation, stored
from topiccrawl.addons.adaptation.learner import TopicLearner
from topiccrawl.errors import SettingError
from topiccrawl.spiders.arguments import parameter_settings
from topiccrawl.spiders.topic import TopicSpider
from topiccrawl.topics.vector import TopicVector

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.topics import Scorer


def genetic(_settings: Settings, scorer: Scorer, strategy: LinkStrategy) -> TopicLearner:
    """What ``TOPICCRAWL_ADAPTER`` names."""
    return TopicLearner(scorer, strategy, "genetic")


def settings(**own: str) -> Settings:
    found = Settings()
    found.setmodule("topiccrawl.settings")
    found.setdict({"MONGODB_URI": "", "REDIS_URL": "", **own}, priority="cmdline")
    return found


def extension(folder: Path, **own: str) -> TopicAdaptation:
    crawler = Crawler(TopicSpider, settings(TOPICCRAWL_DATA_DIR=str(folder), **own))
    crawler.spider = TopicSpider.from_crawler(crawler, topic="新能源汽车")
    return TopicAdaptation.from_crawler(crawler)


def test_a_crawl_learns_with_the_adapter_of_the_settings(tmp_path: Path) -> None:
    assert extension(tmp_path).adapter.method == "words"
    path = f"{__name__}.genetic"
    assert extension(tmp_path, TOPICCRAWL_ADAPTER=path).adapter.method == "genetic"
    for off in ({"TOPICCRAWL_ADAPTER": ""}, {"TOPICCRAWL_ADAPTATION": "off"}):
        with pytest.raises(NotConfigured):
            extension(tmp_path, **off)
    with pytest.raises(SettingError, match=r"^TOPICCRAWL_ADAPTER is 'no.such', .*loaded"):
        extension(tmp_path, TOPICCRAWL_ADAPTER="no.such")


def test_the_switchboard_has_the_numbers_of_the_methods() -> None:
    found = settings()
    for name, field in parameter_settings("TOPICCRAWL_ADAPT_", AdaptationParameters).items():
        assert found[name] == (None if field.name == "floor" else field.default), name


def test_terms_for_the_topic_are_kept_however_many_speak_against_it() -> None:
    against = {f"word{n}": -0.2 for n in range(2 * STORED_TERMS)}
    kept = stored(TopicVector.of({**against, "电池": 0.1, "汽车": 1.0}))
    assert list(kept)[:3] == ["电池", "汽车", "word0"]
    assert len(kept) == 2 + STORED_TERMS // 2
