"""Tests of harvest curves and areas, against values computed by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.addons.simulate.webs import SITE, answer, page, web
from topiccrawl.addons.simulate.harvest import (
    Case,
    LabelledTopic,
    harvest,
    labelled_case,
    read_truth,
    unlabelled_case,
)
from topiccrawl.addons.simulate.report import figures, table
from topiccrawl.errors import ConfigurationError
from topiccrawl.topics import Scorer
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from pathlib import Path

TOPIC = Topic(name="football", terms={"football": 1.0}, seeds=(f"{SITE}/",))
# front -> a (off) -> b (on); front -> c (off); front -> moved -> d (on)
WEB = web(
    page("/", "weather", "/a", "/c", "/moved"), page("/a", "weather", "/b"),
    page("/b", "football match", marks=("sport.football",)), page("/c", "weather"),
    answer("/moved", 301, Location="/d"), page("/d", "football game", marks=("sport",)),
    page("/island", "football", marks=("sport",)),
)  # fmt: skip
RECORD: dict[str, Any] = {
    "name": "football",
    "terms": ["football"],
    "seeds": [f"{SITE}/"],
    "relevant": ["sport"],
    "budget": 3,
    "reachable": 6,
    "reachable_relevant": 2,
    "oracle": [0, 2],
    "oracle_step": 2,
    "oracle_area": 3.0,
    "reference": {"bfs": 0.5},
}


def test_area_is_relative_to_the_area_of_the_oracle() -> None:
    case = labelled_case(WEB, LabelledTopic.model_validate(RECORD))
    found = harvest("x", ["a.test/", "a.test/b", "a.test/b", "a.test/a"], case)
    assert found.counts == (0, 1, 1)
    assert found.area == pytest.approx(2 / 3)
    assert (found.found, found.pages) == (1, 3)
    assert found.rate == pytest.approx(1 / 3)
    assert [found.recall(share, case.total) for share in (0.1, 0.67, 1.0)] == [0, 0.5, 0.5]


def test_counts_are_extended_or_cut_to_the_budget() -> None:
    case = labelled_case(WEB, LabelledTopic.model_validate(RECORD))
    assert harvest("x", ["a.test/d"], case).counts == (1, 1, 1)
    assert harvest("x", [], case).area == 0
    assert harvest("x", [f"a.test/{n}" for n in range(9)] + ["a.test/d"], case).counts == (0, 0, 0)


def test_stored_oracle_is_used_for_its_own_budget_only() -> None:
    labelled = LabelledTopic.model_validate(RECORD)
    assert labelled_case(WEB, labelled).oracle == ((1, 0), (3, 2))
    assert labelled_case(WEB, labelled, 3).oracle_area == 3.0
    own = labelled_case(WEB, labelled, 5)
    # greedy: front; a, then b, which is nearest; or moved, then d
    assert [found for _, found in own.oracle] == [0, 0, 1, 1, 2]
    assert (own.budget, own.reachable, own.total, own.oracle_area) == (5, 6, 2, 4)
    assert own.reference == {"bfs": 0.5}


def test_unlabelled_pages_are_judged_by_the_scorer() -> None:
    case = unlabelled_case(WEB, TOPIC, Scorer(TOPIC))
    assert case.relevant == {"a.test/b", "a.test/d"}  # the island cannot be reached
    assert (case.reachable, case.budget) == (6, 3)


@given(st.lists(st.booleans(), max_size=30), st.integers(1, 40))
def test_counts_never_decrease_and_fill_the_budget(hits: list[bool], budget: int) -> None:
    names = [f"{'r' if hit else 'x'}{n}" for n, hit in enumerate(hits)]
    relevant = frozenset(name for name in names if name[0] == "r")
    case = Case(TOPIC, relevant, budget, 40, len(relevant), (), 1.0)
    counts = harvest("x", names, case).counts
    assert len(counts) == budget
    assert list(counts) == sorted(counts)
    assert counts[-1] == sum(hits[:budget])


def test_table_shows_recall_and_stored_areas() -> None:
    case = labelled_case(WEB, LabelledTopic.model_validate(RECORD))
    lines = table(case, [harvest("best-first", ["a.test/b"], case)])
    assert lines[0] == "football: 2 relevant of 6 reachable pages, 3 fetched"
    assert lines[2].split() == ["best-first", "1", "1.000", *["0.500"] * 5, "1.000"]
    assert lines[3] == "  stored areas: bfs 0.5"
    long = table(case, [harvest("examples.strategy.UrlWords", ["a.test/b"], case)])
    assert len(long[1]) == len(long[2])


def test_figures_are_flat_and_include_differences() -> None:
    areas = {"best-first": {"a": 0.5, "b": 0.75}, "shark-plus": {"a": 0.75, "b": 0.5}}
    assert figures(areas, "shark-plus") == {
        "mean_area": 0.625,
        "mean_minus_best_first": 0.0,
        "worst_minus_best_first": -0.25,
        "area.a": 0.75,
        "area.b": 0.5,
        "mean_area.best-first": 0.625,
        "mean_area.shark-plus": 0.625,
    }
    alone = figures({"bfs": {"a": 0.5}}, "shark-plus")
    assert alone == {"mean_area": 0.5, "area.a": 0.5, "mean_area.bfs": 0.5}


def test_topics_are_read_with_or_without_weights(tmp_path: Path) -> None:
    path = tmp_path / "a.topics.json"
    weighted = {**RECORD, "name": "b", "terms": {"football": 2.0}, "more": 1}
    path.write_text(json.dumps([RECORD, weighted]))
    found = read_truth(path)
    assert found["football"].topic.terms == {"football": 1.0}
    assert found["b"].topic.terms == {"football": 2.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "is not JSON"),
        ("{}", "list"),
        (json.dumps([{**RECORD, "budget": 0}]), "0.budget: Input should be greater than 0"),
        (json.dumps([{**RECORD, "terms": []}]), "terms"),
        (json.dumps([{**RECORD, "seeds": ["ftp://a.test/"]}]), "seeds"),
    ],
)
def test_invalid_topics_file_is_refused_by_field(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.topics.json"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        read_truth(path)


def test_missing_topics_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        read_truth(tmp_path / "none.json")
