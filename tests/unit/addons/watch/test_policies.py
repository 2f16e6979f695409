"""Properties of every revisit policy: add a policy to ``POLICIES``."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.addons.watch.contract import Observation, Visits
from topiccrawl.addons.watch.policies import Pace, UniformRevisits, YieldRevisits, recheck
from topiccrawl.storage.pages import Role

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.addons.watch.contract import RevisitPolicy

POLICIES: dict[str, Callable[[], RevisitPolicy]] = {
    "uniform": UniformRevisits,
    "yields": YieldRevisits,
}

observations = st.builds(
    Observation,
    at=st.floats(0.1, 1e6),
    changed=st.booleans(),
    gained=st.integers(0, 50),
    offered=st.integers(0, 500),
    status=st.sampled_from((0, 200, 304, 404, 410, 503)),
    visit=st.booleans(),
)


@pytest.mark.parametrize("name", POLICIES)
@given(role=st.sampled_from(Role), seen=st.lists(observations, max_size=30))
def test_page_is_due_after_its_last_visit(name: str, role: Role, seen: list[Observation]) -> None:
    policy = POLICIES[name]()
    page = Visits("http://a.test/", role, 1e9, 1e9)
    now, visits = 1e9, 1
    for one in seen:
        now += one.at
        observation = Observation(now, one.changed, one.gained, one.offered, one.status, one.visit)
        page = policy.learn(page, observation)
        visits += one.visit
        assert page.visits == visits
        assert page.visited_at == now or not one.visit
        assert policy.due(page) > page.visited_at
        assert Visits.from_dict(json.loads(json.dumps(page.to_dict()))) == page


@pytest.mark.parametrize("name", POLICIES)
def test_hubs_are_always_revisited_and_articles_are_not(name: str) -> None:
    policy = POLICIES[name]()
    for role in Role:
        page = Visits("http://a.test/", role, 0.0, 0.0)
        for _ in range(60):
            due = policy.due(page)
            if math.isinf(due):
                break
            page = policy.learn(page, Observation(due, status=304))
        assert math.isinf(policy.due(page)) is (role is Role.DETAIL)


def test_articles_are_visited_less_often_and_failures_soon() -> None:
    policy = UniformRevisits(Pace(detail=10.0, days=1.0, miss=5.0))
    page, waits = Visits("http://a.test/1", Role.DETAIL, 0.0, 0.0), []
    while not math.isinf(due := policy.due(page)):
        waits.append(due - page.visited_at)
        page = policy.learn(page, Observation(due))
    assert waits == sorted(waits)
    assert sum(waits) > 86_400.0
    failed = policy.learn(page, Observation(page.visited_at + 1.0, status=404))
    assert policy.due(failed) == failed.visited_at + 5.0
    assert recheck(page, Pace(days=0.0)) == math.inf


def test_old_article_that_keeps_failing_is_no_longer_visited() -> None:
    policy = UniformRevisits(Pace(detail=10.0, days=1.0, miss=5.0))
    page, visits = Visits("http://a.test/1", Role.DETAIL, 0.0, 0.0), 0
    while not math.isinf(due := policy.due(page)) and visits < 99:
        page, visits = policy.learn(page, Observation(due, status=503)), visits + 1
    assert 10 < visits < 99
