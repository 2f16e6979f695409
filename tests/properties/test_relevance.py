"""Property tests of scores: range, batches, width and script, equality with the cosine."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topiccrawl.topics import Scorer, TopicVector
from topiccrawl.topics.topic import Topic

TOPIC = Topic.model_validate({
    "name": "t",
    "terms": {"新能源": 1.0, "汽车": 1.0, "新能源汽车": 1.0, "electric vehicle": 0.5, "5g": 0.7},
    "synonyms": {"汽车": ["轿车", "car"]},
    "negative": {"玩具车": 0.8, "toy": 0.3},
})  # fmt: skip
SCORER = Scorer(TOPIC)
POSITIVE = Scorer(TOPIC.model_copy(update={"negative": {}}))
SCORER.score_text("新能源")  # loads the dictionary before the first example
no_deadline = settings(deadline=None)

WORDS = st.sampled_from([
    "新能源", "汽车", "汽車", "新能源汽车", "轿车", "Cars", "electric vehicles", "electric",
    "5G手机", "玩具车", "toy", "的", "，", "\n", " ", "音乐",
    "2026", "足球", "ＮＢＡ", "vehicle-", "。",
])  # fmt: skip
TEXTS = st.lists(WORDS, max_size=15).map("".join) | st.text(max_size=30)


@no_deadline
@given(TEXTS, TEXTS)
def test_score_is_in_range_and_the_sum_of_its_terms(text: str, title: str) -> None:
    verdict = SCORER.score_text(text, title)
    assert 0.0 <= verdict.relevance <= 1.0
    assert verdict.relevant == (verdict.relevance >= SCORER.lower_limit)
    total = sum(share for _, share in verdict.terms)
    assert verdict.relevance == pytest.approx(max(0.0, total), abs=1e-9)


@no_deadline
@given(st.lists(TEXTS, max_size=8))
def test_batch_scores_equal_single_scores(texts: list[str]) -> None:
    alone = [SCORER.score_text(text).relevance for text in texts]
    assert SCORER.score_many(texts) == pytest.approx(alone, abs=1e-12)


@no_deadline
@given(TEXTS, TEXTS)
def test_the_score_is_the_cosine_of_the_vectors(text: str, title: str) -> None:
    page = POSITIVE.page_vector(text, title)
    norm = POSITIVE.vector.norm
    dot = sum(weight * page.get(term, 0.0) for term, weight in POSITIVE.vector.items())
    assert POSITIVE.score_text(text, title).relevance == pytest.approx(dot / norm, abs=1e-9)


@no_deadline
@given(TEXTS, TEXTS)
def test_page_vector_has_length_1_or_is_empty(text: str, title: str) -> None:
    vector = SCORER.page_vector(text, title)
    assert all(weight > 0 for weight in vector.values())
    length = sum(weight * weight for weight in vector.values())
    assert not vector or length == pytest.approx(1.0)


@no_deadline
@given(TEXTS)
def test_a_positive_score_needs_a_keyword(text: str) -> None:
    if SCORER.score_short(text) > 0:
        assert SCORER.contains(text.replace("://", ""))


@no_deadline
@given(TEXTS)
def test_equal_topic_vector_scores_the_same(text: str) -> None:
    again = SCORER.with_vector(TopicVector.of_topic(TOPIC))
    assert again.score_text(text) == SCORER.score_text(text)


@no_deadline
@given(TEXTS, st.floats(0.1, 10))
def test_the_scale_of_the_weights_does_not_matter(text: str, scale: float) -> None:
    vector = TopicVector.of({term: weight * scale for term, weight in SCORER.vector.items()})
    scaled = SCORER.with_vector(vector).score_short(text)
    assert scaled == pytest.approx(SCORER.score_short(text), abs=1e-9)


@no_deadline
@given(st.text(max_size=60), st.text(max_size=60))
def test_contains_accepts_any_url(host: str, path: str) -> None:
    assert SCORER.contains(f"http://{host}/{path}") in {True, False}
