"""Tests of the caching scorer: caching changes no score."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.addons.simulate.webs import page, web
from topiccrawl.addons.simulate.session import CachingScorer
from topiccrawl.topics import Scorer
from topiccrawl.topics.topic import Topic

TOPIC = Topic(name="cars", terms={"新能源": 1.0, "汽车": 1.0, "car": 0.5})
WORDS = st.sampled_from(["新能源汽车", "car", "weather", "天气预报", "充电", ""])
TEXTS = st.lists(st.lists(WORDS, max_size=4).map(" ".join), max_size=8)
PLAIN = Scorer(TOPIC)
CACHING = CachingScorer(TOPIC)


@settings(deadline=None)
@given(TEXTS)
def test_cached_scores_equal_plain_scores_in_order(texts: list[str]) -> None:
    assert CACHING.score_many(texts) == PLAIN.score_many(texts)
    assert CACHING.score_many(texts) == PLAIN.score_many(texts)


def test_cached_verdicts_equal_plain_verdicts() -> None:
    one = web(page("/", "新能源汽车 car " * 30)).page("a.test/")
    assert one is not None
    assert CACHING.score_page(one) == PLAIN.score_page(one) == CACHING.score_page(one)


def test_scorer_with_another_vector_has_an_empty_cache() -> None:
    CACHING.score_many(["car", "天气预报"])
    moved = CACHING.with_vector(Scorer(Topic(name="w", terms={"天气": 1.0})).vector)
    assert moved.score_many(["car"]) == [0.0]
    assert moved.score_many(["天气预报"])[0] > 0
