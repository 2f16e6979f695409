"""Tests of the freshness benchmark: counts of articles, and the ranking of schedules."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from benchmarks.freshness import ORACLE, OURS, compared, figures
from benchmarks.freshness_peers import bound
from benchmarks.freshness_web import SHAPES, made

SMALL = replace(SHAPES["mixed"], hubs=20, hours=96, requests=40.0, hosts=8)


@hypothesis(max_examples=20)
@given(seed=st.integers(0, 999), visits=st.lists(st.floats(0.0, 96.0), max_size=12))
def test_each_article_is_found_or_missed_once(seed: int, visits: list[float]) -> None:
    for hub in made(replace(SMALL, hubs=3), seed):
        seen = found = missed = 0
        times = sorted(at for at in visits if at >= hub.born)
        for at in [*times, 96.0]:
            seen, visit = hub.visit(seen, at)
            found, missed = found + visit.counted, missed + visit.missed
            assert 0 <= visit.counted <= visit.relevant <= visit.new <= visit.listed <= hub.shown
            assert visit.waited >= 0.0
        assert found + missed == hub.relevant


@pytest.mark.quality
def test_our_schedule_beats_the_peers_but_not_the_bound() -> None:
    web = compared(SMALL, 5)
    lowest = 60 * bound(made(SMALL, 5), SMALL.requests)
    assert 0.9 * lowest < web[ORACLE].delay < web[OURS].delay
    measured = figures({"small": web})
    assert measured["delay_over_best_peer"] < 0.75
    assert measured["delay_over_oracle"] < 1.6  # a web of four days, most of which is learning
    assert measured["missed_share"] < 0.01
    assert all(schedule.spent <= 1.0 for schedule in web.values())
