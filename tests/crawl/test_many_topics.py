"""One crawl for several topics: each page is fetched once, articles have all their topics."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import run
from tests.crawl.web import Page, Web, article

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crawl

SITE = "http://news.test"
TEXTS = {
    "ball": "足球队昨晚赢得比赛，球迷庆祝到深夜，教练表扬了门将。",
    "space": "航天局公布了发射时间，火箭已经竖立在发射架上，卫星状态良好。",
    "both": "航天城的足球场昨天开放，航天员与足球队踢了一场友谊赛。",
    "none": "乐团昨晚在音乐厅演奏了两部交响曲，观众掌声不断。",
}
PAGES: dict[str, Page] = {
    f"{SITE}/": "".join(f'<p><a href="/{name}.html">{name}</a></p>' for name in TEXTS),
    **{f"{SITE}/{name}.html": article(text[:8], text * 6) for name, text in TEXTS.items()},
}
CRAWL = ("crawl", "topic", "-a", f"seeds={SITE}/")


def topics_by_url(data: Path) -> dict[str, set[str]]:
    query = "SELECT url, topic FROM articles JOIN article_topics ON article_id = id"
    found: dict[str, set[str]] = {}
    with closing(sqlite3.connect(data / "store.sqlite")) as store:
        for url, topic in store.execute(query):
            found.setdefault(url, set()).add(topic)
    return found


def test_articles_have_all_topics_and_pages_are_fetched_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Web(PAGES) as web:
        status, log = run(web.proxy, data, *CRAWL, "-a", "topics=体育足球, 航天")
        assert status == 0, log[-3000:]
        fetched = [hit.url for hit in web.hits if hit.url.endswith(".html")]
    assert sorted(fetched) == sorted({*fetched})
    assert topics_by_url(data) == {
        f"{SITE}/ball.html": {"体育足球"},
        f"{SITE}/space.html": {"航天"},
        f"{SITE}/both.html": {"体育足球", "航天"},
    }
    assert ("'topiccrawl/topics/体育足球': 2" in log, "'topiccrawl/topics/航天': 2" in log) == (
        True,
        True,
    )
    assert "体育足球 2, 航天 2 (new articles)" in log
    status, listed = run("", data, "articles", "list", "--topic", "航天")
    assert status == 0, listed
    assert ("space.html" in listed, "both.html" in listed, "ball.html" in listed) == (
        True, True, False,
    )  # fmt: skip


@pytest.mark.slow
def test_marks_train_the_model_of_their_topic(tmp_path: Path) -> None:
    data, crawl = tmp_path / "data", (*CRAWL, "-a", "topics=足球,航天")
    with Web(PAGES) as web:
        assert run(web.proxy, data, *crawl)[0] == 0
        for topic, name, answer in (
            ("航天", "space", "yes"), ("航天", "both", "yes"), ("足球", "ball", "no"),
        ):  # fmt: skip
            mark = ("topics", "mark", f"{SITE}/{name}.html", answer, "--topic", topic)
            status, out = run("", data, *mark)
            assert status == 0, out
        status, log = run(web.proxy, data, *crawl, "-a", "fresh=1")
    assert status == 0, log[-3000:]
    assert "Topic 航天: model learned from 2 marks; its weight" in log
    assert "Topic 足球: 1 marks; its words decide until 2 pages" in log
    assert "'topiccrawl/marks': 3" in log


def test_topics_cannot_be_combined_with_topic(tmp_path: Path) -> None:
    status, log = run("", tmp_path / "data", *CRAWL, "-a", "topics=足球,航天", "-a", "topic=足球")
    assert status != 0
    assert "argument topics cannot be combined" in log
