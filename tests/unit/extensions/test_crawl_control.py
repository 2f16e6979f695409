"""Test of orders to a crawl: each one is logged, however short its duration."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from topiccrawl.extensions.control import CrawlControl
from topiccrawl.scheduler.context import CrawlContext
from topiccrawl.storage.ledger import CrawlOrder, LocalLedger

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_short_pause_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    crawler = get_crawler()
    crawler.stats = MemoryStatsCollector(crawler)
    context = CrawlContext(crawler)
    context.opened, speeds = True, list[float]()
    context.frontier = cast("Any", SimpleNamespace(pace=speeds.append))
    control = CrawlControl(context, LocalLedger(tmp_path))
    for paused in (True, False):
        control._apply(CrawlOrder(paused=paused))
        assert context.paused is paused
    logged = [record for record in caplog.records if record.name == "topiccrawl.extensions.control"]
    first, second = (record.getMessage() for record in logged)
    assert "paused by the operator" in first
    assert second == "Crawl resumed"
    assert speeds == [1.0, 1.0]
