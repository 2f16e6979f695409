"""Contract tests of the seed providers; search engines are those of the demo web."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lab.demo.engine import Engine
from topiccrawl.discovery import (
    Answer,
    Baidu,
    Bing,
    Blocked,
    Changed,
    DuckDuckGo,
    Fetched,
    Hit,
    Results,
    SearXNG,
    SeedProvider,
    UrlList,
    provider_of,
)
from topiccrawl.links import canonicalize_url

if TYPE_CHECKING:
    from pathlib import Path

SPECS = (
    "baidu", "bing", "duckduckgo", "searxng:http://s.test", "feed:http://f.test/",
    "sitemap:http://m.test/x", "commoncrawl:*.a.test",
    "examples.search_engine.OwnSearch:http://s.test/find",
)  # fmt: skip
PAGES = (
    b"<ul class=hits><li><a href='/a#x'>A</a><a href='/a'>A</a></ul>",
    b"<div id=content_left><h3><a href=/1>1</a></h3></div><ol id=b_results></ol>",
    b"<rss><channel><item><title>A</title><link>http://a.test/1</link></item></channel></rss>",
    b"<urlset><url><loc>http://a.test/1</loc></url></urlset>",
    b'{"results": [{"url": "http://a.test/1"}], "url": "http://a.test/2"}',
    b'[{"cdx-api": "http://a.test/"}]',
    b"Sitemap: http://a.test/one.xml",
)
QUERY = "四川 软件公司"
FOUND = [(f"http://www.c{n}.test/", f"第{n}软件公司") for n in range(23)]
PLAIN = """
url = "http://plain.engine.test/find?q={query}&page={page}"
results = ".hits a"
container = ".hits"
"""


@pytest.fixture(params=["baidu", "bing", "duckduckgo", "searxng", "plain", "example"])
def provider(request: pytest.FixtureRequest, tmp_path: Path) -> SeedProvider:
    (tmp_path / "plain.toml").write_text(PLAIN)
    providers: dict[str, SeedProvider] = {
        "baidu": Baidu("http://baidu.engine.test/s"),
        "bing": Bing("http://bing.engine.test/search"),
        "duckduckgo": DuckDuckGo("http://duckduckgo.engine.test/html/"),
        "searxng": SearXNG("http://searxng.engine.test/"),
        "plain": provider_of(f"generic:{tmp_path / 'plain.toml'}"),
        "example": provider_of("examples.search_engine.OwnSearch:http://plain.engine.test/find"),
    }
    return providers[request.param]


def fetch(engine: Engine, url: str) -> Fetched:
    answer = engine.answer(url)
    headers = dict(answer.headers)
    location = urljoin(url, headers["Location"]) if "Location" in headers else ""
    return Fetched(url, answer.body, answer.status, headers.get("Content-Type"), location)


def walk(engine: Engine, provider: SeedProvider, pages: int, query: str = QUERY) -> list[Hit]:
    """Hits of the first pages, with redirects followed."""
    hits: list[Hit] = []
    following = list(provider.start(query).next)
    while following and pages:
        answer = provider.read(fetch(engine, following.pop(0)))
        assert isinstance(answer, Results), answer
        for hit in answer.hits:
            there = fetch(engine, hit.url).location if hit.indirect else hit.url
            hits.append(hit._replace(url=there, indirect=False))
        following += answer.next
        pages -= 1
    return hits


def test_results_come_in_order_without_adverts_over_all_pages(provider: SeedProvider) -> None:
    assert walk(Engine({QUERY: FOUND}), provider, 10) == [Hit(*found) for found in FOUND]


def test_paging_ends_at_the_stated_depth(provider: SeedProvider) -> None:
    assert len(walk(Engine({QUERY: FOUND}), provider, 2)) == 20


def test_no_results_are_no_error(provider: SeedProvider) -> None:
    assert walk(Engine({QUERY: FOUND}), provider, 3, "无此公司") == []


def first(provider: SeedProvider, trouble: str) -> Answer:
    shape = urlsplit(provider.start(QUERY).next[0]).netloc.partition(".")[0]
    engine = Engine({QUERY: FOUND}, {shape: trouble})
    return provider.read(fetch(engine, provider.start(QUERY).next[0]))


def test_blocked_page_is_reported_with_a_remedy(provider: SeedProvider) -> None:
    answer = first(provider, "captcha")
    assert isinstance(answer, Blocked | Changed)  # a page of a captcha has no results' container
    assert provider.name == "plain" or isinstance(answer, Blocked)
    assert answer.remedy


def test_rate_limit_is_reported_as_blocked(provider: SeedProvider) -> None:
    answer = first(provider, "limit")
    assert isinstance(answer, Blocked)
    assert "429" in answer.what


def test_changed_page_is_not_read_as_no_results(provider: SeedProvider) -> None:
    assert isinstance(first(provider, "changed"), Changed)


# -- All providers -------------------------------------------------------------------------------


@pytest.fixture(params=SPECS)
def any_provider(request: pytest.FixtureRequest) -> SeedProvider:
    return provider_of(request.param)


def is_valid(answer: Answer) -> bool:
    if not isinstance(answer, Results):
        return bool(answer.what and answer.remedy)
    hits = [hit.url for hit in answer.hits]
    return (
        all(url == canonicalize_url(url) for url in hits)
        and all(url.startswith(("http://", "https://")) for url in answer.next)
        and len(set(hits)) == len(hits)
        and len(set(answer.next)) == len(answer.next)
    )


def test_start_is_the_same_for_the_same_query(any_provider: SeedProvider) -> None:
    assert isinstance(any_provider, SeedProvider)
    assert any_provider.name
    begun = any_provider.start(QUERY)
    assert is_valid(begun)
    assert begun.hits or begun.next
    assert begun == any_provider.start(QUERY)
    assert any_provider.searches == (begun != any_provider.start("足球"))


def test_a_list_needs_no_request() -> None:
    provider: SeedProvider = UrlList((Hit("http://a.test/"),))
    assert provider.start("") == Results((Hit("http://a.test/"),))
    assert provider.read(Fetched("http://a.test/")) == Results()


@pytest.mark.parametrize("spec", SPECS)
@example(body=b"\0", status=200, location="")
@given(
    body=st.one_of(st.binary(max_size=300), st.sampled_from(PAGES)),
    status=st.sampled_from([200, 202, 302, 403, 404, 500]),
    location=st.sampled_from(["", "http://elsewhere.test/"]),
)
def test_any_page_gives_the_same_valid_answer_each_time(
    spec: str, body: bytes, status: int, location: str
) -> None:
    page = Fetched("http://s.test/", body, status, "text/html", location)
    provider = provider_of(spec)
    answer = provider.read(page)
    assert is_valid(answer)
    assert provider_of(spec).read(page) == answer == provider.read(page)


def test_unavailable_server_is_reported_as_blocked(
    any_provider: SeedProvider,
) -> None:
    (url, *_) = any_provider.start(QUERY).next
    assert isinstance(any_provider.read(Fetched(url, b"", 503)), Blocked)
