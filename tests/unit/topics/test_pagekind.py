"""Tests of the classifier of article pages and lists of headlines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.model import Link, Page
from topiccrawl.topics.classifier import bucket, document, word_weights
from topiccrawl.topics.pagekind import own_share

links = st.builds(
    Link,
    st.just("http://a.test/"),
    st.text("新闻 ab", max_size=30),
    st.just(""),
    st.sampled_from([-1, 0]),
)


def page(prose: str, links: tuple[Link, ...]) -> Page:
    return Page("http://a.test/p", "", prose, links, prose=prose)


@given(st.integers(0, 500), st.lists(links, max_size=8), links)
def test_prose_share_falls_with_headlines_and_rises_with_text(
    size: int, found: list[Link], more: Link
) -> None:
    share = own_share(page("字" * size, tuple(found)))
    assert 0.0 <= own_share(page("字" * size, (*found, more))) <= share <= 1.0
    assert own_share(page("字" * (size + 100), tuple(found))) >= share


def test_menu_is_not_a_list_of_headlines() -> None:
    menu = tuple(
        Link(f"http://a.test/{n}", name, block=0) for n, name in enumerate(["国内", "体育"])
    )
    assert own_share(page("", menu)) == 1.0
    assert (
        own_share(page("", (*menu, Link("http://a.test/9", "国家队昨晚赢得友谊赛", block=0))))
        == 0.0
    )


def test_feature_indices_of_words_are_platform_independent() -> None:
    assert (bucket("football"), bucket("足球")) == (109_150, 164_633)


def test_document_vector_has_norm_one_and_sorted_indices() -> None:
    found = document(word_weights("The orchestra played a symphony in the city hall", "Concert"))
    assert np.linalg.norm(found.values) == pytest.approx(1.0)
    assert (np.diff(found.places) > 0).all()
    assert len(document({}).places) == 0
