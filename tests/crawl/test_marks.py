"""Readers' marks decide what a crawl stores."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import log_of, run, running, stored
from tests.crawl.web import Page, Web, article
from tests.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crawl

SITE = "http://news.test"
GAME = "前锋在禁区射门得分，裁判判罚点球，中场球员传球，后卫防守，球队赢得比赛。"
LOTTERY = "彩票投注站开奖，奖金滚存，号码走势，购彩者兑奖，体彩销量公布。"
STORIES = 12
BOTH = [*(f"{SITE}/game{n}.html" for n in range(STORIES)),
        *(f"{SITE}/lottery{n}.html" for n in range(STORIES))]  # fmt: skip
ARGUMENTS = ("crawl", "topic", "-a", "topic=足球消息", "-a", f"seeds={SITE}/")


def pages() -> dict[str, Page]:
    dice = random.Random(1)  # noqa: S311
    web: dict[str, Page] = {
        f"{SITE}/": "".join(f'<p><a href="{url}">足球消息{n}</a></p>' for n, url in enumerate(BOTH))
    }
    for number, url in enumerate(BOTH):
        parts = (GAME if "game" in url else LOTTERY).strip("。").split("，")
        dice.shuffle(parts)
        text = "，".join(parts)
        web[url] = article(f"足球消息{number}", f"足球消息：{text}。")
    return web


def add_mark(data: Path, url: str, answer: str) -> None:
    status, out = run("", data, "topics", "mark", url, answer)
    assert status == 0, out


@pytest.mark.slow
def test_marks_of_an_earlier_crawl_are_used(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    exported = str(tmp_path / "marks.jsonl")
    with Web(pages()) as web:
        status, log = run(web.proxy, first, *ARGUMENTS, TOPICCRAWL_DUPLICATES="exact-text")
        assert status == 0, log[-3000:]
        assert stored(first) == sorted(BOTH)
        status, unsure = run("", first, "topics", "unsure", "--limit", "30")
        assert status == 0, unsure
        assert all(url in unsure for url in BOTH)
        for number in range(5):
            add_mark(first, f"{SITE}/game{number}.html", "yes")
            add_mark(first, f"{SITE}/lottery{number}.html", "no")
        status, log = run(web.proxy, first, *ARGUMENTS, TOPICCRAWL_DUPLICATES="exact-text")
        assert (status, "stored articles after new marks" in log) == (0, True), log[-3000:]
        status, out = run("", first, "topics", "marks", "--export", exported)
        assert (status, "10 marks" in out) == (0, True), out
        status, out = run(
            "", second, "topics", "marks", "--topic", "足球消息", "--import", exported
        )
        assert (status, "10 marks" in out) == (0, True), out
        status, log = run(web.proxy, second, *ARGUMENTS, TOPICCRAWL_DUPLICATES="exact-text")
        assert status == 0, log[-3000:]
    assert "'topiccrawl/marks': 10" in log
    assert [url for url in stored(second) if "lottery" in url] == []
    assert len(stored(second)) == STORIES
    status, out = run("", second, "why", f"{SITE}/game7.html")
    assert "decided by" in out
    assert any(word in out for word in ("射门", "裁判", "点球", "前锋", "禁区", "后卫"))
    status, out = run("", second, "why", f"{SITE}/lottery7.html")
    against = out.partition("decided by")[2]
    assert any(word in against for word in ("彩票", "投注", "开奖", "滚存", "体彩", "兑奖"))
    by_words = re.search(r"relevance +(\S+)", out)
    assert by_words
    assert float(by_words[1]) > 0.1, "links inherit the relevance by the topic's words"


@pytest.mark.slow
def test_marks_added_during_a_crawl_are_used(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Web(pages()) as web:
        slow = {"DOWNLOAD_DELAY": "3", "CONCURRENT_REQUESTS_PER_DOMAIN": "1"}
        with running(web.proxy, data, *ARGUMENTS, **slow) as process:
            until(lambda: len(web.hits) > 3)
            for place in (2, 3):
                status, out = run("", data, "topics", "mark", web.hits[place].url, "yes")
                assert status == 0, out
            until(lambda: b"learned from 2 marks" in log_of(data).read_bytes())
            assert process.poll() is None


@pytest.mark.slow
def test_crawl_starts_from_examples_only(tmp_path: Path) -> None:
    data = tmp_path / "data"
    likes = ",".join(f"{SITE}/game{n}.html" for n in range(3))
    web_pages = pages()
    for number in range(3):
        web_pages[f"{SITE}/game{number}.html"] = article(
            "比赛报道", f"射门点球裁判，{GAME}", *BOTH[number + 1 :: 3]
        )
    with Web(web_pages) as web:
        arguments = ("crawl", "topic", "-a", f"like={likes}")
        status, log = run(web.proxy, data, *arguments, TOPICCRAWL_DUPLICATES="exact-text")
        assert status == 0, log[-3000:]
    assert "Topic terms derived from examples: " in log
    assert len([url for url in stored(data) if "game" in url]) >= STORIES - 1
    assert [url for url in stored(data) if "lottery" in url] == []
    status, out = run("", data, "topics", "marks")
    assert out.count("yes") == 3, out


@pytest.mark.slow
def test_topic_file_with_examples(tmp_path: Path) -> None:
    file, data = tmp_path / "games.toml", tmp_path / "data"
    file.write_text(
        f'examples = ["{GAME}"]\ncounterexamples = ["{LOTTERY}"]\nseeds = ["{SITE}/"]\n'
    )
    status, out = run("", data, "topics", "show", str(file))
    assert status == 0, out
    assert "derived    裁判" in out or "derived    射门" in out, out
    with Web(pages()) as web:
        arguments = ("crawl", "topic", "-a", f"topic={file}")
        status, log = run(web.proxy, data, *arguments, TOPICCRAWL_DUPLICATES="exact-text")
        assert status == 0, log[-3000:]
    assert [url for url in stored(data) if "lottery" in url] == []
    assert len(stored(data)) == STORIES
