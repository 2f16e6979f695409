"""Tests of ``scrapy why``: evicted URLs, seeds and separately requested pages."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scrapy.settings import Settings

from topiccrawl.commands.marking import outcome_of
from topiccrawl.commands.why import explain
from topiccrawl.frontier.view import EVICTED
from topiccrawl.messages import choose_language
from topiccrawl.model import Article
from topiccrawl.scheduler.requests import distinct_url
from topiccrawl.storage.sqlite import SqliteStorage
from topiccrawl.text.digest import digest_of

if TYPE_CHECKING:
    from pathlib import Path


def test_evicted_url_is_explained_with_a_remedy() -> None:
    url, *lines = explain(EVICTED._replace(url="http://a.cn/"))
    assert url == "http://a.cn/"
    text = " ".join(lines)
    assert "not fetched again" in text
    assert "TOPICCRAWL_MAX_KNOWN" in text
    assert "TOPICCRAWL_SEEN_ERROR" in text
    assert "topiccrawl frontier requeue" in text


def test_in_links_without_parents_have_no_list() -> None:
    seed = EVICTED._replace(url="http://a.cn/", queue="crawled", inlinks=3, parents=())
    lines = explain(seed)
    assert "  in-links   3 crawled pages" in lines
    best = (("http://a.cn/hub", 0.5),)
    lines = explain(seed._replace(parents=best))
    assert "  in-links   3 crawled pages; the best:" in lines


def test_separately_requested_page_is_shown_by_its_url() -> None:
    page = distinct_url("http://a.cn/hub", "1")
    lines = explain(EVICTED._replace(queue="crawled", parents=((page, 0.5),), path=(page,)))
    assert "    0.5000  http://a.cn/hub" in lines
    assert "    http://a.cn/hub" in lines


def test_seed_and_kind_of_a_page_are_named_in_the_language() -> None:
    seed = EVICTED._replace(
        url="http://a.cn/", queue="crawled", reason="hub", path=("http://a.cn/",)
    )
    redirected = seed._replace(path=("http://a.cn/0", "http://a.cn/"))
    assert "  path       a seed:" in explain(seed)
    assert "  path       0 links from the seed:" in explain(redirected)
    choose_language("zh")
    try:
        assert "  队列       crawledQueue：已抓取 (列表)" in explain(seed)
        assert "  路径       种子：" in explain(seed)
    finally:
        choose_language("")


def test_cause_of_a_failure_is_described() -> None:
    failed = EVICTED._replace(queue="error", reason="http-403")
    _, queue, text, *_ = explain(failed)
    assert queue == "  queue      errorQueue (http-403)"
    assert text == "  cause      the server refuses this crawler (403)"
    assert not any("cause" in line for line in explain(failed._replace(reason="http-500")))


def test_fetched_page_is_explained_by_what_is_stored_of_it(tmp_path: Path) -> None:
    text = "第一家工厂本周开始回收动力电池，设备由当地企业制造，年底前全部投产。"

    async def fill() -> None:
        store = SqliteStorage(tmp_path).articles()
        await store.open()
        for site in ("a.test", "b.test"):
            url = f"http://{site}/1"
            await store.save([Article(url, "电池", text, site=site, digest=digest_of(text))])
        await store.close()

    asyncio.run(fill())
    settings = Settings({"TOPICCRAWL_DATA_DIR": str(tmp_path)})
    lines = [
        asyncio.run(outcome_of(settings, "电池", f"http://{page}", fetched=fetched))
        for page, fetched in (
            ("a.test/1", True),
            ("b.test/1", True),
            ("c.test/", True),
            ("c.test/", False),
        )
    ]
    assert lines == [
        ["  stored     as an article: 电池"],
        ["  stored     as a copy of http://a.test/1 (same-text)"],
        ["  stored     no article of this page"],
        [],
    ]
