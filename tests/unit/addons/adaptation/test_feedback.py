"""Tests of the relevance feedback adapter."""

from __future__ import annotations

import json
import math

import numpy as np

from topiccrawl.addons.adaptation.feedback import FeedbackAdapter, unit
from topiccrawl.addons.adaptation.learner import AdaptationParameters
from topiccrawl.topics.vector import TopicVector

TOPIC = TopicVector.of({"足球": 1.0, "中超": 1.0, "彩票": -1.0})
PARAMETERS = AdaptationParameters(warm=10, every=5, feedback_size=6, terms=2)
RELEVANT = unit({"足球": 1.0, "球员": 1.2, "联赛": 0.8, "彩票": 0.5, "首页": 1.0, "日": 0.1})
IRRELEVANT = unit({"首页": 1.0, "广告": 1.0})


def adapter(parameters: AdaptationParameters = PARAMETERS) -> FeedbackAdapter:
    return FeedbackAdapter(TOPIC, parameters, np.random.default_rng(1))


def feed(learner: FeedbackAdapter, pages: int) -> None:
    for number in range(pages):
        relevance, document = (0.3 + number / 1000, RELEVANT) if number % 2 else (0.0, IRRELEVANT)
        if weight := learner.page_weight(relevance):
            learner.learn(document, relevance, weight)


def test_terms_of_relevant_documents_only_are_learnt() -> None:
    learner = adapter()
    feed(learner, 20)
    change = learner.adapt()
    assert change is not None
    terms = dict(change.vector.items())
    assert {"足球", "中超", "球员", "联赛"} <= set(terms)
    assert "首页" not in terms
    assert "广告" not in terms


def test_learnt_terms_are_limited_and_negative_terms_kept() -> None:
    learner = adapter()
    for _ in range(6):
        feed(learner, 20)
        change = learner.adapt()
        assert change is not None
        terms = dict(change.vector.items())
        assert len(terms) <= 3 + PARAMETERS.terms
        assert terms["彩票"] < 0


def test_the_drift_guard_holds_after_many_changes() -> None:
    learner = adapter()
    for _ in range(30):
        feed(learner, 12)
        learner.adapt()
    change = learner.present()
    assert change is not None
    terms = dict(change.vector.items())
    assert min(terms["足球"], terms["中超"]) >= math.sqrt(0.5) * math.sqrt(0.5) - 1e-9


def test_no_change_without_relevant_pages() -> None:
    learner = adapter()
    for _ in range(100):
        if learner.page_weight(0.0):
            learner.learn(IRRELEVANT, 0.0)
    assert learner.adapt() is None


def test_limits_follow_recent_scores_down_to_the_floor() -> None:
    low, high = adapter(), adapter()
    for page in range(100):
        for learner, score in ((low, 0.06 if page % 2 else 0.0), (high, 0.2 + page / 1000)):
            if learner.page_weight(score):
                learner.learn(RELEVANT if score else IRRELEVANT, score)
    first, second = low.adapt(), high.adapt()
    assert first is not None
    assert second is not None
    assert (first.lower_limit, first.upper_limit) == (0.05, 0.06)
    assert second.lower_limit is not None
    assert 0.2 < second.lower_limit < 0.21
    assert second.upper_limit is not None
    assert 0.27 < second.upper_limit < 0.29


def test_only_the_best_pages_are_sampled() -> None:
    learner = adapter()
    asked = sum(bool(learner.page_weight(0.9 - page / 1000)) for page in range(6))
    for page in range(6):
        learner.learn(RELEVANT, 0.9 - page / 1000)
    later = sum(bool(learner.page_weight(0.5)) for _ in range(200))
    assert (asked, later) == (6, 0)


def test_restored_adapter_equals_the_stored_one() -> None:
    learner, other = adapter(), adapter()
    feed(learner, 20)
    learner.adapt()
    other.restore(json.loads(json.dumps(learner.state())))
    assert other.present() == learner.present()
    assert other.state() == learner.state()
