"""Tests of ``scrapy records`` on a store with two records."""

from __future__ import annotations

import asyncio
import csv
import json
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from scrapy.cmdline import execute

from topiccrawl.addons.records.record import FoundValue, Record
from topiccrawl.addons.records.records import Records, StoredRecord
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    def stored_record(host: str, phone: str, now: float, period: int = 1) -> StoredRecord:
        url = f"http://{host}/lx"
        values = (FoundValue("电话", phone, phone, 0.8, "line", url, f"电话：{phone}"),)
        return StoredRecord(host, Record("软件公司-四川", f"{host}公司", values, (url,)), f"http://{host}/",
                    1, period, 0.8, checked_at=now)  # fmt: skip

    async def fill() -> None:
        store = Records(SqliteStorage(tmp_path))
        await store.open()
        await store.save([stored_record("a.test", "1", 10.0), stored_record("b.test", "2", 11.0)])
        await store.save([stored_record("a.test", "3", 90_000.0, 2)])
        await store.mark_gone("软件公司-四川", ["b.test"], 95_000.0)
        await store.close()

    asyncio.run(fill())
    return tmp_path


def command(folder: Path, *arguments: str) -> int:
    line = ["scrapy", "records", *arguments, "-s", f"TOPICCRAWL_DATA_DIR={folder}"]
    with pytest.raises(SystemExit) as exit_info:
        execute(line)
    return int(exit_info.value.code or 0)


def test_list_shows_records(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(folder, "list", "--template", "软件公司-四川") == 0
    assert capsys.readouterr().out == "0.80  a.test  a.test公司  电话 3\n"
    assert command(folder, "list", "--gone") == 0
    assert "gone 1970-01-02" in capsys.readouterr().out


def test_no_records_is_reported_on_stderr(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (("list",), ("export", str(folder / "none.csv"))):
        assert command(folder, *arguments, "--template", "nothing") == 0
        out, err = capsys.readouterr()
        assert (out, "no record of template 'nothing'" in err) == ("", True)


def test_show_prints_evidence_and_older_values(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(folder, "show", "a.test公司") == 0
    out = capsys.readouterr().out
    assert "电话：3" in out
    assert "http://a.test/lx" in out
    assert "until 1970-01-02T01:00:00Z: a.test公司 电话 1" in out
    assert command(folder, "show", "c.test") == 1


def test_export_writes_all_formats(folder: Path) -> None:
    for suffix in ("jsonl", "csv", "parquet"):
        assert command(folder, "export", str(folder / f"all.{suffix}"), "--gone") == 0
    lines = (folder / "all.jsonl").read_text().splitlines()
    assert [json.loads(line)["values"] for line in lines] == [{"电话": ["3"]}, {"电话": ["2"]}]
    with (folder / "all.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [row["电话"] for row in csv.DictReader(file)] == ["3", "2"]
    table = pq.read_table(folder / "all.parquet").to_pylist()
    assert [row["evidence"][0]["value"] for row in table] == ["3", "2"]
    assert command(folder, "export", str(folder / "all.xml")) == 1


def test_forget_deletes_a_record_and_its_versions(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(folder, "forget", "a.test", "b.test公司") == 0
    assert "2 deleted" in capsys.readouterr().out
    assert command(folder, "list", "--gone") == 0
    assert capsys.readouterr().out == ""
    assert command(folder, "allow", "a.test", "c.test") == 0
    assert "1 allowed" in capsys.readouterr().out


def test_forget_reports_unknown_records(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(folder, "forget", "a.test", "c.test") == 1
    out = capsys.readouterr().out
    assert "1 deleted" in out
    assert "c.test: no such record" in out
    assert command(folder, "forget", "c.test") == 1
    assert "deleted" not in capsys.readouterr().out, "it may be stored again"
