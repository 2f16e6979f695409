"""Tests of topic crawls with seed providers, against the demo's search engines."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from lab.demo.answers import Answer
from lab.demo.engine import Engine, Together
from lab.demo.server import DemoServer
from tests.crawl.run import log_of, run, running, stored
from tests.crawl.web import article
from tests.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

QUERY = "新能源汽车"
TEXT = "新能源汽车销量增长，动力电池技术进步，"
PAGES = {
    f"http://n{n}.test/a.html": article(f"新能源汽车新闻{n}", f"{TEXT * 8}{n}") for n in range(12)
}


class Pages:
    """A few pages, without robots.txt."""

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:
        text = PAGES.get(url)
        header = (("Content-Type", "text/html; charset=utf-8"),)
        return Answer(200, header, text.encode()) if text else Answer(404)


def crawl(data: Path, engine: Engine, *more: str, **settings: Any) -> tuple[int, str, str]:
    """Run a crawl with a search engine; return exit status, output and the server's log."""
    log = data.with_suffix(".tsv")
    with DemoServer(Together(engine, Pages()), log) as server:
        line = ["crawl", "topic", "-a", f"topic={QUERY}", *more]
        status, output = run(server.proxy, data, *line, **settings)
    return status, output, log.read_text()


@pytest.mark.crawl
def test_results_of_all_pages_are_crawled_through_redirects(tmp_path: Path) -> None:
    found = [(url, "新闻") for url in PAGES]
    random.Random(1).shuffle(found)  # noqa: S311
    engine = Engine({QUERY: found})
    data = tmp_path / "data"
    status, output, log = crawl(data, engine, "-a", "discover=baidu:http://baidu.engine.test/s")
    assert status == 0, output
    assert len(stored(data)) == 12
    searches = [line for line in log.splitlines() if "baidu.engine.test/s?" in line]
    assert len(searches) == 2  # ten results and two


@pytest.mark.crawl
def test_failed_engines_are_errors_with_remedies(tmp_path: Path) -> None:
    robots = "User-agent: *\nDisallow: /search"  # forbids Bing's address, not Baidu's
    engine = Engine({QUERY: [("http://n1.test/a.html", "x")]}, {"baidu": "captcha"}, robots)
    data = tmp_path / "data"
    both = "baidu:http://baidu.engine.test/s,bing:http://bing.engine.test/search"
    status, output, log = crawl(data, engine, TOPICCRAWL_DISCOVER=both)
    assert status == 1
    assert "百度安全验证" in output
    assert "TOPICCRAWL_OWN_HOSTS" in output
    assert "no seed URLs were found" in output
    assert "bing.engine.test/search?" not in log


@pytest.mark.crawl
def test_robots_txt_of_own_host_is_not_requested(tmp_path: Path) -> None:
    engine = Engine({QUERY: [("http://n1.test/a.html", "x")]}, robots="User-agent: *\nDisallow: /")
    data = tmp_path / "data"
    spec = "discover=searxng:http://searxng.engine.test"
    status, output, log = crawl(
        data, engine, "-a", spec, TOPICCRAWL_OWN_HOSTS="searxng.engine.test"
    )
    assert status == 0, output
    assert stored(data) == ["http://n1.test/a.html"]
    assert "searxng.engine.test/robots.txt" not in log
    assert "n1.test/robots.txt" in log


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.crawl
@pytest.mark.slow
def test_search_without_results_is_repeated_by_the_next_run(tmp_path: Path) -> None:
    faults = {"baidu": "captcha"}
    engine = Engine({QUERY: [("http://n1.test/a.html", "x")]}, faults)
    data, spec = tmp_path / "data", "discover=baidu:http://baidu.engine.test/s"
    status, output, _ = crawl(data, engine, "-a", spec, RETRY_TIMES="0")
    assert (status, "no seed URLs were found" in output) == (1, True), output
    faults.clear()
    status, output, _ = crawl(data, engine, "-a", spec, RETRY_TIMES="0")
    assert status == 0, output
    assert stored(data) == ["http://n1.test/a.html"]


@pytest.mark.crawl
@pytest.mark.usefixtures("no_coverage")
@pytest.mark.slow
def test_failed_search_beside_a_list_is_not_an_error(tmp_path: Path) -> None:
    engine = Engine({}, {"baidu": "limit"})
    data, listed = tmp_path / "data", tmp_path / "list.txt"
    listed.write_text("http://n1.test/a.html\n")
    spec = f"discover=list:{listed},baidu:http://baidu.engine.test/s"
    for _ in range(2):
        status, output, _ = crawl(data, engine, "-a", spec, RETRY_TIMES="0")
        assert status == 0, output
        assert "http-429" in output
    assert stored(data) == ["http://n1.test/a.html"]


@pytest.mark.crawl
@pytest.mark.usefixtures("no_coverage")
def test_watch_retries_an_unavailable_search(tmp_path: Path) -> None:
    faults = {"baidu": "limit"}
    engine = Engine({QUERY: [("http://n1.test/a.html", "x")]}, faults)
    data, spec = tmp_path / "data", "discover=baidu:http://baidu.engine.test/s"
    line = ("crawl", "topic", "-a", f"topic={QUERY}", "-a", spec, "-a", "watch=1")
    waits = {"RETRY_TIMES": "0", "TOPICCRAWL_REVISIT_SHORTEST": "0.5"}
    with (
        DemoServer(Together(engine, Pages())) as server,
        running(server.proxy, data, *line, **waits),
    ):
        until(lambda: "the search is retried" in log_of(data).read_text())
        faults.clear()
        until(lambda: stored(data) == ["http://n1.test/a.html"], log_of(data).read_text)
