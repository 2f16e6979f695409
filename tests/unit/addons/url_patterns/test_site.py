from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topiccrawl.addons.url_patterns.learner import PatternLearner
from topiccrawl.addons.url_patterns.pattern import Label, Pattern, PatternSet
from topiccrawl.addons.url_patterns.site import MOST_FORMATS, SiteLearner, learnt_patterns
from topiccrawl.addons.url_patterns.tally import Outcome, clusters, is_one_format
from topiccrawl.errors import ConfigurationError

SITE = "http://www.a.test"
CHANNELS = ("sport", "world", "culture", "science")


def story(number: int, year: int = 2013) -> str:
    return f"{SITE}/{CHANNELS[number % 4]}/{year}0304/n{100_000 + number}.shtml"


def trained(pages: int = 60) -> SiteLearner:
    """A site whose articles lie under dates; galleries do not."""
    site = SiteLearner()
    for number in range(pages):
        site.count_link(story(number))
        site.observe(story(number), Outcome.ARTICLE)
        site.observe(f"{SITE}/show/{number}.html", Outcome.OTHER)
    site.learn()
    return site


def test_nothing_is_dropped_before_there_is_evidence() -> None:
    site = SiteLearner()
    for number in range(4):
        site.observe(story(number), Outcome.ARTICLE)
    for number in range(300):
        site.observe(f"{SITE}/show/{number}.html", Outcome.OTHER)
    site.learn()
    assert not site.ready
    assert site.judge(f"{SITE}/show/9.html").label is Label.OPEN


def test_news_is_recognised_in_unknown_channels_of_a_site() -> None:
    site = trained()
    assert site.judge(f"{SITE}/economy/20140102/n777777.shtml").label is Label.NEWS
    assert site.judge(f"{SITE}/show/999.html").label is Label.OTHER
    assert site.judge(f"{SITE}/").label is Label.HUB
    assert site.judge(f"{SITE}/economy/").label is Label.HUB
    assert site.judge("http://comment.a.test/article/123456.html").label is Label.OTHER
    assert site.judge("http://beijing.a.test/sport/20140102/n7.shtml").label is Label.NEWS


def test_old_pages_that_are_none_any_more_are_cut_off() -> None:
    site = SiteLearner()
    for number in range(80):
        site.observe(story(number, 2013), Outcome.ARTICLE)
    for number in range(8):
        site.observe(story(number, 2006), Outcome.OTHER)
    site.learn()
    assert site.is_news(story(1, 2010 + 4))
    assert not site.is_news(story(1, 2005))


def test_a_pattern_by_hand_wins_and_stays() -> None:
    site = trained()
    own = Pattern(r"https?://www\.a\.test/sport/.*", Label.OTHER, by_hand=True)
    site.patterns = PatternSet((*site.patterns.patterns, own))
    site.learn()
    assert site.judge(story(0)).reason == "by-hand"
    assert site.judge(story(0)).label is Label.OTHER
    assert site.judge(story(1)).label is Label.NEWS


def test_a_wrong_pattern_is_refused_with_a_remedy() -> None:
    with pytest.raises(ConfigurationError, match="one of news, hub, other, open"):
        Pattern.from_json({"expression": "(", "label": "news"})
    with pytest.raises(ConfigurationError):
        Pattern.from_json({"expression": "a", "label": "nice"})


def test_what_is_stored_judges_alike() -> None:
    site = trained()
    again = SiteLearner.from_json(json.loads(json.dumps(site.to_json())))
    for url in (story(3), f"{SITE}/show/7.html", f"{SITE}/x/y/z.php?q=1", f"{SITE}/"):
        assert again.judge(url) == site.judge(url)
    again.learn()
    site.learn()
    assert again.patterns.patterns == site.patterns.patterns


def test_memory_is_bounded() -> None:
    site = SiteLearner()
    for number in range(3 * MOST_FORMATS):
        site.count_link(
            f"{SITE}/{'ab'[number % 2] * (number % 40 + 1)}/{'x' * (number // 40 + 1)}.html"
        )
    assert len(site.tallies) <= MOST_FORMATS


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.sampled_from(list(Outcome))), min_size=1))
def test_every_format_is_in_one_cluster_and_its_expression_matches(
    pages: list[tuple[int, Outcome]],
) -> None:
    forms = ("/a/{}.html", "/b/{}.html", "/c-{}.htm", "/d?id={}", "/20130304/n{}.html", "/e/", "/f")
    site = SiteLearner()
    for number, (form, outcome) in enumerate(pages):
        site.observe(SITE + forms[form].format(number), outcome)
    found = clusters(list(site.tallies.values()))
    assert sorted(t.shape.text for c in found for t in c) == sorted(site.tallies)
    assert all(len(cluster) == 1 or is_one_format(cluster) for cluster in found)
    site.learn()
    for tally in site.tallies.values():
        assert site.patterns.match(tally.example) is not None


