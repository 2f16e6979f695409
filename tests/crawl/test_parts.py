"""Articles on several pages are stored as one, also after a kill between two pages."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import run, running
from tests.crawl.web import Answer, Web
from tests.receiver import SECRET, Listener
from tests.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crawl

SITE = "http://news.test"
TOPIC = "topic=新能源汽车"
LINE = "新能源汽车的动力电池今天有了新进展，充电桩建设加快，电动汽车销量继续增长。"


def part(story: str, number: int, last: int, address: str) -> str:
    """Return one page of an article, with its text and a pager."""
    text = "".join(f"<p>{story}第{number}页第{n}段。{LINE}</p>" for n in range(4))
    names = [address % ("" if n == 1 else f"_{n}") for n in range(1, last + 1)]
    pager = "".join(f' <a href="{name}">{n}</a>' for n, name in enumerate(names, 1))
    onward = f' <a href="{names[number]}">下一页</a>' if number < last else ""
    return (
        f"<html><head><title>新能源汽车{story}</title></head><body><h1>新能源汽车{story}</h1>"
        f"<p>2020年03月04日 10:20</p><div class=text>{text}</div><div>{pager}{onward}</div>"
        f'<div><a href="/20200304/other.html">新能源汽车下一篇</a></div></body></html>'
    )


def pages(seconds: float = 0.0) -> dict[str, str | Answer]:
    """Return a hub, two articles of three pages (one lacks its last) and one of a single page."""
    web: dict[str, str | Answer] = {}
    for story, last in (("甲", 3), ("乙", 3)):
        address = f"{SITE}/20200304/{'a' if story == '甲' else 'b'}1%s.html"
        for number in range(1, last + 1):
            name = address % ("" if number == 1 else f"_{number}")
            web[name] = Answer(part(story, number, last, address), seconds=seconds * (number > 1))
    web[f"{SITE}/20200304/b1_3.html"] = Answer("gone", 404)
    web[f"{SITE}/20200304/other.html"] = part("丙", 1, 1, f"{SITE}/20200304/other%s.html")
    links = ("a1", "b1_2", "other")  # of the second, only a later page is linked
    anchors = "".join(f'<li><a href="/20200304/{n}.html">新能源汽车报道{n}</a></li>' for n in links)
    web[f"{SITE}/"] = f"<title>新能源汽车</title><h1>新能源汽车</h1><ul>{anchors}</ul><p>{LINE}</p>"
    return web


def bodies(data: Path) -> dict[str, str]:
    """Return the stored bodies by the last part of the URL."""
    if not (data / "store.sqlite").exists():
        return {}
    with closing(sqlite3.connect(data / "store.sqlite")) as connection:
        rows = connection.execute("SELECT url, body FROM articles").fetchall()
    return {url.rpartition("/")[2]: body for url, body in rows}


def has(body: str, story: str, *numbers: int) -> bool:
    """Return True if a body has the pages of a story, once each and in order."""
    lines = [f"{story}第{number}页第{n}段。{LINE}" for number in numbers for n in range(4)]
    return body.split("\n") == lines


@pytest.mark.slow
def test_pages_are_joined_and_each_story_is_sent_once(tmp_path: Path) -> None:
    data, feed = tmp_path / "data", tmp_path / "feed.jsonl"
    with Web(pages(seconds=1.0)) as web, Listener() as listener:
        arguments = ("crawl", "topic", "-a", TOPIC, "-a", f"seeds={SITE}/", "-O", str(feed))
        hook = {"TOPICCRAWL_WEBHOOK": listener.url, "TOPICCRAWL_WEBHOOK_SECRET": SECRET}
        status, log = run(web.proxy, data, *arguments, TOPICCRAWL_DUPLICATES="exact-text", **hook)
        assert status == 0, log[-3000:]
        found = bodies(data)
        assert sorted(found) == ["a1.html", "b1.html", "other.html"]
        assert has(found["a1.html"], "甲", 1, 2, 3)
        assert has(found["b1.html"], "乙", 1, 2)  # its last page is gone
        assert web.count(f"{SITE}/20200304/a1_2.html") == 1
    shown = [json.loads(line) for line in feed.read_text("utf-8").splitlines()]
    assert sorted(one["url"].rpartition("/")[2] for one in shown) == sorted(found)
    assert {one["url"].rpartition("/")[2]: one["body"] for one in shown} == found
    assert {url.rpartition("/")[2]: body for url, body in listener.bodies.items()} == found
    assert set(listener.taken.values()) == {1}


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.slow
def test_a_kill_between_two_pages_loses_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Web(pages(seconds=60.0)) as web:
        arguments = ("crawl", "topic", "-a", TOPIC, "-a", f"seeds={SITE}/")
        with running(web.proxy, data, *arguments, TOPICCRAWL_DUPLICATES="exact-text"):
            until(lambda: web.count(f"{SITE}/20200304/a1_2.html"))
        web.pages = pages()
        assert not has(bodies(data).get("a1.html", ""), "甲", 1, 2, 3)
        status, log = run(web.proxy, data, *arguments, TOPICCRAWL_DUPLICATES="exact-text")
        assert status == 0, log[-3000:]
    assert has(bodies(data)["a1.html"], "甲", 1, 2, 3)
    assert has(bodies(data)["b1.html"], "乙", 1, 2)
