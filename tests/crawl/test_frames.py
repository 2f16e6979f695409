"""A site's repeated lines are removed from its articles once the crawl has learned them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import run
from tests.crawl.web import Page, Web

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crawl

SITE = "http://news.test"
LINE = "新能源汽车的动力电池今天有了新进展，充电桩建设加快，电动汽车销量继续增长。"
HOTLINE = "如果您有新能源汽车的新闻线索，欢迎拨打本报的热线电话。"
STORIES = 16


def pages() -> dict[str, Page]:
    web: dict[str, Page] = {}
    for number in range(STORIES):
        text = "".join(f"<p>第{number}号消息第{n}段。{LINE}</p>" for n in range(4))
        onward = f'<a href="/20200304/n{number + 1}.html">新能源汽车的下一条消息</a>'
        web[f"{SITE}/20200304/n{number}.html"] = (
            f"<title>新能源汽车消息{number}</title><h1>新能源汽车消息{number}</h1>"
            f"<div class=text>{text}<p>{HOTLINE}</p></div><p>{onward}</p>"
        )
    return web


@pytest.mark.slow
def test_repeated_lines_are_removed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Web(pages()) as web:
        seeds = f"seeds={SITE}/20200304/n0.html"
        arguments = ("crawl", "topic", "-a", "topic=新能源汽车", "-a", seeds)
        status, log = run(
            web.proxy, data, *arguments, TOPICCRAWL_FRAMES="1", TOPICCRAWL_DUPLICATES="exact-text"
        )
        assert status == 0, log[-3000:]
    with closing(sqlite3.connect(data / "store.sqlite")) as connection:
        bodies = [body for (body,) in connection.execute("SELECT body FROM articles")]
    assert len(bodies) == STORIES
    assert sum(HOTLINE in body for body in bodies) < STORIES / 2
    status, out = run(web.proxy, data, "frames", "show", "news.test")
    assert status == 0
    assert HOTLINE in out
    assert "div.text" in out
