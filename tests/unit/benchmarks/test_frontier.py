"""Tests of the frontier benchmark, at a small size: names of figures, missing packages."""

from __future__ import annotations

import sys

import pytest

from benchmarks.frontier import bare, embedded, jobs, main, measure


def test_figures_have_the_compared_names() -> None:
    figures = {figure.name: figure.value for figure in measure(embedded, None, 2000)}
    assert figures["embedded_mixed_2000"] > 0
    for name in ("pop_p99_ms", "ram_bytes_url", "disk_bytes_url"):
        assert f"embedded_{name}" in figures
    assert {figure.name for figure in measure(bare, None, 2000)} == {
        "heap_mixed_2000", "lmdb_mixed_2000",
    }  # fmt: skip
    assert {job.__name__ for job, _ in jobs(2000, ["embedded", "bare", "redis", "peers"])} == {
        "embedded", "embedded_pops", "shared", "bare", "scrapy", "scrapy_redis",
    }  # fmt: skip


def test_missing_package_is_reported_before_measuring(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "scrapy_redis", None)
    monkeypatch.setattr(sys, "argv", ["frontier", "--only", "peers"])
    with pytest.raises(SystemExit):
        main()
    assert "pip install scrapy-redis" in capsys.readouterr().err
