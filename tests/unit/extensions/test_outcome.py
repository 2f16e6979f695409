"""Tests of the summary of a crawl: its counts, folders and commands."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from topiccrawl.extensions.outcome import CrawlOutcome, repeated_options, summary
from topiccrawl.messages import choose_language
from topiccrawl.scheduler.context import CrawlSpec
from topiccrawl.settings import TOPICCRAWL_DATA_DIR
from topiccrawl.storage.crawls import BEGIN_SECONDS
from topiccrawl.storage.database import BUSY_SECONDS
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from pathlib import Path

STATS = {
    "topiccrawl/pages": 8,
    "topiccrawl/relevant": 2,
    "topiccrawl/hubs": 1,
    "topiccrawl/articles": 1,
    "topiccrawl/articles_updated": 3,
    "topiccrawl/articles_unchanged": 4,
    "topiccrawl/queue/prior": 5,
    "topiccrawl/queue/error": 2,
    "topiccrawl/queue/error/http-404": 2,
    "topiccrawl/queue/error/item-error": 6,
}


def text(folder: str, reason: str = "finished") -> str:
    options = repeated_options(Settings({"TOPICCRAWL_DATA_DIR": folder}))
    return "\n".join(summary("足球", reason, STATS, f"{folder}/f", "mongodb://h/news", options))


def test_reasons_of_the_error_queue_are_joined_as_the_language_does() -> None:
    choose_language("zh")
    try:
        assert "item-error 6、http-404 2" in text("elsewhere")
    finally:
        choose_language("")


def test_articles_of_other_crawls_count_as_known() -> None:
    found = text("elsewhere")
    assert "8 pages, 2 on topic (harvest rate 25.0%): 1 article, 1 list of articles; " in found
    assert "1 new article, 7 known" in found
    assert "http-404 2" in found
    assert "run the same command again" in found


def test_command_that_starts_over_does_not_continue() -> None:
    lines = summary("足球", "finished", STATS, "f", "mongodb://h/news", "", fresh=True)
    assert lines[-1].endswith("run the same command again without --fresh or -a fresh=1")


def test_crawl_without_frontier_does_not_continue() -> None:
    found = "\n".join(summary("足球", "finished", STATS, "", "mongodb://h/news", ""))
    assert "(articles); the frontier is deleted" in found
    assert "continue" not in found


def test_articles_of_an_outage_are_counted() -> None:
    stats = {**STATS, "topiccrawl/articles_spooled": 9}
    lines = summary("足球", "finished", stats, "f", "mongodb://h/news", "")
    assert "0 duplicates, 9 spooled during an outage" in "\n".join(lines)
    assert "spooled" not in text("data")


def test_articles_lost_by_errors_are_counted() -> None:
    assert "articles of 6 pages are not stored" in text("data")
    command = "requeue --reason item-error -s TOPICCRAWL_DATA_DIR=elsewhere\n"
    assert command in text("elsewhere")


@pytest.mark.parametrize("name", ["TIMEOUT", "ERRORCOUNT", "TIMEOUT_NO_ITEM"])
def test_setting_that_closed_the_spider_is_named(name: str) -> None:
    setting = f"CLOSESPIDER_{name}"
    assert f"topic 足球: {setting} reached\n" in text("data", setting.lower())


def test_commands_have_a_folder_that_is_not_the_default() -> None:
    assert "-s TOPICCRAWL_DATA_DIR=elsewhere" in text("elsewhere")
    assert "TOPICCRAWL_DATA_DIR" not in text(TOPICCRAWL_DATA_DIR)


def test_commands_have_the_servers_of_the_command_line() -> None:
    settings = Settings({"TOPICCRAWL_DATA_DIR": TOPICCRAWL_DATA_DIR, "REDIS_URL": "redis://h"})
    settings.set("MONGODB_URI", "mongodb://a:secret@h/news", "cmdline")
    options = repeated_options(settings)
    lines = summary("足球", "finished", STATS, "f", "mongodb://h/news", options)
    found = "\n".join(lines)
    assert "topiccrawl why URL · each with -s MONGODB_URI=…\n" in found
    assert "requeue --reason item-error -s MONGODB_URI=…\n" in found


def test_folder_is_quoted_for_the_shell() -> None:
    assert "-s TOPICCRAWL_DATA_DIR='my data'" in text("my data")


def test_summary_names_the_places_of_articles_and_frontier() -> None:
    assert "stored in  mongodb://h/news (articles), data/f (frontier)" in text("data")


def test_commands_work_in_any_folder() -> None:
    assert "show       topiccrawl articles list" in text("data")
    assert "topiccrawl frontier list error" in text("data", "seeds_unreachable")
    assert "--fresh or -a fresh=1 starts over" in text("data")


def test_failed_store_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []
    monkeypatch.setattr("topiccrawl.extensions.outcome.storage_of", read.append)
    crawler = get_crawler(settings_dict={"TOPICCRAWL_DATA_DIR": str(tmp_path)})
    crawler.spider = cast(
        "Any", SimpleNamespace(spec=CrawlSpec(name="足球", owner="足球", judges=bool))
    )
    asyncio.run(CrawlOutcome(crawler).closed("storage_error"))
    assert not read


def test_outcome_that_cannot_be_stored_is_logged_in_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "store.sqlite").mkdir()
    crawler = get_crawler(settings_dict={"TOPICCRAWL_DATA_DIR": str(tmp_path)})
    crawler.spider = cast("Any", SimpleNamespace(spec=CrawlSpec(name="足球", owner="足球")))
    outcome = CrawlOutcome(crawler)
    outcome.number = 1
    asyncio.run(outcome.closed("storage_error"))
    (record,) = caplog.records
    assert (record.exc_info, "store.sqlite: cannot open" in record.message) == (None, True)


def test_locked_store_blocks_no_other_work_at_the_end(tmp_path: Path) -> None:
    crawler = get_crawler(settings_dict={"TOPICCRAWL_DATA_DIR": str(tmp_path)})
    crawler.spider = cast("Any", SimpleNamespace(spec=CrawlSpec(name="足球", owner="足球")))
    outcome = CrawlOutcome(crawler)
    outcome.number = outcome.log.begin("足球", "frontier", 1.0)

    async def close() -> None:
        with closing(sqlite3.connect(outcome.log.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            closed = asyncio.create_task(outcome.closed("shutdown"))
            assert not (await asyncio.wait([closed], timeout=0.2))[0]
            other.execute("ROLLBACK")
            await closed

    asyncio.run(close())
    (crawl,) = outcome.log.all()
    assert crawl.reason == "shutdown"


def test_crawl_that_starts_while_the_store_is_locked_is_recorded_at_its_end(tmp_path: Path) -> None:
    crawler = get_crawler(settings_dict={"TOPICCRAWL_DATA_DIR": str(tmp_path)})
    spec = CrawlSpec(name="足球", owner="足球", topic=Topic(name="足球", terms={"足球": 1.0}))
    crawler.spider = cast("Any", SimpleNamespace(spec=spec))
    outcome = CrawlOutcome(crawler)
    outcome.log.begin("汽车", "frontier", 1.0)

    async def crawl() -> None:
        with closing(sqlite3.connect(outcome.log.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            began = time.monotonic()
            await outcome.opened()
            assert time.monotonic() - began < BUSY_SECONDS / 2, "a stop is waited for as long"
            other.execute("ROLLBACK")
        await outcome.closed("shutdown")

    started = time.time()
    asyncio.run(crawl())
    found = outcome.log.last("足球")
    assert found is not None
    assert found.reason == "shutdown"
    assert started <= found.started <= (found.finished or 0) - BEGIN_SECONDS / 2
