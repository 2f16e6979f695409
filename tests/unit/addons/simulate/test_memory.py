"""Tests of the caching scorer: it scores each text once, and caching changes no score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from tests.unit.addons.simulate.webs import page, web
from topiccrawl.addons.simulate.session import CachingScorer
from topiccrawl.topics import Scorer
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def test_each_text_is_scored_once_even_if_the_collection_is_large() -> None:
    computed: list[str] = []

    class Counting(CachingScorer):
        @override
        def _score_new(self, texts: Sequence[str]) -> list[float]:
            computed.extend(texts)
            return super()._score_new(texts)

    scorer = Counting(TOPIC)
    texts = [f"car {number}" for number in range(25_000)]  # more than a crawl caches
    for start in (*range(0, len(texts), 5_000), 0):
        scorer.score_many(texts[start : start + 5_000])
    assert computed == texts


def test_cached_verdicts_equal_plain_verdicts() -> None:
    one = web(page("/", "新能源汽车 car " * 30)).page("a.test/")
    assert one is not None
    assert CACHING.score_page(one) == PLAIN.score_page(one) == CACHING.score_page(one)


def test_scorer_with_another_vector_has_an_empty_cache() -> None:
    CACHING.score_many(["car", "天气预报"])
    moved = CACHING.with_vector(Scorer(Topic(name="w", terms={"天气": 1.0})).vector)
    assert moved.score_many(["car"]) == [0.0]
    assert moved.score_many(["天气预报"])[0] > 0
