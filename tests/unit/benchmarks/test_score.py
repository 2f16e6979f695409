"""Tests of the cost benchmark: its pages of 30 kB with 50 links, scores and times."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from benchmarks import score, text
from lab.demo import generate
from topiccrawl.addons.simulate.collection import RecordedWeb
from topiccrawl.links.strategies import DEFAULT, strategy
from topiccrawl.topics import Scorer
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from topiccrawl.model import Verdict

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


def test_each_text_is_timed_once_since_its_score_is_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    times: Counter[str] = Counter()

    class Counting(Scorer):
        @override
        def score_text(self, text: str, title: str = "", url: str = "") -> Verdict:
            times[text] += 1
            return super().score_text(text, title, url)

        @override
        def score_many(self, texts: Sequence[str]) -> list[float]:
            times.update(texts)
            return super().score_many(texts)

    monkeypatch.setattr(text, "Scorer", Counting)
    texts = text.draw(random.Random(1), 2)  # noqa: S311
    assert min(text.ours("rjieba", texts)) > 0.0
    given = Counter([*texts.pages, *texts.anchors, *texts.contexts])
    assert {one: times[one] for one in given} == given
