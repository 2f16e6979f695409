"""Contract tests of the relevance models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scrapy.settings import Settings

from examples.word_vectors import judge
from topiccrawl.model import Link, Mark, Page
from topiccrawl.text.normal import fold
from topiccrawl.topics import Scorer, SiteWords
from topiccrawl.topics.marks import MarkedModel, OnWordScale, learn, mark_of
from topiccrawl.topics.multitopic import MultiScorer
from topiccrawl.topics.topic import Topic, from_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.topics.contract import RelevanceModel

    Build = Callable[[Topic], RelevanceModel]

ON = "新能源汽车的销量今年继续增长，充电桩也越来越多，车企纷纷推出新车型，电池成本不断下降。"
OFF = "乐团昨晚在音乐厅演奏了两部交响曲，观众掌声不断，指挥家多次谢幕。"
TOPIC = Topic(name="t", terms={"新能源": 1.0, "汽车": 1.0})


def page(text: str, title: str = "", links: tuple[Link, ...] = ()) -> Page:
    return Page(f"http://a.test/{len(text)}", title, text, links, prose=text)


def marks() -> list[Mark]:
    on = [mark_of(page(ON * n, "新车"), wanted=True) for n in range(1, 6)]
    return on + [mark_of(page(OFF * n, "音乐会"), wanted=False) for n in range(1, 6)]


def by_words(topic: Topic) -> RelevanceModel:
    return Scorer(topic)


def by_many(topic: Topic) -> RelevanceModel:
    return MultiScorer([topic, Topic(name="music", terms={"乐队": 1.0})])


def by_words_of_sites(topic: Topic) -> RelevanceModel:
    scorer = Scorer(topic, sites=SiteWords())
    for n in range(1, 30):
        scorer.observe(page("汽车之家" * n))
    return scorer


def by_marks(topic: Topic) -> RelevanceModel:
    return learn(Scorer(topic), marks())


def sent_elsewhere(topic: Topic) -> RelevanceModel:
    scorer = Scorer(topic)
    model = learn(scorer, marks())
    assert isinstance(model, MarkedModel)
    return MarkedModel.from_json(Scorer(topic), model.to_json())


def in_a_crawl(topic: Topic) -> RelevanceModel:
    model = learn(Scorer(topic), marks())
    assert isinstance(model, MarkedModel)
    return OnWordScale(model, model.scorer)


def by_word_vectors(topic: Topic) -> RelevanceModel:
    vectors = Path(__file__).with_name("vectors.vec")
    return judge(Settings({"WORD_VECTORS": str(vectors)}), Scorer(topic))


@pytest.fixture(
    params=[
        by_words, by_many, by_words_of_sites, by_marks, sent_elsewhere, in_a_crawl, by_word_vectors,
    ]
)  # fmt: skip
def build(request: pytest.FixtureRequest) -> Build:
    made: Build = request.param
    return made


def test_page_on_topic_scores_higher(build: Build) -> None:
    model = build(TOPIC)
    on, off = model.score_page(page(ON, "新车上市")), model.score_page(page(OFF, "交响曲"))
    assert on.relevance > off.relevance
    assert on.relevant
    assert not off.relevant


def test_score_of_a_page_does_not_depend_on_other_pages(build: Build) -> None:
    model = build(TOPIC)
    before, signature = model.score_page(page(ON)), model.signature()
    model.score_page(page(OFF))
    model.explain(page("汽车"))
    assert model.score_page(page(ON)) == before
    assert model.signature() == signature


def test_signature_is_equal_for_equal_models_only(build: Build) -> None:
    assert build(TOPIC).signature() == build(TOPIC).signature()
    assert build(TOPIC).signature() != build(Topic(name="t", terms={"汽车": 1.0})).signature()


def test_explain_lists_words_of_the_page_by_weight(build: Build) -> None:
    model = build(TOPIC)
    reasons = model.explain(page(ON))
    assert reasons == model.score_page(page(ON)).terms
    assert all(word in fold(ON) for word, _ in reasons)
    sizes = [abs(size) for _, size in reasons]
    assert sizes == sorted(sizes, reverse=True)
    assert "汽车" in dict(reasons)


def test_hub_has_less_harvest_than_an_article(build: Build) -> None:
    model = build(TOPIC)
    links = tuple(Link(f"http://a.test/{n}", ON[:18] + str(n), block=1) for n in range(30))
    read, hub = model.score_page(page(ON)), model.score_page(page(ON, links=links))
    assert hub.harvest < read.harvest


def test_first_line_of_word_vectors_may_be_their_numbers(tmp_path: Path) -> None:
    lines = Path(__file__).with_name("vectors.vec").read_text("utf-8")
    file = tmp_path / "vectors.vec"
    file.write_text(f"{len(lines.splitlines())} 3\n{lines}", "utf-8")
    model = judge(Settings({"WORD_VECTORS": str(file)}), Scorer(TOPIC))
    assert model.score_page(page(ON)) == by_word_vectors(TOPIC).score_page(page(ON))


@given(st.text(max_size=60), st.text(max_size=20), st.none() | st.floats(0, 1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_verdict_of_any_page_is_in_range(
    build: Build, text: str, title: str, expected: float | None
) -> None:
    one = page(text, title)._replace(expected=expected)
    verdict = build(from_words("新能源汽车")).score_page(one)
    assert 0.0 <= verdict.harvest <= verdict.relevance <= 1.0
    assert 0.0 <= verdict.article <= 1.0
