"""Providers against the demo's engines, which answer in the real ones' shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from topiccrawl.demo.engine import Engine
from topiccrawl.discovery.choice import NAMES, provider_of, providers_of
from topiccrawl.discovery.contract import Answer, Blocked, Changed, Fetched, Hit, Results
from topiccrawl.discovery.engines import Baidu, Bing, DuckDuckGo
from topiccrawl.discovery.searxng import SearXNG
from topiccrawl.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.discovery.contract import Provider

QUERY = "四川 软件公司"
FOUND = [(f"http://www.c{n}.test/", f"第{n}软件公司") for n in range(23)]
PLAIN = """
url = "http://plain.engine.test/find?q={query}&page={page}"
results = ".hits a"
container = ".hits"
"""


@pytest.fixture(params=["baidu", "bing", "duckduckgo", "searxng", "plain"])
def provider(request: pytest.FixtureRequest, tmp_path: Path) -> Provider:
    (tmp_path / "plain.toml").write_text(PLAIN)
    providers: dict[str, Provider] = {
        "baidu": Baidu("http://baidu.engine.test/s"),
        "bing": Bing("http://bing.engine.test/search"),
        "duckduckgo": DuckDuckGo("http://duckduckgo.engine.test/html/"),
        "searxng": SearXNG("http://searxng.engine.test/"),
        "plain": provider_of(f"generic:{tmp_path / 'plain.toml'}"),
    }
    return providers[request.param]


def ask(engine: Engine, url: str) -> Fetched:
    answer = engine.answer(url)
    headers = dict(answer.headers)
    location = urljoin(url, headers["Location"]) if "Location" in headers else ""
    return Fetched(url, answer.body, answer.status, headers.get("Content-Type"), location)


def walk(engine: Engine, provider: Provider, pages: int, query: str = QUERY) -> list[Hit]:
    """What the first pages name, redirects followed."""
    hits: list[Hit] = []
    following = list(provider.start(query).next)
    while following and pages:
        answer = provider.read(ask(engine, following.pop(0)))
        assert isinstance(answer, Results), answer
        for hit in answer.hits:
            there = ask(engine, hit.url).location if hit.indirect else hit.url
            hits.append(hit._replace(url=there, indirect=False))
        following += answer.next
        pages -= 1
    return hits


def test_results_come_in_order_without_adverts_over_all_pages(provider: Provider) -> None:
    assert walk(Engine({QUERY: FOUND}), provider, 10) == [Hit(*found) for found in FOUND]


def test_paging_ends_at_the_stated_depth(provider: Provider) -> None:
    assert len(walk(Engine({QUERY: FOUND}), provider, 2)) == 20


def test_no_results_are_no_error(provider: Provider) -> None:
    assert walk(Engine({QUERY: FOUND}), provider, 3, "无此公司") == []


def first(provider: Provider, trouble: str) -> Answer:
    shape = urlsplit(provider.start(QUERY).next[0]).netloc.partition(".")[0]
    engine = Engine({QUERY: FOUND}, {shape: trouble})
    return provider.read(ask(engine, provider.start(QUERY).next[0]))


def test_a_blocked_page_says_so_with_a_remedy(provider: Provider) -> None:
    answer = first(provider, "captcha")
    assert isinstance(answer, Blocked | Changed)  # a page of a captcha has no results' container
    assert provider.name == "plain" or isinstance(answer, Blocked)
    assert answer.remedy


def test_a_limit_is_a_blocked_page(provider: Provider) -> None:
    answer = first(provider, "limit")
    assert isinstance(answer, Blocked)
    assert "429" in answer.what


def test_a_changed_page_is_not_taken_for_no_results(provider: Provider) -> None:
    assert isinstance(first(provider, "changed"), Changed)


@example(body=b"\0", status=200)
@given(body=st.binary(max_size=300), status=st.sampled_from([200, 202, 302, 403, 500]))
def test_whatever_comes_back_is_an_answer(body: bytes, status: int) -> None:
    specs = (
        "baidu,bing,duckduckgo,searxng:http://s.test,feed:http://f.test/,sitemap:http://m.test/x,"
    )
    for one in providers_of(specs + "commoncrawl:*.a.test"):
        page = Fetched("http://s.test/", body, status, "text/html", "")
        assert isinstance(one.read(page), Results | Blocked | Changed)


def test_searxng_says_which_of_its_engines_were_silent() -> None:
    body = b'{"results": [], "unresponsive_engines": [["baidu", "CAPTCHA"]]}'
    answer = SearXNG("http://s.test").read(Fetched("http://s.test/search?q=x", body))
    assert isinstance(answer, Blocked)
    assert "baidu: CAPTCHA" in answer.what


def test_baidu_takes_the_address_where_the_page_says_it() -> None:
    body = (
        '<div id="content_left"><div class="c-container" mu="http://www.a.test/">'
        '<h3><a href="http://www.baidu.com/link?url=x">甲</a></h3></div></div>'
    )
    answer = Baidu().read(Fetched("https://www.baidu.com/s?wd=x&pn=0", body.encode()))
    assert answer == Results((Hit("http://www.a.test/", "甲"),))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('url = "http://a.test/?q="\nresults = "a"', "{query}"),
        ('url = "http://a.test/?q={query}"\nresults = "a["', "no CSS selector"),
        ('url = "http://a.test/?q={query}"\nresults = "a"\nencoding = "x9"', "no encoding"),
        ('url = "http://a.test/?q={query}"', "results"),
        ("url = ", "no TOML"),
    ],
)
def test_a_wrong_engine_file_names_the_mistake(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=r"mine\.toml") as error:
        provider_of(f"generic:{path}")
    assert said in str(error.value)


def test_start_numbers_and_other_encodings_of_a_configured_engine(tmp_path: Path) -> None:
    path = tmp_path / "e.toml"
    path.write_text(
        'url = "http://a.test/?q={query}&from={start}"\nresults = "h3 a"\n'
        'first = 0\nstep = 20\nencoding = "gb18030"'
    )
    provider = provider_of(f"generic:{path}")
    (url,) = provider.start("软件").next
    assert url == "http://a.test/?q=%C8%ED%BC%FE&from=0"
    answer = provider.read(Fetched(url, b'<h3><a href="/1">One</a></h3>'))
    assert answer == Results(
        (Hit("http://a.test/1", "One"),), ("http://a.test/?q=%C8%ED%BC%FE&from=20",)
    )


@pytest.mark.parametrize(
    "spec", ["google", "searxng", "searxng:nothing", "generic:", "commoncrawl"]
)
def test_an_unusable_provider_is_refused_with_a_remedy(spec: str) -> None:
    with pytest.raises(ConfigurationError, match=r"write|name a file"):
        provider_of(spec)
    assert len(NAMES) == 9


@pytest.mark.parametrize("name", ["baidu", "bing", "duckduckgo", "searxng", "feed", "sitemap"])
def test_a_wrong_address_is_refused_by_the_name_that_was_written(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^discover={name}:nothing: write {name}:https:"):
        provider_of(f"{name}:nothing")
