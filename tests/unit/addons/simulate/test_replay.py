"""Tests of replays on small webs with known orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy.settings import Settings
from typing_extensions import override

from tests.unit.addons.simulate.webs import SITE, answer, page, web
from topiccrawl.addons.adaptation.learner import AdaptationParameters, TopicLearner
from topiccrawl.addons.simulate.harvest import build_case
from topiccrawl.addons.simulate.replay import Conditions, Replay, Replayed
from topiccrawl.addons.simulate.session import CachingScorer, conditions_of
from topiccrawl.frontier.contract import Limits
from topiccrawl.links.strategies import NAMES, strategy
from topiccrawl.links.strategies.parameters import StrategyParameters
from topiccrawl.links.strategies.shark_plus import SharkPlus
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from topiccrawl.addons.simulate.collection import RecordedWeb
    from topiccrawl.model import Evidence

TOPIC = Topic(name="football", terms={"football": 1.0}, seeds=(f"{SITE}/",))
ON = "football football match report"
OFF = "weather forecast for the coming week"


def run(
    found: RecordedWeb,
    name: str = "bfs",
    topic: Topic = TOPIC,
    conditions: Conditions | None = None,
    method: str = "",
) -> Replayed:
    scorer = CachingScorer(topic)
    wanted = conditions or Conditions(budget=100, batch=1)
    order = strategy(name, scorer)
    adapter = TopicLearner(scorer, order, method) if method else None
    return Replay(found, topic, scorer, order, wanted, adapter).run()


def paths(replayed: Replayed) -> list[str]:
    return [name.removeprefix("a.test") for name in replayed.fetched]


def test_best_first_follows_links_of_relevant_pages() -> None:
    found = web(
        page("/", OFF, "/dull", "/good"), page("/dull", OFF, "/d1"), page("/good", ON, "/g1"),
        page("/d1", OFF), page("/g1", ON),
    )  # fmt: skip
    assert paths(run(found)) == ["/", "/dull", "/good", "/d1", "/g1"]
    order = paths(run(found, "best-first"))
    assert order.index("/g1") < order.index("/d1")


def test_failures_use_no_budget_and_redirects_are_followed() -> None:
    found = web(
        page("/", OFF, "/gone", "/moved", "/broken", "/loop", "/last"),
        answer("/moved", 301, Location="/new"), answer("/loop", 302, Location="/loop"),
        answer("/broken", 500), page("/new", ON), page("/last", ON),
    )  # fmt: skip
    replayed = run(found, conditions=Conditions(budget=3, batch=1))
    assert sorted(paths(replayed)) == ["/", "/last", "/new"]
    assert replayed.failed == 3  # gone, broken, loop


def test_replay_ends_at_the_budget() -> None:
    found = web(page("/", OFF, "/1", "/2", "/3"), *(page(f"/{n}", OFF) for n in (1, 2, 3)))
    assert paths(run(found, conditions=Conditions(budget=2, batch=1))) == ["/", "/1"]


def test_slow_start_ranks_by_the_first_pages() -> None:
    dull = [f"/dull{n}" for n in range(6)]
    found = web(
        page("/", OFF, "/good", *dull), page("/good", ON, "/g1"), page("/g1", ON),
        *(page(path, OFF) for path in dull),
    )  # fmt: skip
    at_once = paths(run(found, "best-first", conditions=Conditions(9, 8)))
    assert at_once == ["/", "/good", *dull, "/g1"]
    slow = paths(run(found, "best-first", conditions=Conditions(9, 8, slow_start=4)))
    assert slow == ["/", "/good", "/g1", *dull]


def test_recorded_robots_are_obeyed_unless_disabled() -> None:
    robots = answer("/robots.txt", body="User-agent: *\nDisallow: /private")
    found = web(
        robots, page("/", OFF, "/private", "/open"), page("/private", ON), page("/open", ON)
    )
    assert paths(run(found)) == ["/", "/open"]
    free = Conditions(budget=9, batch=1, robots=False)
    assert paths(run(found, conditions=free)) == ["/", "/private", "/open"]


def test_link_rules_are_applied() -> None:
    found = web(
        page("/", OFF, "/a.pdf", "http://b.test/", "/in", "/out"), page("/a.pdf", ON),
        page("/in", ON, "/deep"), page("/deep", ON), answer("/out", 302, Location="http://b.test/"),
    )  # fmt: skip
    topic = TOPIC.model_copy(update={"allowed_hosts": ("a.test",)})
    replayed = run(found, topic=topic, conditions=Conditions(9, 1, limits=Limits(max_depth=1)))
    assert paths(replayed) == ["/", "/in"]
    assert replayed.failed == 1  # a redirect to a foreign host; its link was never queued
    free = Conditions(9, 1, traps=None)
    assert "/a.pdf" in paths(run(found, conditions=free))


def test_links_to_unrecorded_hosts_take_no_turn() -> None:
    found = web(page("/", ON, "http://b.test/1", "/in", "http://b.test/2"), page("/in", ON))
    replayed = run(found, conditions=Conditions(9, 1))
    assert paths(replayed) == ["/", "/in"]
    assert replayed.failed == 0


def test_number_of_topic_changes_is_reported() -> None:
    pages = [page(f"/{n}", f"{ON} goalkeeper penalty", f"/{n + 1}") for n in range(80)]
    found = web(page("/", ON, "/0"), *pages)
    conditions = Conditions(budget=80, batch=1)
    learnt = run(found, "shark-plus", conditions=conditions, method="words")
    assert learnt.changes == 3  # after 20, 40 and 80 pages
    assert run(found, "shark-plus", conditions=conditions).changes == 0
    assert len(learnt.fetched) == 80


GRAPHS = st.lists(st.lists(st.integers(0, 11), max_size=5), min_size=12, max_size=12)


@settings(deadline=None, max_examples=25)
@given(GRAPHS, st.sampled_from(NAMES), st.integers(1, 8), st.integers(0, 2**12 - 1))
def test_every_strategy_fetches_reachable_pages_once(
    graph: list[list[int]], name: str, batch: int, topical: int
) -> None:
    texts = [ON if topical >> n & 1 else OFF for n in range(12)]
    found = web(
        page("/", OFF, "/0"),
        *(page(f"/{n}", texts[n], *(f"/{to}" for to in links)) for n, links in enumerate(graph)),
    )
    reach, new = {0}, [0]
    while new:
        new = [to for to in graph[new.pop()] if to not in reach] + new
        reach.update(new)
    replayed = run(found, name, conditions=Conditions(budget=50, batch=batch))
    if name == "shark":  # it gives up regions far from what is relevant
        assert set(paths(replayed)) <= {"/", *(f"/{n}" for n in reach)}
    else:
        assert sorted(paths(replayed)) == sorted(["/", *(f"/{n}" for n in reach)])
    again = run(found, name, conditions=Conditions(budget=50, batch=batch))
    assert again == replayed


@pytest.mark.parametrize("name", NAMES)
def test_every_strategy_is_replayed_with_adaptation(name: str) -> None:
    found = web(page("/", ON, "/0"), *(page(f"/{n}", ON, f"/{n + 1}") for n in range(40)))
    for method in ("words", "genetic"):
        conditions = Conditions(budget=30, batch=4)
        assert len(run(found, name, conditions=conditions, method=method).fetched) == 30


class CountingStrategy(SharkPlus):
    """Count the re-scored records."""

    rescored = 0

    @override
    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        self.rescored += 1
        return super().rescore(evidence, anchor, context)


@pytest.mark.parametrize(("method", "swept"), [("words", False), ("genetic", True)])
def test_queue_is_rescored_for_new_vectors_only(method: str, *, swept: bool) -> None:
    hubs = [f"/hub{n}" for n in range(40)]
    leaves = {hub: [f"{hub}/page{n}" for n in range(40)] for hub in hubs}
    found = web(
        page("/", ON, *hubs),
        *(page(hub, ON, *to) for hub, to in leaves.items()),
        *(page(url, ON) for to in leaves.values() for url in to),
    )
    scorer = CachingScorer(TOPIC)
    order = CountingStrategy(scorer, StrategyParameters())
    adapter = TopicLearner(scorer, order, method, AdaptationParameters(growth=1.5))
    replayed = Replay(found, TOPIC, scorer, order, Conditions(600, 8), adapter).run()
    assert replayed.changes > 5
    assert (order.rescored > 2 * 600) == swept


def test_options_of_the_command_line_win_over_the_limits_of_a_topic() -> None:
    options = Settings()
    options.setmodule("topiccrawl.settings", priority="default")
    options.set("DEPTH_LIMIT", "5", priority="cmdline")
    topic = Topic.model_validate({**TOPIC.model_dump(), "limits": {"depth": 1, "host_pages": 7}})
    found = web(page("/", ON))
    limits = conditions_of(options, 1, build_case(found, topic, frozenset(), None)).limits
    assert (limits.max_depth, limits.max_host_pages) == (5, 7)
