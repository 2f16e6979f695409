"""Tests of the checks of spider arguments and settings before a crawl."""

from __future__ import annotations

import time
from datetime import date
from typing import TYPE_CHECKING

import pytest
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from topiccrawl import settings as project
from topiccrawl.errors import ConfigurationError, TopicError
from topiccrawl.links.hosts import HostRules
from topiccrawl.links.urls import canonical
from topiccrawl.spiders.arguments import refuse_denied, seeds_of
from topiccrawl.spiders.topic import TopicSpider
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from pathlib import Path


def settings(**changes: str) -> Settings:
    found = Settings()
    found.setmodule(project)
    found.update(changes)
    return found


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, ["-a topic="]),
        ({"topic": "的"}, ["的"]),
        ({"topic": "none.toml"}, ["none.toml"]),
        ({"topic": "足球", "seed": "x"}, ["seed", "did you mean seeds"]),
        ({"topic": "足球", "colour": "x"}, ["colour", "known are"]),
        ({"topic": "足球", "seeds": "news"}, ["news", "https://"]),
        ({"topic": "足球", "seeds": "http://a.cn,http://me:pw@b.cn/"}, ["HTTPAUTH_USER"]),
        ({"topic": "足球", "seeds": "http:\\\\me:p,w@b.cn/"}, ["HTTPAUTH_USER"]),
        ({"topic": "足球", "seeds": " , "}, ["has no URL"]),
        ({"topic": "足球", "fresh": "maybe"}, ["fresh", "maybe"]),
        ({"topic": "足球", "settings": "x"}, ["settings", "known are"]),
    ],
)
def test_invalid_argument_is_reported_with_the_remedy(
    arguments: dict[str, str], words: list[str]
) -> None:
    with pytest.raises(ConfigurationError) as error:
        TopicSpider.check_arguments(settings(), **arguments)
    assert [word for word in words if word not in str(error.value)] == []


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("TOPICCRAWL_STRATEGY", "pagerank", ["pagerank", "shark-plus"]),
        ("TOPICCRAWL_MIN_PRIOR", "high", ["TOPICCRAWL_MIN_PRIOR", "high"]),
        ("TOPICCRAWL_MIN_PRIOR", "7", ["min_prior", "7"]),
    ],
)
def test_invalid_setting_is_reported_with_its_value(
    name: str, value: str, words: list[str]
) -> None:
    with pytest.raises(ConfigurationError) as error:
        TopicSpider.check_arguments(settings(**{name: value}), topic="足球")
    assert [word for word in words if word not in str(error.value)] == []


def test_all_errors_of_a_topic_file_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[terms]\n"足球" = -1\n[limit]\npages = 3\n', encoding="utf-8")
    with pytest.raises(ConfigurationError) as error:
        TopicSpider.check_arguments(settings(), topic=str(path))
    for word in ("mine.toml", "terms.足球", "-1", "limit", "limits"):
        assert word in str(error.value)


def test_urls_are_separated_by_commas_or_spaces_in_linear_time() -> None:
    found = seeds_of("http://a.test \n HTTPS://b.test/x y,http://c.test")
    assert found == ("http://a.test/", "https://b.test/x%20y", "http://c.test/")
    started = time.process_time()
    assert seeds_of("http://a.test" + " " * 100_000 + "http://b.test")[1:]
    with pytest.raises(ConfigurationError):
        seeds_of("http://a.test" + " " * 100_000 + "x")
    assert time.process_time() - started < 5


@pytest.mark.parametrize("comma", ["，", "， ", "、", " ； "])
def test_urls_are_separated_by_chinese_commas(comma: str) -> None:
    found = ("http://a.test/", "http://b.test/x%EF%BC%8Cy")
    assert seeds_of(f"http://a.test{comma}http://b.test/x，y{comma}") == found
    with pytest.raises(ConfigurationError, match="has a user name"):
        seeds_of(f"http://a.test{comma}http://me:secret@b.test")


def test_login_in_the_query_or_path_of_a_seed_is_kept() -> None:
    for url in ("https://a.test/?next=http://me@b.test/", "https://a.test/2020/http://me@b.test/"):
        assert seeds_of(url) == (url,)


def test_seeds_argument_overrides_the_topic_file_and_job_is_ignored(
    tmp_path: Path,
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('seeds = ["http://a.test/"]\n[terms]\n"足球" = 1\n', encoding="utf-8")
    topic = TopicSpider.check_arguments(
        settings(), topic=str(path), seeds="http://b.test", _job="7"
    )
    assert (topic.name, topic.seeds) == ("mine", ("http://b.test/",))


def test_arguments_of_programs_need_not_be_texts(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[terms]\n"足球" = 1\n', encoding="utf-8")
    plan = TopicSpider.plan(
        settings(), topic=path, seeds=["http://a.test", "http://b.test"], watch=True, fresh=0,
        since=date(2026, 1, 31), like=None,
    )  # fmt: skip
    assert (plan.topic.name, plan.topic.seeds) == ("mine", ("http://a.test/", "http://b.test/"))
    assert (plan.watch, plan.fresh) == ("on", False)


def test_chinese_host_names_match_their_urls() -> None:
    url, host = canonical("http://www.新闻.test/") or "", "新闻.test"
    denied = Topic(name="t", terms={"x": 1.0}, denied_hosts=(host,))
    topic = TopicSpider.check_arguments(
        settings(TOPICCRAWL_OWN_HOSTS=host), topic="足球", sites=host
    )
    assert HostRules(topic.allowed_hosts, ()).refuse(url) is None
    assert HostRules((), denied.denied_hosts).refuse(url) == "host-denied"
    with pytest.raises(ConfigurationError, match="TOPICCRAWL_OWN_HOSTS: 'localhost:8888' is no"):
        TopicSpider.check_arguments(settings(TOPICCRAWL_OWN_HOSTS="localhost:8888"), topic="足球")


def test_seed_on_a_denied_host_is_refused() -> None:
    topic = Topic(name="t", terms={"x": 1.0}, denied_hosts=("bad.test",))
    refuse_denied(topic.model_copy(update={"seeds": ("http://good.test/",)}))
    with pytest.raises(TopicError, match=r"http://www\.bad\.test/.*denied_hosts"):
        refuse_denied(topic.model_copy(update={"seeds": ("http://www.bad.test/",)}))


@pytest.mark.parametrize(
    ("topics", "own", "judged"),
    [
        ({"topic": "足球"}, {}, True),
        ({"topic": "足球"}, {"TOPICCRAWL_LINK_RELEVANCE": "0"}, False),
        ({"topic": "足球"}, {"TOPICCRAWL_RELEVANCE": "topiccrawl.topics.OnWordScale"}, False),
        ({"topics": "足球,排球"}, {}, False),
    ],
)
def test_links_are_judged_for_one_topic_with_the_default_model(
    topics: dict[str, str], own: dict[str, str], *, judged: bool
) -> None:
    crawler = Crawler(TopicSpider, settings(TOPICCRAWL_READERS="0", **own))
    assert TopicSpider.from_crawler(crawler, **topics).judges_links is judged
