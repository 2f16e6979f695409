"""Tests of tables of articles: columns, order, and files of each format."""

from __future__ import annotations

import asyncio
import csv
import json
import re
from dataclasses import replace
from datetime import datetime
from html import unescape
from io import StringIO
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

import jsonschema
import openpyxl
import pyarrow.parquet
import pytest
from jsonschema import Draft202012Validator

from lab.reference import SCHEMAS, schemas
from topiccrawl.addons.webhook.outbox import message
from topiccrawl.errors import ConfigurationError
from topiccrawl.model import LINKS, Article
from topiccrawl.storage import formats
from topiccrawl.storage.formats import open_writer
from topiccrawl.storage.selection import Selection
from topiccrawl.storage.sqlite import SqliteStore
from topiccrawl.storage.tables import (
    BRIEF,
    CELL,
    COLUMNS,
    CUT,
    SCHEMA,
    ExportFilter,
    Table,
    columns_named,
    export_articles,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

DAY = 1_769_846_400.0  # 2026-01-31T08:00:00Z

NEWS = Article(
    "http://a.test/1",
    "电池 | <b>回收</b>",
    "第一段。\n第二段。",
    site="a.test",
    published="2026-01-31T08:00:00+08:00",
    topics={"汽车": 0.62, "电池": 0.9},
    terms=(("电池", 0.75), ("回收", 0.25), (LINKS, 0.4)),
    images=("http://a.test/i.jpg",),
    fetched_at=DAY,
)
LONG = Article("http://a.test/2", "=1+1", "长" * (CELL + 9), published="2026-01-30", fetched_at=DAY)
CLOSED = Article("http://a.test/3", "\x0b", "不可保存", noarchive=True, fetched_at=DAY)


def written(
    folder: Path, suffix: str, articles: Sequence[Article], *columns: str, topic: str = "汽车"
) -> Path:
    path = folder / f"all{suffix}"
    with open_writer(str(path), Table(topic, columns).formats()) as writer:
        for article in articles:
            writer.write(article)
    return path


@pytest.mark.parametrize(
    "suffix", [".xlsx", ".parquet", ".jsonl", ".csv", ".html", ".rss", ".atom"]
)
@pytest.mark.parametrize("published", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:00-12:00"])
def test_times_at_the_calendar_limits_are_written(
    tmp_path: Path, suffix: str, published: str
) -> None:
    file = written(tmp_path, suffix, [replace(NEWS, published=published), LONG])
    assert file.stat().st_size > 0


def test_workbook_has_times_numbers_and_no_formulas(tmp_path: Path) -> None:
    sheet = openpyxl.load_workbook(written(tmp_path, ".xlsx", [NEWS, LONG, CLOSED])).active
    assert sheet is not None
    head, news, long, closed = (dict(zip(BRIEF, row, strict=True)) for row in sheet.values)
    assert tuple(head.values()) == BRIEF
    assert (news["score"], news["topics"]) == (0.62, "汽车 0.62, 电池 0.90")
    assert news["published"] == datetime.fromtimestamp(DAY - 8 * 3600)  # noqa: DTZ006  (local)
    assert news["found"] == datetime.fromtimestamp(DAY)  # noqa: DTZ006
    assert (long["title"], long["published"]) == ("=1+1", "2026-01-30")
    assert sheet["A3"].data_type == "s"
    assert sheet.freeze_panes == "A2"
    assert all(cell.font.bold for cell in sheet[1])
    assert str(long["body"]).endswith(CUT)
    assert len(str(long["body"])) == CELL
    assert not closed["body"]


@pytest.mark.parametrize("suffix", [".csv", ".md", ".html"])
def test_readable_table_has_one_row_per_article(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path, suffix, [NEWS, LONG, CLOSED])
    text = path.read_text("utf-8-sig")
    assert "电池 0.75, 回收 0.25" in text
    assert "1769846400" not in text
    if suffix == ".csv":
        rows = list(csv.DictReader(StringIO(text)))
        assert [row["title"] for row in rows] == [NEWS.title, "'=1+1", "\x0b"]
        assert datetime.fromisoformat(rows[0]["published"]).timestamp() == DAY - 8 * 3600
    elif suffix == ".md":
        assert len(text.splitlines()) == 5
        assert r"电池 \| &lt;b>回收&lt;/b>" in text
    else:
        assert text.startswith("<!doctype html>")
        assert text.count("<tr>") == 3
        assert "<b>" not in text
        assert '<a href="http://a.test/1"' in text


def test_machine_readable_rows_are_complete_and_follow_the_schema(tmp_path: Path) -> None:
    lines = written(tmp_path, ".jsonl", [NEWS, LONG, CLOSED]).read_text().splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    for row in rows:
        jsonschema.validate(row, schemas()["table"])
    assert list(rows[0]) == list(COLUMNS)
    assert re.fullmatch("[0-9a-f]{32}", rows[0]["id"])
    assert len({row["id"] for row in rows}) == 3
    assert rows[1]["body"] == LONG.body
    assert rows[2]["body"] == ""
    assert datetime.fromisoformat(rows[0]["found"]).timestamp() == DAY
    assert datetime.fromisoformat(rows[0]["found"]).tzinfo is not None


def test_parquet_file_of_several_groups_has_each_row_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "GROUP", 2)
    file = pyarrow.parquet.ParquetFile(written(tmp_path, ".parquet", [NEWS, LONG, CLOSED]))
    assert file.num_row_groups == 2
    assert file.read().column("url").to_pylist() == [NEWS.url, LONG.url, CLOSED.url]


def test_parquet_times_have_a_timestamp_type(tmp_path: Path) -> None:
    table = pyarrow.parquet.read_table(written(tmp_path, ".parquet", [NEWS, LONG, CLOSED]))
    assert str(table.schema.field("published").type) == "timestamp[us, tz=UTC]"
    assert table.column("published")[0].as_py().timestamp() == DAY - 8 * 3600
    assert table.column("published")[2].as_py() is None
    assert dict(table.column("words")[0].as_py()) == dict(NEWS.terms[:2])


def test_rss_feed_lists_each_article(tmp_path: Path) -> None:
    news = replace(NEWS, body="第一段：<b>。\n第二段。")
    feed = ET.parse(written(tmp_path, ".rss", [news, LONG, CLOSED]))  # noqa: S314  (own)
    items = feed.findall("channel/item")
    assert [item.findtext("link") for item in items] == [NEWS.url, LONG.url, CLOSED.url]
    assert items[0].findtext("pubDate") == "Sat, 31 Jan 2026 08:00:00 +0800"
    assert items[2].find("description") is None
    html = items[0].findtext("description") or ""  # which feed readers show as HTML
    assert "<" not in html
    assert unescape(html) == news.body


@pytest.mark.parametrize("topic", ["新能源 汽车", ""])
def test_atom_feed_is_named_by_its_topic(tmp_path: Path, topic: str) -> None:
    feed = ET.parse(written(tmp_path, ".atom", [NEWS], topic=topic))  # noqa: S314  (own)
    space = {"": "http://www.w3.org/2005/Atom"}
    assert feed.findtext("title", namespaces=space) == (topic or "汽车 · 电池")
    assert feed.findtext("id", namespaces=space) == f"urn:topiccrawl:{quote(topic) or '*'}"


def test_only_named_columns_are_written(tmp_path: Path) -> None:
    columns = columns_named("url, score")
    lines = written(tmp_path, ".csv", [NEWS], *columns).read_text("utf-8-sig").splitlines()
    assert lines == ["url,score", "http://a.test/1,0.62"]
    with pytest.raises(ConfigurationError, match="no column 'scores'; choose from title, url"):
        columns_named("scores")


def test_articles_are_sorted_limited_and_filtered_by_score(tmp_path: Path) -> None:
    made = [
        Article(f"http://a.test/{n}", f"题{n}", "", topics={"足球": n / 10}, fetched_at=DAY + n % 3)
        for n in range(9)
    ]

    async def urls(choice: ExportFilter) -> list[str]:
        store = SqliteStore(tmp_path)
        await store.open()
        try:
            await store.save(made)
            return [one.url[-1] async for one in export_articles(store, Selection("足球"), choice)]
        finally:
            await store.close()

    assert asyncio.run(urls(ExportFilter())) == list("876543210")
    assert asyncio.run(urls(ExportFilter("score", limit=2))) == list("87")
    assert asyncio.run(urls(ExportFilter("score", min_score=0.55))) == list("876")
    assert set(asyncio.run(urls(ExportFilter("found", limit=3)))) == set("258")


def test_documented_schemas_match_the_code() -> None:
    for name, schema in schemas().items():
        text = (SCHEMAS / f"{name}.json").read_text("utf-8")
        assert json.loads(text) == schema, "run: python -m lab.reference"
        assert schema["$id"] == f"topiccrawl.{name}/{SCHEMA.rpartition('/')[2]}"


@pytest.mark.parametrize("article", [NEWS, LONG, CLOSED])
def test_stored_articles_and_messages_follow_their_schemas(article: Article) -> None:
    made = schemas()
    sent = json.loads(message(article).body)
    Draft202012Validator(made["article"]).validate(json.loads(json.dumps(article.to_dict())))
    Draft202012Validator(made["message"]).validate(sent)
    sent["data"]["score"] = 1
    with pytest.raises(jsonschema.ValidationError, match="score"):
        Draft202012Validator(made["message"]).validate(sent)
