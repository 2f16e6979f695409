"""Answers that tasks share: they save requests, and a crawl never depends on them."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

from scrapy import Request, Spider
from scrapy.http import HtmlResponse
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from topiccrawl.addons.tasks.work import shared
from topiccrawl.addons.tasks.work.shared import (
    SharedResponses,
    cache_path,
    cache_settings,
    delete_expired,
    forget,
)

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

URL = "http://news.a.test/1"
SPIDER = Spider.from_crawler(get_crawler(Spider), name="any")


def settings(folder: Path, seconds: float = 60.0) -> Settings:
    given = {"TOPICCRAWL_DATA_DIR": str(folder), "TOPICCRAWL_SHARED_SECONDS": seconds}
    return Settings({**given, **cache_settings(cache_path(Settings(given), "a.test"))})


def opened(given: Settings) -> SharedResponses:
    answers = SharedResponses(given)
    answers.open_spider(SPIDER)
    return answers


def keep(answers: SharedResponses, url: str = URL, body: bytes = b"<p>news</p>") -> bool:
    """Store an answer; return whether it is found again."""
    answers.store_response(SPIDER, Request(url), HtmlResponse(url, body=body))
    found = answers.retrieve_response(SPIDER, Request(url))
    return found is not None and found.body == body


def test_an_answer_serves_until_its_time_is_over(tmp_path: Path) -> None:
    answers = opened(settings(tmp_path))
    assert keep(answers)
    answers._seconds = -1.0
    assert answers.retrieve_response(SPIDER, Request(URL)) is None
    answers.close_spider(SPIDER)


def test_a_full_file_keeps_no_more_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(shared, "MAX_BYTES", 5 * 4096)
    answers = opened(settings(tmp_path))
    assert keep(answers)
    assert not keep(answers, f"{URL}0", os.urandom(50_000))
    assert not keep(answers, f"{URL}1", os.urandom(50_000))
    assert keep(answers), "the first still serves"
    assert len(caplog.messages) == 1
    answers.close_spider(SPIDER)


def test_without_a_file_each_task_asks_for_itself(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "shared").write_text("no folder")
    answers = opened(settings(tmp_path))
    assert not keep(answers)
    assert "shared" in caplog.text
    answers.close_spider(SPIDER)


def test_files_out_of_date_and_of_forgotten_sites_are_deleted(tmp_path: Path) -> None:
    given = settings(tmp_path)
    with closing(opened(given)._open()):
        pass
    place = cache_path(given, "a.test")
    delete_expired(given)
    assert list(forget(given, ["http://b.test/1", "site:xa.test"])) == []
    assert place.exists()
    assert len(list(forget(given, ["http://news.a.test/1"]))) == 1
    assert not place.exists()
    place.touch()
    os.utime(place, (0, 0))
    delete_expired(given)
    assert not place.exists()
