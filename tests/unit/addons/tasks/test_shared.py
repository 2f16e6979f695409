"""Tests of responses shared by tasks: they save requests, and a crawl works without them."""

from __future__ import annotations

import os
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
    responses = SharedResponses(given)
    responses.open_spider(SPIDER)
    return responses


def store_and_find(
    responses: SharedResponses, url: str = URL, body: bytes = b"<p>news</p>"
) -> bool:
    """Store an answer; return whether it is found again."""
    responses.store_response(SPIDER, Request(url), HtmlResponse(url, body=body))
    found = responses.retrieve_response(SPIDER, Request(url))
    return found is not None and found.body == body


def test_response_is_used_until_it_expires(tmp_path: Path) -> None:
    responses = opened(settings(tmp_path))
    assert store_and_find(responses)
    responses._seconds = -1.0
    assert responses.retrieve_response(SPIDER, Request(URL)) is None
    responses.close_spider(SPIDER)


def test_full_file_stores_no_more_responses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(shared, "MAX_BYTES", 5 * 4096)
    responses = opened(settings(tmp_path))
    assert store_and_find(responses)
    assert not store_and_find(responses, f"{URL}0", os.urandom(50_000))
    assert not store_and_find(responses, f"{URL}1", os.urandom(50_000))
    assert store_and_find(responses), "the first still serves"
    assert len(caplog.messages) == 1
    responses.close_spider(SPIDER)


def test_unusable_file_is_logged_and_responses_not_shared(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "shared").write_text("no folder")
    responses = opened(settings(tmp_path))
    assert not store_and_find(responses)
    assert "shared" in caplog.text
    responses.close_spider(SPIDER)


def test_expired_files_and_forgotten_sites_are_deleted(tmp_path: Path) -> None:
    given = settings(tmp_path)
    opened(given).close_spider(SPIDER)
    place = cache_path(given, "a.test")
    delete_expired(given)
    assert list(forget(given, ["http://b.test/1", "site:xa.test"])) == []
    assert place.exists()
    assert len(list(forget(given, ["http://news.a.test/1"]))) == 1
    assert not place.exists()
    place.touch()
    os.utime(place, (0, 0))
    (place.parent / "gone.cache").symlink_to("deleted")  # as if another worker had deleted it
    delete_expired(given)
    assert not place.exists()
