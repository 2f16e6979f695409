"""Tests of exports from the dashboard and of stores that cannot be read."""

from __future__ import annotations

import asyncio
import codecs
import sqlite3
import tempfile
from contextlib import closing
from typing import TYPE_CHECKING

import aiohttp
import pytest

from tests.unit.addons.dashboard.test_contributions import settings_for
from topiccrawl.addons.dashboard.address import Address
from topiccrawl.addons.dashboard.library import exported
from topiccrawl.addons.dashboard.server import serving
from topiccrawl.addons.dashboard.stored import RunsSource
from topiccrawl.model import Article
from topiccrawl.storage.database import FILE
from topiccrawl.storage.formats import template
from topiccrawl.storage.schema import APPLICATION_ID

if TYPE_CHECKING:
    from pathlib import Path

ARTICLE = Article("http://a.test/1", "题", "文", topics={"足球": 0.5})


@pytest.mark.parametrize("page", ["crawl", "crawls", "articles"])
def test_pages_without_scripts_name_other_ways(page: str) -> None:
    html = template("topiccrawl.addons.dashboard", f"templates/{page}.html").render()
    hint = html[html.index("<noscript>") : html.index("</noscript>")]
    assert "needs JavaScript" in hint
    assert "需要 JavaScript" in hint
    assert 'href="api/export/articles.html"' in hint


def test_csv_export_begins_with_a_byte_order_mark() -> None:
    assert exported(".csv", "足球", [ARTICLE]).startswith(codecs.BOM_UTF8)


@pytest.mark.parametrize("suffix", [".jsonl", ".html", ".md", ".atom", ".rss"])
def test_other_text_exports_have_no_byte_order_mark(suffix: str) -> None:
    text = exported(suffix, "足球", [ARTICLE]).decode()
    assert "题" in text
    assert not text.startswith("\ufeff")


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".html", ".md", ".atom", ".rss"])
def test_text_exports_need_no_disk_space(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    assert "题" in exported(suffix, "足球", [ARTICLE]).decode()


def test_workbook_of_a_topic_with_control_characters_is_written() -> None:
    assert exported(".xlsx", "足\0球\v", [ARTICLE])


@pytest.mark.parametrize("path", ["/api/articles", "/api/library", "/feed/t.atom"])
def test_unusable_store_is_answered_with_503(tmp_path: Path, path: str) -> None:
    settings = settings_for(tmp_path, TOPICCRAWL_DASHBOARD_TOKEN="off")  # noqa: S106
    file = tmp_path / FILE

    async def ask() -> None:
        async with (
            serving(settings, Address("127.0.0.1", 0), RunsSource(settings)) as server,
            aiohttp.ClientSession(server.url) as session,
            session.get(path) as answer,
        ):
            assert (answer.status, FILE in (await answer.json())["error"]) == (503, True)

    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version = 9")
        asyncio.run(ask())  # another program wrote it
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 9999")
        asyncio.run(ask())  # a newer version wrote it
    file.write_bytes(b"no database" * 100)
    asyncio.run(ask())
