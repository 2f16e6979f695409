from __future__ import annotations

import json
import math

import numpy as np

from topiccrawl.addons.adaptation.feedback import FeedbackAdapter, unit
from topiccrawl.addons.adaptation.learner import AdaptationParameters
from topiccrawl.topics.vector import TopicVector

TOPIC = TopicVector.of({"足球": 1.0, "中超": 1.0, "彩票": -1.0})
QUICK = AdaptationParameters(warm=10, every=5, feedback_size=6, terms=2)
GOOD = unit({"足球": 1.0, "球员": 1.2, "联赛": 0.8, "彩票": 0.5, "首页": 1.0, "日": 0.1})
BAD = unit({"首页": 1.0, "广告": 1.0})


def adapter(parameters: AdaptationParameters = QUICK) -> FeedbackAdapter:
    return FeedbackAdapter(TOPIC, parameters, np.random.default_rng(1))


def feed(learner: FeedbackAdapter, pages: int) -> None:
    for number in range(pages):
        relevance, document = (0.3 + number / 1000, GOOD) if number % 2 else (0.0, BAD)
        if weight := learner.page_weight(relevance):
            learner.learn(document, relevance, weight)


def test_terms_of_the_best_documents_enter_and_those_of_irrelevant_ones_do_not() -> None:
    learner = adapter()
    feed(learner, 20)
    change = learner.adapt()
    assert change is not None
    terms = dict(change.vector.items())
    assert {"足球", "中超", "球员", "联赛"} <= set(terms)
    assert "首页" not in terms
    assert "广告" not in terms


def test_at_most_so_many_terms_are_learnt_and_negative_ones_stay_negative() -> None:
    learner = adapter()
    for _ in range(6):
        feed(learner, 20)
        change = learner.adapt()
        assert change is not None
        terms = dict(change.vector.items())
        assert len(terms) <= 3 + QUICK.terms
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


def test_it_waits_for_relevant_pages() -> None:
    learner = adapter()
    for _ in range(100):
        if learner.page_weight(0.0):
            learner.learn(BAD, 0.0)
    assert learner.adapt() is None


def test_limits_follow_recent_scores_and_never_fall_below_the_floor() -> None:
    low, high = adapter(), adapter()
    for page in range(100):
        for learner, score in ((low, 0.06 if page % 2 else 0.0), (high, 0.2 + page / 1000)):
            if learner.page_weight(score):
                learner.learn(GOOD if score else BAD, score)
    first, second = low.adapt(), high.adapt()
    assert first is not None
    assert second is not None
    assert (first.lower_limit, first.upper_limit) == (0.05, 0.06)
    assert second.lower_limit is not None
    assert 0.2 < second.lower_limit < 0.21
    assert second.upper_limit is not None
    assert 0.27 < second.upper_limit < 0.29


def test_only_the_best_pages_are_asked_for_their_vector() -> None:
    learner = adapter()
    asked = sum(bool(learner.page_weight(0.9 - page / 1000)) for page in range(6))
    for page in range(6):
        learner.learn(GOOD, 0.9 - page / 1000)
    later = sum(bool(learner.page_weight(0.5)) for _ in range(200))
    assert (asked, later) == (6, 0)


def test_stored_and_restored_it_is_the_same() -> None:
    learner, other = adapter(), adapter()
    feed(learner, 20)
    learner.adapt()
    other.restore(json.loads(json.dumps(learner.state())))
    assert other.present() == learner.present()
    assert other.state() == learner.state()
