"""Tests of crawls with the classes of ``examples/``."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.demo.answers import Answer
from lab.demo.engine import Engine, Together
from lab.demo.server import DemoServer
from tests.crawl.run import run, stored
from tests.crawl.web import Web, article

QUERY = "新能源汽车"
TITLE = "新能源汽车一月销量同比增长"
PAGES = {
    "http://n1.test/a.html": article(
        TITLE, "新能源汽车销量增长，动力电池技术进步，充电桩同步增加。"
    ),
    "http://n2.test/b.html": article(TITLE, "车企一月交付新能源汽车数量创下新高，出口占三成。"),
    "http://n3.test/c.html": article(
        "电动汽车充电桩下乡", "新能源汽车充电桩进村，司机不再担心电量。"
    ),
}


class Pages:
    """A few pages, without robots.txt."""

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:
        text = PAGES.get(url)
        header = (("Content-Type", "text/html; charset=utf-8"),)
        return Answer(200, header, text.encode()) if text else Answer(404)


@pytest.mark.crawl
@pytest.mark.slow
def test_example_engine_finds_pages_and_detector_reprints(tmp_path: Path) -> None:
    engine = Engine({QUERY: [(url, "新闻") for url in PAGES]})
    data = tmp_path / "data"
    own = "examples.search_engine.OwnSearch:http://plain.engine.test/find"
    with DemoServer(Together(engine, Pages()), tmp_path / "log.tsv") as server:
        status, output = run(
            server.proxy, data, "crawl", "topic", "-a", f"topic={QUERY}", "-a", f"discover={own}",
            TOPICCRAWL_DUPLICATES="examples.duplicate_detector.SameHeadline",
        )  # fmt: skip
    assert status == 0, output
    status, shown = run("", data, "articles", "show", "http://n1.test/a.html")
    assert (status, "same-headline" in shown) == (0, True), output + shown
    assert "http://n2.test/b.html" in shown


@pytest.mark.crawl
@pytest.mark.slow
def test_example_judge_stores_page_without_words_of_the_topic(tmp_path: Path) -> None:
    site, vectors = "http://news.test", Path(__file__).parents[1] / "contracts" / "vectors.vec"
    meant, other = f"{site}/meant.html", f"{site}/other.html"
    pages = {
        f"{site}/": f'<a href="{meant}">one</a> <a href="{other}">two</a>',
        meant: article(
            "纯电轿车快充", "纯电轿车的续航里程增长，快充电池成本下降，电动车销量增长。" * 4
        ),
        other: article("交响曲之夜", "乐团在音乐厅演奏了交响曲，观众掌声不断，指挥家谢幕。" * 4),
    }
    crawl = ("crawl", "topic", "-a", "topic=新能源 汽车", "-a", f"seeds={site}/")
    own = {"TOPICCRAWL_RELEVANCE": "examples.word_vectors.judge", "WORD_VECTORS": str(vectors)}
    with Web(pages) as web:
        for name, settings, found in (("words", {}, []), ("own", own, [meant])):
            data = tmp_path / name
            run(web.proxy, data, *crawl, **settings)
            assert stored(data) == found
    status, out = run("", tmp_path / "own", "articles", "show", meant)
    assert (status, "续航" in out or "电池" in out) == (0, True), out


def test_missing_judge_is_an_error_before_the_crawl(tmp_path: Path) -> None:
    crawl = ("crawl", "topic", "-a", "topic=足球", "-a", "seeds=http://a.test/")
    status, out = run("", tmp_path / "data", *crawl, TOPICCRAWL_RELEVANCE="examples.nothing")
    assert (status, "TOPICCRAWL_RELEVANCE is 'examples.nothing'" in out) == (2, True), out
