"""Tests of single search engines; ``tests/contracts`` has the tests common to all providers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from topiccrawl.discovery.contract import Blocked, Changed, Fetched, Hit, Results, SeedProvider
from topiccrawl.discovery.engines import Baidu, DuckDuckGo, SearXNG
from topiccrawl.discovery.factory import NAMES, provider_of
from topiccrawl.errors import ConfigurationError
from topiccrawl.messages import choose_language, localize


def test_searxng_reports_its_unresponsive_engines() -> None:
    body = b'{"results": [], "unresponsive_engines": [["baidu", "CAPTCHA"]]}'
    answer = SearXNG("http://s.test").read(Fetched("http://s.test/search?q=x", body))
    assert isinstance(answer, Blocked)
    assert "baidu: CAPTCHA" in answer.what


def test_baidu_takes_the_url_from_the_page() -> None:
    body = (
        '<div id="content_left"><div class="c-container" mu="http://www.a.test/">'
        '<h3><a href="http://www.baidu.com/link?url=x">甲</a></h3></div></div>'
    )
    answer = Baidu().read(Fetched("https://www.baidu.com/s?wd=x&pn=0", body.encode()))
    assert answer == Results((Hit("http://www.a.test/", "甲"),))


@pytest.mark.parametrize(
    ("engine", "begin", "entry"),
    [
        (DuckDuckGo(), "<div class=result>", "<a class=result__a href=http://a.test/{}>甲</a>"),
        (
            Baidu(),
            "<div id=content_left>",
            "<div class=result><h3><a href=http://a.test/{}>甲</a></h3></div>",
        ),
        (SearXNG("http://s.test"), '{{"results": [{{}}', ', {{"url": "http://a.test/{}"}}'),
    ],
)
def test_results_of_a_page_are_bounded(engine: SeedProvider, begin: str, entry: str) -> None:
    body = begin.format() + "".join(map(entry.format, range(3_000)))
    body += "]}" if isinstance(engine, SearXNG) else ""
    answer = engine.read(Fetched("http://a.test/x", body.encode()))
    assert isinstance(answer, Results)
    assert 1_900 < len(answer.hits) <= 2_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('url = "http://a.test/?q="\nresults = "a"', "{query}"),
        ('url = "http://a.test/?q={query}"\nresults = "a["', "not a CSS selector"),
        ('url = "http://a.test/?q={query}"\nresults = "a"\nencoding = "x9"', "not an encoding"),
        ('url = "http://a.test/?q={query}"', "results"),
        ('url = "x?q={query}"\nresults = "a"', "{query}"),
        ('url = "http://a.test/?q={query}"\nresults = "a"\nfirst = -1', "0 or more"),
        ("url = ", "invalid TOML"),
    ],
)
def test_invalid_engine_file_is_refused_with_the_mistake(
    text: str, expected: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=r"mine\.toml") as error:
        provider_of(f"generic:{path}")
    assert expected in str(error.value)


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ('url = "x"\nresults = "a"', "字段 url：'x'：请写成"),
        ('url = "http://a.test/?q={query}"\nresults = "<"', "'<' 不是 CSS 选择器"),
        ('url = "http://a.test/?q={query}"\nresults = "a"\nencoding = "x9"', "'x9' 不是编码"),
        ('url = "http://a.test/?q={query}"', "缺少字段 results"),
        ("url = ", "不是 TOML"),
    ],
)
def test_mistakes_of_an_engine_file_are_translated(text: str, mistake: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError) as error:
        provider_of(f"generic:{path}")
    choose_language("zh")
    try:
        assert mistake in localize(error.value)
    finally:
        choose_language("")


def test_configured_engine_has_start_number_and_encoding(tmp_path: Path) -> None:
    path = tmp_path / "e.toml"
    path.write_text(
        'url = "http://a.test/?q={query}&from={start}"\nresults = "h3 a"\nblocked = ""\n'
        'first = 0\nstep = 20\nencoding = "gb18030"'
    )
    provider = provider_of(f"generic:{path}")
    (url,) = provider.start("软/件").next
    assert url == "http://a.test/?q=%C8%ED%2F%BC%FE&from=0"
    answer = provider.read(Fetched(url, b'<h3><a href="/1">One</a></h3>'))
    assert answer == Results(
        (Hit("http://a.test/1", "One"),), ("http://a.test/?q=%C8%ED%2F%BC%FE&from=20",)
    )
    elsewhere = provider.read(Fetched("http://b.test/", b'<h3><a href="/1">One</a></h3>'))
    assert elsewhere == Results((Hit("http://b.test/1", "One"),))


def test_configured_engine_knows_containers_empty_pages_and_next_links(tmp_path: Path) -> None:
    path = tmp_path / "e.toml"
    path.write_text(
        'url = "http://a.test/?q={query}"\nresults = "h3 a"\n'
        'container = "ol"\nnothing = ".none"\nnext = ".more"'
    )
    provider = provider_of(f"generic:{path}")
    found, more = '<ol><h3><a href="/1">One</a></h3></ol>', '<a class="more" href="/2">'
    hits = (Hit("http://a.test/1", "One"),)
    for body, answer in {
        found: Results(hits), f"{found}{more}": Results(hits, ("http://a.test/2",)),
        f"<ol></ol>{more}": Results(), f"<p class=none>{found}": Results(),
    }.items():  # fmt: skip
        assert provider.read(Fetched("http://a.test/?q=x", body.encode())) == answer
    assert isinstance(provider.read(Fetched("http://a.test/?q=x", b"<h3>")), Changed)


def test_engine_without_page_numbers_has_one_page(tmp_path: Path) -> None:
    path = tmp_path / "e.toml"
    path.write_text('url = "http://a.test/?q={query}"\nresults = "a"')
    answer = provider_of(f"generic:{path}").read(
        Fetched("http://a.test/?q=x", b"<a href=/1>One</a>")
    )
    assert answer == Results((Hit("http://a.test/1", "One"),))


def test_duckduckgo_follows_the_next_button_only() -> None:
    form = '<div class="nav-link"><form><input type="submit" value="{}"><input type="hidden" '
    forms = "".join(f'{form.format(name)}name="s" value="{name}"></form></div>' for name in
                    ("Previous", "Next"))  # fmt: skip
    body = f'<div class="result"><a class="result__a" href="http://a.test/">A</a></div>{forms}'
    answer = DuckDuckGo().read(Fetched("http://d.test/", body.encode()))
    assert answer == Results(HITS, (f"{DuckDuckGo.default_base}?s=Next",))


RESULT = '<div class="c-container"{}><h3><a href="{}">A</a></h3></div>'
HITS = (Hit("http://a.test/", "A"),)


@pytest.mark.parametrize(
    ("spec", "body", "answer"),
    [
        ("baidu", "<title>百度安全验证</title>", Blocked),
        ("baidu", RESULT.format(' tuiguang="1"', "http://a.test/"), ()),
        ("baidu", RESULT.format("", "http://www.baidu.com/baidu.php?url=a"), ()),
        ("baidu", "<div class=result><p></p></div>" + RESULT.format("", "http://a.test/"), HITS),
        ("bing", "<p></p>", Changed),
        ("bing", "<ol id=b_results></ol>", Changed),
        ("bing", "<ol id=b_results><li class=b_no></ol>", ()),
        ("searxng:http://s.test", '{"results": 1}', Changed),
        ("searxng:http://s.test", '{"results": [1, {"url": "x"}, {"title": "A"}]}', ()),
        ("searxng:http://s.test", '{"results": [{"url": "http://a.test/"}]}', (HITS[0][:1],)),
    ],
)  # fmt: skip
def test_unusual_result_pages_are_recognised(
    spec: str, body: str, answer: type[object] | tuple[tuple[str, ...], ...]
) -> None:
    if spec == "baidu" and "<title>" not in body:
        body = f'<div id="content_left">{body}</div>'
    read = provider_of(spec).read(Fetched("http://s.test/s?q=x", body.encode()))
    if isinstance(answer, type):
        assert isinstance(read, answer)
    else:
        assert isinstance(read, Results)
        assert [hit[: len(one)] for hit, one in zip(read.hits, answer, strict=True)] == [*answer]


@pytest.mark.parametrize(("status", "remedy"), [(403, "add json"), (429, "limiter")])
def test_searxng_that_refuses_has_its_own_remedy(status: int, remedy: str) -> None:
    answer = SearXNG("http://s.test").read(Fetched("http://s.test/search", b"", status))
    assert isinstance(answer, Blocked)
    assert remedy in answer.remedy


@pytest.mark.parametrize(
    "spec", ["google", "searxng", "searxng:nothing", "generic:", "commoncrawl"]
)
def test_incomplete_provider_is_refused_with_a_remedy(spec: str) -> None:
    with pytest.raises(ConfigurationError, match=r"write|name a file"):
        provider_of(spec)


@pytest.mark.parametrize("page", ["discovery.md", "discovery.zh-CN.md"])
def test_documentation_lists_all_providers(page: str) -> None:
    text = (Path(__file__).parents[3] / "docs" / page).read_text("utf-8")
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    listed = set(re.findall(r"`([a-z]+)[:`]", " ".join(cells)))
    assert set(NAMES) - listed == set(), f"list the provider in docs/{page}"
    assert len(NAMES) == 9


@pytest.mark.parametrize("name", ["baidu", "bing", "duckduckgo", "searxng", "feed", "sitemap"])
def test_invalid_address_is_refused_under_the_given_name(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^discover={name}:nothing: write {name}:https:"):
        provider_of(f"{name}:nothing")


class NoProvider:
    """A class that is not a provider."""


class Nameless(NoProvider):
    def start(self, query: str) -> Results:
        return Results()

    def read(self, page: Fetched) -> Results:
        return Results()


HERE = "tests.unit.discovery.test_engines"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("no.where.Engine", "cannot be loaded"),
        ("os.system:true", "a class with start and read"),
        ("threading.Thread", "a class with start and read"),
        (f"{HERE}.NoProvider", "a class with start and read"),
        (f"{HERE}.Nameless", "name and searches"),
        (f"{HERE}.Nameless:http://a.test/", "cannot be created"),
        ("examples.search_engine.OwnSearch", "cannot be created"),
    ],
)
def test_dotted_path_of_no_provider_is_refused(spec: str, expected: str) -> None:
    with pytest.raises(ConfigurationError, match=expected) as caught:
        provider_of(spec)
    assert "discover=" in str(caught.value)
