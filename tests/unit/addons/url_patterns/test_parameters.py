"""Tests of irrelevant query parameters."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.addons.url_patterns.learner import MOST_PAGES, Parameters, PatternLearner

HOST = "http://a.test"
queries = st.lists(st.tuples(st.sampled_from(("a", "b", "c")), st.integers(0, 3)), max_size=3).map(
    lambda pairs: "&".join(f"{name}={value}" for name, value in pairs)
)


@given(st.lists(st.tuples(queries, st.text(max_size=2))))
def test_stripping_parameters_is_idempotent(pages: list[tuple[str, str]]) -> None:
    site = Parameters()
    for query, text in pages:
        site.observe(f"{HOST}/?{query}", text)
    for query, _ in pages:
        once = site.stripped(f"{HOST}/?{query}" if query else f"{HOST}/")
        assert site.stripped(once) == once
        assert once.startswith(f"{HOST}/")
    again = Parameters(json.loads(json.dumps(site.counts)))
    assert again.stripped(f"{HOST}/?a=1&b=2") == site.stripped(f"{HOST}/?a=1&b=2")


def test_parameter_that_never_changes_the_page_is_stripped() -> None:
    site = Parameters()
    for number in range(4):
        site.observe(f"{HOST}/x?id={number}&from=a", f"page {number}")
        site.observe(f"{HOST}/x?id={number}&from=b", f"page {number}")
    assert site.stripped(f"{HOST}/x?id=9&from=c") == f"{HOST}/x?id=9"


def test_parameter_is_kept_after_one_different_page_or_error() -> None:
    for without in ("another page", ""):
        site = Parameters()
        for number in range(9):
            site.observe(f"{HOST}/{number}?t=1", f"page {number}")
            site.observe(f"{HOST}/{number}", f"page {number}")
            site.observe(f"{HOST}/{number}?t=2", f"page {number}")
        assert site.is_irrelevant("t")
        site.observe(f"{HOST}/99", without)
        site.observe(f"{HOST}/99?t=1", "page 99")
        assert not site.is_irrelevant("t")


def test_pairs_of_errors_are_not_counted() -> None:
    site = Parameters()
    for number in range(9):
        site.observe(f"{HOST}/{number}", "")
        site.observe(f"{HOST}/{number}?t=1", "")
    assert site.counts == {}


def test_memory_is_limited_and_counts_are_kept() -> None:
    site = Parameters()
    for number in range(MOST_PAGES + 10):
        site.observe(f"{HOST}/{number % 50}?t={number}", f"page {number % 50}")
    assert len(site._pages) <= MOST_PAGES + 2
    assert site.is_irrelevant("t")


def test_learner_stores_parameters_with_the_site() -> None:
    learner = PatternLearner()
    for number in range(3):
        learner.read(f"{HOST}/{number}", f"page {number}")
        learner.read(f"{HOST}/{number}?from=menu", f"page {number}")
    assert learner.stripped(f"{HOST}/7?from=top&id=7") == f"{HOST}/7?id=7"
    assert learner.stripped("http://b.test/7?from=top") == "http://b.test/7?from=top"
    other = PatternLearner()
    other.load("a.test", learner.stored("a.test"))
    assert other.stripped(f"{HOST}/7?from=top") == f"{HOST}/7"
    other.drop("a.test")
    assert other.stripped(f"{HOST}/7?from=top") == f"{HOST}/7?from=top"
