"""Tests of feeds, sitemaps, Common Crawl's index and lists of seeds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from topiccrawl.discovery.contract import Blocked, Changed, Fetched, Hit, Results
from topiccrawl.discovery.factory import provider_of
from topiccrawl.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

RSS = (
    "<?xml version='1.0' encoding='gb2312'?><rss><channel><title>频道</title>"
    "<link>http://a.test/</link>"
    "<item><title>甲</title><link>http://a.test/1</link></item>"
    "<item><title>乙</title><link> http://a.test/2 </link></item>"
    "<item><title>甲</title><link>http://a.test/1</link></item></channel></rss>"
)
ATOM = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><link rel="next" href="/feed?page=2"/>'
    '<entry><title>One</title><link rel="self" href="http://a.test/x"/>'
    '<link href="http://a.test/1"/></entry></feed>'
)


def test_feed_lists_each_entry_once_in_order() -> None:
    feed = provider_of("feed:http://a.test/rss")
    assert feed.start("").next == ("http://a.test/rss",)
    answer = feed.read(Fetched("http://a.test/rss", RSS.encode("gb2312")))
    assert answer == Results((Hit("http://a.test/1", "甲"), Hit("http://a.test/2", "乙")))


def test_atom_feed_continues_on_its_next_page() -> None:
    answer = provider_of("feed:http://a.test/f").read(Fetched("http://a.test/f", ATOM.encode()))
    assert answer == Results((Hit("http://a.test/1", "One"),), ("http://a.test/feed?page=2",))


def test_relative_url_of_an_entry_is_resolved() -> None:
    data = b"<rss><channel><item><title>A</title><link>/1</link></item></channel></rss>"
    answer = provider_of("feed:http://a.test/f").read(Fetched("http://a.test/f", data))
    assert answer == Results((Hit("http://a.test/1", "A"),))


def test_page_that_is_no_feed_is_reported() -> None:
    answer = provider_of("feed:http://a.test/f").read(Fetched("http://a.test/f", b"<html/>"))
    assert isinstance(answer, Changed)


def test_host_without_path_gives_the_sitemaps_of_robots_txt() -> None:
    provider = provider_of("sitemap:http://a.test/")
    assert provider.start("").next == ("http://a.test/robots.txt",)
    robots = b"Sitemap: http://a.test/one.xml\nSitemap: http://a.test/two.xml"
    answer = provider.read(Fetched("http://a.test/robots.txt", robots))
    assert answer == Results((), ("http://a.test/one.xml", "http://a.test/two.xml"), counts=False)
    sitemap = b"<urlset><url><loc>http://a.test/1</loc></url></urlset>"
    assert provider.read(Fetched("http://a.test/one.xml", sitemap)) == Results(
        (Hit("http://a.test/1"),)
    )


def test_common_crawl_requests_the_newest_index_then_pages() -> None:
    provider = provider_of("commoncrawl:*.a.test")
    (info,) = provider.start("").next
    newest = provider.read(Fetched(info, b'[{"cdx-api": "https://i.test/CC-2-index"}, {}]'))
    assert isinstance(newest, Results)
    (query,) = newest.next
    assert query.startswith("https://i.test/CC-2-index?url=%2A.a.test")
    numbers = provider.read(Fetched(query, b'{"pages": 2, "pageSize": 1, "blocks": 2}'))
    assert isinstance(numbers, Results)
    assert [url.rpartition("&")[2] for url in numbers.next] == ["page=0", "page=1"]
    assert not any("showNumPages" in url for url in numbers.next)
    assert numbers.next[0].count("filter=") == 2
    lines = b'{"url": "http://a.test/1"}\n{"url": "http://a.test/1"}\n{"url": "http://a.test/2"}\n'
    page = provider.read(Fetched(numbers.next[0], lines))
    assert page == Results((Hit("http://a.test/1"), Hit("http://a.test/2")))


def test_common_crawl_without_captures_has_no_results() -> None:
    provider = provider_of("commoncrawl:CC-MAIN-2026-05:*.a.test")
    (query,) = provider.start("").next
    assert query.startswith("https://index.commoncrawl.org/CC-MAIN-2026-05-index?")
    none = b'{"message": "No Captures found for: *.a.test"}'
    assert provider.read(Fetched(query, none, 404)) == Results()
    assert isinstance(provider.read(Fetched(query, b"", 503)), Blocked)


@pytest.mark.parametrize(
    ("spec", "begin", "entry", "most"),
    [
        ("sitemap:http://a.test/x", "", "http://a.test/{}\n", 50_000),
        ("sitemap:http://a.test/x", "", "Sitemap: http://a.test/{}\n", 50_000),
        ("sitemap:http://a.test/x", "<urlset>", "<url><loc>http://a.test/{}</loc></url>", 50_000),
        ("commoncrawl:*.a.test", "", '{{"url": "http://a.test/{}"}}\n', 50_000),
        ("feed:http://a.test/x", "<feed>", '<link rel="next" href="/{}"/>', 2_000),
    ],
)
def test_entries_of_a_page_are_bounded(spec: str, begin: str, entry: str, most: int) -> None:
    body = begin + "".join(map(entry.format, range(60_000)))
    answer = provider_of(spec).read(Fetched("http://a.test/x", body.encode()))
    assert isinstance(answer, Results)
    assert len(answer.hits) + len(answer.next) == most


def test_pages_of_common_crawl_are_bounded() -> None:
    answer = provider_of("commoncrawl:*.a.test").read(
        Fetched("http://i.test/x?a=b", b'{"pages": 1000000}')
    )
    assert isinstance(answer, Results)
    assert len(answer.next) == 10_000


def test_list_is_read_without_a_request(tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_text(
        "# companies\nhttp://a.test 甲 公司\n\nhttp://b.test/x\nhttp://a.test/\n"
        "http://c.test/tab\t乙\nhttp://d.test/wide\u3000丙\n \t\n"
    )
    hits = (
        Hit("http://a.test/", "甲 公司"), Hit("http://b.test/x"),
        Hit("http://c.test/tab", "乙"), Hit("http://d.test/wide", "丙"),
    )  # fmt: skip
    assert provider_of(f"list:{path}").start("") == Results(hits)


@pytest.mark.parametrize(
    ("provider", "missing"), [("list", "No such file"), ("generic", "no such engine file")]
)
def test_special_and_large_files_are_refused(provider: str, missing: str, tmp_path: Path) -> None:
    os.mkfifo(fifo := tmp_path / "fifo")
    (large := tmp_path / "large").touch()
    os.truncate(large, 10_000_001)
    for path in ("/dev/zero", fifo, tmp_path, "/dev/tty"):
        with pytest.raises(ConfigurationError, match="not a regular file"):
            provider_of(f"{provider}:{path}")
    with pytest.raises(ConfigurationError, match="10 MB"):
        provider_of(f"{provider}:{large}")
    with pytest.raises(ConfigurationError, match=missing):
        provider_of(f"{provider}:{tmp_path}/none")


def test_list_of_ten_megabytes_is_read(tmp_path: Path) -> None:
    (path := tmp_path / "seeds.txt").write_bytes(b"http://a.test/\n" + b"#" * (10_000_000 - 15))
    assert provider_of(f"list:{path}").start("") == Results((Hit("http://a.test/"),))


@pytest.mark.parametrize(
    ("text", "expected"), [("", "no URL"), ("http://a.test\nb.test", "line 2")]
)
def test_invalid_list_is_refused(text: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=expected) as caught:
        provider_of(f"list:{path}")
    assert "b.test" not in str(caught.value)
