"""Orders to crawls by name: a topic's, or a template's."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.unit.addons.url_patterns.test_patterns import scrapy
from topiccrawl.storage.ledger import Control, LocalLedger

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

TEMPLATE = "software-companies-sichuan"


def test_a_template_s_crawl_is_steered_by_its_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    where = ("-s", f"TOPICCRAWL_DATA_DIR={tmp_path}")
    words = ("control", "pause", "--template", TEMPLATE)
    name = "template-软件公司-四川-8d4375-1"
    assert scrapy(capsys, monkeypatch, *words, *where) == (0, f"{name}: paused, speed 1\n")
    assert asyncio.run(Control(LocalLedger(tmp_path)).order(name)).paused


def test_a_project_without_templates_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    where = ("-s", f"TOPICCRAWL_DATA_DIR={tmp_path}", "-s", "SPIDER_MODULES=topiccrawl.spiders")
    status, said = scrapy(capsys, monkeypatch, "control", "pause", "--template", TEMPLATE, *where)
    assert (status, "SPIDER_MODULES has topic" in said) == (1, True)
