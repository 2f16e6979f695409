"""Tests of the cost benchmark: its pages of 30 kB with 50 links, scores and times."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from benchmarks import score
from lab.demo import generate
from topiccrawl.addons.simulate.collection import RecordedWeb
from topiccrawl.links.strategies import DEFAULT, strategy
from topiccrawl.topics import Scorer
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from pathlib import Path

TOPIC = Topic(name="benchmark", terms=dict.fromkeys(score.TERMS, 1.0))


def test_generated_pages_have_the_stated_size_and_links() -> None:
    sources = list(score.made_up(random.Random(1), 3))  # noqa: S311
    for source in sources:
        assert len(source.body) == pytest.approx(score.SIZE, rel=0.02)
        assert len(score.read(source).links) == score.LINKS
    menus = [{link.url.partition(".test")[2] for link in score.read(s).links} for s in sources]
    assert len(set.intersection(*menus)) == score.MENU


def test_links_are_scored_by_the_page_cosine() -> None:
    scorer = Scorer(TOPIC)
    pages = [score.read(source) for source in score.made_up(random.Random(2), 3)]  # noqa: S311
    found = score.correlations(pages, scorer)
    assert found["matcher_rank_correlation"] == pytest.approx(1.0)
    assert 0.9 < found["counting_rank_correlation"] < 1.0


def test_times_of_the_parts_sum_to_the_total() -> None:
    scorer = Scorer(TOPIC)
    source = next(score.made_up(random.Random(3), 1))  # noqa: S311
    found = score.timed(source, scorer, strategy(DEFAULT, scorer))
    assert min(found) > 0.0
    assert found.total == pytest.approx(found.parse + found.page + found.links)


def test_collection_gives_its_pages_and_a_topic(tmp_path: Path) -> None:
    path = tmp_path / "demo.web.jsonl.gz"
    generate(11, 120, traps=False, faults=False).write_collection(path)
    sources = score.nearest(RecordedWeb.read(path), 20)
    topic = score.common_topic(sources)
    scorer = Scorer(topic)
    judged = [scorer.score_page(score.read(source)) for source in sources]
    assert len(sources) == 20
    assert len(topic.terms) == 5
    assert sum(bool(verdict.terms) for verdict in judged) > 10
