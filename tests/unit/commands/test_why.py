"""What ``scrapy why`` says of a URL whose record was evicted."""

from __future__ import annotations

from topiccrawl.commands.why import explain
from topiccrawl.frontier.view import EVICTED
from topiccrawl.scheduler.requests import distinct_url


def test_a_url_that_was_let_go_is_said_to_be_seen_and_how_it_is_fetched() -> None:
    url, *lines = explain(EVICTED._replace(url="http://a.cn/"))
    assert url == "http://a.cn/"
    text = " ".join(lines)
    assert "not fetched again" in text
    assert "TOPICCRAWL_MAX_KNOWN" in text
    assert "TOPICCRAWL_SEEN_ERROR" in text
    assert "scrapy frontier requeue" in text


def test_in_links_of_a_seed_announce_no_list() -> None:
    seed = EVICTED._replace(url="http://a.cn/", queue="crawled", inlinks=3, parents=())
    lines = explain(seed)
    assert "  in-links   3 crawled pages" in lines
    best = (("http://a.cn/hub", 0.5),)
    lines = explain(seed._replace(parents=best))
    assert "  in-links   3 crawled pages; the best:" in lines


def test_a_page_that_was_requested_separately_is_shown_by_its_url() -> None:
    page = distinct_url("http://a.cn/hub", "1")
    lines = explain(EVICTED._replace(queue="crawled", parents=((page, 0.5),), path=(page,)))
    assert "    0.5000  http://a.cn/hub" in lines
    assert "    http://a.cn/hub" in lines
