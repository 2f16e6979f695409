"""Tests of the factors of terms by their frequency on a site."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.topics import sitewords
from topiccrawl.topics.sitewords import SiteWords


def test_factor_equals_a_hand_computed_share() -> None:
    """Ten pages, a term on five of them: the site's share is (5 + 20 e**-4) / 30."""
    words = SiteWords()
    for number in range(10):
        words.observe("http://a.test/x", ["term"] if number < 5 else [])
    share = (5 + 20 * math.exp(-4)) / 30
    expected = math.sqrt(-math.log(share) / 4)
    assert words.factor("http://a.test/y", "term", 4.0) == pytest.approx(expected)


@given(st.lists(st.booleans(), max_size=60), st.floats(0.01, 12))
def test_factor_falls_with_the_pages_that_contain_the_term(
    contained: list[bool], idf: float
) -> None:
    words, more = SiteWords(), SiteWords()
    for one in contained:
        words.observe("http://a.test/", ["t"] if one else [])
        more.observe("http://a.test/", ["t"])
    factor = words.factor("http://a.test/", "t", idf)
    assert 0.0 <= more.factor("http://a.test/", "t", idf) <= factor <= 1.0


def test_least_recently_used_site_is_evicted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitewords, "MOST_SITES", 2)
    words = SiteWords()
    for host in ("a", "b", "a", "c"):
        for _ in range(100):
            words.observe(f"http://{host}.test/", ["t"])
    known = [words.factor(f"http://{host}.test/", "t", 8.0) < 1.0 for host in "abc"]
    assert known == [True, False, True]
