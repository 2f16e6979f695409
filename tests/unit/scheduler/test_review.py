"""The explanation of a crawl without results names causes in words, and remedies."""

from __future__ import annotations

from typing import Any

from topiccrawl.scheduler.requests import distinct_url
from topiccrawl.scheduler.review import explain_review


def review(**changes: Any) -> dict[str, Any]:
    empty = {"threshold": 0.05, "best": [], "met": {}, "never": ["电池"], "seeds": [], "hosts": {}}
    return {**empty, **changes}


def failed(reason: str) -> dict[str, Any]:
    seed = {"url": "http://a.test/", "queue": "error", "reason": reason, "relevance": None}
    return review(seeds=[seed], hosts={reason: ["a.test"]})


def test_terms_are_not_missing_from_pages_that_were_not_read() -> None:
    assert "电池" not in "\n".join(explain_review(failed("http-403")))
    read = review(best=[[0.01, "http://a.test/", "A"]])
    assert "terms not found: 电池" in "\n".join(explain_review(read))


def test_causes_have_texts() -> None:
    assert "http://a.test/: too many redirects" in "\n".join(
        explain_review(failed("max-redirects"))
    )
    assert "private network" in "\n".join(explain_review(failed("private-address")))


def test_a_result_page_is_shown_by_its_url() -> None:
    found = failed("callback-KeyError")
    found["seeds"][0]["url"] = distinct_url("http://a.test/find", "d0")
    assert "seed       http://a.test/find: callback" in "\n".join(explain_review(found))


def test_a_refused_connection_may_be_that_of_a_proxy() -> None:
    told = "\n".join(explain_review(failed("download-connection-refused")))
    assert "http_proxy" in told
    assert "http_proxy" not in "\n".join(explain_review(failed("http-403")))


def test_a_proxy_that_cannot_be_used_is_named_with_the_remedy() -> None:
    assert "http_proxy=http://NAME:PASSWORD@" in "\n".join(explain_review(failed("http-407")))
    socks = "\n".join(explain_review(failed("unsupported-urlscheme")))
    assert "only HTTP proxies are supported" in socks
