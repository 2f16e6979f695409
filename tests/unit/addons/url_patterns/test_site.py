"""Tests of the patterns that are learnt for a site."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy import Request
from scrapy.http import TextResponse
from typing_extensions import override

from topiccrawl.addons.url_patterns.learner import PatternLearner
from topiccrawl.addons.url_patterns.middleware import (
    NewsFilterMiddleware,
    NewsGateMiddleware,
    NotNewsError,
)
from topiccrawl.addons.url_patterns.pattern import Label, Pattern, PatternSet
from topiccrawl.addons.url_patterns.site import MOST_FORMATS, SiteLearner, learnt_patterns
from topiccrawl.addons.url_patterns.tally import Outcome, clusters, is_one_format, look
from topiccrawl.errors import ConfigurationError, StorageAwayError
from topiccrawl.model import Findings, Offer
from topiccrawl.storage.sites import Sites
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

SITE = "http://www.a.test"
CHANNELS = ("sport", "world", "culture", "science")


def story(number: int, year: int = 2013) -> str:
    return f"{SITE}/{CHANNELS[number % 4]}/{year}0304/n{100_000 + number}.shtml"


def trained(pages: int = 60) -> SiteLearner:
    """Return a learner of a site with dated article URLs and undated galleries."""
    site = SiteLearner()
    for number in range(pages):
        site.count_link(story(number))
        site.observe(story(number), Outcome.ARTICLE)
        site.observe(f"{SITE}/show/{number}.html", Outcome.OTHER)
    site.learn()
    return site


def test_no_url_is_dropped_without_evidence() -> None:
    site = SiteLearner()
    for number in range(4):
        site.observe(story(number), Outcome.ARTICLE)
    for number in range(300):
        site.observe(f"{SITE}/show/{number}.html", Outcome.OTHER)
    site.learn()
    assert not site.ready
    assert site.judge(f"{SITE}/show/9.html").label is Label.OPEN


def test_news_is_recognised_in_unknown_channels() -> None:
    site = trained()
    assert site.judge(f"{SITE}/economy/20140102/n777777.shtml").label is Label.NEWS
    assert site.judge(f"{SITE}/show/999.html").label is Label.OTHER
    assert site.judge(f"{SITE}/").label is Label.HUB
    assert site.judge(f"{SITE}/economy/").label is Label.HUB
    assert site.judge("http://comment.a.test/article/123456.html").label is Label.OTHER
    assert site.judge("http://beijing.a.test/sport/20140102/n7.shtml").label is Label.NEWS


def test_years_without_articles_are_not_news() -> None:
    site = SiteLearner()
    for number in range(80):
        site.observe(story(number, 2013), Outcome.ARTICLE)
    for number in range(8):
        site.observe(story(number, 2006), Outcome.OTHER)
    site.learn()
    assert site.is_news(story(1, 2010 + 4))
    assert not site.is_news(story(1, 2005))


def test_manual_pattern_has_priority_and_is_kept() -> None:
    site = trained()
    own = Pattern(r"https?://www\.a\.test/sport/.*", Label.OTHER, by_hand=True)
    site.patterns = PatternSet((*site.patterns.patterns, own))
    site.learn()
    assert site.judge(story(0)).reason == "by-hand"
    assert site.judge(story(0)).label is Label.OTHER
    assert site.judge(story(1)).label is Label.NEWS


def test_invalid_pattern_is_refused_with_a_remedy() -> None:
    with pytest.raises(ConfigurationError, match="one of news, hub, other, open"):
        Pattern.from_json({"expression": "(", "label": "news"})
    with pytest.raises(ConfigurationError):
        Pattern.from_json({"expression": "a", "label": "nice"})


def test_restored_site_gives_the_same_judgements() -> None:
    site = trained()
    again = SiteLearner.from_json(json.loads(json.dumps(site.to_json())))
    for url in (story(3), f"{SITE}/show/7.html", f"{SITE}/x/y/z.php?q=1", f"{SITE}/"):
        assert again.judge(url) == site.judge(url)
    again.learn()
    site.learn()
    assert again.patterns.patterns == site.patterns.patterns


def test_number_of_formats_is_limited() -> None:
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
    for cluster in found:
        assert len({(len(t.shape.segments), t.shape.query, look(t)) for t in cluster}) == 1
    site.learn()
    for tally in site.tallies.values():
        assert site.patterns.match(tally.example) is not None


def test_drops_are_logged_and_some_urls_are_sampled() -> None:
    learner = PatternLearner(probe_every=20)
    for number in range(60):
        learner.observe(story(number), article=True, links=5)
        learner.observe(f"{SITE}/show/{number}.html", article=False, links=0)
    learner.site(SITE).learn()
    refusals = [learner.refuse(f"{SITE}/show/{number}.html") for number in range(100, 500)]
    fetched = refusals.count(None)
    assert set(refusals) == {None, "not-news"}
    assert 5 <= fetched <= 50
    ((what, (count, example, reason)),) = learner.stored("a.test")["url-drops"].items()
    assert (count, reason) == (400 - fetched, "not-news")
    assert "show" in what
    assert example.startswith(f"{SITE}/show/")


def test_excess_sites_are_dropped_and_reloaded() -> None:
    learner = PatternLearner(sites=2)
    for name in ("a", "b", "c"):
        learner.observe(f"http://{name}.test/20130304/1.html", article=True, links=0)
    assert learner.excess_sites() == ["a.test"]
    kept = learner.stored("a.test")
    learner.drop("a.test")
    assert learner.unknown(["http://a.test/", "http://b.test/"]) == {"a.test"}
    learner.load("a.test", kept)
    assert learner.site("http://a.test/").articles == 1


def test_queued_urls_are_judged_by_the_patterns_of_earlier_runs(tmp_path: Path) -> None:
    async def check() -> None:
        earlier = PatternLearner()
        for number in range(60):
            earlier.observe(story(number), article=True, links=5)
            earlier.observe(f"{SITE}/show/{number}.html", article=False, links=0)
        earlier.site(SITE).learn()
        async with Sites(SqliteStorage(tmp_path)) as sites:
            await sites.put("a.test", earlier.stored("a.test"))
        learner = PatternLearner(probe_every=0)
        links = NewsFilterMiddleware(learner, Sites(SqliteStorage(tmp_path)), lambda _: None)
        crawler: Any = SimpleNamespace(
            topiccrawl=SimpleNamespace(lease=lambda _: SimpleNamespace(depth=1)),
            get_spider_middleware=lambda _: links,
        )
        with pytest.raises(NotNewsError):
            await NewsGateMiddleware(crawler).process_request(Request(f"{SITE}/show/700.html"))
        assert learner.site(SITE).pages == 120
        await links.close()

    asyncio.run(check())


def test_urls_are_not_judged_while_the_store_is_away(tmp_path: Path) -> None:
    class Away(Sites):
        @override
        async def get(self, site: str) -> dict[str, Any]:
            raise StorageAwayError("no server")

    async def check() -> None:
        learner = PatternLearner()
        links = NewsFilterMiddleware(learner, Away(SqliteStorage(tmp_path)), lambda _: None)
        crawler: Any = SimpleNamespace(
            topiccrawl=SimpleNamespace(lease=lambda _: SimpleNamespace(depth=1)),
            get_spider_middleware=lambda _: links,
        )
        await NewsGateMiddleware(crawler).process_request(Request(f"{SITE}/show/700.html"))
        found = Findings(1.0, (Offer(f"{SITE}/show/1.html", 0, ()),), relevant=True)

        async def output() -> AsyncIterator[Findings]:
            yield found

        passed = links.process_spider_output(TextResponse(SITE), output())
        assert [one async for one in passed] == [found]
        assert not learner.sites
        await links.close()

    asyncio.run(check())


def test_on_topic_pages_are_fetched_though_not_news() -> None:
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
    refusals = {kind for kind in kinds if learner.refuse(f"http://{kind}.a.test/u/99.html")}
    assert refusals == {"comment", "forum", "gallery"}
    assert not learner.site(SITE).is_news("http://blog.a.test/u/99.html")


def test_patterns_learnt_from_a_copy_are_applied() -> None:
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


def test_site_with_words_as_page_names_is_not_judged() -> None:
    site = SiteLearner()
    for number in range(200):
        word = "ab"[number % 2] * (number % 13 + 1)
        outcome = Outcome.ARTICLE if number % 3 else Outcome.OTHER
        assert not site.count(f"{SITE}/wiki/{word}_{'x' * (number // 13 + 1)}", outcome)
    assert not site.ready
    assert site.judge(f"{SITE}/wiki/quite_another").label is Label.OPEN
    examined = [site.should_examine(f"{SITE}/wiki/y{'z' * number}") for number in range(160)]
    assert sum(examined) == 10
    again = SiteLearner.from_json(site.to_json())
    assert not again.ready
    assert SiteLearner.from_json(trained().to_json()).ready


def test_unknown_format_is_open_on_a_news_only_site() -> None:
    site = SiteLearner()
    for number in range(60):
        site.observe(story(number), Outcome.ARTICLE)
    site.learn()
    found = {site.judge(f"{SITE}/union/{name}_town.php?s={name}").label for name in "abcdef"}
    assert found == {Label.OPEN}
    assert site.judge(f"{SITE}/promo/7.html").label is Label.OTHER


@pytest.mark.parametrize("form", ["view.asp?{}", "show.php?a-{}-1-1.html", "a.php?go&{}"])
def test_values_without_a_name_are_one_format(form: str) -> None:
    site = SiteLearner()
    urls = [f"http://a.test/{form.format(100_000 + 7 * number)}" for number in range(40)]
    for url in urls[:30]:
        site.count_link(url)
        site.observe(url, Outcome.ARTICLE)
    site.learn()
    assert len(site.tallies) == len(site.patterns.patterns) == 1
    assert all(map(site.is_news, urls))
