"""Tests of term matching in texts and URLs."""

from __future__ import annotations

import pytest

from topiccrawl.text.matching import TermMatcher, count, language_of


def found(term: str, text: str, *synonyms: str) -> int:
    matcher = TermMatcher([term], {term: synonyms})
    return count(matcher.surfaces, text).get(0, 0)


@pytest.mark.parametrize(
    ("term", "text", "times"),
    [
        ("armée", "Les armées et l'armée de l'air", 2),
        ("足球", "足球队员踢足球", 2),
        ("新能源汽车", "发展新能源汽车产业", 1),
        ("新能源汽车", "新能源的汽车", 0),
        ("nba", "看nba比赛", 1),
        ("nba", "nbas anbac nba2k", 1),
        ("ai", "email said ai: ai芯片", 2),
        ("car", "cars car carpet scar car2go racecar car", 3),
        ("city", "city cities citation", 2),
        ("cities", "one city", 1),
        ("electric vehicle", "electric vehicles, electric-vehicle, electric  vehicle", 3),
        ("electric vehicle", "electric vehicular", 0),
        ("5g手机", "15g手机 5g手机", 1),
        ("c++", "c++ and c", 1),
        ("u.s", "the u.s. army, plus.s", 1),
        ("茶", "喝茶", 1),
        ("news", "news new", 1),
        ("2026", "2026年 12026", 1),
        ("straße", "straße straßen", 1),
    ],
)
def test_occurrences_of_a_term(term: str, text: str, times: int) -> None:
    assert found(term, text) == times


def test_synonym_counts_as_its_term_and_overlaps_count_once() -> None:
    assert found("足球", "足球赛在绿茵场", "足球赛", "绿茵场", "绿茵场") == 2


def test_equal_spellings_of_a_term_count_once() -> None:
    assert found("新能源", "nev sales", "NEV", "nev") == 1


@pytest.mark.parametrize(
    ("word", "languages", "language"),
    [("вести", ["sr"], "sr"), ("вести", ["de"], "ru"), ("wahlen", ["ru", "de"], "de")],
)
def test_script_and_topic_decide_the_language(
    word: str, languages: list[str], language: str
) -> None:
    assert language_of(word, languages) == language


def test_within_keeps_terms_that_may_occur_in_the_text() -> None:
    matcher = TermMatcher(["足球", "car", "电影"], {})
    kept = matcher.candidates_in("car\n足球")
    assert {surface.term for surface in kept} == {0, 1}


def test_contains_in_a_text() -> None:
    matcher = TermMatcher(["足球", "electric vehicle"], {})
    assert matcher.contains("electric vehicles")
    assert not matcher.contains("electric")


@pytest.mark.parametrize(
    ("url", "there"),
    [
        ("http://a.test/football/1.html", True),
        ("http://worldfootball.test/", True),
        ("http://a.test/%E8%B6%B3%E7%90%83/", True),
        ("http://a.test/?q=%D7%E3%C7%F2", True),
        ("http://a.test/electric-vehicles_2026", True),
        ("http://a.test/electric_vehicle", True),
        ("http://a.test/email/said", False),
        ("http://a.test/ai/", True),
        ("http://a.test/AI-news", True),
        ("http://a.test/%", False),
    ],
)
def test_contains_in_a_url(*, url: str, there: bool) -> None:
    matcher = TermMatcher(["足球", "football", "electric vehicle", "ai"], {})
    assert matcher.contains_url(url) is there
