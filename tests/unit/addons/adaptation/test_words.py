"""Tests of the word adapter."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topiccrawl.addons.adaptation.learner import AdaptationParameters
from topiccrawl.addons.adaptation.words import WordAdapter
from topiccrawl.errors import SettingError
from topiccrawl.topics.vector import TopicVector

TOPIC = TopicVector.of({"football": 2.0, "goal": 1.0, "cooking": -1.0})
PARAMETERS = AdaptationParameters(warm=10, every=5)


def adapter(parameters: AdaptationParameters = PARAMETERS, seed: int = 1) -> WordAdapter:
    return WordAdapter(TOPIC, parameters, np.random.default_rng(seed))


def feed(learner: WordAdapter, pages: int) -> None:
    """Learn on-topic pages (striker, page) and off-topic pages (menu, page) in turn."""
    for number in range(pages):
        relevant = number % 2 == 0
        relevance = 0.4 if relevant else 0.0
        if weight := learner.page_weight(relevance):
            words = ("football", "striker", "page") if relevant else ("menu", "page")
            learner.learn(dict.fromkeys(words, 0.5), relevance, weight)


def test_word_weights_follow_the_relevance_of_their_pages() -> None:
    learner = adapter()
    feed(learner, 40)
    change = learner.adapt()
    assert change is not None
    terms = dict(change.vector.items())
    assert terms["striker"] > 0.1
    assert terms["menu"] < -0.1
    assert abs(terms.get("page", 0.0)) < 0.02
    assert "striker" in change.reason
    assert change.lower_limit is None


def test_users_terms_keep_their_relative_weights() -> None:
    learner = adapter()
    feed(learner, 40)
    change = learner.adapt()
    assert change is not None
    terms = dict(change.vector.items())
    assert (terms["football"], terms["goal"], terms["cooking"]) == (1.0, 0.5, -0.5)


def test_changes_start_after_warm_up_at_growing_intervals() -> None:
    learner = adapter(AdaptationParameters(warm=10, every=5, growth=2))
    change_pages = []
    for pages in range(2, 101, 2):
        feed(learner, 2)
        if learner.adapt():
            change_pages.append(pages)
    assert change_pages == [10, 20, 40, 80]


def test_default_sampling_and_changes_are_limited() -> None:
    learner = adapter(AdaptationParameters())
    learnt = changes = 0
    for number in range(1_000):
        if weight := learner.page_weight(number % 2 / 2):
            learner.learn({f"word{number % 2}": 1.0}, number % 2 / 2, weight)
            learnt += 1
        changes += learner.adapt() is not None
    assert learnt <= 125
    assert changes <= 6


def test_no_change_without_documents() -> None:
    learner = adapter()
    for _ in range(30):
        learner.page_weight(0.0)
    assert learner.adapt() is None


def test_sampling_rate_falls_as_sample_weight_rises() -> None:
    learner = adapter(AdaptationParameters(sample=100))
    page_weights = [learner.page_weight(0.1) for _ in range(10_000)]
    assert all(weight == 1 for weight in page_weights[:100])
    assert sum(1 for weight in page_weights if weight) < 900
    assert sum(page_weights) == pytest.approx(10_000, rel=0.2)


@given(st.integers(15, 60))
@settings(max_examples=20)
def test_restored_adapter_equals_the_stored_one(pages: int) -> None:
    learner, other = adapter(), adapter()
    feed(learner, pages)
    other.restore(json.loads(json.dumps(learner.state())))
    assert other.present() == learner.present()
    assert other.state() == learner.state()


@given(
    st.lists(
        st.tuples(st.sets(st.sampled_from("abcdefgh"), min_size=1), st.floats(0, 1)),
        min_size=20,
        max_size=60,
    )
)
def test_weights_of_learnt_words_are_at_most_the_gain(
    pages: list[tuple[set[str], float]],
) -> None:
    learner = adapter()
    for words, relevance in pages:
        learner.learn(dict.fromkeys(words, 0.1), relevance, learner.page_weight(relevance))
    change = learner.present()
    for term, weight in change.vector.items() if change else ():
        assert term in TOPIC.terms or abs(weight) <= PARAMETERS.gain


@pytest.mark.parametrize(("name", "value"), [("gain", 2.0), ("growth", 0.5), ("warm", 0)])
def test_parameters_out_of_range_are_refused(name: str, value: float) -> None:
    with pytest.raises(SettingError, match=name):
        AdaptationParameters(**{name: value})  # type: ignore[arg-type]  # a number each
