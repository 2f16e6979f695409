"""Tests of the detection of hub pages by their headlines."""

from __future__ import annotations

from topiccrawl.model import Link, Page
from topiccrawl.topics import Scorer
from topiccrawl.topics.pagekind import is_topic_hub
from topiccrawl.topics.topic import Topic

SCORER = Scorer(Topic(name="t", terms={"足球": 1.0}))
ON, OFF = "国家足球队昨晚赢得了友谊赛", "市政府公布了新的城市规划方案"


def page(on: int, off: int, menu: int = 0, title: str = "晨报") -> Page:
    anchors = [ON] * on + [OFF] * off + ["足球"] * menu
    links = tuple(Link(f"http://a.test/{n}", text, block=0) for n, text in enumerate(anchors))
    return Page("http://a.test/", title, " ".join(anchors), links)


def test_hub_has_the_topic_in_a_fifth_of_its_headlines() -> None:
    assert is_topic_hub(page(2, 8), SCORER.score_many)
    assert not is_topic_hub(page(1, 9), SCORER.score_many)
    assert is_topic_hub(page(0, 9, title="足球 - 晨报"), SCORER.score_many)


def test_few_headlines_or_menus_do_not_make_a_hub() -> None:
    assert not is_topic_hub(page(2, 0, title="足球"), SCORER.score_many)
    assert is_topic_hub(page(3, 0), SCORER.score_many)
    assert not is_topic_hub(page(0, 5, menu=20), SCORER.score_many)
