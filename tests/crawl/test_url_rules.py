"""Include and exclude rules apply to seeds, links, redirects and an older queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import run
from tests.crawl.web import Answer, Page, Web, article

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crawl

SITE, OTHER = "http://news.test", "http://other.test"
TEXT = "足球比赛昨晚结束，球队赢得了胜利。"


def pages() -> dict[str, Page]:
    links = [f"{SITE}/news/{n}.html" for n in range(3)]
    links += [f"{SITE}/video/1.html", f"{SITE}/news/moved.html", f"{OTHER}/news/1.html"]
    web: dict[str, Page] = {
        f"{SITE}/news/": "".join(f'<p><a href="{url}">足球消息</a></p>' for url in links)
    }
    for n, url in enumerate((*links, f"{SITE}/video/2.html")):
        web[url] = article(f"足球消息{n}", TEXT)
    moved = (("Location", f"{SITE}/video/2.html"),)
    web[f"{SITE}/news/moved.html"] = Answer("", 302, moved)
    return web


def requested(web: Web) -> set[str]:
    return {hit.url for hit in web.hits if not hit.url.endswith("robots.txt")}


def test_only_urls_that_the_rules_allow_are_requested(tmp_path: Path) -> None:
    arguments = ("crawl", "topic", "-a", "topic=足球", "-a", f"seeds={SITE}/news/")
    with Web(pages()) as web:
        only = ("-a", "include=news.test/news/*", "-a", r"exclude=re:/2\.html$")
        status, log = run(web.proxy, tmp_path / "data", *arguments, *only)
        assert status == 0, log[-3000:]
        kept = {f"{SITE}/news/{name}" for name in ("", "0.html", "1.html", "moved.html")}
        assert requested(web) == kept
    assert "'topiccrawl/links/url-not-included': 2" in log
    assert "'topiccrawl/queue/error/url-excluded': 1" in log  # the redirect


@pytest.mark.slow
def test_rules_apply_to_an_older_queue(tmp_path: Path) -> None:
    arguments = ("crawl", "topic", "-a", "topic=足球", "-a", f"seeds={SITE}/news/")
    with Web(pages()) as web:
        run(web.proxy, tmp_path / "data", *arguments, TOPICCRAWL_PAGES="1")
        web.hits.clear()
        status, log = run(web.proxy, tmp_path / "data", *arguments, "-a", "exclude=/video/*")
        assert status == 0, log[-3000:]
        assert requested(web)
        assert not any("/video/" in url for url in requested(web))
    assert "'topiccrawl/queue/error/url-excluded': 2" in log


def test_seeds_refused_by_the_rules_are_an_error(tmp_path: Path) -> None:
    arguments = ("crawl", "topic", "-a", "topic=足球", "-a", f"seeds={SITE}/")
    for rule, words in (("include=/news/*", "no pattern of include"),
                        ("exclude=re:(", "is no regular expression")):  # fmt: skip
        status, out = run("", tmp_path / "data", *arguments, "-a", rule)
        assert status != 0
        assert words in out


def test_seeds_that_redirect_to_a_feed_are_read(tmp_path: Path) -> None:
    item = f"<item><title>足球</title><link>{SITE}/1.html</link></item>"
    web: dict[str, Page] = {
        f"{SITE}/feed": Answer("", 301, (("Location", f"{OTHER}/news.xml"),)),
        f"{OTHER}/news.xml": Answer(f"<rss><channel>{item}</channel></rss>"),
        f"{SITE}/1.html": article("足球消息", TEXT),
    }
    arguments = ("crawl", "topic", "-a", "topic=足球", "-a", f"seeds={SITE}/feed")
    with Web(web) as pages:
        status, log = run(pages.proxy, tmp_path / "data", *arguments)
        assert status == 0, log[-3000:]
        assert pages.count(f"{SITE}/1.html") == 1
