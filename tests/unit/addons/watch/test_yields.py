"""Tests of revisits by yield: budget, new hubs, silent hubs and overflowing lists."""

from __future__ import annotations

import asyncio
import heapq
import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.addons.watch.contract import Observation, Visits
from topiccrawl.addons.watch.pagestates import PageStates, VisitResult, recall_hubs, visits_of
from topiccrawl.addons.watch.policies import Budget, Pace, Rate, YieldRevisits
from topiccrawl.storage.pages import Pages, Role
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from pathlib import Path

HOUR = 3600.0
DAY = 24 * HOUR


def simulate_visits(
    policy: YieldRevisits, hubs: dict[str, tuple[float, float]], seconds: float
) -> dict[str, list[float]]:
    """Simulate visits of hubs with steady rates (gains, offers) a second; return their times."""
    pages = {url: Visits(url, Role.HUB, 0.0, 0.0) for url in hubs}
    visits: dict[str, list[float]] = {url: [] for url in hubs}
    waiting = [(policy.due(page), url) for url, page in pages.items()]
    heapq.heapify(waiting)
    while waiting[0][0] < seconds:
        at, url = heapq.heappop(waiting)
        before = pages[url].visited_at
        gained, offered = (int(r * at) - int(r * before) for r in hubs[url])
        page = policy.learn(pages[url], Observation(at, offered > 0, 0, min(offered, 20)))
        pages[url] = policy.learn(page, Observation(at + 1, gained=gained, visit=False))
        visits[url].append(at)
        heapq.heappush(waiting, (policy.due(pages[url]), url))
    return visits


def test_visits_follow_the_root_of_the_yield() -> None:
    rates = {"http://a.test/": 16.0, "http://b.test/": 4.0, "http://c.test/": 1.0}
    policy = YieldRevisits(Pace(rate=30 / HOUR))
    found = simulate_visits(
        policy, {url: (r / HOUR, r / HOUR) for url, r in rates.items()}, 10 * DAY
    )
    late = {url: sum(at > 5 * DAY for at in times) / (5 * 24) for url, times in found.items()}
    assert 27 < sum(late.values()) < 33
    a, b, c = late.values()
    assert 1.6 < a / b < 2.4
    assert 1.6 < b / c < 2.4


def test_hubs_without_news_are_visited_seldom() -> None:
    hubs = {f"http://{n}.test/": (0.0, 2 / HOUR) for n in range(20)}
    found = simulate_visits(
        YieldRevisits(Pace(rate=60 / HOUR)),
        {"http://good.test/": (5 / HOUR, 0.01), **hubs},
        4 * DAY,
    )
    good = len(found.pop("http://good.test/"))
    assert good > 5 * max(map(len, found.values()))
    for times in found.values():
        assert times[-1] > 2.9 * DAY
        assert max(b - a for a, b in pairwise(times)) <= DAY + 1


def test_new_hub_is_due_before_a_poor_one() -> None:
    policy = YieldRevisits(Pace(rate=60 / HOUR))
    poor = {f"http://{n}.test/": (0.02 / HOUR, 0.01) for n in range(10)}
    simulate_visits(policy, {"http://good.test/": (5 / HOUR, 0.01), **poor}, 2 * DAY)
    new = Visits("http://new.test/", Role.HUB, 2 * DAY, 2 * DAY)
    known = Visits("http://0.test/", Role.HUB, 0.0, 2 * DAY)
    known = replace(known, memory=(0.0, 0.0, *Rate().after(2 * DAY, 1e-5).numbers))
    assert policy.due(new) < policy.due(known)


