"""Tests of the names that ``scrapy control`` accepts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.unit.addons.url_patterns.test_patterns import scrapy
from topiccrawl.storage.crawls import CrawlLog
from topiccrawl.storage.ledger import Control, LocalLedger

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

TEMPLATE = "software-companies-sichuan"


def test_crawl_of_a_template_is_paused_by_its_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    where = ("-s", f"TOPICCRAWL_DATA_DIR={tmp_path}")
    words = ("control", "pause", "--template", TEMPLATE)
    name = "template-软件公司-四川-8d4375-1"
    assert scrapy(capsys, monkeypatch, *words, *where) == (0, f"{name}: paused, speed 1\n")
    assert asyncio.run(Control(LocalLedger(tmp_path)).order(name)).paused


def test_project_without_templates_is_reported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    where = ("-s", f"TOPICCRAWL_DATA_DIR={tmp_path}", "-s", "SPIDER_MODULES=topiccrawl.spiders")
    status, out = scrapy(capsys, monkeypatch, "control", "pause", "--template", TEMPLATE, *where)
    assert (status, "SPIDER_MODULES has topic" in out) == (1, True)


def test_crawl_of_a_template_accepts_no_start_urls(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = ("control", "add", "http://a.test/", "--template", TEMPLATE)
    where = ("-s", f"TOPICCRAWL_DATA_DIR={tmp_path}")
    status, out = scrapy(capsys, monkeypatch, *words, *where)
    assert (status, "accept no added start URLs" in out) == (2, True), out
    assert list(tmp_path.iterdir()) == []


def test_topic_without_a_crawl_is_a_warning(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A crawl may be paused before it starts, but the name may also be mistyped."""
    where = ("-s", f"TOPICCRAWL_DATA_DIR={tmp_path}")
    status, out = scrapy(capsys, monkeypatch, "control", "pause", "--topic", "航天", *where)
    assert (status, "paused, speed 1\n" in out) == (0, True)
    assert "warning: " in out
    assert "no crawl for topic '航天' has been run" in out
    CrawlLog(tmp_path).begin("航天", str(tmp_path / "frontier"), 0)
    _status, out = scrapy(capsys, monkeypatch, "control", "pause", "--topic", "航天", *where)
    assert "warning" not in out
