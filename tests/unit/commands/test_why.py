"""Tests of ``scrapy why``: evicted URLs, seeds and separately requested pages."""

from __future__ import annotations

from topiccrawl.commands.why import explain
from topiccrawl.frontier.view import EVICTED
from topiccrawl.scheduler.requests import distinct_url


def test_evicted_url_is_explained_with_a_remedy() -> None:
    url, *lines = explain(EVICTED._replace(url="http://a.cn/"))
    assert url == "http://a.cn/"
    text = " ".join(lines)
    assert "not fetched again" in text
    assert "TOPICCRAWL_MAX_KNOWN" in text
    assert "TOPICCRAWL_SEEN_ERROR" in text
    assert "scrapy frontier requeue" in text


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
