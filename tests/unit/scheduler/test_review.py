"""Tests of the explanation of a crawl without results: causes and remedies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.settlement import CRASH
from topiccrawl.links.strategies import FirstCome
from topiccrawl.scheduler.downloads import ReplacedError
from topiccrawl.scheduler.requests import distinct_url
from topiccrawl.scheduler.review import explain_review, unreachable_hosts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def review(**changes: Any) -> dict[str, Any]:
    empty = {"threshold": 0.05, "best": [], "met": {}, "never": ["电池"], "seeds": [], "hosts": {}}
    return {**empty, **changes}


def failed(reason: str) -> dict[str, Any]:
    seed = {"url": "http://a.test/", "queue": "error", "reason": reason, "relevance": None}
    return review(seeds=[seed], hosts={reason: ["a.test"]})


def test_missing_terms_are_listed_only_if_pages_were_read() -> None:
    assert "电池" not in "\n".join(explain_review(failed("http-403")))
    read = review(best=[[0.01, "http://a.test/", "A"]])
    assert "terms not found: 电池" in "\n".join(explain_review(read))


def test_crawl_that_found_articles_has_no_advice() -> None:
    found = review(best=[[0.5, "http://a.test/", "A"]], met={"汽车": 1})
    assert "no relevant page is an article" in "\n".join(explain_review(found))
    assert "  try " not in "\n".join(explain_review(found, articles=3))


def test_causes_are_explained() -> None:
    assert "http://a.test/: too many redirects" in "\n".join(
        explain_review(failed("max-redirects"))
    )
    assert "private network" in "\n".join(explain_review(failed("private-address")))
    assert "the proxy opened no connection" in "\n".join(explain_review(failed("tunnel")))
    assert "another component" in "\n".join(explain_review(failed(ReplacedError.reason)))
    assert "process was killed" in "\n".join(explain_review(failed(CRASH)))
    assert "no longer has the callback" in "\n".join(explain_review(failed("payload")))


def test_distinct_url_is_shown_as_the_real_one() -> None:
    found = failed("callback-KeyError")
    found["seeds"][0]["url"] = distinct_url("http://a.test/find", "d0")
    assert "seed       http://a.test/find: callback" in "\n".join(explain_review(found))


def test_refused_connection_mentions_the_proxy() -> None:
    lines = "\n".join(explain_review(failed("download-connection-refused")))
    assert "http_proxy" in lines
    assert "http_proxy" not in "\n".join(explain_review(failed("http-403")))


def test_ipv6_address_mentions_the_resolver() -> None:
    found = review(hosts={"cannot-resolve-host": ["[::1]"]})
    assert "TWISTED_DNS_RESOLVER=" in "\n".join(explain_review(found))
    assert "RESOLVER" not in "\n".join(explain_review(failed("cannot-resolve-host")))


def test_unusable_proxy_is_explained_with_the_remedy() -> None:
    assert "http_proxy=http://NAME:PASSWORD@" in "\n".join(explain_review(failed("http-407")))
    socks = "\n".join(explain_review(failed("unsupported-urlscheme")))
    assert "only HTTP proxies are supported" in socks


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [
        (["http-404"], {}),
        (["http-404", "http-403", "robots"], {"http-403": ["a1.test"], "robots": ["a2.test"]}),
    ],
)
def test_records_after_the_last_unreachable_host_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reasons: list[str], expected: object
) -> None:
    iterate = EmbeddedFrontier.iterate

    def not_to_the_end(opened: EmbeddedFrontier, queue: str) -> Iterator[tuple[str, float, str]]:
        yield from iterate(opened, queue)
        pytest.fail("all records were read")

    monkeypatch.setattr(EmbeddedFrontier, "iterate", not_to_the_end)
    frontier = EmbeddedFrontier(tmp_path, FirstCome(), Politeness(robots=False), Limits())
    frontier.push([Seed(f"http://a{number}.test/") for number in range(len(reasons))])
    for lease, reason in zip(frontier.pop(len(reasons)), reasons, strict=True):
        frontier.finish(lease, Outcome(Ending.ERROR, reason=reason))
    found = unreachable_hosts(frontier)
    frontier.close()
    assert found == expected
