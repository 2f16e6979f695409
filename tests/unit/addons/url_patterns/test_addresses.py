"""Tests of URL formats, of their expressions, and of the likelihood of news."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.urls import by_look
from topiccrawl.addons.url_patterns.pattern import expression, year_span
from topiccrawl.links.newsurls import is_hub_like, is_non_news, news_likelihood
from topiccrawl.links.skeletons import skeleton, year_of

SEGMENT = st.one_of(
    st.from_regex(r"[a-z]{1,9}(-[a-z]{1,6}){0,3}", fullmatch=True),
    st.from_regex(r"[a-z]{0,2}[0-9]{1,10}(_[0-9]{1,2})?", fullmatch=True),
    st.sampled_from(["20130304", "2013-03", "201303", "2013", "0304", "EJ8S3N5B00014AEE", "a.b"]),
)
LAST = st.tuples(SEGMENT, st.sampled_from(["", ".html", ".shtml", "/"])).map("".join)
QUERY = st.sampled_from(["", "?id=7", "?page=2&from=list", "?w=%E4%BD%A0"])
URL = st.tuples(st.lists(SEGMENT, max_size=4), LAST, QUERY).map(
    lambda parts: f"http://www.a.test/{'/'.join([*parts[0], parts[1]])}{parts[2]}"
)


@given(URL)
def test_expression_of_a_format_matches_its_url(url: str) -> None:
    shape = skeleton(url)
    assert re.fullmatch(expression([shape]), url)
    assert 0 < news_likelihood(url) < 1


@given(st.text(max_size=60))
def test_every_string_has_a_format_and_a_likelihood(text: str) -> None:
    for url in (text, f"http://{text}", f"http://a.test/{text}"):
        assert skeleton(url).text
        assert 0 <= news_likelihood(url) <= 1
        assert not (is_non_news(url) and is_hub_like(url))


@given(st.integers(1980, 2049), st.integers(1980, 2049))
def test_year_span_matches_exactly_its_years(one: int, two: int) -> None:
    first, last = min(one, two), max(one, two)
    span = re.compile(year_span(first, last))
    found = [year for year in range(1980, 2050) if span.fullmatch(str(year))]
    assert found == list(range(first, last + 1))


@pytest.mark.parametrize(
    ("url", "news"),
    [
        ("http://news.a.test/20130304/n367739936.shtml", True),
        ("http://a.test/2020/0514/c1001-31709000.html", True),
        ("http://a.test/world/2020/may/14/storm-hits-northern-coast-again", True),
        ("http://a.test/detail?id=1000123", True),
        ("http://a.test/", False),
        ("http://a.test/sport/", False),
        ("http://a.test/list_2.html", False),
        ("http://comment.a.test/article/1000123.html", False),
        ("http://a.test/ad/show?id=4001", False),
        ("http://blog.a.test/u/100/1000.html", False),
    ],
)
def test_news_likelihood_separates_articles_from_others(url: str, news: bool) -> None:  # noqa: FBT001
    assert (news_likelihood(url) > 0.5) is news


def test_repeated_directories_do_not_look_like_a_hub() -> None:
    assert is_hub_like("http://a.test/en/sport/")
    assert not is_hub_like("http://a.test/en/en/en/en/en/")


def test_year_is_read_from_the_date() -> None:
    for url, year in (
        ("http://a.test/20060314/n2.shtml", 2006),
        ("http://a.test/2007/0314/3.html", 2007),
        ("http://a.test/x/3.html", 0),
    ):
        assert year_of(url, skeleton(url)) == year


@pytest.mark.parametrize(
    "url",
    [
        "http://a.test/mnews.asp?pk_no=1412361",
        "http://a.test/news/view.php?art_id=7310&page=2",
        "http://a.test/read.asp?AID=88231",
        "http://a.test/news/story.asp?guid=%7B49E8785A-F1C7-11EA-B8AA-ECF03EAB1839%7D&siteid=rss",
        "http://a.test/storypage.aspx?StoryId=XK4471",
        "http://a.test/?p=3289",
        "http://a.test/uutiset/3-11523428?origin=rss",
        "http://a.test/news/life/898682/%D8%B4%D8%B9%D8%B1-%D9%88%D8%B1%D8%AF/ar",
        "http://a.test/a-goal-in-the-last-minute-of-play-1019241/artikel",
        "http://a.test/sport/a-goal-in-the-last-minute-of-play/amp",
        "http://check.a.test/doc.news.test.B2LA2G3",
        "http://a.test/people/she-came-too-early-to-the-party/s/5-95-2070077",
        "http://a.test/archive/63076",
        "http://a.test/comment/opinion/article/3046526/what-the-playbook-should-be-now",
        "http://a.test/the-video-of-the-whole-truth-is-shown-in-court/",
        "http://a.test/culture/unstilled-longing/",
    ],
)
def test_articles_of_unknown_sites_are_fetched(url: str) -> None:
    assert by_look(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://a.test/archive/page/12",
        "http://a.test/news/?page=3",
        "http://a.test/share/share.php?url=http://b.test/20200301/n12345.html&title=7",
        "http://quan.a.test/taghome/%E8%92%BF%E4%BF%8A%E9%97%B5",
        "http://a.test/wiki/Abu_Dhabi",
        "http://a.test/photo/5",
        "http://a.test/en",
    ],
)
def test_other_pages_of_unknown_sites_are_not_fetched(url: str) -> None:
    assert not by_look(url)