def test_drops_are_logged_and_one_of_many_is_fetched() -> None:
    learner = PatternLearner(probe_every=20)
    for number in range(60):
        learner.observe(story(number), article=True, links=5)
        learner.observe(f"{SITE}/show/{number}.html", article=False, links=0)
    learner.site(SITE).learn()
    refused = [learner.refuse(f"{SITE}/show/{number}.html") for number in range(100, 500)]
    passed = refused.count(None)
    assert set(refused) == {None, "not-news"}
    assert 5 <= passed <= 50
    ((what, (count, example, reason)),) = learner.stored("a.test")["url-drops"].items()
    assert (count, reason) == (400 - passed, "not-news")
    assert "show" in what
    assert example.startswith(f"{SITE}/show/")


def test_sites_too_many_are_given_back_and_come_again() -> None:
    learner = PatternLearner(sites=2)
    for name in ("a", "b", "c"):
        learner.observe(f"http://{name}.test/20130304/1.html", article=True, links=0)
    assert learner.excess_sites() == ["a.test"]
    kept = learner.stored("a.test")
    learner.drop("a.test")
    assert learner.unknown(["http://a.test/", "http://b.test/"]) == {"a.test"}
    learner.load("a.test", kept)
    assert learner.site("http://a.test/").articles == 1


def test_what_is_on_topic_is_fetched_though_it_is_no_news() -> None:
    learner = PatternLearner(probe_every=0)
    kinds: dict[str, bool] = {}
    for number in range(60):
        learner.observe(story(number), article=True, links=5)
        on_topic = number % 5 == 0
        kinds = {"blog": on_topic, "comment": on_topic, "forum": False, "gallery": False}
        for kind, topical in kinds.items():
            url = f"http://{kind}.a.test/u/{number}.html"
            learner.observe(url, article=topical, links=0, topical=topical)
    learner.site(SITE).learn()
    refused = {kind for kind in kinds if learner.refuse(f"http://{kind}.a.test/u/99.html")}
    assert refused == {"comment", "forum", "gallery"}
    assert not learner.site(SITE).is_news("http://blog.a.test/u/99.html")


def test_a_draft_learns_apart_and_its_patterns_are_taken_over() -> None:
    own = Pattern(r"https?://www\.a\.test/sport/.*", Label.OTHER, by_hand=True)
    site = SiteLearner()
    due = 0
    for number in range(60):
        due += site.count(story(number), Outcome.ARTICLE)
        due += site.count(f"{SITE}/show/{number}.html", Outcome.OTHER)
    assert due >= 3
    tallies = site.copied_tallies()
    patterns = learnt_patterns(tallies)
    site.count(f"{SITE}/late/7.html", Outcome.ARTICLE)
    site.patterns = PatternSet((own,))
    site.apply(patterns)
    assert site.patterns.by_hand == (own,)
    assert site.judge(f"{SITE}/show/7.html").label is Label.OTHER
    assert len(tallies) == len(site.tallies) - 1


def test_a_site_that_names_its_pages_by_words_is_left_alone() -> None:
    site = SiteLearner()
    for number in range(200):
        word = "ab"[number % 2] * (number % 13 + 1)
        outcome = Outcome.ARTICLE if number % 3 else Outcome.OTHER
        assert not site.count(f"{SITE}/wiki/{word}_{'x' * (number // 13 + 1)}", outcome)
    assert not site.ready
    assert site.judge(f"{SITE}/wiki/quite_another").label is Label.OPEN
    asked = [site.should_examine(f"{SITE}/wiki/y{'z' * number}", 8, 16) for number in range(160)]
    assert sum(asked) == 10
    again = SiteLearner.from_json(site.to_json())
    assert not again.ready
    assert SiteLearner.from_json(trained().to_json()).ready


def test_where_nearly_all_is_news_nothing_is_dropped_by_its_look() -> None:
    site = SiteLearner()
    for number in range(60):
        site.observe(story(number), Outcome.ARTICLE)
    site.learn()
    found = {site.judge(f"{SITE}/union/{name}_town.php?s={name}").label for name in "abcdef"}
    assert found == {Label.OPEN}
    assert site.judge(f"{SITE}/promo/7.html").label is Label.OTHER
