"""Tests of the link-text model."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.unit.links.shares import WordShare
from topiccrawl.links.strategies import StrategyParameters, strategy
from topiccrawl.links.strategies import learned as module
from topiccrawl.links.strategies.learned import MIN_PAGES, LinkWords
from topiccrawl.links.strategies.shark_plus import SharkPlus
from topiccrawl.model import Link, Verdict

if TYPE_CHECKING:
    import random

EXAMPLES = some.lists(
    some.tuples(some.lists(some.sampled_from("abcdef"), max_size=4), some.floats(0, 1)),
    min_size=MIN_PAGES,
    max_size=40,
)


@given(EXAMPLES, some.randoms(use_true_random=False))
def test_order_of_examples_does_not_change_predictions(
    examples: list[tuple[list[str], float]], rng: random.Random
) -> None:
    one, other = LinkWords(), LinkWords()
    for words, relevance in examples:
        one.learn(words, relevance)
    rng.shuffle(examples)
    for words, relevance in examples:
        other.learn(words, relevance)
    for word in "abcdefg":
        assert one.total([word]) == pytest.approx(other.total([word]))


@given(EXAMPLES)
def test_one_word_predicts_below_one_and_unknown_words_zero(
    examples: list[tuple[list[str], float]],
) -> None:
    model = LinkWords()
    for words, relevance in examples:
        model.learn(words, relevance)
    assert all(abs(model.total([word])) < 1 for word in "abcdef")
    assert model.total(["g"]) == model.total([]) == 0.0


def test_predictions_are_0_without_evidence() -> None:
    model = LinkWords()
    for _ in range(MIN_PAGES - 1):
        model.learn(["cup"], 1.0)
    assert (model.total(["cup"]), model.version) == (0.0, 0)


def test_updates_of_the_model_become_rarer() -> None:
    model, changes = LinkWords(), []
    for page in range(10_000):
        before = model.version
        model.learn(["cup"], 1.0)
        if model.version > before:
            changes.append(page)
    gaps = [later - earlier for earlier, later in pairwise(changes)]
    assert len(changes) < 60
    assert gaps == sorted(gaps)


def test_rare_words_are_dropped_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_WORDS", 50)
    model = LinkWords()
    for page in range(500):
        model.learn(["often", f"once{page}"], float(page % 2))
    assert len(model._known) <= 51
    assert "often" in model._known


def test_shark_plus_learns_words_outside_the_topic() -> None:
    plus = strategy("shark-plus", WordShare("football"), StrategyParameters())
    good = Link("http://a.test/1", "goalkeeper saves", "")
    bad = Link("http://a.test/2", "stock market", "")
    irrelevant = Verdict(0.0, relevant=False)
    before = [plus.value(o.evidence) for o in plus.offers(irrelevant, (), [good, bad])]
    version = plus.version
    for _ in range(20):
        plus.learn("goalkeeper interview", "", 0.5)
        plus.learn("stock prices", "", 0.0)
    offers = plus.offers(irrelevant, (), [good, bad])
    after = [plus.value(o.evidence) for o in offers]
    assert before[0] == before[1]
    assert after[0] > before[0] > after[1]
    assert plus.version != version
    assert plus.rescore(offers[0].evidence, good.anchor, "") == offers[0].evidence


def test_each_learnt_page_changes_the_next_scores() -> None:
    plus = strategy("shark-plus", WordShare("football"), StrategyParameters())
    link, verdict = Link("http://a.test/1", "goalkeeper saves", ""), Verdict(0.0, relevant=False)
    values = []
    for page in range(20):
        plus.learn(("stock prices", "goalkeeper interview")[page % 2], "", 0.5 * (page % 2))
        (offer,) = plus.offers(verdict, (), [link])
        values.append(plus.value(offer.evidence))
        assert plus.rescore(offer.evidence, offer.anchor, offer.context) == offer.evidence
    assert all(one != other for one, other in pairwise(values[MIN_PAGES:]))


def test_block_text_predicts_for_unknown_anchors() -> None:
    plus = strategy("shark-plus", WordShare("football"), StrategyParameters())
    for _ in range(20):
        plus.learn("", "alpha beta", 0.5)
        plus.learn("", "beta alpha", 0.0)
    offer = plus.offers(Verdict(0.0, relevant=False), (), [Link("http://a.test/1", "new", "")])[0]
    good, bad = (
        plus.value(plus.rescore(offer.evidence, "new", context))
        for context in ("alpha beta", "beta alpha")
    )
    assert good > plus.value(offer.evidence) > bad


def test_version_stays_within_32_bits() -> None:
    plus = strategy("shark-plus", WordShare("cup"))
    plus.version = 2**32 - 1
    versions = {plus.version}
    for _ in range(200):
        plus.learn("cup final", "", 1.0)
        versions.add(plus.version)
    assert len(versions) > 10
    assert all(0 <= version < 2**32 for version in versions)


def test_seeds_and_zero_weight_predict_nothing() -> None:
    link = Link("http://a.test/", "cup", "final")
    verdict = Verdict(0.5, relevant=True)
    for weight, learns in ((0.0, False), (0.4, True)):
        parameters = StrategyParameters(plus_promise_weight=weight)
        plus = strategy("shark-plus", WordShare("cup"), parameters)
        for _ in range(50):
            plus.learn("", "", 1.0)
        assert plus.version == 0
        for n in range(50):
            plus.learn("cup" if n % 2 else "money", "", n % 2)
        (offer,) = plus.offers(verdict, (), [link])
        assert (offer.evidence[SharkPlus.fields.index("promise")] != 0) == learns
