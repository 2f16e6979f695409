"""Tests of the random webs with which strategies are compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.made_webs import Areas, Judged, flat
from benchmarks.made_webs_kinds import KINDS
from benchmarks.made_webs_pages import MadeWeb, made_web

PAGES = 120


def small(name: str, seed: int = 1) -> MadeWeb:
    return made_web(replace(KINDS[name], pages=PAGES), seed)


def test_same_seed_gives_the_same_web() -> None:
    first, again, other = small("menus-more"), small("menus-more"), small("menus-more", 2)
    assert first.web.pages == again.web.pages
    assert first.topics == again.topics
    assert first.web.pages.keys() != other.web.pages.keys()


@pytest.mark.parametrize("name", sorted(KINDS))
def test_links_seeds_and_relevant_pages_exist(name: str) -> None:
    made = small(name)
    assert len(made.web.pages) == PAGES
    for place in made.web.pages:
        page = made.web.page(place)
        assert page is not None
        assert page.links
        assert all(made.web.get(link.url) for link in page.links)
    for topic in made.topics:
        assert all(map(made.web.get, topic.seeds))
        assert made.web.relevant(topic.relevant)


def test_only_some_relevant_pages_hold_terms_of_the_topic() -> None:
    made = small("english-terms")
    topic = made.topics[0]
    pages = [made.web.page(place) for place in made.web.relevant(topic.relevant)]
    matching = sum(any(term in page.text for term in topic.terms) for page in pages if page)
    assert 0 < matching < len(pages)


def test_figures_are_means_over_topics_and_the_worst_case() -> None:
    judged = [Judged("a", [Areas(0.5, 0.75), Areas(0.7, 0.65)]), Judged("b", [Areas(1.0, 1.0)])]
    assert flat(judged) == {
        "area.a.best-first": 0.6,
        "area.a.shark-plus": 0.7,
        "closed.a": 0.25,
        "area.b.best-first": 1.0,
        "area.b.shark-plus": 1.0,
        "closed.b": 0.0,
        "worst_minus_best_first": -0.05,
    }
