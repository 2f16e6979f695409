"""Requests of ordinary spiders work on the frontier as they do in Scrapy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawl.request_features import RETRIES
from tests.crawl.run import run
from tests.crawl.web import Answer, Page, Web
from topiccrawl.scheduler.frontiers import read_frontier
from topiccrawl.scheduler.leases import MAX_FURTHER

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

SITE = "http://news.test"
MODULES = {"SPIDER_MODULES": "tests.crawl.request_features", "DEPTH_LIMIT": "3", "RETRY_TIMES": "2"}
PAGES: dict[str, Page] = {
    f"{SITE}/": "front",
    f"{SITE}/copy": "copy",
    f"{SITE}/hop/1": Answer("", 302, (("Location", f"{SITE}/hop/2"),)),
    f"{SITE}/hop/2": Answer("", 302, (("Location", f"{SITE}/hop/3"),)),
    f"{SITE}/hop/3": "hop",
    f"{SITE}/post": Answer("", 302, (("Location", f"{SITE}/done"),)),
    f"{SITE}/done": "done",
    f"{SITE}/again": "again",
    f"{SITE}/unnamed": "unnamed",
    f"{SITE}/offsite": Answer("", 302, (("Location", "http://other.test/"),)),
    **{SITE + path: Answer("", 500) for path in RETRIES},
    f"{SITE}/elsewhere": "through another proxy",
    **{f"{SITE}/depth/{i}": "deep" for i in range(9)},
}


def items_of(
    proxy: str, data: Path, spider: str = "requests", **settings: str
) -> list[dict[str, Any]]:
    feed = data.with_suffix(".jsonl")
    arguments = ("crawl", spider, "-a", f"seed={SITE}/", "-O", str(feed))
    status, out = run(proxy, data, *arguments, **{**MODULES, **settings})
    assert status == 0, out[-3000:]
    return [json.loads(line) for line in feed.read_text().splitlines()]


@pytest.fixture(scope="module", name="crawled")
def _crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Web, Path, list[dict[str, Any]]]:
    data = tmp_path_factory.mktemp("state") / "data"
    with Web(PAGES) as web:
        return web, data, items_of(web.proxy, data)


Crawled = tuple[Web, "Path", list[dict[str, Any]]]


def test_request_with_copied_meta_is_a_separate_page(crawled: Crawled) -> None:
    web, data, items = crawled
    assert {"url": f"{SITE}/copy", "number": 0} in items
    assert {"last": f"{SITE}/"} in items
    assert web.count(f"{SITE}/copy") == 1
    found = read_frontier(data / "frontiers" / "spider-requests").why(f"{SITE}/")
    assert found is not None
    assert (found.queue, found.reason) == ("crawled", "")


def test_redirects_keep_callback_and_arguments(crawled: Crawled) -> None:
    web, _, items = crawled
    assert {"url": f"{SITE}/hop/3", "number": 1} in items
    assert [web.count(f"{SITE}/hop/{i}") for i in (1, 2, 3)] == [1, 1, 1]


def test_a_form_is_posted_once_and_its_redirect_fetched(crawled: Crawled) -> None:
    web, _, items = crawled
    assert {"url": f"{SITE}/done", "number": 0} in items
    assert (web.count(f"{SITE}/post"), web.count(f"{SITE}/done")) == (1, 1)


def test_depth_is_counted_and_limited(crawled: Crawled) -> None:
    assert [item for item in crawled[2] if "depth" in item] == [
        {"depth": number, "number": number} for number in (1, 2, 3)
    ]


def test_a_request_repeated_with_dont_filter_is_fetched_again(crawled: Crawled) -> None:
    web, _, items = crawled
    assert [item["tries"] for item in items if "tries" in item] == [1, 2, 3]
    assert web.count(f"{SITE}/again") == 3


def test_callback_that_cannot_be_serialized_is_called(crawled: Crawled) -> None:
    assert {"unnamed": f"{SITE}/unnamed"} in crawled[2]


def test_repeated_request_that_cannot_be_serialized_is_filtered_as_by_scrapy(
    tmp_path: Path,
) -> None:
    with Web(PAGES) as web:
        items = items_of(web.proxy, tmp_path / "data", "circle", CLOSESPIDER_PAGECOUNT="40")
    assert sorted(item["url"].removeprefix(SITE) for item in items) == [
        "/", *["/again"] * 6, "/copy", "/done"
    ]  # fmt: skip


def test_redirects_within_one_lease_have_the_limit_of_their_setting(tmp_path: Path) -> None:
    steps = range(MAX_FURTHER + 2)
    pages: dict[str, Page] = {
        **{f"{SITE}/step/{n}": Answer("", 302, (("Location", f"/step/{n + 1}"),)) for n in steps},
        **{f"{SITE}{path}": "text" for path in ("/", "/copy", "/done", f"/step/{len(steps)}")},
        f"{SITE}/again": Answer("", 302, (("Location", "/step/0"),)),
    }
    with Web(pages) as web:
        items_of(web.proxy, tmp_path / "data", "circle", REDIRECT_MAX_TIMES="30")
    assert web.count(f"{SITE}/step/{len(steps)}") == 6


def test_proxy_in_request_meta_is_used(crawled: Crawled) -> None:
    web, data, _ = crawled
    assert web.count(f"{SITE}/elsewhere") == 0
    found = read_frontier(data / "frontiers" / "spider-requests").why(f"{SITE}/elsewhere")
    assert found is not None
    assert found.reason == "download-connection-refused"


def test_retries_follow_the_request_meta(crawled: Crawled) -> None:
    web, _, _ = crawled
    assert {path: web.count(SITE + path) for path in RETRIES} == {
        "/never": 1, "/once": 2, "/usual": 3
    }  # fmt: skip


def test_redirects_stay_on_the_allowed_domains(crawled: Crawled) -> None:
    web, data, _ = crawled
    assert not [hit.url for hit in web.hits if "other.test" in hit.url]
    found = read_frontier(data / "frontiers" / "spider-requests").why(f"{SITE}/offsite")
    assert found is not None
    assert found.reason == "host-not-allowed"


@pytest.mark.usefixtures("no_coverage")
def test_cached_answers_need_no_requests(tmp_path: Path) -> None:
    cache = {
        "HTTPCACHE_ENABLED": "1",
        "HTTPCACHE_DIR": str(tmp_path / "cache"),
        "CONCURRENT_REQUESTS_PER_DOMAIN": "1",
    }
    with Web(PAGES) as web:
        first = items_of(web.proxy, tmp_path / "one", **cache)
        before = len(web.hits)
        again = items_of(web.proxy, tmp_path / "two", **cache)
        assert len(web.hits) == before
    assert sorted(map(json.dumps, again)) == sorted(map(json.dumps, first))


def test_shell_and_parse_leave_no_state(tmp_path: Path) -> None:
    page = f'<title>新能源汽车</title><p>新能源汽车的动力电池</p><a href="{SITE}/1">电动汽车</a>'
    data, url = tmp_path / "data", f"{SITE}/"
    with Web({url: page}) as web:
        look = ("shell", url, "-c", "response.css('title::text').get()")
        status, out = run(web.proxy, data, *look)
        assert (status, "新能源汽车" in out.splitlines()) == (0, True), out[-3000:]
        one = ("parse", url, "--spider", "topic", "-a", "topic=新能源汽车", "--nocolour")
        status, out = run(web.proxy, data, *one)
    assert (status, f"'url': '{SITE}/1'" in out, "'relevant': True" in out) == (0, True, True), out
    assert not data.exists()


def test_an_errback_is_called_once_after_the_last_attempt(crawled: Crawled) -> None:
    failed = sorted(item["failed"] for item in crawled[2] if "failed" in item)
    assert failed == ["data:,%E6%96%B0", *sorted(SITE + path for path in RETRIES)]


def test_crawl_ends_whatever_components_do_to_its_requests(tmp_path: Path) -> None:
    flaky = iter((503, 200))
    pages: dict[str, Page] = {
        **dict.fromkeys((f"{SITE}/{p}" for p in ("", "copy", "login", "login-first")), "text"),
        f"{SITE}/blocked": "a check of the visitor",
        f"{SITE}/to-refused": Answer("", 302, (("Location", f"{SITE}/refused"),)),
        f"{SITE}/session": "account", f"{SITE}/flaky": lambda _: Answer("", next(flaky)),
    }  # fmt: skip
    with Web(pages) as web:
        items = items_of(web.proxy, tmp_path / "data", "habits", **MODULES)
    assert web.count(f"{SITE}/blocked") == 1 + MAX_FURTHER
    frontier = read_frontier(tmp_path / "data" / "frontiers" / "spider-habits")
    paths = ("copy", "login-first", "to-refused", "blocked")
    found = {path: frontier.why(f"{SITE}/{path}") for path in paths}
    assert {path: why and (why.queue, why.reason) for path, why in found.items()} == {
        "copy": ("crawled", ""), "login-first": ("error", "replaced"),
        "to-refused": ("error", "replaced"), "blocked": ("error", "replaced"),
    }  # fmt: skip
    assert sorted(one["page"] for one in items if "page" in one) == [f"{SITE}/", f"{SITE}/login"]
    handled = [(one["status"], one["account"]) for one in items if "status" in one]
    assert sorted(handled, key=repr) == [(200, 0), (200, 1), (200, 2), (200, None)]


def test_attributes_of_ordinary_spiders_are_ignored(tmp_path: Path) -> None:
    more = {
        "TOPICCRAWL_DASHBOARD": "0", "TOPICCRAWL_LOG_JSON": "1", "TOPICCRAWL_STOP_YIELD": "0.5",
        "TOPICCRAWL_PAGES": "9", "TOPICCRAWL_NEWS_FILTER": "1", "TOPICCRAWL_FRAMES": "1",
        "TOPICCRAWL_REPORT": str(tmp_path / "report.html"),
    }  # fmt: skip
    with Web(PAGES) as web:
        status, out = run(
            web.proxy,
            tmp_path / "data",
            "crawl",
            "namesakes",
            "-a",
            f"seed={SITE}/",
            **MODULES,
            **more,
        )
    assert status == 0, out[-3000:]
    assert "Traceback" not in out
    assert (web.count(f"{SITE}/"), web.count(f"{SITE}/copy")) == (1, 1)
    assert (tmp_path / "data" / "frontiers" / "spider-namesakes").is_dir()
    assert (tmp_path / "report.html").is_file()
