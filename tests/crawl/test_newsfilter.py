"""Comment pages of a site are skipped once its article URLs are known."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import run, stored
from tests.crawl.web import Answer, Web, article

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

SITE = "http://news.test"
TEXT = "新能源汽车的动力电池今天有了新进展，充电桩建设加快，电动汽车销量继续增长。"
STORIES = 40


def pages() -> dict[str, str | Answer]:
    """Return a chain of stories, each with a comment page; other URLs answer 404."""
    web: dict[str, str | Answer] = {}
    for number in range(STORIES):
        onward = f"{SITE}/20200304/n{100_001 + number}.shtml"
        comment = f"http://comment.news.test/article/{100_000 + number}.html"
        text = f"{TEXT}第{number}号消息。"
        web[f"{SITE}/20200304/n{100_000 + number}.shtml"] = article(
            f"新能源汽车消息{number}", text, onward, comment
        )
        web[comment] = "<title>评论</title><p>新能源汽车 评论</p>"
    web[f"{SITE}/"] = article("新能源汽车", TEXT, f"{SITE}/20200304/n100000.shtml")
    return web


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.parametrize("filtered", ["0", "1"])
def test_comments_are_skipped_and_no_article_is_lost(tmp_path: Path, filtered: str) -> None:
    data = tmp_path / "data"
    arguments = ("-a", "topic=新能源汽车", "-a", f"seeds={SITE}/")
    with Web(pages()) as web:
        status, out = run(
            web.proxy, data, "crawl", "topic", *arguments, TOPICCRAWL_NEWS_FILTER=filtered
        )
        comments = sum("comment" in hit.url and "robots" not in hit.url for hit in web.hits)
    assert status == 0, out[-3000:]
    assert sum("/20200304/" in url for url in stored(data)) == STORIES
    if filtered == "0":
        assert comments == STORIES
        return
    assert comments < STORIES * 0.6
    with closing(sqlite3.connect(data / "store.sqlite")) as connection:
        query = "SELECT value FROM sites WHERE site = 'news.test' AND key = 'url-drops'"
        ((value,),) = connection.execute(query)
    dropped = json.loads(value)
    assert dropped
    assert all("comment" in what for what in dropped)
