"""Tests of file modes: stored state is readable by its owner only."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from tests.unit.storage.test_spool import articles
from topiccrawl.addons.backup.archive import backup
from topiccrawl.frontier.contract import Seed
from topiccrawl.scheduler.context import CrawlSpec
from topiccrawl.scheduler.frontiers import LocalFrontiers
from topiccrawl.storage.crawls import CrawlLog
from topiccrawl.storage.database import Database
from topiccrawl.storage.ledger import LocalLedger
from topiccrawl.storage.runs import LocalRuns
from topiccrawl.storage.spool import Spool
from topiccrawl.storage.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _open_mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_crawl_files_are_not_readable_by_other_users(tmp_path: Path) -> None:
    data = tmp_path / "data"
    settings = Settings({"TOPICCRAWL_DATA_DIR": str(data)})
    settings.setmodule("topiccrawl.settings", priority="default")
    frontier = LocalFrontiers(settings).open("nev", CrawlSpec(name="nev", owner="nev"))
    frontier.push([Seed("http://a.test/")])
    frontier.close()
    asyncio.run(_fill(data))
    CrawlLog(data).begin("nev", str(data), 0.0)
    spool = Spool(data / "spool")
    spool.open()
    spool.append(articles(1))
    spool.refuse(articles(2)[0], "too odd")
    backup(data, tmp_path / "copy.tar.gz", "hosts")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    shown = {path.name for path in files if stat.S_IMODE(path.stat().st_mode) & 0o077}
    assert len(files) > 8
    assert not shown - {"LOCK", "begun", "VERSION"}, shown
    spool.close()


async def _fill(data: Path) -> None:
    ledger = LocalLedger(data)
    await ledger.swap({}, {("orders", "nev"): "{}"})
    runs = LocalRuns(data)
    await runs.put({"run": {"id": "1", "node": "", "topic": "nev", "frontier": ""}})
    store = SqliteStore(data)
    await store.open()
    await store.save(articles(1))
    await store.close()


def test_second_connection_keeps_the_locks_of_the_first(tmp_path: Path) -> None:
    path, query = tmp_path / "store.sqlite", "SELECT count(*) FROM crawls"
    first, second = Database(path), Database(path)
    first.open()
    second.open()
    second.close()
    script = f"import sqlite3; c = sqlite3.connect({str(path)!r}); c.execute({query!r}); c.close()"
    subprocess.run([sys.executable, "-c", script], check=True)
    assert path.with_name("store.sqlite-wal").exists(), "deleted under a store in use"
    first.close()