def test_busy_hub_is_visited_before_its_list_overflows() -> None:
    rich = {f"http://{n}.test/": (20 / HOUR, 20 / HOUR) for n in range(5)}
    busy = "http://busy.test/"  # twenty links an hour, one in a hundred on topic, twenty listed
    found = simulate_visits(
        YieldRevisits(Pace(rate=30 / HOUR)), {busy: (0.2 / HOUR, 20 / HOUR), **rich}, 3 * DAY
    )
    late = found[busy][len(found[busy]) // 2 :]  # by its yield alone: every 1.7 hours
    assert max(b - a for a, b in pairwise(late)) < 1.05 * HOUR


@given(
    st.lists(st.tuples(st.floats(1.0, 1e6), st.integers(0, 100)), min_size=1, max_size=30),
    st.floats(1e-8, 1.0),
)
def test_rate_is_positive_finite_and_serialisable(
    stretches: list[tuple[float, int]], prior: float
) -> None:
    rate = Rate()
    for seconds, events in stretches:
        rate = rate.after(seconds, prior).plus(events)
        assert 0.0 < rate.mean(prior) < math.inf
        assert math.isclose(sum(rate.trust), 1.0, abs_tol=1e-9)
    assert Rate.of(rate.numbers) == rate
    assert Rate.of((1.0, 2.0)) == Rate()


def test_rate_follows_steady_news_and_a_day_of_silence() -> None:
    rate = Rate()
    for _ in range(20 * 24):
        rate = rate.after(HOUR, 1e-5).plus(2)
    assert math.isclose(rate.mean(1e-5), 2 / HOUR, rel_tol=0.05)
    for _ in range(24):
        rate = rate.after(HOUR, 1e-5)
    assert rate.mean(1e-5) < 0.3 / HOUR


@given(st.lists(st.floats(1e-9, 10.0), min_size=1, max_size=30), st.floats(1e-4, 10.0))
def test_waits_of_all_hubs_add_up_to_the_pace(rates: list[float], pace: float) -> None:
    budget = Budget(pace)
    for number, rate in enumerate(rates):
        budget.set_yield(f"http://{number}.test/", 2 * rate)
        budget.set_yield(f"http://{number}.test/", rate)
    assert math.isclose(sum(1 / budget.wait(rate) for rate in rates), pace, rel_tol=1e-6)


def test_restart_keeps_the_waits_of_hubs(tmp_path: Path) -> None:
    urls = [f"http://a.test/{n}" for n in range(40)]

    async def restart() -> list[float]:
        before, after = (
            PageStates("足球", YieldRevisits(Pace(rate=1.0, shortest=1.0))) for _ in range(2)
        )
        states = [before.first_visit(url, VisitResult(10.0, hub=True)) for url in urls]
        hubs = [state for state in states if state is not None]
        dead = before.unfetched("http://dead.test/", 10.0)
        async with Pages(SqliteStorage(tmp_path)) as pages:
            await pages.save([*hubs, dead])
            await recall_hubs(after, pages)
        return [one.policy.due(visits_of(hubs[0])) for one in (before, after)]

    waits = [due - 10.0 for due in asyncio.run(restart())]
    assert math.isclose(waits[0], 40.0)
    assert math.isclose(waits[1], 40.0)


def test_correction_is_bounded_after_a_long_pause() -> None:
    budget = Budget(1.0)
    budget.set_yield("http://a.test/", 1.0)
    wait = budget.wait(1.0)
    for number in range(1_000):
        budget.record_visit(number * DAY)
    assert budget.wait(1.0) >= wait / 1.26


def test_default_pace_is_one_visit_a_minute_per_host() -> None:
    hubs = {f"http://{n % 3}.test/{n}": (1 / HOUR, 1 / HOUR) for n in range(12)}
    found = simulate_visits(YieldRevisits(), hubs, DAY)
    late = sum(at > DAY / 2 for times in found.values() for at in times) / 12
    assert 0.85 * 180 < late < 1.15 * 180


def test_failing_hub_gives_its_visits_to_others() -> None:
    policy = YieldRevisits(Pace(rate=1 / HOUR))
    good = Visits("http://a.test/", Role.HUB, 0.0, 0.0)
    bad = Visits("http://b.test/", Role.HUB, 0.0, 0.0)
    policy.due(good)
    wait = policy.due(bad)
    for _ in range(3):
        bad = replace(bad, misses=bad.misses + 1)
        assert policy.due(bad) > wait
        wait = policy.due(bad)
    assert policy.due(good) < 1.2 * HOUR
