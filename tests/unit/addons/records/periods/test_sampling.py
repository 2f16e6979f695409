"""Tests of seed probabilities: the source's table, and properties of sampling."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.addons.records.periods.seeds import estimate_skipped, probability, random_draw


def test_table_2_of_the_source() -> None:
    """Fail the eighth of ten seeds [S1, table 2]."""
    failed, percent = 0, []
    for number in range(1, 11):
        percent.append(round(100 * probability(number, failed, 10)))
        failed += number == 8
    assert percent == [95, 90, 85, 80, 75, 70, 65, 60, 50, 45]


@given(st.data())
def test_probability_falls_with_position_and_failures(data: st.DataObject) -> None:
    total = data.draw(st.integers(2, 10_000))
    number = data.draw(st.integers(1, total - 1))
    failed = data.draw(st.integers(0, number - 1))
    chance = probability(number, failed, total)
    assert 0 < chance < 1
    assert probability(number + 1, failed, total) < chance
    if failed:
        assert probability(number, failed - 1, total) > chance


@pytest.mark.parametrize(("number", "failed", "total"), [(0, 0, 10), (11, 0, 10), (3, 3, 10)])
def test_number_outside_the_list_is_rejected(number: int, failed: int, total: int) -> None:
    with pytest.raises(ValueError, match="no seed"):
        probability(number, failed, total)


def test_draws_are_uniform_and_differ_by_period() -> None:
    draws = [random_draw(1, 1, number) for number in range(2000)]
    assert abs(sum(draws) / len(draws) - 0.5) < 0.02
    assert draws != [random_draw(1, 2, number) for number in range(2000)]


def test_estimate_of_skipped_seeds_is_unbiased() -> None:
    chances = [probability(n, 0, 400) for n in range(1, 401)]
    useful = [n % 3 > 0 for n in range(400)]
    errors = []
    for seed in range(200):
        rng = random.Random(seed)  # noqa: S311
        taken = [rng.uniform(0, 1) < chance for chance in chances]
        missed = sum(u for u, t in zip(useful, taken, strict=True) if not t)
        crawled = [(c, u) for c, u, t in zip(chances, useful, taken, strict=True) if t]
        errors.append(estimate_skipped(taken.count(False), crawled).useful - missed)
    assert abs(sum(errors) / len(errors)) < 2  # of about 67 that were missed
