"""Tests of the lookup of the last crawl."""

from __future__ import annotations

import shutil
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

from topiccrawl.storage import database
from topiccrawl.storage.crawls import Crawl, CrawlLog
from topiccrawl.storage.database import FILE

if TYPE_CHECKING:
    from pathlib import Path


def test_folder_without_crawls_has_no_last_crawl_and_stays_empty(tmp_path: Path) -> None:
    assert CrawlLog(tmp_path).last() is None
    assert list(tmp_path.iterdir()) == []


def test_last_crawl_is_the_one_that_started_last(tmp_path: Path) -> None:
    log = CrawlLog(tmp_path)
    first = log.begin("足球", "frontier/a", 10.0)
    second = log.begin("汽车", "frontier/b", 20.0)
    log.finish(first, "finished", 30.0)
    assert log.last() == Crawl(second, "汽车", "frontier/b", 20.0, None, "")
    assert CrawlLog(tmp_path).last("足球") == Crawl(
        first, "足球", "frontier/a", 10.0, 30.0, "finished"
    )
    assert [crawl.number for crawl in log.all()] == [first, second]
    assert log.last("天气") is None


def test_crawls_are_read_while_another_process_writes(tmp_path: Path) -> None:
    CrawlLog(tmp_path).begin("足球", "frontier/a", 10.0)
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        assert len(CrawlLog(tmp_path).all()) == 1
        assert time.monotonic() - began < database.BUSY_SECONDS / 2


def test_store_that_was_deleted_is_not_created_at_the_end(tmp_path: Path) -> None:
    number = CrawlLog(tmp_path / "data").begin("足球", "frontier/a", 10.0)
    shutil.rmtree(tmp_path / "data")
    CrawlLog(tmp_path / "data").finish(number, "finished", 20.0)
    assert list(tmp_path.iterdir()) == []


def test_frontiers_of_a_copied_data_folder_are_those_of_the_copy(tmp_path: Path) -> None:
    original, copy = tmp_path / "data", tmp_path / "copy"
    (original / "frontiers" / "a").mkdir(parents=True)
    log = CrawlLog(original)
    log.begin("足球", str(original / "frontiers" / "a"), 10.0)
    log.begin("足球", str(tmp_path / "job" / "frontier"), 20.0)
    shutil.copytree(original, copy)
    assert [crawl.frontier for crawl in CrawlLog(copy).all()] == [
        str(copy / "frontiers" / "a"),
        str(tmp_path / "job" / "frontier"),
    ]
