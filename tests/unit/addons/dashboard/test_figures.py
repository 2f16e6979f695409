"""Tests of the crawl history and of the reason for a wait."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.addons.dashboard.channel import difference
from topiccrawl.addons.dashboard.merge import merge_histories
from topiccrawl.addons.dashboard.stored import recent_changes
from topiccrawl.extensions.history import CrawlHistory, Point
from topiccrawl.extensions.wait_reason import wait_reason
from topiccrawl.frontier.view import STATES, Census
from topiccrawl.storage.changes import TopicChange

steps = st.lists(st.tuples(st.floats(0.1, 30), st.lists(st.booleans(), max_size=5)), max_size=200)


@given(steps, st.integers(2, 20))
def test_history_is_limited_and_ordered(
    moments: list[tuple[float, list[bool]]], points: int
) -> None:
    crawl_history = CrawlHistory(points=points)
    at = 0.0
    for seconds, pages in moments:
        at += seconds
        for relevant in pages:
            crawl_history.page(relevant=relevant)
        crawl_history.sample(at)
    history = crawl_history.points
    assert len(history) <= 2 * points
    assert all(a.at < b.at and a.pages <= b.pages for a, b in pairwise(history))
    assert all(0 <= point.recent <= 1 and point.relevant <= point.pages for point in history)


@given(steps)
def test_changes_add_up_to_the_full_history(moments: list[tuple[float, list[bool]]]) -> None:
    history, at = CrawlHistory(points=8), 0.0
    server: dict[str, Any] = {}
    reader: list[Point] = []
    for seconds, pages in moments:
        at += seconds
        for relevant in pages:
            history.page(relevant=relevant)
        history.sample(at)
        new: dict[str, Any] = {"series": {"every": history.every, "points": list(history.points)}}
        change = difference(server, new)
        if "series" in change:
            reader = reader[: change["series"].get("from", 0)] + change["series"]["points"]
        server = new
        assert reader == history.points


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=30), min_size=1, max_size=4))
def test_merged_history_has_the_pages_of_all_nodes(grown: list[list[int]]) -> None:
    histories = []
    for node, steps_ in enumerate(grown):
        pages, points = 0, []
        for at, more in enumerate(steps_):
            pages += more
            points.append(Point(float(at), pages, 0, 0.0, 0))
        histories.append((100.0 + node, points))
    found = merge_histories(histories)
    assert found[-1].pages == sum(map(sum, grown))
    assert found[0].at == 0.0


def test_changes_of_a_topic_have_the_added_and_the_removed_terms() -> None:
    before = ("t", "f", 1, 5.0, "words", "", 9, {"old": 1.0}, {"old": 1.0, "new": 0.5})
    changes = [TopicChange(*before), TopicChange(*before)._replace(number=2, terms={"new": 0.5})]
    found = [(one["number"], [*one["came"]], one["went"]) for one in recent_changes(changes)]
    assert found == [(2, [], ["old"]), (1, ["new"], [])]


def census(**states: int) -> Census:
    return Census({**dict.fromkeys(STATES, 0), **states}, (), ("a.test", 12.0))


def test_each_kind_of_wait_has_its_reason() -> None:
    queued = {"prior": 4}
    cases = {
        "": wait_reason(1.0, queues=queued, own=4),
        "paused": wait_reason(1.0, paused=True, store_away=True, queues=queued, own=4),
        "redis-away": wait_reason(1.0, redis_away=True, paused=True),
        "store-away": wait_reason(1.0, store_away=True),
        "delays": wait_reason(9.0, queues=queued, own=4, census=census(waiting=3, failing=1)),
        "failing": wait_reason(9.0, queues=queued, own=4, census=census(failing=1)),
        "robots": wait_reason(9.0, queues=queued, own=4, census=census(robots=1)),
        "answers": wait_reason(9.0, queues=queued, own=4, leases=1, census=census(fetching=1)),
        "storing": wait_reason(9.0, queues=queued, own=4, leases=1, census=census(idle=1)),
        "reading": wait_reason(
            9.0, queues=queued, own=4, leases=2, reading=1, census=census(idle=1)
        ),
        "elsewhere": wait_reason(9.0, queues=queued, own=0),
        "empty": wait_reason(9.0),
        "watching": wait_reason(9.0, watching="12 hubs, next at 08:00:00"),
    }
    assert {reason: found.reason for reason, found in cases.items()} == {
        reason: reason for reason in cases
    }
    assert "a.test in 12 s" in cases["delays"].text()
