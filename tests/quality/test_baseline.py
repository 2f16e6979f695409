"""Tests of the baseline: the parts that take seconds and need no data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.baseline import book
from benchmarks.baseline.__main__ import QUICK, compared, main
from benchmarks.baseline.traces import of_crawls

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.quality
REMEDY = "if that is meant: make baseline BASELINE='--write --only PART', and name it in the commit"


@pytest.mark.parametrize("name", QUICK)
def test_quick_part_equals_the_baseline(name: str) -> None:
    assert not compared(book.read(), name, QUICK[name]()), REMEDY


@pytest.mark.slow
@pytest.mark.crawl
def test_crawl_traces_equal_the_baseline() -> None:
    assert not compared(book.read(), "traces", of_crawls()), REMEDY


def test_a_difference_is_named_and_gives_status_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place, only = tmp_path / "kept.json", ["--only", "articles made", "--processes", "1"]
    monkeypatch.setattr(book, "PLACE", place)
    assert main([*only, "--write"]) == 0
    assert main(only) == 0
    kept = json.loads(place.read_text(encoding="utf-8"))
    kept["articles made"]["plain 0"] = "other"
    place.write_text(json.dumps(kept), encoding="utf-8")
    capsys.readouterr()
    assert main([*only, "--check"]) == 1
    said = capsys.readouterr().out
    assert 'articles made.plain 0: was "other", is "' in said
    assert "1 differences" in said


def test_baseline_of_absent_data_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "kept.json"
    monkeypatch.setattr(book, "PLACE", place)
    monkeypatch.setattr("benchmarks.baseline.orders.DATA", tmp_path)
    book.write({"orders okc": {"a": "b"}}, place)
    assert main(["--only", "orders okc", "--only", "articles made", "--write"]) == 0
    assert "orders okc: skipped" in capsys.readouterr().out
    assert book.read(place)["orders okc"] == {"a": "b"}
