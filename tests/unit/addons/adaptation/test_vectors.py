"""Tests of the vector operations of relevance feedback."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.addons.adaptation.feedback import (
    apply_drift_guard,
    centroid,
    heaviest,
    rocchio,
    unit,
)

weights = st.dictionaries(
    st.sampled_from("abcdefgh"), st.floats(0.001, 1.0, allow_nan=False), min_size=1
).map(unit)


@given(weights, weights, st.floats(0, 1))
def test_drift_guard_keeps_the_share_of_the_users_terms(
    own: dict[str, float], moved: dict[str, float], share: float
) -> None:
    kept = apply_drift_guard(own, moved, share)
    assert math.hypot(*kept.values()) == pytest.approx(1.0)
    for term, weight in own.items():
        assert kept.get(term, 0.0) >= math.sqrt(share) * weight - 1e-9
    assert sum(kept.get(term, 0.0) ** 2 for term in own) >= share - 1e-9


@given(weights, weights, st.floats(0, 1))
def test_drift_guard_is_idempotent(
    own: dict[str, float], moved: dict[str, float], share: float
) -> None:
    once = apply_drift_guard(own, moved, share)
    twice = apply_drift_guard(own, once, share)
    assert set(twice) == set(once)
    for term, weight in once.items():
        assert twice[term] == pytest.approx(weight, abs=1e-6)


@given(weights, weights, weights)
def test_rocchio_returns_a_positive_unit_vector(
    topic: dict[str, float], best: dict[str, float], bad: dict[str, float]
) -> None:
    moved = rocchio(topic, best, bad)
    assert all(weight > 0 for weight in moved.values())
    assert not moved or math.hypot(*moved.values()) == pytest.approx(1.0)


def test_rocchio_removes_terms_of_irrelevant_pages() -> None:
    moved = rocchio({"a": 1.0}, {"a": 0.6, "menu": 0.8}, {"menu": 1.0}, negative=1)
    assert list(moved) == ["a"]


def test_rocchio_with_zero_factors_changes_nothing() -> None:
    unchanged = rocchio({"a": 0.6, "b": 0.8}, {"c": 1.0}, {"a": 1.0}, positive=0, negative=0)
    assert unchanged == {"a": 0.6, "b": 0.8}


def test_heaviest_terms_are_kept_beside_required_terms() -> None:
    kept = heaviest({"a": 0.1, "b": 0.3, "c": 0.2, "d": 0.3}, 1, always=("a",))
    assert kept == {"a": 0.1, "b": 0.3}


def test_centroid_is_the_mean_over_all_documents() -> None:
    assert centroid([{"a": 1.0}, {"a": 0.5, "b": 1.0}]) == {"a": 0.75, "b": 0.5}
    assert centroid([]) == {}
