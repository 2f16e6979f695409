"""Tests of old pages of a site and of pages of an unknown format."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.addons.url_patterns.site import SiteLearner
from topiccrawl.addons.url_patterns.tally import Outcome

HOST = "http://news.test"


def trained(*pages: tuple[str, Outcome]) -> SiteLearner:
    learner = SiteLearner()
    for url, outcome in pages:
        learner.count_link(url)
        learner.observe(url, outcome)
    learner.learn()
    return learner


def dated(year: int, number: int) -> str:
    return f"{HOST}/{year}0{number % 9 + 1}11/n{100_000 + number}.shtml"


def years(*of: tuple[int, Outcome, int]) -> list[tuple[str, Outcome]]:
    return [(dated(year, n), outcome) for year, outcome, count in of for n in range(count)]


def test_old_period_without_observed_pages_is_not_news() -> None:
    site = trained(*years((2015, Outcome.ARTICLE, 10), (2016, Outcome.ARTICLE, 10)))
    assert site.is_news(dated(2017, 1))
    assert site.is_news(dated(2009, 1))
    assert not site.is_news(dated(2004, 1))
    assert site.judge(dated(2004, 1)).label == "news"  # fetched as a sample
    known = trained(*years((2004, Outcome.ARTICLE, 3), (2016, Outcome.ARTICLE, 17)))
    assert known.is_news(dated(2004, 7))


def test_periods_are_judged_separately() -> None:
    site = trained(
        *years(
            (2004, Outcome.OTHER, 12),
            (2008, Outcome.ARTICLE, 14),
            (2009, Outcome.OTHER, 12),
            (2012, Outcome.ARTICLE, 60),
        )
    )
    found = {year: site.is_news(dated(year, 8)) for year in (2004, 2008, 2009, 2012, 2014)}
    assert found == {2004: False, 2008: True, 2009: False, 2012: True, 2014: True}


def test_one_old_non_article_rejects_older_pages() -> None:
    site = trained(*years((2006, Outcome.OTHER, 1), (2013, Outcome.ARTICLE, 45)))
    assert not site.is_news(dated(2006, 5))
    assert not site.is_news(dated(2005, 5))
    assert site.is_news(dated(2010, 5))


def test_unknown_channel_is_judged_by_likelihood_if_reliable() -> None:
    site = trained(*years((2016, Outcome.ARTICLE, 20)))
    assert site.is_news("http://sport.news.test/a/20160304/12345678_0.shtml")
    assert not site.is_news("http://sport.news.test/a/12345678.shtml")  # its articles have dates
    assert site.is_news(dated(2016, 5) + "#from=list")
    odd = trained(
        *((f"{HOST}/a/{100_000 + n}.html", Outcome.ARTICLE) for n in range(5)),
        *((f"{HOST}/2016030{n % 9 + 1}/k{100_000 + n}.html", Outcome.OTHER) for n in range(30)),
    )
    assert not odd.is_news("http://sport.news.test/c/20160304/12345678_0.shtml")


@pytest.mark.parametrize("name", ["q", "query", "wd", "keyword"])
def test_search_url_is_not_news(name: str) -> None:
    assert not SiteLearner().is_news(f"{HOST}/news/20160304/list?{name}=足球&id=1234567")


@given(st.integers(0, 50))
def test_order_of_pages_does_not_matter(seed: int) -> None:
    pages = years((2006, Outcome.OTHER, 6), (2014, Outcome.ARTICLE, 20))
    random.Random(seed).shuffle(pages)  # noqa: S311
    site = trained(*pages)
    assert site.is_news(dated(2014, 7))
    assert not site.is_news(dated(2006, 7))
