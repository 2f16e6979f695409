"""A crawl with the parts of ``examples/``: nothing in the package knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab.demo.answers import Answer
from lab.demo.engine import Engine, Together
from lab.demo.server import DemoServer
from tests.crawl.run import run
from tests.crawl.web import article

if TYPE_CHECKING:
    from pathlib import Path

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
    """Some pages, no robots.txt."""

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:
        text = PAGES.get(url)
        header = (("Content-Type", "text/html; charset=utf-8"),)
        return Answer(200, header, text.encode()) if text else Answer(404)


@pytest.mark.crawl
def test_an_own_engine_finds_pages_and_an_own_detector_their_reprints(tmp_path: Path) -> None:
    engine = Engine({QUERY: [(url, "新闻") for url in PAGES]})
    data = tmp_path / "data"
    own = "examples.search_engine.OwnSearch:http://plain.engine.test/find"
    with DemoServer(Together([engine], Pages()), tmp_path / "log.tsv") as server:
        status, output = run(
            server.proxy, data, "crawl", "topic", "-a", f"topic={QUERY}", "-a", f"discover={own}",
            TOPICCRAWL_DUPLICATES="examples.duplicate_detector.SameHeadline",
        )  # fmt: skip
    assert status == 0, output
    status, shown = run("", data, "articles", "show", "http://n1.test/a.html")
    assert (status, "same-headline" in shown) == (0, True), output + shown
    assert "http://n2.test/b.html" in shown
