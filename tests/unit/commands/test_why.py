"""What ``scrapy why`` says of a URL whose record was evicted."""

from __future__ import annotations

from topiccrawl.commands.why import explain
from topiccrawl.frontier.view import EVICTED


def test_a_url_that_was_let_go_is_said_to_be_seen_and_how_it_is_fetched() -> None:
    url, *lines = explain(EVICTED._replace(url="http://a.cn/"))
    assert url == "http://a.cn/"
    text = " ".join(lines)
    assert "not fetched again" in text
    assert "TOPICCRAWL_MAX_KNOWN" in text
    assert "TOPICCRAWL_SEEN_ERROR" in text
    assert "scrapy frontier requeue" in text
