"""Tests of the yield forecast: its probabilities are monotone, in [0, 1] and calibrated."""

from __future__ import annotations

import random
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.exceptions import NotConfigured
from scrapy.utils.test import get_crawler

from topiccrawl.addons.yield_stop.extension import Calibration, YieldForecast, YieldStop

if TYPE_CHECKING:
    from collections.abc import Callable

OUTCOMES = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=60)
VALUES = st.lists(st.floats(-1, 2), min_size=1, max_size=20)


@given(OUTCOMES, VALUES)
def test_probabilities_are_monotonic(
    outcomes: list[tuple[float, bool]], values: list[float]
) -> None:
    calibration = Calibration(window=50)
    for value, hit in outcomes:
        calibration.observe(value, hit=hit)
    found = calibration.probabilities(sorted(values))
    assert len(calibration) == min(50, len(outcomes))
    assert all(0.0 <= p <= 1.0 for p in found)
    assert all(low <= high + 1e-12 for low, high in pairwise(found))


@given(OUTCOMES)
def test_expected_hits_of_the_window_equal_its_hits(
    outcomes: list[tuple[float, bool]],
) -> None:
    calibration = Calibration(window=100)
    for value, hit in outcomes:
        calibration.observe(value, hit=hit)
    if outcomes:
        expected = sum(calibration.probabilities([value for value, _ in outcomes]))
        hits = sum(hit for _, hit in outcomes)
        assert expected == pytest.approx(hits, abs=0.5 + 0.1 * len(outcomes))


def fading(step: int, value: float) -> float:
    """Return the hit probability in a topic that is nearly exhausted: it falls with time."""
    return value * max(0.05, 1.0 - step / 3_000)


def steep(_step: int, value: float) -> float:
    """Return the hit probability for values that overstate all but the best."""
    return value**4


@pytest.mark.parametrize("truth", [fading, steep])
def test_expected_and_realised_yield_agree(truth: Callable[[int, float], float]) -> None:
    """Compare expected and realised yields of the next 50 URLs in a crawl of the best URLs first.

    The values fall during the crawl, so each forecast is for values below most of the window.
    """
    rng = random.Random(5)  # noqa: S311
    values = [rng.gauss(0.9 - step / 3_500, 0.1) for step in range(3_000)]
    values = [min(1.0, max(0.0, value)) for value in values]
    hits = [rng.random() < truth(step, value) for step, value in enumerate(values)]
    forecast = YieldForecast(window=200, ahead=50)
    forecasts: list[tuple[float, float]] = []
    for step, (value, hit) in enumerate(zip(values, hits, strict=True)):
        if 200 <= step <= 2_950 and step % 10 == 0:
            ahead = slice(step, step + 50)
            forecasts.append((forecast.expect(sorted(values[ahead])), fmean(hits[ahead])))
        forecast.observe(value, hit=hit)
    assert -0.01 < fmean(expected - realised for expected, realised in forecasts) < 0.03
    assert fmean(abs(expected - realised) for expected, realised in forecasts) < 0.06
    for low in (0.0, 0.1, 0.2, 0.4):
        near = [
            (expected, realised) for expected, realised in forecasts if low <= expected < low + 0.2
        ]
        if len(near) >= 20:
            assert fmean(e for e, _ in near) == pytest.approx(fmean(c for _, c in near), abs=0.08)


def test_forecast_rises_after_low_forecasts() -> None:
    """Every page leads to better ones that were not in the queue."""
    forecast = YieldForecast(window=100, ahead=20)
    for step in range(400):
        forecast.observe(0.9 if step % 4 == 0 else 0.1, hit=step % 4 == 0)
        if step % 10 == 0:
            forecast.expect([0.1] * 20)
    assert forecast.expect([0.1] * 20) == pytest.approx(0.25, abs=0.03)


def test_empty_queue_has_an_expected_yield_of_zero() -> None:
    forecast = YieldForecast(window=10, ahead=5)
    assert forecast.expect([0.5]) == 1.0
    forecast.observe(0.5, hit=False)
    assert forecast.expect([]) == 0.0


def test_settings_of_a_rule_that_is_off_are_not_read() -> None:
    settings = {"TOPICCRAWL_STOP_YIELD": 0, "TOPICCRAWL_STOP_WINDOW": "many"}
    with pytest.raises(NotConfigured):
        YieldStop.from_crawler(get_crawler(settings_dict=settings))
